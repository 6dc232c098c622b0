# SPDX-License-Identifier: MIT
"""The commands of perf in the machine, and the judge in judge.py for the output of each."""
import re

import judge

SPIN, TURNS, JUMP, TOUCH, READ = 3_000_000, 48_000_000, 20_000, 20_000, 1000
GROUPS = 8
APART = 400_000     # instructions between two samples whose registers are compared
# Of auto counter reload: instructions between two samples, and branches after which both counters
# begin again: one of four instructions is one.
RELOADED, LATER, SOONER = 20_000, 6_000, 4_000
BROKEN = 30_000     # rounds while a rule is broken: each instruction is looked at
SAMPLED = 1_000_003
SYSTEM = 3_000_000      # instructions of perf's own, and of the shell's
LINES = 400     # of perf script's, at most: serial lines are slow

# What the driver says of each processor, in one line of the kernel's log (intel_pmu_init() of
# Linux 7.3).
DRIVER = {
    "nehalem": ("PEBS fmt1+,", "Nehalem events,", "16-deep LBR,"),
    "westmere": ("PEBS fmt1+,", "Westmere events,", "16-deep LBR,"),
    "sandybridge": ("PEBS fmt1+,", "SandyBridge events,", "16-deep LBR,"),
    "ivybridge": ("PEBS fmt1+,", "IvyBridge events,", "16-deep LBR,"),
    "haswell": ("PEBS fmt2+,", "Haswell events,", "16-deep LBR,", "full-width counters,"),
    "broadwell": ("PEBS fmt2+,", "Broadwell events,", "16-deep LBR,", "full-width counters,"),
    "skylake": ("PEBS fmt3+,", "Skylake events,", "32-deep LBR,", "full-width counters,"),
    "icelake": ("PEBS fmt4+-baseline,", "Icelake events,", "AnyThread deprecated,",
                "32-deep LBR,", "full-width counters,"),
}
GLC = ("PEBS fmt4+-baseline,", "AnyThread deprecated,", "Architectural LBR,", "32-deep LBR,",
       "full-width counters,")
DRIVER["alderlake"] = ("Alderlake Hybrid events,", *GLC)
DRIVER["gracemont"] = ("Gracemont events,", *GLC)
DRIVER["sapphirerapids"] = ("Sapphire Rapids events,", *GLC)
DRIVER["graniterapids"] = ("Granite Rapids events,", *GLC)
V6 = ("Architectural PEBS,", *GLC[1:])
DRIVER["meteorlake"] = ("Meteorlake Hybrid events,", *GLC)
DRIVER["sierraforest"] = ("Crestmont events,", *GLC)
DRIVER["lunarlake"] = ("Lunarlake Hybrid events,", "PEBS fmt6+-baseline,", *GLC[1:])
DRIVER["pantherlake"] = ("Pantherlake Hybrid events,", *V6)
DRIVER["clearwaterforest"] = ("Darkmont events,", *V6)
DRIVER["icelake-sp"] = DRIVER["icelake"]
# Without a program's event of its own: MEM_INST_RETIRED.ALL_LOADS.
LOADS = "cpu/event=0xd0,umask=0x81/upp"


# Only where they are named.
NOT_OF_ALL = ("fault", "soak")
# With cores of two types: a PMU for each, and each event is one of either. The first processor has
# the larger core, and of four the last one the smaller.
HYBRID = ("alderlake", "meteorlake", "lunarlake", "pantherlake")
# With the counters group of architectural PEBS.
SNAPSHOTS = ("pantherlake", "clearwaterforest")
# With auto counter reload, hybrids on the smaller core.
RELOADS = ("lunarlake", "pantherlake", "clearwaterforest")
# Without an event that samples stores, which perf c2c asks for.
NO_STORES = ("nehalem", "westmere")
# Without MSR_LBR_SELECT's call-stack mode.
NO_CALL_STACK = ("nehalem", "westmere", "sandybridge", "ivybridge")


def absent(options):
    """Steps that the machine hasn't what they need for."""
    names = set()
    if options.cpu in NO_STORES:
        names |= {"c2c"}
    if options.cpu in NO_CALL_STACK:
        names |= {"callgraph"}
    if options.profile.startswith("kvm"):   # no guest of it has branch records, or latencies
        names |= {"branch", "callgraph", "mem", "c2c"}
    if has_no_baseline(options):            # no data address, no source; no cycles:pp
        names |= {"c2c", "regs"}
    if options.cpu in HYBRID:               # its groups would be twice as many
        names |= {"multiplex"}
    if options.cpu not in SNAPSHOTS:
        names |= {"snapshot"}
    if options.cpu not in RELOADS or (options.cpu in HYBRID and not has_both_types(options)):
        names |= {"reload"}
    if not has_both_types(options):
        names |= {"hybrid"}
        if options.cpu in HYBRID:   # perf mem asks both PMUs, and that of no processor refuses it
            names |= {"mem", "c2c"}
    return names


