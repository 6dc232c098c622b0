#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Mutants: does the suite turn red for every fault, and stay green without one?

mutants.py [--build FOLDER] [--jobs N] [--engine step|fast] [--faults NAME,... | --sample N]
           [--only CPU,... | --without CPU,...] [--save FOLDER]

Runs the unchanged harness on the reference PMU: a few seeds and each profile without a fault, and
every fault of fault.def and fault_variant.def in refpmu/faults, on haswell where one of its
requirements applies there and has a test, else on the first generation where that is so. If there
is none the fault waits for its test, and isn't run. fault_variant.def says which run on a second
generation too (NAME:CPU), and which with several processors (NAME:CPU:COUNT). Slow groups of
tests, and slow tests, run under faults of their own only, and with several processors only those
that a fault is about.
--without leaves out the faults that would run on these generations, or with "several" processors;
--only leaves out all others, and judges the checks of requirements that no fault left out names.

A fault is caught when a check of a requirement that its row names fails. Under the fault "inert"
nothing ever counts: it is caught when no test passes that needs the PMU to act. A run that hangs
or whose log is cut isn't a catch.
The faults of refpmu/faults/fault_undecidable.def are legal machines: red there is a false alarm.

Prints the matrix; checks that no fault turned red (checks.py); the last line is "N of N faults
caught, N false alarms". Writes FOLDER/mutants.json; --save writes mutants.tsv and checks.tsv, from
which docs/COVERAGE.md is made. --sample takes N faults from all over the table, the same ones
every time; neither it nor --faults says anything about checks. Exit status: 0 all caught, no false
alarm, every check explained; 1 otherwise; 2 bad option or nothing ran.
"""
import fnmatch
import json
import os
import sys
import time

TOOLS = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, TOOLS)
import checks       # noqa: E402
import command      # noqa: E402
import plan         # noqa: E402
import spec         # noqa: E402

SEEDS = range(0, 6)
FIRST = "haswell"
# Groups that take longer than all the others together, nearly all of it stepped: they are run
# under faults of their own requirements and of FAULT_WITH_SLOW, and without a fault.
SLOW = ("ll", "dla")
# The same of tests of other groups: a fifth of the time of all that are left.
SLOW_TESTS = ("count.loads_are_counted_by_who_*", "offcore.responses_are_told_*")
# Generations whose own tests want a pair of logical processors, and are all that runs there: those
# tests, and of them those that take longer than all the others together, which run under faults of
# their own requirements and without a fault.
PAIRS = {"netburst": ("netburst.*,msr.netburst*", (
    "netburst.a_cascaded_*", "netburst.only_the_alternate_*", "netburst.extended_cascading_*",
    "netburst.replay_*", "netburst.execution_event_*", "netburst.a_busy_*", "netburst.nor_does_*",
    "netburst.table_18_67_*", "netburst.threshold_15_*", "netburst.forced_*",
    "netburst.the_named_*", "netburst.a_halted_thread_has_*",
    "netburst.active_thread_*", "netburst.table_18_66_*", "msr.netburst_counters_are_*"))}

# How faults of transactions are run, and their tests without a fault.
TRANSACTIONS = {"tests": "tsx.*,pmi.*,priority.*"}

# Groups that don't need the PMU to act, and why: they may pass under "inert".
EXEMPT = {
    "selftest": "judges the harness, not the PMU",
    "enumeration": "reads CPUID and capability MSRs: inert enumerates as usual",
    "msr": "write rules: inert refuses what the real one refuses",
}


def failures(run):
    """Test name to the requirement ids of its failing checks."""
    return {point.name: point.broken for point in run.points if point.verdict == "FAIL"}


def judge_inert(run):
    """(caught, tests that pass although they need the PMU to act)"""
    passed = [point.name for point in run.points if point.verdict == "PASS" and
              point.name.split(".")[0] not in EXEMPT]
    return run.complete and bool(run.points) and not passed, passed


def judge(row, job):
    """What is written down about one fault."""
    if job is None:
        return {"caught": False, "requirements": row["requirements"], "red": [], "tests": [],
                "others": [], "note": "", "seconds": 0, "undecidable": row["undecidable"],
                "errors": [], "waits": True}
    run, wanted = job.run, set(row["requirements"])
    broken = failures(run)
    if row["name"] == "inert":
        caught, passed = judge_inert(run)
        note = "passed although nothing acts: " + " ".join(passed) if passed else ""
        killers = sorted(broken)
    else:
        killers = sorted(name for name, ids in broken.items() if wanted & set(ids))
        caught, note = bool(killers), ""
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
        green = [] if name == "inert" else sorted(set(row["requirements"]) - set(row["red"]))
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


def save(folder, faults, scores):
    """mutants.tsv: fault, tests that catch it, its requirements that turned red. checks.tsv: test,
    requirement, able, control or never, how many checks, a fault that turns one of them red."""
    with open(os.path.join(folder, "mutants.tsv"), "w", encoding="utf-8") as file:
        for name, row in faults.items():
            columns = ([], []) if not row["caught"] or row["undecidable"] else \
                (["all"], []) if name == "inert" else (row["tests"], row["red"])
            file.write("\t".join([name] + [" ".join(words) or "-" for words in columns]) + "\n")
    if scores:
        with open(os.path.join(folder, "checks.tsv"), "w", encoding="utf-8") as file:
            file.writelines("\t".join(row) + "\n" for row in scores.rows())


def all_rows():
    """Every fault, those with parameters, and those that are run on another generation too: name
    is what the results are called, fault what the plan asks for, cpu where, "" for place()."""
    reasons = spec.undecidable()
    several, slow = spec.processors(), spec.with_slow()
    rows = [dict(row, undecidable=reasons.get(row["name"], ""), fault=row["name"], cpu="",
                 processors=several.get(row["name"], 0), slow=row["name"] in slow)
            for row in spec.faults()]
    by_name = {row["name"]: row for row in rows}
    for name in spec.variants():
        base = by_name.get(name.split("@")[0])
        if base is None:
            raise plan.PlanError(f"refpmu/faults/fault_variant.def: no fault is called {name}")
        rows.append(dict(base, name=name, fault=name))
    for name, cpu, count in spec.elsewhere():
        base = by_name.get(name.split("@")[0])
        if base is None:
            raise plan.PlanError(f"refpmu/faults/fault_variant.def: no fault is called {name}")
        rows.append(dict(base, name=":".join([name, cpu] + [str(count)] * (count > 1)), fault=name,
                         cpu=cpu, processors=count))
    return rows


def place(row, tested):
    """The generation to run a fault on; "" if none of its requirements has a test anywhere."""
    if row["name"] == "inert" or row["cpu"]:
        return row["cpu"] or FIRST
    cpus = {cpu for name in row["requirements"] for cpu in tested.get(name, ())}
    return FIRST if FIRST in cpus else \
        next((cpu["name"] for cpu in spec.generations() if cpu["name"] in cpus), "")


def tested_requirements(build):
    """Requirement id to the generations that it applies to, for those that have a test."""
    with open(os.path.join(build, "tests.tsv"), encoding="utf-8") as file:
        ids = {name for line in file for name in line.rstrip("\n").split("\t")[1].split(",")}
    return {row["id"]: row["cpus"] for row in spec.with_cpus() if row["id"] in ids}


def quick(build):
    """What --tests takes for all tests but the slow ones."""
    tests = tests_of(build)
    slow = set(checks.asked_for(tests, ",".join([f"{group}.*" for group in SLOW] +
                                                [*SLOW_TESTS])))
    return cover(set(tests) - slow, tests)


def slow_groups(row):
    """Those that a fault is run under."""
    own = {name.split("-")[0].lower() for name in row["requirements"]}
    return [group for group in SLOW if row["slow"] or group in own]


def tests_for(row, some, build):
    """What --tests takes for a fault's run; "" is all tests."""
    tests = tests_of(build)
    own = [name for name in checks.asked_for(tests, ",".join(SLOW_TESTS))
           if row["slow"] or tests[name] & set(row["requirements"])]
    patterns = ",".join([some] + [f"{group}.*" for group in slow_groups(row)] + own)
    return patterns if len(patterns) <= plan.LONGEST_PATTERN and slow_groups(row) != [*SLOW] else ""


