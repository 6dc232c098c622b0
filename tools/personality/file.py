#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads the description of a processor from a file, for the reference PMU. Called by run-qemu.sh.

file.py knobs FILE         the generation to present, a tab, and the knobs of
                                  refpmu/model/latitude.def that make it enumerate what FILE says
file.py compare FILE OUT   how the run in folder OUT differs from FILE and from the results
                                  beside it: to OUT/differences.txt and to standard error

FILE is the machine.json of a run (docs/RESULTS-FORMAT.md), or text: lines of `cpuid -r`, and MSRs
as INDEX VALUE or INDEX = VALUE, in hexadecimal. The first kind of processor in it is used. If the
model can't present it, one line says why, and the exit status is 2. Values outside of the PMU stay
as the model has them.
"""
import json
import os
import re
import sys

TOOLS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [TOOLS, os.path.join(TOOLS, "report")]
import compare      # noqa: E402
import leaf23       # noqa: E402
import output       # noqa: E402
import read         # noqa: E402
import spec         # noqa: E402

PERF_CAPABILITIES, MISC_ENABLE = 0x345, 0x1a0
REGISTERS = ("eax", "ebx", "ecx", "edx")
SIGNATURE = 0x0fff3fff
EVENTS = 13  # architectural events, of CPUID.0AH:EBX
CPUID_LINE = re.compile(r"\s*0x([0-9a-f]{8}) 0x([0-9a-f]{2,8}):" +
                        "".join(rf"\s+{name}=0x([0-9a-f]{{8}})" for name in REGISTERS), re.I)
MSR_LINE = re.compile(r"\s*(?:msr\s+)?(?:0x)?([0-9a-f]{2,8})(?:\s*[=:]\s*|\s+)(?:0x)?"
                      r"([0-9a-f]{1,16})\s*(?:#.*)?$", re.I)
# Knobs that are a field of spec/cpuid.def. Those of counters that there can't be stay unset.
FIELDS = {"perfmon-version": "PERFMON_VERSION", "gp-counters": "GP_COUNTERS",
          "gp-width": "GP_WIDTH", "events-length": "EVENTS_LENGTH",
          "fixed-counters": "FIXED_COUNTERS", "fixed-width": "FIXED_WIDTH",
          "fixed-mask": "FIXED_MASK", "anythread-deprecated": "ANYTHREAD_DEPRECATED",
          "max-leaf": "MAX_LEAF", "pdcm": "PDCM", "ds": "DS", "dtes64": "DTES64",
          "ds-cpl": "DS_CPL", "sgx": "SGX", "pt": "PT"}
# What leaf 0AH of a hybrid says is no core's own: the model makes it of its two types of cores.
OF_ALL_CORES = ("gp-counters", "events-length", "fixed-counters", "fixed-mask")
# Others that tell of the PMU.
OTHERS = ("STEPPING", "MODEL", "FAMILY", "EXT_MODEL", "EXT_FAMILY", "HYPERVISOR", "EVENTS_ABSENT",
          "SLOTS_ABSENT", "SLOTS_PER_CYCLE", "HYBRID", "HLE", "RTM", "RTM_ALWAYS_ABORT",
          "TSX_FORCE_ABORT", "ARCH_LBR", *leaf23.COMPARED)


class Refused(Exception):
    """The model can't be this processor; the text is for the user."""


class Processor:
    """CPUID leaves and MSRs of one processor."""

    def __init__(self, leaves, msrs):
        self.leaves, self.msrs = leaves, msrs
        self.fields = {row["name"]: row for row in spec.table(
            "spec/cpuid.def", "CPUID_FIELD",
            ["name", "leaf", "subleaf", "reg", "lo", "hi", "source"])}

    def register(self, leaf, subleaf, name):
        return self.leaves.get((leaf, subleaf), {}).get(name, 0)

    def get(self, name):
        """A field of spec/cpuid.def."""
        row = self.fields[name]
        value = self.register(int(row["leaf"], 0), int(row["subleaf"], 0), row["reg"].lower())
        low, high = int(row["lo"]), int(row["hi"])
        return value >> low & (1 << high - low + 1) - 1

    def where(self, name):
        """ "CPUID.0AH:EAX[15:8]" """
        row = self.fields[name]
        low, high = row["lo"], row["hi"]
        bits = "" if (low, high) == ("0", "31") else f"[{low if low == high else f'{high}:{low}'}]"
        return f"CPUID.{int(row['leaf'], 0):02X}H:{row['reg']}{bits}"

    def vendor(self):
        return b"".join(self.register(0, 0, name).to_bytes(4, "little")
                        for name in ("ebx", "edx", "ecx")).decode("ascii", "replace")

    @property
    def has_pebs(self):
        return bool(self.get("DS") and not self.msrs.get(MISC_ENABLE, 0) >> 12 & 1 and
                    self.get("PERFMON_VERSION"))

    @property
    def pebs_format(self):
        return self.msrs.get(PERF_CAPABILITIES, 0) >> 8 & 0xf


