#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Mutants: check that the suite fails under every fault, and passes without one.

mutants.py [--build FOLDER] [--jobs N] [--engine step|direct|fast]
           [--faults NAME,... | --sample N [--draw K]]
           [--only CPU,... | --without CPU,...] [--all-tests]

Runs the unchanged harness on the reference PMU: a few seeds and each profile without a fault, and
every fault of refpmu/faults/fault.def, with the parameters of its row. A fault runs on haswell if
one of its requirements applies there and has a test, otherwise on the first generation for which
this is true. If there is none, the fault isn't run. The row says whether the fault also runs on a
second generation (NAME:CPU), or with several processors (NAME:CPU:COUNT). These tests run under a
fault: those that decide one of its requirements, those whose controls failed under it in the last
whole run, and a sample that is the same for every fault: the tests with .under_every_fault, a few
of each group. The share of the sample that fails stands for the fault's effect on the whole suite.
Without a fault, and under "inert" and faults whose rows say legal or all-tests, all tests run. With
--all-tests all tests run under every fault, which takes four times as long. --without leaves out
the faults that would run on these generations, or with "several" processors. --only leaves out all
other faults, and then judges only checks of requirements that no left-out fault names.

A fault is caught when a check of a requirement that its row names fails. Under the fault "inert" no
counter ever counts: it is caught when no test passes that needs the PMU to act. A run that hangs or
whose log is cut doesn't count as caught. If a fault's row says legal, a legal machine may behave in
this way, and a failing test is a false alarm. Without --engine the reference PMU counts on the
engine fast.

