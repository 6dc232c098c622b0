#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Engines: does the suite say the same whichever engine of the reference PMU counts?

engines.py [--build FOLDER] [--jobs N] [--first S] [--seeds N] [--no-profiles]
           [--sample N | --faults NAME,...]

Runs the unchanged harness on both engines: without latitude, with N seeds from S (1) on, with each
profile, and with N faults from all over the table, the same ones every time. Every test must
have the same verdict, and every check that was executed the same result. Prints each difference,
and how the fast engine counted; the last line is "N pairs of runs, N differ". Exit status: 0 none
differs, 1 otherwise, 2 bad option or nothing ran.
"""
import sys

import command
import plan
import spec


def settings_of(options):
    """What to run on both, as arguments of plan.Job."""
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


def differences(stepped, fast):
    """Text lines."""
    lines = [f"{job.engine}: {job.run.problem}" for job in (stepped, fast) if job.run.problem]
    one, other = said(stepped.run), said(fast.run)
    for key in sorted(set(one) | set(other)):
        if one.get(key) != other.get(key):
            lines.append(f"{' '.join(key).strip()}: {one.get(key)} stepped, "
                         f"{other.get(key)} fast")
    for job in (stepped, fast):
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
    pairs = [tuple(plan.Job(**words, engine=engine) for engine in plan.ENGINES)
             for words in settings_of(options)]
    plan.Pool(options.build, options.jobs).work_through([job for pair in pairs for job in pair])
    total = {key: sum(pair[1].run.engine.get(key, 0) for pair in pairs)
             for key in pairs[0][1].run.engine if key != "name"}
    if not total.get("blocks"):
        raise plan.PlanError("the fast engine counted nothing in blocks")
    differ = 0
    for stepped, fast in pairs:
        lines = differences(stepped, fast)
        differ += bool(lines)
        for line in lines:
            print(f"{stepped}: {line}")
    print("fast: " + ", ".join(f"{key} {count}" for key, count in total.items()))
    for place, engine in enumerate(plan.ENGINES):
        print(f"{engine}: {sum(pair[place].seconds for pair in pairs) / len(pairs):.1f} s a run")
    print(f"{len(pairs)} pairs of runs, {differ} differ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(command.run("engines.py", main))