def number(text):
    return int(text, 16)


def from_json(text):
    machine = json.loads(text)
    if not isinstance(machine, dict) or machine.get("format") != "pmutest86-machine":
        raise Refused("no machine.json of PMUTest86")
    if machine.get("version") != 1 or not machine.get("kinds"):
        raise Refused("a version of machine.json that isn't known, or one without a processor")
    kind = machine["kinds"][0]
    return Processor({(number(row["leaf"]), number(row["subleaf"])):
                      {name: number(row[name]) for name in REGISTERS} for row in kind["cpuid"]},
                     {number(row["index"]): number(row["value"]) for row in kind["msrs"]})


def from_text(text):
    leaves, msrs = {}, {}
    for line in text.splitlines():
        leaf, msr = CPUID_LINE.match(line), MSR_LINE.match(line)
        if leaf:
            values = [number(word) for word in leaf.groups()]
            leaves.setdefault((values[0], values[1]), dict(zip(REGISTERS, values[2:])))
        elif msr:
            msrs.setdefault(number(msr[1]), number(msr[2]))
    return Processor(leaves, msrs)


def load(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read(read.MOST_JSON)
        processor = from_json(text) if text.lstrip().startswith("{") else from_text(text)
    except OSError as error:
        raise Refused(error.strerror) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Refused("it can't be read: cut short or damaged") from error
    if (0, 0) not in processor.leaves or (1, 0) not in processor.leaves:
        raise Refused("it has no CPUID leaves 0 and 1 (of `cpuid -r`, or machine.json)")
    return processor


def named(processor):
    """The row of spec/generation.def that has this family and model, or None."""
    family = processor.get("FAMILY")
    model = processor.get("MODEL") | processor.get("EXT_MODEL") << 4
    for row in spec.table("spec/generation.def", "GENERATION_MODEL",
                          ["id", "family", "model", "without"]):
        if (int(row["family"], 0), int(row["model"], 0)) == (family, model):
            return next(one for one in spec.generations() if one["token"] == row["id"])
    return None


def nearest(processor):
    """The row that is this processor's, or is most like it."""
    row = named(processor)
    if row:
        return row
    rows = [one for one in spec.generations() if int(one["perfmon"])]
    if processor.has_pebs:
        rows = [one for one in rows if int(one["pebs_format"]) == processor.pebs_format]
        if not rows:
            raise Refused("the model has no PEBS records of format "
                          f"{processor.pebs_format} (IA32_PERF_CAPABILITIES[11:8])")
    return min(reversed(rows), key=lambda one: (
        bool(processor.get("ARCH_LBR")) != ("FAC_ARCH_LBR" in one["facilities"]),
        abs(int(one["perfmon"]) - processor.get("PERFMON_VERSION")),
        abs(int(one["gp"]) - processor.get("GP_COUNTERS"))))


def is_p_core(processor, row):
    """Of a hybrid that spec/generation.def knows."""
    core = processor.register(0x1a, 0, "eax")
    return any((row["token"], row["token"], core) ==
               (one["package"], one["id"], int(one["type"], 0) << 24 | int(one["native"], 0))
               for one in spec.table("spec/generation.def", "GENERATION_CORE",
                                     ["package", "type", "native", "id"]))


def check(processor):
    if processor.vendor() != "GenuineIntel":
        raise Refused(f"the processor is {processor.vendor()!r}, not an Intel one")
    row = named(processor)
    if processor.get("HYBRID") and not (row and is_p_core(processor, row)):
        raise Refused("of a hybrid (CPUID.07H:EDX[15] = 1) the model has the P-cores that "
                      "spec/generation.def names "
                      f"(CPUID.1AH:EAX is {processor.register(0x1a, 0, 'eax'):#x})")
    if processor.get("PDCM") and PERF_CAPABILITIES not in processor.msrs:
        raise Refused("it has no IA32_PERF_CAPABILITIES (MSR 345H)")


def transactions(processor, row):
    """Knobs that were there before."""
    told = {}
    if "FAC_TSX" in row["facilities"]:
        told["no-rtm"] = int(not (processor.get("RTM") or processor.get("HLE")))
        told["rtm-always-abort"] = processor.get("RTM_ALWAYS_ABORT")
        told["tsx-force-abort"] = processor.get("TSX_FORCE_ABORT")
    if processor.get("SLOTS_PER_CYCLE"):
        told |= {"slots": processor.get("SLOTS_PER_CYCLE"), "slots-shown": 1}
    return told


def knobs(processor, row):
    """Knob to value."""
    version = processor.get("PERFMON_VERSION")
    told = {"signature": processor.register(1, 0, "eax") & SIGNATURE}
    left = set()
    if version < 5:
        left.add("fixed-mask")
    if version < 2:
        left |= {"fixed-counters", "fixed-width"}
    if not version:
        left |= {"gp-counters", "gp-width", "events-length", "anythread-deprecated"}
    told |= {knob: processor.get(field) for knob, field in FIELDS.items() if knob not in left}
    for width, counters in (("gp-width", "gp-counters"), ("fixed-width", "fixed-counters")):
        if not told.get(counters) and not told.get(width):
            told.pop(width, None)
    told["missing-events"] = processor.register(0xa, 0, "ebx") & (1 << EVENTS) - 1
    if processor.get("PDCM"):
        told["perf-capabilities"] = processor.msrs[PERF_CAPABILITIES]
    if MISC_ENABLE in processor.msrs:
        told["pebs-unavailable"] = processor.msrs[MISC_ENABLE] >> 12 & 1
    if processor.get("HYBRID"):
        told = {knob: value for knob, value in told.items() if knob not in OF_ALL_CORES}
        told["missing-events"] = 0
        told["common-counters"] = int(processor.get("GP_COUNTERS") < int(row["gp"]) or
                                      processor.get("FIXED_COUNTERS") < int(row["fixed"]))
    there = processor.get("EXT_FIXED_MASK")
    told |= leaf23.lbr_knobs(processor) | leaf23.leaf_knobs(processor, row)
    # Leaf 0AH can't have a counter that there isn't; it is then what differs.
    if "gp-mask" in told and (1 << told.get("gp-counters", 0)) - 1 & ~told["gp-mask"]:
        del told["gp-counters"]
    if "gp-mask" in told and there != leaf23.rows_of(row)[leaf23.COUNTERS][leaf23.EBX]:
        told["fixed-mask"] = there
    return told | transactions(processor, row)


def in_range(told):
    ranges = {row["name"]: row for row in spec.latitude()}
    for knob, value in told.items():
        low, high = ranges[knob]["low"], ranges[knob]["high"]
        if not low <= value <= high:
            where = ranges[knob]["source"].partition(";")[0]
            raise Refused(f"{knob} is {value} ({where}), the model has {low} to {high}")
    return told


def print_knobs(path):
    processor = load(path)
    check(processor)
    row = nearest(processor)
    if processor.get("ARCH_LBR") and "FAC_ARCH_LBR" not in row["facilities"]:
        raise Refused(f"the model of {row['name']} has no architectural LBRs "
                      "(CPUID.07H:EDX[19] = 1)")
    told = {} if "FAC_NETBURST" in row["facilities"] else in_range(knobs(processor, row))
    print(row["name"] + "\t" + ",".join(f"{knob}:{value}" for knob, value in told.items()))


def enumerated(there, here):
    """Lines: what the model doesn't enumerate as that processor does."""
    lines = [f"{there.where(name)} ({name}) is {there.get(name):#x} there, {here.get(name):#x} here"
             for name in [*FIELDS.values(), *OTHERS] if there.get(name) != here.get(name)]
    rows = spec.table("spec/msr.def", "MSR_FIELD",
                      ["reg", "field", "low", "high", "present", "access", "source"])
    for register, index in (("IA32_PERF_CAPABILITIES", PERF_CAPABILITIES),
                            ("IA32_MISC_ENABLE", MISC_ENABLE)):
        if index not in there.msrs or index not in here.msrs:
            continue
        for row in rows:
            low, high = int(row["low"]), int(row["high"])
            mask = (1 << high - low + 1) - 1
            one, other = there.msrs[index] >> low & mask, here.msrs[index] >> low & mask
            if row["reg"] == register and one != other:
                lines.append(f"{register} ({row['field']}) is {one:#x} there, {other:#x} here")
    return lines


def verdicts(path, out):
    """Lines: requirements on which that machine's last run and this one differ."""
    folder = os.path.dirname(os.path.abspath(path))
    if not any(os.path.isfile(os.path.join(folder, name)) for name in read.NAMES):
        return []
    there, here = read.read(folder)[-1], read.read(out)[-1]
    return [f"{one.requirement}: {one.before or 'no test'} there, {one.after or 'no test'} here"
            for one in compare.changes(there, here)]


def print_comparison(path, out):
    lines = enumerated(load(path), load(os.path.join(out, "machine.json"))) + verdicts(path, out)
    with open(os.path.join(out, "differences.txt"), "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in lines)
    for line in lines:
        print(f"personality: {line}", file=sys.stderr)
    print(f"personality: {len(lines)} differences from {path}", file=sys.stderr)


def main():
    words = sys.argv[1:]
    try:
        if len(words) == 2 and words[0] == "knobs":
            print_knobs(words[1])
        elif len(words) == 3 and words[0] == "compare":
            print_comparison(words[1], words[2])
        else:
            sys.exit("usage: file.py knobs FILE, or file.py compare FILE OUT")
    except (Refused, read.ReadError) as error:
        print(f"run-qemu.sh: --personality {read.printable(words[1])}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(output.guarded("file.py", main))
