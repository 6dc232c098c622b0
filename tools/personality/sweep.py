#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Personalities: check that the suite passes whatever a processor enumerates.

sweep.py [--build FOLDER] [--jobs N] [--engine step|direct|fast] [--cpu NAME|all] [--count N]
         [--draw N] [--smp N] [--tests GLOB]

Runs the unchanged harness on N processors (100) drawn from the numbers K, K + 1 and so on (--draw
K): a generation, and legal combinations of the values in CPUID and IA32_PERF_CAPABILITIES:
- version, counters, widths, the bitmap of fixed counters, events, capabilities, PEBS, and the
  signature of that generation or one that no table has;
- leaf 23H, where the generation has it: a bitmap of counters with holes, UMASK2, EQ, RDPMC user
  disable, auto counter reload, groups and counters of architectural PEBS;
- leaf 1CH, likewise: depths, features and event logging of last branch records.
Without --engine the reference PMU counts on the engine fast. A failing test is a false alarm.
Prints failing tests, and each personality, as options of run-qemu.sh, with its totals; the last
line is "N runs, N failed". Exit status: 0 none failed, 1 otherwise, 2 bad option or nothing ran.
"""
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import checks       # noqa: E402
import command      # noqa: E402
import leaf23       # noqa: E402
import plan         # noqa: E402
import spec         # noqa: E402

UNNAMED = 0x000f06f0            # family 06H, model FFH
FORMATS = {"FAC_PEBS_BASELINE": 1 << 14, "FAC_PERF_METRICS": 1 << 15,
           "FAC_RETIRE_LATENCY": 1 << 17}
OF_BASELINE = FORMATS["FAC_PEBS_BASELINE"] | FORMATS["FAC_RETIRE_LATENCY"]
ARCHITECTURAL_LBR = 0x3f
FW_WRITE, SMM_FREEZE = 1 << 13, 1 << 12
RECORDS = 0xfc0                 # PEBS_FMT, PEBS_ARCH_REG, PEBS_TRAP
WIDTHS = (32, 33, 36, 40, 44, 47, 48)


def capabilities_of(row):
    """IA32_PERF_CAPABILITIES of a row of generation.def."""
    lbr = ARCHITECTURAL_LBR if has(row, "FAC_ARCH_LBR") else int(row["lbr_fmt"], 0)
    value = lbr | 3 << 6 | int(row["pebs_format"], 0) << 8
    bits = {"FAC_SMM_FREEZE": SMM_FREEZE, "FAC_FW_WRITE": FW_WRITE, **FORMATS}
    return value | sum(bit for name, bit in bits.items() if name in row["facilities"])


def has(row, name):
    return name in [word.strip() for word in row["facilities"].split("|")]


class Drawn:
    """A processor of this generation, drawn from a number: the knobs that tell of it."""

    def __init__(self, row, number):
        self.row, self.dice = row, random.Random(number)
        self.told = {}
        self.named = self.dice.random() < 0.7
        if not self.named:
            self.told["signature"] = UNNAMED
        uncore = has(row, "FAC_UNCORE")         # it interrupts by what version 3 has
        self.version = self.maybe("perfmon-version", int(row["perfmon"], 0),
                                  range(3 if uncore and self.named else 1, 4 if uncore else 6))
        self.counters()
        self.fixed()
        self.events()
        self.capabilities()
        # After all others, so that a number without these leaves stays the processor that it was.
        if has(row, "FAC_ARCH_LBR"):
            self.told |= leaf23.drawn_lbr(self.dice)
        if self.version >= 5 and leaf23.rows_of(row):
            self.leaf_23h(leaf23.rows_of(row))

    def maybe(self, name, usual, values):
        """Half of the processors have what is usual, though it may be told too."""
        value = usual if self.dice.random() < 0.5 else self.dice.choice(list(values))
        if value != usual or self.dice.random() < 0.3:
            self.told[name] = value
        return value

    def counters(self):
        usual = int(self.row["gp"], 0)
        # MSR-42, FIX-08, MSR-03: what the manual says of these by name.
        stated = self.named and (has(self.row, "FAC_PEBS_BASELINE") or has(self.row, "FAC_SETUP"))
        self.holes = not stated
        # Each event of Gracemont is one of its six counters.
        most = usual if usual == 6 else 8
        self.gp = self.maybe("gp-counters", usual, (usual,) if stated else range(0, most + 1))
        self.maybe("gp-width", 48, (48,) if self.named else WIDTHS)

    def fixed(self):
        usual = int(self.row["fixed"], 0)
        deprecated = has(self.row, "FAC_NO_ANYTHREAD")
        if self.version >= 5:
            deprecated = self.told["anythread-deprecated"] = 1
        if self.version >= 3 and not deprecated:
            self.maybe("anythread-deprecated", 0, (0, 1))
        self.fixed_mask = 0
        if self.version < 2:
            self.told["fixed-counters"] = 0
            return
        # HYB-04: Alder Lake's P-core has what leaf 0AH leaves out for its E-cores.
        stated = self.named and self.row["name"] == "alderlake"
        count = self.maybe("fixed-counters", usual,
                           (usual,) if stated else range(0, 5 if usual == 4 else 4))
        self.maybe("fixed-width", 48, WIDTHS)
        self.fixed_mask = (1 << count) - 1
        if self.version >= 5:
            self.fixed_mask |= self.maybe("fixed-mask", self.fixed_mask,
                                          range(0, 16 if usual == 4 else 8))

    def events(self):
        usual = 7 if self.version < 5 else 8 if self.version < 6 else 13
        length = self.maybe("events-length", usual, range(0, 14))
        self.maybe("missing-events", 0, range(1 << length))

    def capabilities(self):
        """As the generation has them, without some, as a hypervisor shows them, or none."""
        usual = capabilities_of(self.row)
        pebs = self.version >= 2 and self.gp > 0 and self.dice.random() < 0.6
        value = usual
        if not self.fixed_mask & 8 or not has(self.row, "FAC_PERF_METRICS") or not pebs:
            value &= ~FORMATS["FAC_PERF_METRICS"]
        if pebs:
            for bit in (FW_WRITE, SMM_FREEZE, OF_BASELINE, FORMATS["FAC_PERF_METRICS"]):
                value &= ~(bit if self.dice.random() < 0.2 else 0)
        else:
            way = self.dice.choice(("ds", "pebs-unavailable", "pdcm")[:2 if self.named else 3])
            self.told[way] = int(way == "pebs-unavailable")
            value &= ~(RECORDS | OF_BASELINE)
            value &= self.dice.choice((~0, FW_WRITE, 0)) if way != "pdcm" else 0
        self.pebs = pebs
        if pebs and not has(self.row, "FAC_ARCH_LBR") and self.dice.random() < 0.2:
            value &= ~0x3f
        if value != usual or self.dice.random() < 0.3:
            self.told["perf-capabilities"] = value

    def leaf_23h(self, rows):
        """Each half of the time as the generation has it."""
        if self.version == 5 and self.dice.random() < 0.5:
            self.version = self.told["perfmon-version"] = 6
        self.maybe("ext-features", rows[leaf23.FEATURES][leaf23.EBX] & leaf23.UMASK2_AND_EQ,
                   [value for value in range(4) if not value & ~rows[leaf23.FEATURES][leaf23.EBX]])
        self.maybe("rdpmc-user-disable", 0, (0, 1))
        general = (1 << self.gp) - 1
        if self.gp and self.holes and self.dice.random() < 0.5:
            general = leaf23.drawn_mask(self.dice, int(self.row["gp"], 0))
            self.told["gp-mask"] = general
            self.told.pop("gp-counters", None)      # leaf 0AH: those below the first hole
        fixed = rows[leaf23.COUNTERS][leaf23.EBX]
        if "fixed-mask" in self.told:               # 4 to 6, of the generation's
            self.told["fixed-mask"] |= leaf23.some(self.dice, fixed & 0x70)
            fixed = self.told["fixed-mask"]
        fixed |= self.fixed_mask
        there = leaf23.counters(general, fixed)
        if leaf23.RELOAD in rows and self.dice.random() < 0.5:
            self.told |= leaf23.drawn_reload(self.dice, rows, there)
        if leaf23.PEBS in rows and self.pebs:
            if self.dice.random() < 0.5:
                self.told["pebs-groups"] = leaf23.drawn_groups(
                    self.dice, rows[leaf23.GROUPS][leaf23.EBX])
            if self.dice.random() < 0.5:
                self.told |= leaf23.drawn_pebs(self.dice, rows, there)

    @property
    def latitude(self):
        return ",".join(f"{name}:{value}" for name, value in self.told.items())


def jobs_of(options):
    rows = [row for row in spec.generations() if not has(row, "FAC_NETBURST") and
            options.cpu in (row["name"], "all")]
    jobs = []
    for number in range(options.draw, options.draw + options.count):
        row = rows[number % len(rows)]
        jobs.append(plan.Job(cpu=row["name"], latitude=Drawn(row, number).latitude,
                             engine=options.engine, tests=options.tests, name=str(number),
                             processors=options.smp))
    return jobs


def trouble(job):
    """What is red, one line each."""
    lines = [job.run.problem] if job.run.problem else []
    return lines + [f"{point.verdict} {point.name} {' '.join(point.broken)}"
                    for point in job.run.points if point.verdict in checks.RED]


def print_runs(jobs):
    """How many failed."""
    failed = 0
    for job in filter(lambda job: job.run, jobs):
        counts = ", ".join(f"{job.run.count(verdict)} {verdict}"
                           for verdict in ("PASS", "SKIP", "INCONCLUSIVE", "KNOWN"))
        lines = trouble(job)
        failed += bool(lines)
        print(f"{'FAILED' if lines else 'ok'} {job.name}, {job.seconds:.1f} s: --cpu {job.cpu} "
              f"--latitude {job.latitude}: {counts}")
        for line in lines:
            print(f"    {line}")
    return failed


def main():
    parser = command.Parser("sweep.py", __doc__, build="build", jobs=2, engine="fast",
                            cpu="all", all_cpus=True, smp=1, tests="")
    parser.add_argument("--count", type=command.number(1), default=100)
    parser.add_argument("--draw", type=command.number(0), default=0)
    options = parser.parse_args()
    jobs = jobs_of(options)
    try:
        plan.Pool(options.build, options.jobs).work_through(jobs)
    finally:
        jobs, failed = [job for job in jobs if job.run], print_runs(jobs)
        print(f"{len(jobs)} runs, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(command.run("sweep.py", main))
