#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check which folder may include and call which (docs/ARCHITECTURE.md): check_includes.py [BUILD]

The layers are the table LAYERS; FACILITIES names folders whose headers only a few files may
include. With BUILD, a folder in which `make` has built, the same table is checked against the
linked symbols: an object may use symbols of its own layer and of layers that it may include. Prints
a line for each breach, and whether there are cycles between FOLDERS. Exit status 1 if there is a
breach or a cycle.

A hook is a symbol of refpmu/model/, which declares and calls it, although refpmu/faults/ has its
body: hooks.h is the model's interface for what changes its plans. That the model is complete
without faults/ is shown by `make check`, which links and tests it so (host/host.mk).
"""
import glob
import os
import re
import subprocess
import sys

STD = ("stddef.h", "stdint.h", "stdbool.h")
HOSTED = STD + ("stdarg.h",)
UEFI = HOSTED + ("efi.h", "efilib.h")

# refpmu/'s layers: each and those below it.
MODEL = ("refpmu/model/", "spec/")
FAULTS = ("refpmu/faults/",) + MODEL
HV = ("refpmu/hv/", "version.h") + MODEL
ENGINE = ("refpmu/engine/", "refpmu/hv/") + FAULTS
VMM = ("refpmu/vmm/",) + ENGINE
LAUNCH = ("refpmu/launch/",) + VMM
DIRECT = ("refpmu/direct/", "platform/") + LAUNCH
PROGRAMS = ("refpmu/selftest/", "refpmu/bench/", "refpmu/count/") + LAUNCH

# Files (a folder, or a pattern); what their includes in quotes may begin with, their own folder
# among it; what those in <> may begin with. A file obeys every row that it is in.
LAYERS = (
    ("spec/", ("spec/",), STD),
    ("claims/", ("claims/", "spec/"), STD),
    ("platform/", ("platform/", "spec/"), STD),
    ("kernel/", ("kernel/", "spec/", "font_data.h"), HOSTED),
    ("kernel/processor/", ("kernel/processor/", "spec/"), HOSTED),
    ("kernel/output/", ("kernel/output/", "kernel/processor/", "spec/", "font_data.h"), HOSTED),
    ("kernel/memory/", ("kernel/memory/", "kernel/processor/", "spec/"), HOSTED),
    ("kernel/interrupt/", ("kernel/interrupt/", "kernel/memory/", "kernel/output/",
                           "kernel/processor/", "spec/"), HOSTED),
    ("pmu/", ("pmu/", "kernel/", "spec/", "claims/known.def"), HOSTED),
    ("tests/", ("tests/", "pmu/", "kernel/", "spec/", "claims/"), HOSTED),
    ("boot/", ("boot/", "tests/frame/suite.", "pmu/record.", "kernel/", "platform/",
               "spec/", "version.h"), UEFI + ("qrcodegen.h",)),
    ("refpmu/", ("refpmu/", "platform/", "spec/", "version.h"), UEFI + ("Zydis/",)),
    ("refpmu/model/", MODEL, STD),
    ("refpmu/faults/", FAULTS, STD),
    ("refpmu/hv/", HV, UEFI),
    ("refpmu/engine/", ENGINE, HOSTED + ("Zydis/",)),
    ("refpmu/vmm/", VMM, UEFI),
    ("refpmu/launch/", LAUNCH, UEFI),
    ("refpmu/direct/", DIRECT, STD),
    ("refpmu/selftest/", PROGRAMS, UEFI),
    ("refpmu/bench/", PROGRAMS, UEFI),
    ("refpmu/count/", PROGRAMS, UEFI),
)
# Folders of one facility, and what else may include of them.
FACILITIES = (
    ("pmu/netburst/", ("pmu/caps.c", "tests/netburst/")),
    ("tests/netburst/", ()),
    ("tests/tsx/", ()),
)
# Between these, and any two of them, there must be no cycle of includes or symbols.
FOLDERS = ("spec/", "claims/", "platform/", "kernel/", "pmu/", "tests/", "boot/", "refpmu/model/",
           "refpmu/faults/", "refpmu/hv/", "refpmu/engine/", "refpmu/vmm/", "refpmu/launch/",
           "refpmu/direct/", "refpmu/selftest/", "refpmu/bench/", "refpmu/count/")
HOOKS = "refpmu/model/hooks.h"
# In every program, because compilers call them and firmware enters there.
EVERYWHERE = {"memset", "memcpy", "memmove", "memcmp", "_start", "efi_main",
              "pvh_main"}

HOOK = re.compile(r"^HOOK(?:_VALUE\([^,()]+,\s*|\()(\w+)", re.M)
SOURCES = (".c", ".h", ".asm", ".def", ".inc")
INCLUDE = re.compile(r'^\s*[#%]\s*include\s*([<"])([^>"]+)[>"]', re.M)


def files_of(where):
    if not where.endswith("/"):
        return sorted(glob.glob(where))
    return sorted(os.path.join(folder, name) for folder, _, names in os.walk(where)
                  for name in names if name.endswith(SOURCES))


def includes():
    """(source, line, kind of quote, name) of each #include."""
    for path in sorted({path for where, _, _ in LAYERS for path in files_of(where)}):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for found in INCLUDE.finditer(text):
            yield path, text.count("\n", 0, found.start(1)) + 1, *found.groups()