Prints the matrix, then the checks that no fault made fail (checks.py); the last line is "N of N
faults caught, N false alarms". A whole run writes FOLDER/mutants.json, from which `make coverage`
makes its page: the result of each fault, and a row for each kind of result of a test's checks.
--sample takes N faults from all parts of the table, the same ones every time unless --draw gives a
number from which they are drawn. With --sample and --faults checks aren't judged. Runs without a
fault then use only seed 0, and on machines other than the first generation's only the tests that a
fault runs there; seeds.py does the other runs. Exit status: 0 all caught, no false alarm, every
check explained; 1 otherwise; 2 bad option or nothing ran.
"""
import json
import os
import sys
import textwrap
import time

TOOLS = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, TOOLS)
import checks       # noqa: E402
import command      # noqa: E402
import plan         # noqa: E402
import spec         # noqa: E402

SEEDS = range(0, 6)
FIRST = "haswell"
# Generations whose own tests want a pair of logical processors.
PAIRS = ("netburst",)
FEW_FAULTS = 32         # that are tried at a time, where controls are looked for

# Groups and tests that don't need the PMU to act, and why: they may pass under "inert".
EXEMPT = {
    "selftest": "judges the harness, not the PMU",
    "enumeration": "reads CPUID and capability MSRs: inert enumerates as usual",
    "msr": "write rules: inert refuses what the real one refuses",
    "random.drawn_register_writes_change_what_they_name_alone": "the same rules",
}


def failures(run):
    """Test name to the requirement ids of its failing checks."""
    return {point.name: point.broken for point in run.points if point.verdict == "FAIL"}


def all_skipped(run, wanted):
    """Are all tests of these requirements skipped? Then the fault runs in the wrong place."""
    verdicts = {point.verdict for point in run.points if wanted & set(point.requirements)}
    return verdicts == {"SKIP"}


def judge_inert(run):
    """(caught, tests that pass although they need the PMU to act)"""
    passed = [point.name for point in run.points if point.verdict == "PASS" and
              not {point.name, point.name.split(".")[0]} & EXEMPT.keys()]
    return run.complete and bool(run.points) and not passed, passed


def judge(row, job):
    """What is written down about one fault."""
    if job is None:
        return {"caught": False, "requirements": row["requirements"], "red": [], "tests": [],
                "others": [], "note": "", "seconds": 0, "undecidable": row["undecidable"],
                "errors": [], "waits": True}
    run, wanted = job.run, set(row["requirements"])
    broken = failures(run)
    if row["fault"] == "inert":
        caught, passed = judge_inert(run)
        note = "passed although nothing acts: " + " ".join(passed) if passed else ""
        killers = sorted(broken)
    else:
        killers = sorted(name for name, ids in broken.items() if wanted & set(ids))
        caught = bool(killers)
        note = f"its tests are skipped on {job.cpu}" if all_skipped(run, wanted) else ""
    others = sorted(name for name in broken if name not in killers)
    if run.problem:
        caught, note = False, run.problem
    red = sorted(wanted & {name for ids in broken.values() for name in ids})
    return {"caught": caught, "requirements": row["requirements"], "red": red, "tests": killers,
            "others": others, "note": note, "seconds": round(job.seconds, 1),
            "undecidable": row["undecidable"], "waits": False,
            "errors": [point.name for point in run.points if point.verdict == "ERROR"]}


def ended_in_errors(row):
    """An ERROR is no verdict of the processor: where machines share the host's processors, one may
    have waited for its other thread in vain. Such a fault is run again, with nothing beside it."""
    return bool(row["errors"]) and not row["caught"]


def false_alarms(jobs, faults):
    """Text lines: what is red where nothing is broken, or nothing that a program may see."""
    lines = []
    for job in jobs:
        if job.fault != "none":
            continue
        if job.run.problem:
            lines.append(f"{job}: {job.run.problem}")
        lines += [f"{job}: {point.verdict} {point.name} {' '.join(point.broken)}"
                  for point in job.run.points if point.verdict in checks.RED]
    for name, row in faults.items():
        if row["undecidable"] and row["caught"]:
            lines.append(f"{name} is declared undecidable: FAIL {' '.join(row['tests'])}")
    return lines


def print_matrix(faults):
    width = max(map(len, faults), default=0)
    for name, row in faults.items():
        text = " ".join(row["tests"][:6]) + (" ..." if len(row["tests"]) > 6 else "")
        inert = name.split(":")[0] == "inert"
        green = [] if inert else sorted(set(row["requirements"]) - set(row["red"]))
        extra = f" (stays green: {','.join(green)})" if row["caught"] and green else ""
        extra += f" (also red: {len(row['others'])})" if row["others"] else ""
        extra += f" (errors: {len(row['errors'])})" if row["errors"] else ""
        extra += f" [{row['note']}]" if row["note"] else ""
        if row["undecidable"]:
            verdict, extra = "legal ", f"{extra} ({row['undecidable']})"
        elif row["waits"]:
            verdict, extra = "waits ", " (no test)"
        else:
            verdict = "caught" if row["caught"] else "MISSED"
        print(f"{name:{width}}  {verdict}  {','.join(row['requirements'])}: {text or '-'}{extra}")


def judge_checks(scores, elsewhere):
    """Prints which checks no fault turned red; how many of them, and of explanations that aren't
    needed, are wrong. Those of requirements in elsewhere have faults that weren't run."""
    reasons = {key: reason for key, reason in checks.explanations().items()
               if not elsewhere or (key[0] in scores.tests and key[1] not in elsewhere)}
    silent = [key for key in scores.never_red() if key[1] not in elsewhere]
    wrong = 0
    for key in scores.in_order():
        if scores.control(key):
            print(f"{scores.control(key)}: {' '.join(key)}")
    for test, requirement, place in silent:
        reason = reasons.get((test, requirement))
        wrong += reason is None
        print(f"never red: {test} {requirement} {place}: {reason or 'NOT EXPLAINED'}")
    for test, requirement in sorted(set(reasons) - {key[:2] for key in silent}):
        print(f"stale row in claims/unkillable.tsv: {test} {requirement}")
        wrong += 1
    count = len(scores.killers)
    controls = sum(bool(scores.control(key)) for key in scores.killers)
    print(f"{count - len(silent) - controls} of {count} checks can fail, {controls} are controls, "
          f"{len(silent)} never turned red, {wrong} to be explained")
    return wrong


def all_rows():
    """Every fault, those with parameters, and those that are run on another generation too: name
    is what the results are called, fault what the plan asks for, cpu where, "" for place()."""
    reasons = spec.undecidable()
    several, under_all = spec.processors(), {"inert", *reasons, *spec.under_all_tests()}
    made_with = spec.settings()
    rows = [dict(row, undecidable=reasons.get(row["name"], ""), fault=row["name"],
                 cpu=made_with[row["name"]].get("cpu", ""),
                 settings={key: value for key, value in made_with[row["name"]].items()
                           if key != "cpu"},
                 processors=several.get(row["name"], 0), all=row["name"] in under_all)
            for row in spec.faults()]
    by_name = {row["name"]: row for row in rows}
    for name in spec.variants():
        rows.append(dict(by_name[name.split("@")[0]], name=name, fault=name))
    for name, profile in spec.with_profiles():
        base = by_name[name]
        rows.append(dict(base, name=f"{name}/{profile}", settings={"profile": profile}))
    for name, cpu, count in spec.elsewhere():
        base = by_name[name.split("@")[0]]
        rows.append(dict(base, name=":".join([name, cpu] + [str(count)] * (count > 1)), fault=name,
                         cpu=cpu, processors=count))
    return rows


