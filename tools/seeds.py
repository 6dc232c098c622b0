#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Seeds: does the suite stay green whatever a legal processor does?

seeds.py [--build FOLDER] [--jobs N] [--engine step|fast] [--cpu NAME|all] [--seeds N]
         [--profile-seeds N] [--no-extremes] [--smp N] [--tests GLOB]

Runs the unchanged harness on the correct reference PMU, with one processor unless told otherwise,
as the generation NAME (haswell without the option) or as each of them: with seeds 1 to N, from
which everything is drawn that the manual leaves open; with seeds 1 to N within each profile of
spec/profile.def; and with each knob of spec/latitude.def at either end: high with the others at
rest, low with the others drawn, as all of them low is seed 0. Red anywhere is a false alarm of the
test named. Prints how much was left undecided in each class of runs, and which tests did so; the
last line is "N runs, N failed". Exit status: 0 none failed, 1 otherwise, 2 bad option or nothing
ran.
"""
import argparse
import signal
import sys

import checks
import plan
import spec

SHOWN = ("SKIP", "INCONCLUSIVE", "KNOWN")


def jobs_of_one(options, cpu):
    """Class of runs of one generation to its jobs, in order."""
    classes = {f"seeds 1 to {options.seeds}": [plan.Job(seed=seed + 1)
                                              for seed in range(options.seeds)]}
    for row in spec.profiles():
        classes[f"profile {row['name']}"] = [plan.Job(seed=seed + 1, profile=row["name"])
                                             for seed in range(options.profile_seeds)]
    for row in spec.latitude() if options.extremes else ():
        low, high = f"{row['name']}:{row['low']}", f"{row['name']}:{row['high']}"
        classes[f"latitude {low}, seed 1"] = [plan.Job(latitude=low, seed=1)]
        classes[f"latitude {high}"] = [plan.Job(latitude=high)]
    for jobs in classes.values():
        for job in jobs:
            job.cpu, job.processors, job.tests = cpu, options.smp, options.tests
    return {f"{cpu}: {name}": jobs for name, jobs in classes.items() if jobs}


def jobs_of(options):
    """Class of runs to its jobs, in order."""
    classes = {}
    for row in spec.generations():
        if options.cpu in (row["name"], "all"):
            classes.update(jobs_of_one(options, row["name"]))
    return classes


def trouble(job):
    """Text lines: what is red."""
    lines = [f"{job}: {job.run.problem}"] if job.run.problem else []
    return lines + [f"{job}: {point.verdict} {point.name} {' '.join(point.broken)}"
                    for point in job.run.points if point.verdict in checks.RED]


def print_table(classes):
    width = max(map(len, classes))
    print(f"{'runs with':{width}}  runs   PASS " + " ".join(f"{name:>12}" for name in SHOWN))
    for name, jobs in classes.items():
        counts = [sum(job.run.count(verdict) for job in jobs) for verdict in ("PASS",) + SHOWN]
        print(f"{name:{width}}  {len(jobs):4}  {counts[0]:5} " +
              " ".join(f"{count:12}" for count in counts[1:]))
    undecided = {}
    for name, jobs in classes.items():
        for job in jobs:
            for point in job.run.points:
                if point.verdict in SHOWN:
                    places = undecided.setdefault((point.verdict, point.name), {})
                    places[name] = places.get(name, 0) + 1
    for (verdict, test), places in sorted(undecided.items()):
        text = ", ".join(f"{name} ({count} of {len(classes[name])})"
                         for name, count in list(places.items())[:4])
        print(f"{verdict} {test}: {text}{', ...' if len(places) > 4 else ''}")


def main():
    parser = argparse.ArgumentParser(prog="seeds.py")
    parser.add_argument("--build", default="build")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--engine", choices=plan.ENGINES, default="")
    parser.add_argument("--cpu", default="haswell",
                        choices=[row["name"] for row in spec.generations()] + ["all"])
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--profile-seeds", type=int, default=20)
    parser.add_argument("--smp", type=int, default=1)
    parser.add_argument("--tests", default="")
    parser.add_argument("--no-extremes", dest="extremes", action="store_false")
    options = parser.parse_args()
    if options.seeds < 1 or options.profile_seeds < 0:
        parser.error("--seeds takes a number from 1, --profile-seeds one from 0")
    if not 1 <= options.smp <= 16 or len(options.tests) > plan.LONGEST_PATTERN:
        parser.error("--smp takes a number from 1 to 16, --tests up to "
                     f"{plan.LONGEST_PATTERN} characters")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    classes = jobs_of(options)
    jobs = [job for group in classes.values() for job in group]
    for job in jobs:
        job.engine = options.engine
    try:
        plan.Pool(options.build, options.jobs).work_through(jobs)
    except plan.PlanError as error:
        print(f"seeds.py: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    print_table(classes)
    failed = 0
    for job in jobs:
        lines = trouble(job)
        failed += bool(lines)
        for line in lines:
            print(f"FAILED {line}")
    print(f"{len(jobs)} runs, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