def of_transactions():
    """The requirements that are about transactions."""
    return {row["id"] for row in spec.requirements() if spec.needs_rtm(row["generations"])}


def tests_of(build):
    """Test to the requirements that it decides."""
    with open(os.path.join(build, "tests.tsv"), encoding="utf-8") as file:
        tests = [line.rstrip("\n").split("\t") for line in file]
    return {name: set(ids.split(",")) for name, ids in tests}


def cover(wanted, every):
    """The shortest beginnings of names, as a pattern, that these tests have and no others."""
    left, begins = sorted(wanted), []
    others = set(every) - set(wanted)
    while left:
        name = left[0]
        begin = next((name[:n] + "*" for n in range(1, len(name))
                      if not any(other.startswith(name[:n]) for other in others)), name)
        begins.append(begin)
        left = [other for other in left if not fnmatch.fnmatchcase(other, begin)]
    return ",".join(begins)


def of_pairs(row, cpu, build):
    """What --tests takes for a fault on a generation of PAIRS."""
    tests = tests_of(build)
    every, slow = PAIRS[cpu]
    there = set(checks.asked_for(tests, every))
    left_out = set() if row["slow"] else \
        {name for name in checks.asked_for(tests, ",".join(slow))
         if not tests[name] & set(row["requirements"])}
    return cover(there - left_out, tests)


def groups_of(rows, build):
    """What --tests takes for the groups that have tests of these faults' requirements."""
    ids = {name for row in rows for name in row["requirements"]}
    groups = {name.split(".")[0] for name, deciding in tests_of(build).items() if ids & deciding}
    return ",".join(f"{group}.*" for group in sorted(groups))