def has_both_types(options):
    """Cores of two types. Otherwise all of a hybrid's processors have the larger core, and Linux
    registers a PMU that none has for the smaller one."""
    return options.cpu in HYBRID and options.smp >= 4


def has_no_baseline(options):
    """Format 4 without PEBS_BASELINE, as KVM shows it."""
    return options.profile == "kvm-7.3-pebs" or "no-baseline:1" in options.latitude.split(",")


def record(name, options, program, fields):
    """The commands that sample a program and show the samples."""
    return (f"perf {options} -o /tmp/{name} {program} > /tmp/said 2>&1 || cat /tmp/said; "
            f"perf script -i /tmp/{name} -F {fields} 2>/dev/null | head -n {LINES}")


def on_each_type(last):
    """The commands that count and sample programs by both PMUs, on a processor of each type."""
    stat = ",".join(f"{pmu}/{event}/u" for pmu in ("cpu_core", "cpu_atom")
                    for event in ("instructions", "branches"))
    parts = ["cd /sys/devices; echo pmus cpu_core $(cat cpu_core/cpus) cpu_atom "
             "$(cat cpu_atom/cpus)"]
    for pmu, mask in (("cpu_core", "1"), ("cpu_atom", f"{1 << last:x}")):
        on = f"taskset {mask} perf"
        parts += [
            f"echo on {pmu}",
            f"{on} stat -x, -e {stat} -o /tmp/hybrid hot spin {SPIN}; cat /tmp/hybrid",
            record("hybrid", "record -e cpu_core/cycles/ppu,cpu_atom/cycles/ppu -c 200000",
                   f"hot spin {SPIN}", "event,ip").replace("perf record", f"{on} record"),
            record("hybrid", "mem record -U -t load --ldlat 3 -- -c 200", f"hot touch {TOUCH}",
                   "event,ip,addr").replace("perf mem", f"{on} mem"),
        ]
    return "; ".join(parts)


def reloads(options, rounds):
    """The commands that sample instructions, but not where so many branches come before: then
    both counters begin again. Masks are of the group's events."""
    pin, pmu, parts = "", "cpu", []
    if options.cpu in HYBRID:
        pin, pmu = f"taskset {1 << options.smp - 1:x} ", "cpu_atom"
    for branches in (LATER, SOONER):
        group = (f"{{{pmu}/instructions,period={RELOADED},acr_mask=0x2/u,"
                 f"{pmu}/branch-instructions,period={branches},acr_mask=0x3/u}}")
        parts += [f"echo branches {branches}", record("reload", f"record -e '{group}'",
                                                      f"hot spin {rounds}", "ip")
                  .replace("perf record", f"{pin}perf record")]
    return "; ".join(parts)