def tests_of(build):
    """Test to the requirements that it decides, and those of the sample."""
    with open(os.path.join(build, "tests.tsv"), encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    return {name: set(ids.split(",")) for name, ids, _ in rows}, \
        {name for name, _, mark in rows if mark == "every-fault"}


class Suite:
    """The tests of a build, and which of them run under a fault."""

    def __init__(self, build, all_tests):
        self.tests, self.marked = tests_of(build)
        self.all_tests = all_tests
        self.controls = checks.controls(last_whole_run(build).get("checks", []))
        ids = set().union(*self.tests.values())
        # Requirement that has a test to the generations that it applies to.
        self.cpus = {row["id"]: row["cpus"] for row in spec.with_cpus() if row["id"] in ids}

    def place(self, row):
        """The generation to run a fault on; "" if none of its requirements has a test anywhere."""
        if row["name"] == "inert":
            return row["cpu"] or FIRST
        if row["cpu"]:
            return row["cpu"] if any(name in self.cpus for name in row["requirements"]) else ""
        cpus = {cpu for name in row["requirements"] for cpu in self.cpus.get(name, ())}
        return FIRST if FIRST in cpus else \
            next((cpu["name"] for cpu in spec.generations() if cpu["name"] in cpus), "")

    def sample(self, cpu):
        """The tests of this generation that run under every fault."""
        return {name for name in self.marked
                if any(cpu in self.cpus.get(requirement, ()) for requirement in self.tests[name])}

    def patterns(self, requirements, cpu):
        """What --tests takes for the tests of those that are about this generation: as many
        patterns as it takes."""
        tags = " ".join("@" + name for name in sorted(requirements)
                        if cpu in self.cpus.get(name, ()))
        return [line.replace(" ", ",") for line in
                textwrap.wrap(tags, plan.LONGEST_PATTERN, break_on_hyphens=False)]

    def asked(self, row):
        """What --tests takes for a fault's run; "" is all tests."""
        if row["all"] or self.all_tests:
            return ""
        controls = self.controls.get(row["name"], set()) & set(self.tests)
        pattern = ",".join(["@every-fault"] + ["@" + name for name in row["requirements"]] +
                           sorted(controls))
        return pattern if len(pattern) <= plan.LONGEST_PATTERN else ""


def processors_of(row, cpu):
    return row["processors"] or (2 if cpu in PAIRS else 1)


def choose(options, parser):
    rows = all_rows()
    if options.faults:
        names = options.faults.split(",")
        by_name = {row["name"]: row for row in rows}
        for name in names:
            if name not in by_name and name.split("@")[0] not in by_name:
                parser.error(f"unknown fault '{name}'; ./run-qemu.sh --list faults lists them")
        return [by_name.get(name) or dict(by_name[name.split("@")[0]], name=name, fault=name)
                for name in names]
    if options.sample and options.sample < len(rows):
        # The first row is inert: it says that tests are green without a fault.
        return rows[:1] + command.drawn(rows[1:], options.sample - 1, options.draw)
    return rows


def last_whole_run(build):
    """What the last whole run wrote down; {}: there was none."""
    try:
        with open(os.path.join(build, "mutants.json"), encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return {}


def look_for_controls(scores, suite, rows, by_fault, options):
    """Runs of the faults that turn tests of other requirements red, those of most first, under the
    tests with checks that no fault turned red yet and that aren't explained."""
    explained, wide, jobs = checks.explanations(), [], []
    for row in rows:
        job = by_fault.get(row["name"])
        if job and not row["undecidable"] and job.tests:
            sample = suite.sample(job.cpu)
            red = checks.red_tests(job.run, sample)
            others = {name for name in red if suite.tests[name].isdisjoint(row["requirements"])}
            if others and checks.mostly_green(sample, red):
                wide.append((len(others), row, job))
    wide.sort(key=lambda of: -of[0])
    for few in (wide[at:at + FEW_FAULTS] for at in range(0, len(wide), FEW_FAULTS)):
        silent = {key[1] for key in scores.never_red() if key[:2] not in explained}
        again = [(row, job, plan.Job(job.fault, cpu=job.cpu, name=job.name, tests=pattern,
                                     processors=job.processors, profile=job.profile,
                                     latitude=job.latitude, ht=job.ht, engine=options.engine))
                 for _, row, job in few for pattern in suite.patterns(silent, job.cpu)]
        plan.Pool(options.build, options.jobs).work_through([new for _, _, new in again])
        for row, job, new in again:
            scores.add(row["name"], row["requirements"], new.run, suite.sample(job.cpu), job.run)
        jobs += [new for _, _, new in again]
    return jobs


def tests_of_all(jobs, machine):
    """What --tests takes for all that these run on that machine; "" is all tests."""
    asked = [job.tests for job in jobs if job.machine() == machine]
    patterns = {pattern for tests in asked for pattern in tests.split(",")}
    pattern = ",".join(sorted(patterns))
    return "" if "" in asked or len(pattern) > plan.LONGEST_PATTERN else pattern


def run(options, parser):
    rows = choose(options, parser)
    whole = not options.faults and not options.sample
    suite = Suite(options.build, options.all_tests)
    cpus = {row["name"]: suite.place(row) for row in rows}
    named = (options.only or options.without).split(",")
    without = [row for row in rows if bool(options.only) !=
               (cpus[row["name"]] in named or (row["processors"] > 1 and "several" in named))]
    rows = [row for row in rows if row not in without]
    if not rows:
        raise plan.PlanError("no fault is left to run")
    by_fault = {row["name"]: plan.Job(row["fault"], cpu=cpu, name=row["name"],
                                      processors=processors_of(row, cpu),
                                      tests=suite.asked(row), **row["settings"])
                for row in rows for cpu in [cpus[row["name"]]] if cpu}
    few = options.sample or options.faults
    seeds = SEEDS[:1] if few else SEEDS
    clean = [plan.Job(seed=seed) for seed in seeds]
    clean += [plan.Job(seed=1, profile=row["name"]) for row in spec.profiles_of(FIRST) if not few]
    clean += [plan.Job(cpu=cpu, processors=count, profile=profile, latitude=latitude, ht=ht,
                       tests=tests_of_all(by_fault.values(), machine) if few else "")
              for machine in
              sorted({job.machine() for job in by_fault.values()} - {plan.Job().machine()})
              for cpu, count, profile, latitude, ht in [machine]]
    jobs = clean + list(by_fault.values())
    start = time.monotonic()
    for job in jobs:
        job.engine = options.engine
    plan.Pool(options.build, options.jobs).work_through(plan.spread(jobs, {
        name: row["seconds"] for name, row in
        last_whole_run(options.build).get("faults", {}).items()}))
    again = [job for row in rows for job in [by_fault.get(row["name"])]
             if job and not row["undecidable"] and ended_in_errors(judge(row, job))]
    if again:
        plan.Pool(options.build, 1).work_through(again)

    faults = {row["name"]: judge(row, by_fault.get(row["name"])) for row in rows}
    alarms = false_alarms(jobs, faults)
    print_matrix(faults)
    scores = None
    if whole and any(checks.keys(job.run) for job in clean):
        scores = checks.Scores([job.run for job in clean])
        for row in rows:
            job = by_fault.get(row["name"])
            if job and not row["undecidable"]:
                scores.add(row["name"], row["requirements"], job.run, suite.sample(job.cpu))
        jobs += look_for_controls(scores, suite, rows, by_fault, options)
    took = time.monotonic() - start
    if whole and not options.only:
        with open(os.path.join(options.build, "mutants.json"), "w", encoding="utf-8") as file:
            json.dump({"faults": faults, "false_alarms": alarms, "seeds": list(seeds),
                       "checks": scores.rows() if scores else []}, file, indent=1)
            file.write("\n")
    elsewhere = {name for row in without for name in row["requirements"]} if options.only else ()
    wrong = judge_checks(scores, elsewhere) if scores else 0
    for line in alarms:
        print(f"false alarm: {line}")
    slow = max(jobs, key=lambda job: job.seconds)
    print(f"{len(jobs)} runs in {took:.0f} s, the slowest {slow.seconds:.0f} s: {slow}")
    if again:
        print(f"{len(again)} ended in errors and were run again alone: " +
              " ".join(job.name for job in again))
    decidable = [row for row in faults.values() if not row["undecidable"] and not row["waits"]]
    caught = sum(row["caught"] for row in decidable)
    undecidable = sum(bool(row["undecidable"]) for row in faults.values())
    waiting = sum(row["waits"] and not row["undecidable"] for row in faults.values())
    left_out = f"but those of {options.only}" if options.only else f"of {options.without}"
    for count, text in ((len(without), f"{left_out} are left out"),
                        (undecidable, "are undecidable"), (waiting, "wait for a test")):
        if count:
            print(f"{count} faults {text}")
    print(f"{caught} of {len(decidable)} faults caught, {len(alarms)} false alarms")
    return 0 if caught == len(decidable) and not alarms and not wrong else 1


def main():
    parser = command.Parser("mutants.py", __doc__, build="build", jobs=2, engine="fast")
    parser.add_argument("--faults", default="")
    parser.add_argument("--sample", type=command.number(0), default=0)
    parser.add_argument("--draw", type=command.number(0), default=0)
    parser.add_argument("--without", default="none")
    parser.add_argument("--only", default="")
    parser.add_argument("--all-tests", action="store_true")
    options = parser.parse_args()
    for name in (options.only or options.without).split(","):
        if name not in command.cpu_names() + ["several", "none"]:
            parser.error(f"--only and --without take generations and 'several', not '{name}'")
    return run(options, parser)


if __name__ == "__main__":
    sys.exit(command.run("mutants.py", main))