def include_breaches():
    for path, line, kind, name in includes():
        for where, quoted, angled in layers_of(path):
            if not name.startswith(angled if kind == "<" else quoted):
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
    for where, quoted, angled in LAYERS:
        if path.startswith(where) if where.endswith("/") else path in glob.glob(where):
            yield where, quoted, angled


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


def hooks():
    """The functions that the model declares for faults/ to define."""
    if not os.path.exists(HOOKS):
        return set()
    with open(HOOKS, encoding="utf-8") as file:
        return set(HOOK.findall(file.read()))


def symbol_uses(build):
    """(source, symbol, sources that it may come from) of each use of another source's symbol."""
    table = symbols(build)
    homes = {}
    for source, (defined, _) in table.items():
        for name in defined - EVERYWHERE:
            homes.setdefault(name, []).append(source)
    for name in hooks() & homes.keys():
        homes[name] = [HOOKS if home.startswith("refpmu/faults/") else home for home in homes[name]]
    for source, (_, undefined) in table.items():
        for name in sorted(undefined):
            if name in homes:
                yield source, name, homes[name]


def symbol_breaches(build):
    for source, name, homes in symbol_uses(build):
        for where, quoted, _ in layers_of(source):
            if not any(home.startswith(quoted) for home in homes):
                yield f"{source}: {where} may not use {name} of {homes[0]}"


def folder_of(path):
    return next((folder for folder in FOLDERS if path.startswith(folder)), None)


def folder_edges(build):
    """Folder to the folders that it includes and uses, each with one example."""
    edges = {folder: {} for folder in FOLDERS}

    def add(source, target, what):
        if folder_of(source) and folder_of(target) and folder_of(source) != folder_of(target):
            edges[folder_of(source)].setdefault(folder_of(target), f"{source}: {what}")

    for path, _, kind, name in includes():
        if kind == '"':
            add(path, name, name)
    # One program has one of them: that of the own folder if there is one.
    for source, name, homes in symbol_uses(build) if build else ():
        if not any(folder_of(home) == folder_of(source) for home in homes):
            allowed = [home for home in homes if all(home.startswith(quoted) for _, quoted, _
                                                     in layers_of(source))]
            add(source, (allowed or homes)[0], name)
    return edges


def find_cycle(edges):
    """The folders of a cycle, the first one again at the end; None if there is none."""
    done = set()

    def visit(folder, path):
        if folder in path:
            return path[path.index(folder):] + [folder]
        if folder in done:
            return None
        for target in sorted(edges[folder]):
            cycle = visit(target, path + [folder])
            if cycle:
                return cycle
        done.add(folder)
        return None

    return next(filter(None, (visit(folder, []) for folder in FOLDERS)), None)


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
    edges = folder_edges(build)
    cycle = find_cycle(edges)
    if cycle:
        print("cycle between folders: " + " -> ".join(cycle))
        for source, target in zip(cycle, cycle[1:]):
            print(f"    {edges[source][target]}")
    else:
        print("cycles between folders: none")
    return 1 if breaches or cycle else 0


if __name__ == "__main__":
    sys.exit(main())
