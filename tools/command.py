# SPDX-License-Identifier: MIT
"""Shared code of the programs that work through a plan (plan.py): options (a wrong option gives one
line and exit status 2), --help (which prints the docstring of the program's file), and the end.
"""
import argparse
import os
import re
import signal
import sys

import checks
import plan
import spec

import output    # in the folder that plan adds

MOST_PROCESSORS = 16
PATTERN = re.compile(r"[A-Za-z0-9_.*?,@-]*")


def number(least, most=10 ** 9):
    """For add_argument(type=): a whole number in these bounds."""
    def convert(text):
        if not re.fullmatch(r"\d{1,9}", text) or not least <= int(text) <= most:
            bounds = f"from {least} to {most}" if most < 10 ** 9 else f"from {least}"
            raise argparse.ArgumentTypeError(f"takes a number {bounds}, not '{text}'")
        return int(text)
    return convert


def drawn(rows, count, number):
    """So many of the rows, one from each of as many equal parts; number says which, and numbers in
    a row come to see all of them."""
    part = max(len(rows) / count, 1) if count else 1
    golden = number * 0.6180339887 % 1      # the next one is far from those before it
    return [rows[int((i + golden) * part)] for i in range(min(count, len(rows)))]


def build_folder(text):
    """For add_argument(type=): a folder in which everything has been built."""
    if not os.path.isfile(os.path.join(text, "tests.tsv")):
        raise argparse.ArgumentTypeError(f"{text}/tests.tsv is missing: run make BUILD={text}")
    return text


def cpu_names():
    return [row["name"] for row in spec.generations()]


class Parser(argparse.ArgumentParser):
    """doc is the program's __doc__. in_common: those of the options below that it takes, each with
    its default (jobs=2)."""

    def __init__(self, prog, doc, **in_common):
        super().__init__(prog=prog, allow_abbrev=False)
        self.doc = doc
        options = {
            "build": {"type": build_folder},
            "jobs": {"type": number(1)},
            "engine": {"choices": plan.ENGINES},
            "cpu": {"choices": cpu_names() + ["all"] * bool(in_common.pop("all_cpus", False))},
            "smp": {"type": number(1, MOST_PROCESSORS)},
            "tests": {},
        }
        for name, default in in_common.items():
            self.add_argument(f"--{name}", default=default, **options[name])

    def format_help(self):
        return self.doc

    def error(self, message):
        message = re.sub(r"^argument ([^:]*):", r"\1", message)
        print(f"{self.prog}: {message}; see --help", file=sys.stderr)
        sys.exit(2)

    def parse_args(self, *args, **words):
        options = super().parse_args(*args, **words)
        tests = getattr(options, "tests", "")
        if tests:
            options.tests = self.check_tests(options.build, tests)
        return options

    def check_tests(self, build, tests):
        """The patterns, without names of the last release. A plan that runs nothing would be
        green."""
        if not PATTERN.fullmatch(tests) or len(tests) > plan.LONGEST_PATTERN:
            self.error(f"--tests takes up to {plan.LONGEST_PATTERN} characters of patterns, "
                       "separated by commas")
        with open(os.path.join(build, "tests.tsv"), encoding="utf-8") as file:
            rows = [line.rstrip("\n").split("\t") for line in file]
        # By name, by requirement, and by mark.
        names = [row[0] for row in rows] + ["@" + name for row in rows
                                            for name in [*row[1].split(","), row[2]]]
        tests = ",".join(self.today(names, pattern) for pattern in tests.split(","))
        if not checks.asked_for(names, tests):
            self.error(f"--tests '{tests}' matches no test")
        return tests

    def today(self, names, pattern):
        """The pattern, or the names of what was called so in the last release."""
        if checks.asked_for(names, pattern):
            return pattern
        renamed = spec.old_names()
        found = sorted({renamed[name] for name in checks.asked_for(renamed, pattern)})
        if found:
            print(f"{self.prog}: --tests: {pattern} is called {','.join(found)} now; the next "
                  "release doesn't know old names", file=sys.stderr)
        return ",".join(found) or pattern


def run(prog, main):
    """Exit status of the program whose body is main(), which returns one. PlanError: 2."""
    for name in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, signal.default_int_handler)
    try:
        return output.guarded(prog, main)
    except plan.PlanError as error:
        print(f"{prog}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