def how_to_run(row, cpu, rtm, some, build):
    """What else the plan says of a fault's run. Processors cost each other time: several of them
    run what the fault is about only."""
    if row["name"] in rtm:
        return {**TRANSACTIONS, "processors": row["processors"] or 1}
    if cpu in PAIRS:
        return {"processors": row["processors"] or 2, "tests": of_pairs(row, cpu, build)}
    if row["processors"] > 1:
        return {"processors": row["processors"], "tests": groups_of([row], build)}
    return {"tests": tests_for(row, some, build)}


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
        step = len(rows) / options.sample       # row 0 is inert
        return [rows[int(i * step)] for i in range(options.sample)]
    return rows


def earlier(path):
    """Seconds of each fault in the last run that was written down."""
    try:
        with open(path, encoding="utf-8") as file:
            return {name: row.get("seconds", 0) for name, row in
                    json.load(file)["faults"].items()}
    except (OSError, ValueError, KeyError):
        return {}


def run(options, parser):
    rows = choose(options, parser)
    whole = not options.faults and not options.sample
    record = os.path.join(options.build, "mutants.json")
    some = quick(options.build)
    jobs = [plan.Job(seed=seed, tests=some) for seed in SEEDS]
    jobs += [plan.Job(seed=1, profile=row["name"], tests=some) for row in spec.profiles()]
    if any(slow_groups(row) for row in rows):
        jobs.append(plan.Job())
    tested = tested_requirements(options.build)
    cpus = {row["name"]: place(row, tested) for row in rows}
    named = (options.only or options.without).split(",")
    without = [row for row in rows if bool(options.only) !=
               (cpus[row["name"]] in named or (row["processors"] > 1 and "several" in named))]
    rows = [row for row in rows if row not in without]
    if not rows:
        raise plan.PlanError("no fault is left to run")
    cpus = {row["name"]: cpus[row["name"]] for row in rows}
    jobs += [plan.Job(cpu=cpu, **({"processors": 2, "tests": PAIRS[cpu][0]} if cpu in PAIRS else
                                  {"tests": some}))
             for cpu in sorted(set(cpus.values()) - {"", FIRST})]
    jobs += [plan.Job(cpu=cpu, processors=count, tests=PAIRS[cpu][0]) for cpu, count in
             sorted({(cpus[row["name"]], row["processors"]) for row in rows})
             if cpu in PAIRS and count not in (0, 2)]
    transactions = of_transactions()
    rtm = {row["name"]: cpus[row["name"]] for row in rows
           if row["name"] != "inert" and not transactions.isdisjoint(row["requirements"])}
    jobs += [plan.Job(cpu=cpu, **TRANSACTIONS) for cpu in sorted(set(rtm.values()) - {""})]
    for count in sorted({row["processors"] for row in rows} - {0, 1}):
        alike = [row for row in rows if row["processors"] == count and
                 cpus[row["name"]] not in PAIRS]
        jobs.append(plan.Job(processors=count, tests=groups_of(alike, options.build)))
    clean = list(jobs)
    by_fault = {row["name"]: plan.Job(row["fault"], cpu=cpus[row["name"]], name=row["name"],
                                      **how_to_run(row, cpus[row["name"]], rtm, some,
                                                   options.build))
                for row in rows if cpus[row["name"]]}
    jobs += by_fault.values()
    start = time.monotonic()
    for job in jobs:
        job.engine = options.engine
    plan.Pool(options.build, options.jobs).work_through(plan.spread(jobs, earlier(record)))
    again = [job for row in rows for job in [by_fault.get(row["name"])]
             if job and not row["undecidable"] and ended_in_errors(judge(row, job))]
    if again:
        plan.Pool(options.build, 1).work_through(again)
    took = time.monotonic() - start

    faults = {row["name"]: judge(row, by_fault.get(row["name"])) for row in rows}
    alarms = false_alarms(jobs, faults)
    print_matrix(faults)
    scores = None
    if whole and any(checks.keys(job.run) for job in clean):
        scores = checks.Scores([job.run for job in clean])
        for row in rows:
            job = by_fault.get(row["name"])
            if job and not row["undecidable"]:
                scores.add(row["name"], row["requirements"], job.run, job.tests)
    with open(record, "w", encoding="utf-8") as file:
        json.dump({"faults": faults, "false_alarms": alarms, "seeds": list(SEEDS)}, file, indent=1)
        file.write("\n")
    elsewhere = {name for row in without for name in row["requirements"]} if options.only else ()
    wrong = judge_checks(scores, elsewhere) if scores else 0
    for line in alarms:
        print(f"false alarm: {line}")
    if options.save and whole and not options.only:
        save(options.save, faults, scores)
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
    parser = command.Parser("mutants.py", __doc__, build="build", jobs=2, engine="")
    parser.add_argument("--faults", default="")
    parser.add_argument("--sample", type=command.number(0), default=0)
    parser.add_argument("--without", default="none")
    parser.add_argument("--only", default="")
    parser.add_argument("--save")
    options = parser.parse_args()
    if options.save and not os.path.isdir(options.save):
        parser.error(f"--save: no folder is called {options.save}")
    for name in (options.only or options.without).split(","):
        if name not in command.cpu_names() + ["several", "none"]:
            parser.error(f"--only and --without take generations and 'several', not '{name}'")
    return run(options, parser)


if __name__ == "__main__":
    sys.exit(command.run("mutants.py", main))
