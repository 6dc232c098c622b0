#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Mutation of the model: check that the suite fails when any rule of refpmu/model/ is broken.

mutation.py [--build FOLDER] [--jobs N] [--cpu NAME] [--smp N] [--sample N] [--seed S]
            [--engine NAME] [--group NAME,...] [--survivors] [--first] [--known] [--docs] [--list]

Breaks each expression and statement of refpmu/model/ (tools/mutate/rules.py lists the changes). One
build holds all mutants; one of them is chosen at run time. Mutants that compile to the same code
are dropped. Each mutant runs under the tests that reach its place, as recorded before: first under
those that reach the fewest places and, if these pass, under the others. A mutant is killed if a
test fails. It is broken if it doesn't end a loop or leaves a test without a verdict; this counts as
killed, but is listed separately. A mutant whose run gives no result runs once more; if there is no
result again, it isn't counted. claims/mutants-legal.tsv says which survivors are legal processors,
or have no effect, and why.

--sample N takes N mutants, the same ones with the same --seed; --group takes those of groups of
requirements; --survivors takes those that survived the last time, or weren't reached, and leaves
out their first tests if that run was on this machine. --engine selects the engine of the reference
PMU, because the model has rules for many instructions at once and for one. --first runs each mutant
only under its first tests and a few of each group. --list prints the mutants and runs none. --docs
runs none either; it writes the figures of all runs into docs/DETECTION.md, and killed mutants into
claims/mutants-killed.tsv. --known runs mutants of that table, each under the test that killed it,
which is quick; it writes nothing.

