#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check that pure parts are pure (docs/ARCHITECTURE.md). Needs make and gcc.

Pure parts are compiled for the development machine too (HOST_PURE in host/host.mk). They include
only pure headers, directly or indirectly, and contain no assembly and no data that can change.
Prints a line for each breach; exit status 1 if there is one.
"""
import concurrent.futures
import fnmatch
import os
import re
import subprocess
import sys
import tempfile

# What each side's pure sources may see. The harness's and the model's share spec/ only.
HARNESS = ("spec/* claims/* kernel/processor/confidential.h kernel/processor/topology.h "
           "kernel/memory/string.h kernel/output/fmt.h kernel/output/tap.h "
           "pmu/adaptive.h pmu/hypervisor.h pmu/lbr/*format.h pmu/leaves.h "
           "pmu/record.h pmu/version6/arch_record.h pmu/version6/version6.h "
           "platform/*.h boot/config.h boot/direct/words.h boot/smbios.h "
           "boot/spread.h boot/summary.h boot/results/*.h boot/watchdog/*.h "
           "boot/screen/grid.h boot/screen/progress.h "
           "boot/screen/pages.h boot/screen/keys.h boot/screen/code.h "
           "kernel/output/raster.h kernel/output/font.h "
           "tests/*.h tests/frame/old_names.def tests/random/frame.def").split()
MODEL = ("spec/* refpmu/model/* refpmu/faults/* refpmu/vmm/configure.h refpmu/vmm/status.def "
         "refpmu/engine/engine_name.h refpmu/launch/plan.h "
         "refpmu/launch/fault.h refpmu/launch/span.h refpmu/launch/pe.h").split()

# Whole lines of a comment may speak of assembly.
ASSEMBLY = re.compile(r"^(?![ \t]*(?:/?\*|//)).*\b(?:asm|__asm__)\b", re.M)
# In the compiler's assembly: where it puts what, and what it puts there.
SECTION = re.compile(r"^\t\.(?:section\t)?(\.?[A-Za-z][\w.]*)")
COMMON = re.compile(r"^\t\.comm\t([\w.]+)")
LABEL = re.compile(r"^([A-Za-z_][\w.]*):")
CHANGING = ("data", "bss", "tdata", "tbss", "ldata", "lbss")
CONSTANT = (".data.rel.ro",)


def sources():
    out = subprocess.run(["make", "-s", "-f", "host/host.mk", "pure-sources"], check=True,
                         stdout=subprocess.PIPE, text=True).stdout
    return [name.removeprefix("./") for name in out.split()]


def changing_data(assembly):
    """Names of what lies in a section that can change. Without optimisation nothing is left out."""
    changing = False
    for line in assembly.splitlines():
        if found := COMMON.match(line):
            yield found[1]
        elif found := SECTION.match(line):
            name = found[1]
            if name == "text" or line.startswith("\t.section"):
                changing = not name.startswith(CONSTANT) and \
                    name.lstrip(".").split(".")[0] in CHANGING
            elif name in CHANGING:
                changing = True
        elif changing and (found := LABEL.match(line)):
            yield found[1]


def breaches(source):
    may = MODEL if source.startswith("refpmu/") else HARNESS
    with tempfile.NamedTemporaryFile("r", suffix=".d") as includes:
        run = subprocess.run(["gcc", "-std=gnu11", "-I.", "-isystem", ".cache/qr/c", "-O0",
                              "-fno-pic", "-w", "-S", "-MMD", "-MF", includes.name, source,
                              "-o", "-"],
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                             check=False)
        words = includes.read().replace("\\\n", " ").split()
    if run.returncode:
        return [f"{source}: pure, and doesn't compile for this machine"]
    with open(source, encoding="utf-8") as file:
        text = file.read()
    found = [f"and includes {header}" for header in words[1:] if header != source and
             not any(fnmatch.fnmatchcase(header, pattern) for pattern in may)]
    if ASSEMBLY.search(text):
        found.append("and holds assembly")
    found += [f"and has data that can change: {name}" for name in changing_data(run.stdout)]
    return [f"{source}: pure, {what}" for what in found]


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    names = sources()
    if not names:
        print("check-pure: host/host.mk names no pure source")
        return 2
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = [line for lines in pool.map(breaches, names) for line in lines]
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
