#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Convert a trace of the reference PMU to a file for Perfetto: convert.py LINES FILE

LINES is the output of the reference PMU (refpmu/vmm/trace.h). FILE is in the JSON form of the Trace
Event Format: an event each, on the track of its processor. One tick of the TSC is shown as a
nanosecond. The last line may be cut.
"""
import functools
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import command      # noqa: E402
import spec         # noqa: E402

LINE = re.compile(r"([0-9a-f]+) ([0-9a-f]+) ([0-9a-f]+) ([a-z]+) ([0-9a-f]+) ([0-9a-f]+)")
COUNTED = {"arm", "record", "threshold", "overflow", "uncore"}
DELIVERED = ("dropped", "fixed", "nmi")
FIRST = re.compile(r"(.*(?:[A-Z]|_))0(|_[A-Z_]+)")
MOST_ENTRIES = 32


@functools.lru_cache(maxsize=None)
def first_fixed():
    """The model's index of fixed counter 0, which is how many others it has at most."""
    with open(os.path.join(spec.ROOT, "refpmu", "model", "model.h"), encoding="utf-8") as file:
        return int(re.search(r"^#define MODEL_MAX_GP\s+(\d+)$", file.read(), re.M)[1])


def counter_name(index):
    return f"fixed{index - first_fixed()}" if index >= first_fixed() else f"pmc{index}"


def msr_names():
    """Address to name. A row whose name holds a number 0 is the first of a series, IA32_PMC0: the
    addresses after it have no rows. Two names of one address, of different generations, are both
    there."""
    names = {}
    for row in spec.table("spec/msr.def", "MSR", "name address cap source".split()):
        address = int(row["address"], 0)
        names[address] = "/".join(filter(None, (names.get(address), row["name"])))
    series = {address: FIRST.fullmatch(name) for address, name in names.items()}
    for address, first in series.items():
        member = 1
        while first and member < members(first[0]) and address + member not in series:
            names[address + member] = f"{first[1]}{member}{first[2]}"
            member += 1
    return names


def members(first):
    """Registers of a series at most: entries of last branch records, else counters."""
    return MOST_ENTRIES if "LBR_" in first or "LASTBRANCH_" in first else first_fixed()


def about(kind, first, second, msrs):
    """The event's name, and what is told with it."""
    if kind in COUNTED:
        return f"{kind} {counter_name(first)}", {}
    if kind == "pmi":
        how = DELIVERED[first] if first < len(DELIVERED) else str(first)
        return f"PMI {how}", {"vector": f"{second:#x}"}
    name = f"{first:#x}" if kind == "rdpmc" else msrs.get(first, f"{first:#x}")
    return f"{kind} {name}", {"value": f"{second:#x}"}


def events(lines):
    msrs = msr_names()
    begin = None
    for line in lines:
        found = LINE.fullmatch(line.strip())
        if not found:
            continue
        tsc, cpu, rip, first, second = (int(found[i], 16) for i in (1, 2, 3, 5, 6))
        begin = tsc if begin is None else begin
        name, told = about(found[4], first, second, msrs)
        yield {"name": name, "cat": found[4], "ph": "i", "s": "t", "pid": 1, "tid": cpu,
               "ts": (tsc - begin) / 1000, "args": {"rip": f"{rip:#x}", **told}}


def document(lines):
    made = list(events(lines))
    names = [{"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "reference PMU"}}]
    names += [{"name": "thread_name", "ph": "M", "pid": 1, "tid": cpu,
               "args": {"name": f"processor {cpu}"}}
              for cpu in sorted({event["tid"] for event in made})]
    return {"displayTimeUnit": "ns", "traceEvents": names + made}


def main():
    parser = command.Parser("convert.py", __doc__)
    parser.add_argument("lines")
    parser.add_argument("file")
    options = parser.parse_args()
    try:
        with open(options.lines, encoding="ascii", errors="replace") as file:
            made = document(file)
        with open(options.file, "w", encoding="ascii") as file:
            json.dump(made, file, separators=(",", ":"))
    except OSError as error:
        print(f"run-qemu.sh: --trace {options.file}: {error.strerror}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