Writes FOLDER/mutation.json. Exit status: 0 no survivor without a reason; 1 otherwise; 2 bad option.
"""
import json
import os
import random
import shutil
import subprocess
import sys

TOOLS = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, TOOLS)
import command                                              # noqa: E402
import mutants as faults                                    # noqa: E402
import plan                                                 # noqa: E402
import spec                                                 # noqa: E402
from mutate import groups, known, legal, machine, model, report, syntax    # noqa: E402

MISSING = "python3-clang or its library isn't installed: make setup"
QUICK = 50              # mutants: recording what each test reaches would take longer
ENGINE = "fast"
NO_TESTS = ("selftest", "deadly", "calibration")


def prepare(options, folder):
    """The mutants, and the programs that hold them, in folder."""
    found, dropped = model.all_mutants(
        spec.ROOT, os.path.join(folder, "same.json"), workers=options.jobs,
        wanted=lambda of: not is_quick(options) or groups.group_of(of.source.path, of.name)
        in options.group.split(","))
    build_programs(options, folder, found)
    return model.mutants_of(found), dropped, len(model.places_of(found))


def build_programs(options, folder, found):
    tree = os.path.join(folder, "tree")
    model.make_tree(spec.ROOT, tree, found, True)
    environment = {key: value for key, value in os.environ.items()
                   if key not in ("MAKEFLAGS", "MAKELEVEL")}
    done = subprocess.run(["make", "-s", f"-j{options.jobs}", "BUILD=build", "WARN=-w",
                           "SEPARATE=1", "build/refpmu.efi",
                           "build/launch.efi"], cwd=tree, env=environment,
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise plan.PlanError(f"the mutation build failed: {done.stderr[-2000:]}")
    for name in ("refpmu.efi", "launch.efi"):
        shutil.copy(os.path.join(tree, "build", name), folder)
    shutil.copy(os.path.join(options.build, "pmutest86.efi"), folder)


def is_quick(options):
    """No others are made than those of the groups that are asked for, and what tests reach is
    recorded by group of tests."""
    return bool(options.group) and 0 < options.sample <= QUICK


def tests_for(options):
    """The tests that are about this generation, to their requirements."""
    suite = faults.Suite(options.build, True)
    return {name: ids for name, ids in sorted(suite.tests.items())
            if name.split(".")[0] not in NO_TESTS and
            any(options.cpu in suite.cpus.get(one, ()) for one in ids)}


def group_of(mutant):
    return groups.group_of(mutant.point.source.path, mutant.point.function)


def is_settled(key, table):
    return (table.reason(key) or (legal.MISSING,))[0] != legal.MISSING


def choose(options, mutants, last, table):
    if options.group:
        mutants = [mutant for mutant in mutants if group_of(mutant) in options.group.split(",")]
    if options.survivors:
        survived = {tuple(row["key"]) for row in last
                    if row["verdict"] in (machine.SURVIVED, machine.NOT_REACHED,
                                          machine.NOT_RUN) and
                    not is_settled(tuple(row["key"]), table)}
        mutants = [mutant for mutant in mutants if mutant.key in survived]
    if options.sample and options.sample < len(mutants):
        mutants = sorted(random.Random(options.seed).sample(mutants, options.sample),
                         key=lambda of: of.number)
    return mutants


def last_run(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)["mutants"]
    except (OSError, ValueError):
        return []


def class_of(key, verdict, table):
    reason = table.reason(tuple(key)) if verdict in (machine.SURVIVED, machine.NOT_REACHED) \
        else None
    return reason[0] if reason else verdict


def rows_of(options, mutants, verdicts, table):
    rows = []
    for mutant in mutants:
        verdict, why = verdicts[mutant.number]
        rows.append({"key": list(mutant.key), "line": mutant.point.line, "group": group_of(mutant),
                     "number": mutant.number, "verdict": verdict, "why": why,
                     "cpu": options.cpu, "smp": options.smp, "engine": options.engine,
                     "class": class_of(mutant.key, verdict, table)})
    return rows


def print_rows(rows):
    for row in rows:
        if row["class"] in (machine.SURVIVED, machine.NOT_REACHED, machine.NOT_RUN,
                            legal.MISSING):
            path, function, kind, original, mutated = row["key"]
            print(f"{row['class']}: {path}:{row['line']} {function}: {kind}: {original} -> "
                  f"{mutated} [{row['group']}]")


def write_figures(options, mutants, dropped, last, table):
    """Into docs/DETECTION.md: of all that have run. What was killed, into its table."""
    there = {mutant.key for mutant in mutants}
    rows = [row for row in last if tuple(row["key"]) in there]
    killed = [known.Row((*row["key"], row.get("cpu", options.cpu), row["why"])) for row in rows
              if row["verdict"] == machine.KILLED and row.get("smp", 1) == 1 and
              row.get("engine", ENGINE) == ENGINE]
    known.write(known.merge(known.read(), killed, there.__contains__))
    for row in rows:
        row["class"] = class_of(row["key"], row["verdict"], table)
    same = ", ".join(f"{len(of)} {key}" for key, of in sorted(dropped.items()))
    report.write(os.path.join(spec.ROOT, "docs/DETECTION.md"),
                 f"Haswell, and where that doesn't reach them other generations. {len(rows)} of "
                 f"{len(mutants)} mutants were run; dropped before: {same}.", rows)


def run_known(options, folder):
    """Some of those that a test has killed, under that test."""
    rows = [row for row in known.read() if row.cpu == options.cpu]
    if options.sample and options.sample < len(rows):
        rows = random.Random(options.seed).sample(rows, options.sample)
    by_key = {row.key: row for row in rows}
    found = model.some_mutants(spec.ROOT, by_key)
    build_programs(options, folder, found)
    mutants = model.mutants_of(found)
    one = machine.Machine(folder, options.jobs, options.cpu, options.smp)
    one.know({row.test: () for row in rows})
    verdicts = {}
    one.stage(mutants, lambda of: (by_key[of.key].test,), verdicts)
    survived = [mutant for mutant in mutants if verdicts[mutant.number][0] == machine.SURVIVED]
    for mutant in survived:
        print("survived:", *mutant.key, by_key[mutant.key].test, sep="\t")
    print(f"{len(mutants)} known mutants, {len(rows) - len(mutants)} of the table aren't there any "
          f"more, {len(survived)} survived")
    return 1 if survived or not mutants else 0


def run(options, parser):
    for group in options.group.split(",") if options.group else ():
        if group not in groups.all_groups():
            parser.error(f"unknown group '{group}'; known: {' '.join(sorted(groups.all_groups()))}")
    if not syntax.library():
        raise plan.PlanError(MISSING)
    folder = os.path.join(options.build, "mutation-known" if options.known else "mutation")
    os.makedirs(folder, exist_ok=True)
    if options.known:
        return run_known(options, folder)
    mutants, dropped, places = prepare(options, folder)
    path = os.path.join(options.build, "mutation.json")
    last = last_run(path)
    table = legal.Table()
    stale = [] if is_quick(options) else table.stale({mutant.key for mutant in mutants})
    for row in stale:
        print(f"stale: claims/mutants-legal.tsv:{row}")
    if options.docs:
        write_figures(options, mutants, dropped, last, table)
        return 0
    mutants = choose(options, mutants, last, table)
    if not mutants:
        parser.error("no mutant is chosen")
    if options.list:
        for mutant in mutants:
            print(mutant.number, *mutant.key, sep="\t")
        return 0
    verdicts = {}
    one = machine.Machine(folder, options.jobs, options.cpu, options.smp, options.engine)
    try:
        one.record(tests_for(options), places, is_quick(options))
        survived = {tuple(row["key"]) for row in last if row["verdict"] == machine.SURVIVED and
                    (row.get("cpu"), row.get("smp"), row.get("engine", ENGINE)) ==
                    (options.cpu, options.smp, options.engine)} \
            if options.survivors else set()
        one.run([of for of in mutants if of.key not in survived], verdicts, group_of,
                not options.first)
        one.run([of for of in mutants if of.key in survived], verdicts, group_of,
                not options.first, 1)
    except KeyboardInterrupt:
        print(f"stopped: {len(verdicts)} of {len(mutants)} mutants have run")
        mutants = [mutant for mutant in mutants if mutant.number in verdicts]
    rows = rows_of(options, mutants, verdicts, table)
    keys = {tuple(row["key"]) for row in rows}
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"dropped": {key: len(of) for key, of in dropped.items()},
                   "mutants": [row for row in last if tuple(row["key"]) not in keys] + rows}, file,
                  indent=1)
    print_rows(rows)
    report.print_table(rows, report.file_of, "file")
    report.print_table(rows, report.group_of, "group")
    left = sum(row["class"] == machine.SURVIVED for row in rows)
    print(f"{len(rows)} mutants, {left} survived without a reason")
    return 1 if left or stale else 0


def main():
    parser = command.Parser("mutation.py", __doc__, build="build", jobs=2, cpu="haswell", smp=1)
    parser.add_argument("--sample", type=command.number(0), default=0)
    parser.add_argument("--seed", type=command.number(0), default=1)
    parser.add_argument("--group", default="")
    parser.add_argument("--engine", choices=plan.ENGINES, default=ENGINE)
    parser.add_argument("--survivors", action="store_true")
    parser.add_argument("--first", action="store_true")
    parser.add_argument("--known", action="store_true")
    parser.add_argument("--docs", action="store_true")
    parser.add_argument("--list", action="store_true")
    return run(parser.parse_args(), parser)


if __name__ == "__main__":
    sys.exit(command.run("mutation.py", main))
