#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check which folder may include and call which (docs/ARCHITECTURE.md): check_includes.py [BUILD]

The layers are the table LAYERS; FACILITIES names folders that a layer may include of in few places.
With BUILD, a folder in which `make` has built, LAYERS is held against what is linked: an object may
use symbols of its own layer and of what that may include. Prints one line a breach; exit status 1
if there is one.
"""
import glob
import os
import re
import subprocess
import sys

STD = ("stddef.h", "stdint.h", "stdbool.h")
HOSTED = STD + ("stdarg.h",)
UEFI = HOSTED + ("efi.h", "efilib.h")

# Files (a folder, or a pattern); what their includes in quotes may begin with, their own folder
# among it; what those in <> may begin with. A file obeys every row that it is in.
LAYERS = (
    ("spec/", ("spec/",), STD),
    ("claims/", ("claims/", "spec/"), STD),
    ("kernel/", ("kernel/", "spec/"), HOSTED),
    ("kernel/processor/", ("kernel/processor/", "spec/"), HOSTED),
    ("kernel/output/", ("kernel/output/", "kernel/processor/", "spec/"), HOSTED),
    ("kernel/memory/", ("kernel/memory/", "kernel/processor/", "spec/"), HOSTED),
    ("kernel/interrupt/", ("kernel/interrupt/", "kernel/memory/", "kernel/output/",
                           "kernel/processor/", "spec/"), HOSTED),
    ("pmu/", ("pmu/", "kernel/", "spec/", "claims/known.def"), HOSTED),
    ("tests/", ("tests/", "pmu/", "kernel/", "spec/", "claims/"), HOSTED),
    ("boot/", ("boot/", "tests/frame/suite.", "kernel/", "spec/", "version.h"), UEFI),
    ("refpmu/", ("refpmu/", "spec/", "version.h"), UEFI + ("Zydis/",)),
    ("refpmu/model/", ("refpmu/model/", "refpmu/faults/", "spec/"), STD),
)
# Folders of one facility, and what else may include of them.
FACILITIES = (
    ("pmu/netburst/", ("pmu/caps.c", "tests/netburst/")),
    ("tests/netburst/", ()),
    ("tests/tsx/", ()),
)
# In every program, because compilers call them and firmware enters there.
EVERYWHERE = {"memset", "memcpy", "memmove", "memcmp", "_start", "efi_main"}

SOURCES = (".c", ".h", ".asm", ".def", ".inc")
INCLUDE = re.compile(r'^\s*[#%]\s*include\s*([<"])([^>"]+)[>"]', re.M)


def files_of(where):
    if not where.endswith("/"):
        return sorted(glob.glob(where))
    return sorted(os.path.join(folder, name) for folder, _, names in os.walk(where)
                  for name in names if name.endswith(SOURCES))


def include_breaches():
    for where, quoted, angled in LAYERS:
        for path in files_of(where):
            with open(path, encoding="utf-8") as file:
                text = file.read()
            for found in INCLUDE.finditer(text):
                kind, name = found.groups()
                if not name.startswith(angled if kind == "<" else quoted):
                    line = text.count("\n", 0, found.start(1)) + 1
                    yield f"{path}:{line}: {where} may not include {name}"


def facility_breaches():
    for where, others in FACILITIES:
        for path in files_of("pmu/") + files_of("tests/"):
            if path.startswith((where, *others)):
                continue
            with open(path, encoding="utf-8") as file:
                for number, line in enumerate(file, 1):
                    found = INCLUDE.match(line)
                    if found and found[2].startswith(where):
                        yield f"{path}:{number}: nothing else may include {found[2]}"


def layers_of(path):
    """The rows that a source is in."""
    for where, quoted, _ in LAYERS:
        if path.startswith(where) if where.endswith("/") else path in glob.glob(where):
            yield where, quoted


def symbols(build):
    """Object's source to (defined, undefined) global symbols."""
    root = os.path.join(build, "obj")
    objects = sorted(os.path.join(folder, name) for folder, _, names in os.walk(root)
                     for name in names if name.endswith(".o"))
    objects = [path for path in objects if os.path.exists(source_of(path, root))]
    if not objects:
        sys.exit(f"check_includes.py: nothing is built in '{build}'; run make")
    out = subprocess.run(["nm", "-A", "-g", *objects], stdout=subprocess.PIPE, check=True,
                         stderr=subprocess.DEVNULL, text=True).stdout
    table = {}
    for line in out.splitlines():
        path, words = line.split(":", 1)
        *_, kind, name = words.split()
        defined, undefined = table.setdefault(source_of(path, root), (set(), set()))
        (undefined if kind in "Uw" else defined).add(name)
    return table


def source_of(path, root):
    return os.path.relpath(path, root).removesuffix(".o")


def symbol_breaches(build):
    table = symbols(build)
    homes = {}
    for source, (defined, _) in table.items():
        for name in defined - EVERYWHERE:
            homes.setdefault(name, []).append(source)
    for source, (_, undefined) in table.items():
        for where, quoted in layers_of(source):
            for name in sorted(undefined):
                homes_here = homes.get(name, ())
                if homes_here and not any(home.startswith(quoted) for home in homes_here):
                    yield f"{source}: {where} may not use {name} of {homes_here[0]}"


def main():
    if len(sys.argv) > 2 or sys.argv[1:] and sys.argv[1].startswith("-"):
        sys.exit("usage: check_includes.py [BUILD]")
    build = os.path.abspath(sys.argv[1]) if sys.argv[1:] else None
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    breaches = [*include_breaches(), *facility_breaches()]
    if build:
        breaches += symbol_breaches(build)
    for breach in breaches:
        print(breach)
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
