#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Engines: check that the suite gives the same verdicts on each engine of the reference PMU.

engines.py [--build FOLDER] [--jobs N] [--first S] [--seeds N] [--no-profiles] [--step N]
           [--sample N [--draw K] | --faults NAME,...] [--tests GLOB]

Runs the unchanged harness on the engines direct and fast: without latitude, with N seeds from S (1)
on, with each profile, and with N faults from all parts of the table, the same ones every time
unless --draw gives a number from which they are drawn. The first N of these settings that have no
fault (all of them without --step) also run on the engine step. It takes ten times as long for a
run, and a fault on it can make a test reach its deadline, which is an ERROR where the others say
FAIL. Every test must have the same verdict, and every check that was executed the same result.
Tests that end in an ERROR, because they reached their deadline on a busy machine, run once more,
with nothing else running, and this result counts. Prints each difference, and the statistics of the
engine fast; the last line is "N settings, N differ". Exit status: 0 none differs, 1 otherwise, 2
bad option or nothing ran.
"""
import sys

import command
import plan
import spec

STEP_WEIGHT = 8         # runs on the fast engine that take as long as one on the stepping one


def settings_of(options):
    """What to run on each, as arguments of plan.Job."""
    settings = [{}] + [{"seed": options.first + i} for i in range(options.seeds)]
    if options.profiles:
        settings += [{"seed": 1, "profile": row["name"]}
                     for row in spec.profiles_of(plan.Job().cpu)]
    if options.faults:
        return settings + [{"fault": name} for name in options.faults.split(",")]
    # The first row, inert, says little.
    names = [row["name"] for row in spec.faults()][1:]
    return settings + [{"fault": name}
                       for name in command.drawn(names, options.sample, options.draw)]


def rows_of(options):
    """The jobs of each setting, one an engine; the last one is of the fast engine."""
    rows = []
    for number, words in enumerate(settings_of(options)):
        engines = plan.ENGINES if number < options.step and "fault" not in words \
            else plan.ENGINES[1:]
        rows.append([plan.Job(**words, engine=engine, tests=options.tests,
                              weight=STEP_WEIGHT if engine == "step" else 1)
                     for engine in engines])
    return rows


def errors(job):
    return [point.name for point in job.run.points if point.verdict == "ERROR"]


def repeat_errors(jobs, build):
    """Runs the tests that ended in an ERROR once more, one machine at a time: what these runs say
    of them takes the place of what was said before. How many runs that were."""
    again = [(job, plan.Job(fault=job.fault, seed=job.seed, profile=job.profile, engine=job.engine,
                            tests=",".join(errors(job)), weight=job.weight))
             for job in jobs if errors(job)]
    again = [pair for pair in again if len(pair[1].tests) <= plan.LONGEST_PATTERN]
    plan.Pool(build, 1).work_through([second for _, second in again])
    for job, second in again:
        points = {point.name: point for point in second.run.points}
        job.run.points = [points.get(point.name, point) for point in job.run.points]
    return len(again)


def said(run):
    """(test, check or "") to what the run said of it."""
    words = {}
    for point in run.points:
        words[point.name, ""] = point.verdict
        for (requirement, place), state in point.checks.items():
            words[point.name, f"{requirement} {place}"] = state
    return words


def differences(jobs):
    """Text lines: the first engine against each other one."""
    lines = [f"{job.engine}: {job.run.problem}" for job in jobs if job.run.problem]
    one = said(jobs[0].run)
    for job in jobs[1:]:
        other = said(job.run)
        for key in sorted(set(one) | set(other)):
            if one.get(key) != other.get(key):
                lines.append(f"{' '.join(key).strip()}: {one.get(key)} on {jobs[0].engine}, "
                             f"{other.get(key)} on {job.engine}")
    for job in jobs:
        if job.run.engine.get("name") != job.engine:
            lines.append(f"{job.engine}: it ran on {job.run.engine.get('name', 'nothing')}")
    return lines


def main():
    parser = command.Parser("engines.py", __doc__, build="build", jobs=2, tests="")
    parser.add_argument("--draw", type=command.number(0), default=0)
    parser.add_argument("--first", type=command.number(0), default=1)
    parser.add_argument("--seeds", type=command.number(0), default=10)
    parser.add_argument("--no-profiles", dest="profiles", action="store_false")
    parser.add_argument("--step", type=command.number(0), default=10 ** 9)
    parser.add_argument("--sample", type=command.number(0), default=20)
    parser.add_argument("--faults", default="")
    options = parser.parse_args()
    rows = rows_of(options)
    # The longest first, so that none of them is begun when the others are done.
    jobs = sorted((job for row in rows for job in row), key=lambda job: -job.weight)
    plan.Pool(options.build, options.jobs).work_through(jobs)
    again = repeat_errors(jobs, options.build)
    total = {key: sum(row[-1].run.engine.get(key, 0) for row in rows)
             for key in rows[0][-1].run.engine if key != "name"}
    if not total.get("blocks"):
        raise plan.PlanError("the fast engine counted nothing in blocks")
    differ = 0
    for row in rows:
        lines = differences(row)
        differ += bool(lines)
        for line in lines:
            print(f"{row[0]}: {line}")
    print("fast: " + ", ".join(f"{key} {count}" for key, count in total.items()))
    for engine in plan.ENGINES:
        seconds = [job.seconds for row in rows for job in row if job.engine == engine]
        if seconds:
            print(f"{engine}: {len(seconds)} runs, {sum(seconds) / len(seconds):.1f} s each")
    if again:
        print(f"{again} runs had tests that ended in errors: these ran again")
    print(f"{len(rows)} settings, {differ} differ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(command.run("engines.py", main))
