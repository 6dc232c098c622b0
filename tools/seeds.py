#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Seeds: check that the suite passes on every legal processor.

seeds.py [--build FOLDER] [--jobs N] [--engine step|direct|fast] [--cpu NAME|all] [--seeds N]
         [--profile-seeds N] [--no-extremes] [--smp N] [--tests GLOB] [--latitude K:V,...]
         [--sample N [--draw K]]

Runs the unchanged harness on the correct reference PMU, with one processor unless told otherwise,
as the generation NAME (haswell without the option) or as each of them. It runs with seeds 1 to N,
from which the behaviour that the manual leaves open is drawn, and with seeds 1 to N within each
profile of refpmu/model/profile.def. Then it runs with each knob of refpmu/model/latitude.def at
either end: high with the others at their lowest value, and low with the others drawn (all low is
seed 0). With --latitude the runs of seeds 1 to N without a profile have these values of knobs
instead of drawn ones: with no-rtm:0,rtm-always-abort:0 transactions run under every seed, not
under one of four. --sample takes N of all these runs, drawn from the number K. Without --engine
the reference PMU counts on the engine fast. A failing test is a false alarm. Prints how many
results were undecided in each class of runs, and by which tests; the last line is "N runs, N
failed". Exit status: 0 none failed, 1 otherwise, 2 bad option or nothing ran.
"""
import sys

import checks
import command
import plan
import spec

SHOWN = ("SKIP", "INCONCLUSIVE", "KNOWN")


def jobs_of_one(options, cpu):
    """Class of runs of one generation to its jobs, in order."""
    classes = {f"seeds 1 to {options.seeds}": [
        plan.Job(seed=seed + 1, latitude=options.latitude) for seed in range(options.seeds)]}
    for row in spec.profiles_of(cpu):
        classes[f"profile {row['name']}"] = [plan.Job(seed=seed + 1, profile=row["name"])
                                             for seed in range(options.profile_seeds)]
    for row in spec.drawn_latitude() if options.extremes else ():
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
    parser = command.Parser("seeds.py", __doc__, build="build", jobs=2, engine="fast",
                            cpu="haswell", all_cpus=True, smp=1, tests="")
    parser.add_argument("--seeds", type=command.number(1), default=100)
    parser.add_argument("--profile-seeds", type=command.number(0), default=20)
    parser.add_argument("--no-extremes", dest="extremes", action="store_false")
    parser.add_argument("--latitude", default="")
    parser.add_argument("--sample", type=command.number(0), default=0)
    parser.add_argument("--draw", type=command.number(0), default=0)
    options = parser.parse_args()
    classes = jobs_of(options)
    jobs = [job for group in classes.values() for job in group]
    if options.sample:
        jobs = command.drawn(jobs, options.sample, options.draw)
        classes = {name: left for name, group in classes.items()
                   if (left := [job for job in group if job in jobs])}
    for job in jobs:
        job.engine = options.engine
    plan.Pool(options.build, options.jobs).work_through(jobs)
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
    sys.exit(command.run("seeds.py", main))
