#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Engines: does the suite say the same whichever engine of the reference PMU counts?

engines.py [--build FOLDER] [--jobs N] [--first S] [--seeds N] [--no-profiles]
           [--sample N | --faults NAME,...]

Runs the unchanged harness on each engine (step, direct, fast): without latitude, with N seeds from
S (1) on, with each profile, and with N faults from all over the table, the same ones every time.
Every test must have the same verdict, and every check that was executed the same result. Prints
each difference, and how the fast engine counted; the last line is "N settings, N differ". Exit
status: 0 none differs, 1 otherwise, 2 bad option or nothing ran.
"""
import sys

import command
import plan
import spec


def settings_of(options):
    """What to run on each, as arguments of plan.Job."""
    settings = [{}] + [{"seed": options.first + i} for i in range(options.seeds)]
    if options.profiles:
        settings += [{"seed": 1, "profile": row["name"]} for row in spec.profiles()]
    if options.faults:
        return settings + [{"fault": name} for name in options.faults.split(",")]
    names = [row["name"] for row in spec.faults()]
    count = min(options.sample, len(names))
    # From the middle of each part of the table: its first row, inert, says little.
    return settings + [{"fault": names[(2 * i + 1) * len(names) // (2 * count)]}
                       for i in range(count)]


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
    parser = command.Parser("engines.py", __doc__, build="build", jobs=2)
    parser.add_argument("--first", type=command.number(0), default=1)
    parser.add_argument("--seeds", type=command.number(0), default=10)
    parser.add_argument("--no-profiles", dest="profiles", action="store_false")
    parser.add_argument("--sample", type=command.number(0), default=20)
    parser.add_argument("--faults", default="")
    options = parser.parse_args()
    rows = [tuple(plan.Job(**words, engine=engine) for engine in plan.ENGINES)
            for words in settings_of(options)]
    plan.Pool(options.build, options.jobs).work_through([job for row in rows for job in row])
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
    for place, engine in enumerate(plan.ENGINES):
        print(f"{engine}: {sum(row[place].seconds for row in rows) / len(rows):.1f} s a run")
    print(f"{len(rows)} settings, {differ} differ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(command.run("engines.py", main))