def known(options):
    """name: (what is done in the machine, who judges it)."""
    # An event without its PMU's name is then one of each; the other type's has no samples.
    pin, pmu = ("taskset 1 ", "cpu_core") if options.cpu in HYBRID else ("", "cpu")
    lines = ["Performance Events:", *DRIVER.get(options.cpu, ())]
    commands = {
        "driver": "dmesg | grep -i -E 'perf|pebs|pmu|tsc:|smp:'",
        "stat": f"perf stat -x, -e instructions:u,branches:u,cycles:u -o /tmp/stat "
                f"hot spin {SPIN}; cat /tmp/stat",
        "record": pin + record("record", "record -e cycles:pp -c 50000", f"hot spin {SPIN}",
                               "ip"),
        "report": "perf report -i /tmp/record --stdio -q 2>/dev/null | head -n 20",
        "mem": record("mem", "mem record -U -t load --ldlat 3 -- -c 100", f"hot touch {TOUCH}",
                      "ip,addr"),
        "branch": record("branch", "record -b -e cycles:u -c 2000", f"hot jump {JUMP}",
                         "ip,brstack"),
        "callgraph": record("callgraph", "record --call-graph lbr -e cycles:u -c 997",
                            f"hot deep {JUMP}", "ip,sym"),
        # More groups than counters: they take turns, 250 times a second.
        "multiplex": "perf stat -x, -o /tmp/multiplex --no-scale "
                     + "-e '{branches:u,branches:u,r00c0:u}' " * GROUPS
                     + f"hot spin {TURNS}; cat /tmp/multiplex",
        "system": f"perf stat -a -x, -e instructions:u,branches:u -o /tmp/system "
                  f"hot spin {SPIN}; cat /tmp/system",
        # Two on one processor: each has its own counts. The second runs for twice as long.
        "switches": f"for n in {SPIN} {2 * SPIN}; do taskset 1 perf stat -x, -o /tmp/switches.$n "
                    f"-e instructions:u,branches:u,context-switches hot spin $n & done; wait; "
                    f"cat /tmp/switches.{SPIN} /tmp/switches.{2 * SPIN}",
        "rdpmc": f"{pin}hot read {READ}",
        "hybrid": on_each_type(options.smp - 1),
        # On one processor: perf opens an event for each, and each has a period of its own.
        "regs": (pin or "taskset 1 ") +
                record("regs", f"record -e cycles:ppu --intr-regs=di -c {APART}",
                       f"hot spin {SPIN}", "ip,iregs"),
        "snapshot": pin + record("snapshot", f"record -e '{{{pmu}/cycles/ppu,{pmu}/instructions/u,"
                                 f"{pmu}/branches/u}}:S' -c {APART}", f"hot spin {SPIN}",
                                 "event,period,ip"),
        "reload": reloads(options, SPIN // 10),
        # It keeps a counter of cycles on.
        "watchdog": "echo 1 > /proc/sys/kernel/nmi_watchdog; "
                    "echo watchdog $(cat /proc/sys/kernel/nmi_watchdog); "
                    f"perf stat -x, -e instructions:u,branches:u -o /tmp/watchdog hot spin {SPIN}; "
                    "cat /tmp/watchdog; echo 0 > /proc/sys/kernel/nmi_watchdog",
        "c2c": f"perf c2c record -u --ldlat 3 -- -o /tmp/c2c -c 100 hot touch {TOUCH} "
               "> /tmp/said 2>&1 || cat /tmp/said; perf c2c report -i /tmp/c2c --stats 2>/dev/null",
        # A rule is broken while the kernel runs, and holds again.
        "fault": "for fault in instructions-missed none; do refpmu-fault $fault; "
                 "perf stat -x, -e instructions:u,branches:u -o /tmp/fault "
                 f"hot spin {BROKEN}; cat /tmp/fault; done",
        # One inside the other: both count all that the processors do, for that long.
        "soak": f"perf stat -a -x, -e instructions:u,branches:u -o /tmp/soak.stat "
                f"perf record -q -a -e cycles:u -c {SAMPLED} -o /tmp/soak "
                f"sh -c 'n=0; end=$(($(date +%s) + {options.soak})); "
                f"while [ $(date +%s) -lt $end ]; do hot spin {SPIN}; n=$((n + 1)); done; "
                "echo rounds $n' 2>&1; cat /tmp/soak.stat; "
                "perf script -i /tmp/soak --comms hot -F ip 2>/dev/null | sort | uniq -c; "
                "dmesg | grep -E 'lockup|BUG:|WARNING:|Uhhuh|stall' || true",
    }
    judges = {
        "stat": judge.counts(SPIN, 4, 1), "record": judge.samples_in("spin"),
        "report": judge.report_names("spin"), "mem": judge.accesses_by("touch"),
        "branch": judge.branches_of("jump", "left", "right"),
        "callgraph": judge.callers("three", "two", "one", "deep"),
        "multiplex": judge.groups(GROUPS, TURNS, 4, 1),
        "system": judge.counts(SPIN, 4, 1, more=SYSTEM),
        "switches": judge.switched((SPIN, 2 * SPIN), 4, 1),
        "rdpmc": judge.difference(READ, 2),
        "watchdog": judge.counts(SPIN, 4, 1, beside="watchdog 1"),
        "c2c": judge.c2c(), "hybrid": judge.hybrid(SPIN, 4, 1, "spin", "touch"),
        "regs": judge.registers("spin", APART // 4), "snapshot": judge.snapshots("spin", 4, 1),
        "reload": judge.reloaded("spin", {LATER: 4 * (SPIN // 10) // RELOADED, SOONER: 0}),
        "fault": judge.broken(BROKEN, 4, 1),
        "soak": judge.soaked(SPIN, 4, 1, SAMPLED),
    }
    if has_no_baseline(options):
        # Linux asks no processor without baseline for records of other events than those of its
        # list (intel_icl_pebs_event_constraints), and its basic records hold no data address.
        lines[1] = "PEBS fmt4+,"
        commands["refused"] = commands["record"]
        judges["refused"] = judge.refused("cycles:pp")
        commands["record"] = record("record", f"record -e {LOADS} -c 100",
                                    f"hot touch {TOUCH}", "ip")
        judges["record"] = judge.samples_in("touch")
        judges["report"] = judge.report_names("touch")
        judges["mem"] = judge.accesses_by("touch", addresses=False)
    if "branch" in absent(options):
        lines = [line for line in lines if "LBR" not in line]
    if options.profile.startswith("kvm"):   # the driver says it from version 5 on
        lines = [line for line in lines if "AnyThread" not in line]
    judges["driver"] = judge.driver(lines)
    # The kernel is counted then, and slow: nothing is to wait for that.
    commands["watchdog"] = commands.pop("watchdog")
    if options.cpu in HYBRID and not has_both_types(options):
        event = re.compile(r"\b(instructions|branches|cycles):(\w+)")
        commands = {name: event.sub(pmu + r"/\1/\2", command)
                    for name, command in commands.items()}
    return {name: (command, judges[name]) for name, command in commands.items()
            if name not in absent(options)}
