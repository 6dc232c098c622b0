#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hot.py BUILD [TESTS]: which functions of the reference PMU run at most exits, most first, as
lines of refpmu/hot.ld. Runs these tests (default: a few of each kind) on haswell without a
firmware, and QEMU writes down each block of code that it executes: a few minutes."""

import bisect
import collections
import os
import re
import subprocess
import sys
import tempfile

TESTS = ("msr.counter_registers*,pmi.overflow_on_a_wrmsr*,ll.latency_record_is_of_the_last*,"
         "record.every_field*,count.unus*,tsx.tx_abort_information_agrees_with_eax,"
         "random.drawn_samples*")
LEAST = 0.02        # of the exits


def functions(program):
    """Their addresses and names, in order. What gcc splits off a function has its name."""
    out = subprocess.run(["nm", "-n", program], check=True, capture_output=True, text=True).stdout
    found = [(int(at, 16), re.sub(r"\..*", "", name)) for at, kind, name in
             (line.split() for line in out.splitlines() if len(line.split()) == 3)
             if kind in "tT"]
    return [at for at, _ in found], [name for _, name in found]


def count(trace, base, program):
    """How many exits there were, and in how many each function was executed."""
    starts, names = functions(program)
    size, entry = os.path.getsize(program), names.index("svm_run")
    exits, seen, here = 0, collections.Counter(), set()
    for line in trace:
        # Trace 0: 0x7f0a [0000000000000000/000000000c001234/0040c0b0/00000000] ...
        at = line.find("/")
        if not line.startswith("Trace") or at < 0:
            continue
        offset = int(line[at + 1:at + 17], 16) - base
        if not 0 <= offset < size:
            continue
        index = bisect.bisect(starts, offset) - 1
        here.add(names[index])
        if index == entry:
            exits += 1
            seen.update(here)
            here = set()
    return exits, seen


def run(build, folder, tests):
    """Start the machine; its trace comes by a pipe of that name."""
    for name, program in (("kernel", "refpmu"), ("module", "pmutest86")):
        os.symlink(os.path.abspath(f"{build}/{program}.elf"), f"{folder}/{name}")
    with open(f"{folder}/append", "w", encoding="ascii") as f:
        f.write("run cpu=haswell fault=none engine=fast efi=x "
                f"args=tests={tests} results=off on=first serial=0x3f8 at_end=exit\n")
    with open(f"{folder}/qemu", "w", encoding="ascii") as f:
        qemu = os.environ.get("QEMU", "qemu-system-x86_64")
        f.write(f'#!/bin/sh\nexec {qemu} "$@" -d exec,nochain -D {folder}/pipe\n')
    os.chmod(f"{folder}/qemu", 0o755)
    os.mkfifo(f"{folder}/pipe")
    return subprocess.Popen(["tools/boot.sh", "--direct", "--timeout", "1200", folder],
                            env=dict(os.environ, QEMU=f"{folder}/qemu"))


def wait_for_hypervisor(trace, log):
    """Its address, which it says before its first exit. What was executed until then is read."""
    said = None
    while not said:
        if not sum(1 for _ in zip(range(50000), trace)):
            sys.exit("hot.py: the reference PMU didn't start")
        with open(log, encoding="latin-1") as f:
            said = re.search(r"launch: hypervisor at (0x[0-9a-f]+)\s", f.read())
    return int(said[1], 16)


def main():
    if len(sys.argv) not in (2, 3) or not os.path.isdir(sys.argv[1]):
        sys.exit(f"usage: hot.py BUILD [TESTS]; no folder {sys.argv[1:2]}")
    build, tests = sys.argv[1], (sys.argv + [TESTS])[2]
    with tempfile.TemporaryDirectory() as folder:
        child = run(build, folder, tests)
        with open(f"{folder}/pipe", encoding="latin-1") as trace:
            base = wait_for_hypervisor(trace, f"{folder}/serial.log")
            exits, seen = count(trace, base, f"{build}/refpmu-direct.so")
        child.wait()
    print(f"/* {exits} exits */")
    for name, times in seen.most_common():
        if times >= LEAST * exits:
            print(f"*(.text.{name} .text.{name}.*)")


if __name__ == "__main__":
    main()
