# SPDX-License-Identifier: MIT
"""Which checks of the tests can fail? Used by mutants.py and coverage.py.

A check is a place in a test's source and the requirement that it decides. It can fail if a fault
that names its requirement makes it fail, while at least 70 % of the other tests of the sample that
runs under every fault still pass: if all tests fail, the fault says nothing about this check. The
sample, a few tests of each group, stands for the suite. Tests about other generations aren't
counted in it. For a control, CONTROL_*() in the test, a failure under any fault in this way is
enough, because it only guards the observation. This fault is its explanation, and later runs try
the fault on that test again. The same is true for a check that fails only under faults of other
requirements. Any other check or control needs a row in claims/unkillable.tsv: test, requirement,
reason. A row that isn't needed is an error.
"""
import fnmatch
import os
import re

TOOLS = os.path.dirname(os.path.abspath(__file__))
GREEN = 0.7
RED = ("FAIL", "ERROR")
CONTROL = re.compile(r"control: red under (\S+) ")


def keys(run):
    """(test, requirement, place) of every check that this run came to."""
    return [(point.name, requirement, place) for point in run.points
            for requirement, place in point.checks]


def failed(run):
    """The same, of those that failed."""
    return [(point.name, requirement, place) for point in run.points
            for (requirement, place), state in point.checks.items() if state == "failed"]


def red_tests(run, planned):
    """Names that aren't green: they failed, broke or didn't come to run."""
    return set(planned) - {point.name for point in run.points if point.verdict not in RED}


def mostly_green(tests, red):
    return len(tests - red) >= GREEN * len(tests)


def asked_for(tests, patterns):
    """The tests that a run was told to run: patterns "group.*,g*", or "" for all."""
    return [name for name in tests if not patterns or
            any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns.split(","))]


class Scores:
    """Every check, and the faults that showed that it can fail."""

    def __init__(self, clean_runs):
        self.tests = sorted({point.name for run in clean_runs for point in run.points})
        every = {key for run in clean_runs for key in keys(run)}
        self.killers = {key: [] for key in every}
        self.controls = {key: [] for key in every}      # red under faults of other requirements
        self.requirements = {}
        self.declared = set()       # controls by what the test says
        for run in clean_runs:
            self.declare(run)

    def declare(self, run):
        self.declared |= {(point.name, *key) for point in run.points for key in point.controls}

    def add(self, fault, requirements, run, sample, whole=None):
        """What a run under that fault shows. sample: the tests that run under every one; whole: the
        run that they were in, if another one."""
        self.requirements[fault] = requirements
        self.declare(run)
        red = red_tests(whole or run, sample)
        for key in keys(run):
            self.killers.setdefault(key, [])
            self.controls.setdefault(key, [])
        for key in failed(run):
            if mostly_green(set(sample) - {key[0]}, red):
                decides = key[1] in requirements and key not in self.declared
                (self.killers if decides else self.controls)[key].append(fault)

    def in_order(self):
        return sorted(self.killers, key=lambda key: (key[0], key[1], place_order(key[2])))

    def control(self, key):
        """Why a control is one, or ""."""
        if self.killers[key] or not self.controls[key]:
            return ""
        fault = self.controls[key][0]
        return f"control: red under {fault} ({', '.join(self.requirements[fault])})"

    def rows(self):
        """Test, requirement, how many of its checks can fail, a fault that shows it or why not. One
        row for each kind of answer, and for each fault that shows that controls can fail."""
        table = {}
        for key in self.in_order():
            able = bool(self.killers[key])
            text = self.killers[key][0] if able else self.control(key)
            kind = "able" if able else "control" if text else "never"
            of_kind = (key[0], key[1], kind, text if kind == "control" else "")
            row = table.setdefault(of_kind, [0, text])
            row[0] += 1
        return [[*key[:3], str(row[0]), row[1] or "-"] for key, row in table.items()]

    def never_red(self):
        return [key for key in self.in_order() if not self.killers[key] and not self.controls[key]]


def controls(rows):
    """Fault to the tests with controls that it turned red, by the rows of an earlier run."""
    found = {}
    for test, _, kind, _, text in rows:
        if kind == "control":
            found.setdefault(CONTROL.match(text)[1], set()).add(test)
    return found


def place_order(place):
    file, _, line = place.rpartition(":")
    return file, int(line)


def explanations(path=os.path.join(os.path.dirname(TOOLS), "claims", "unkillable.tsv")):
    """(test, requirement) to the reason why no fault turns that check red."""
    rows = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            for line in file:
                if line.strip() and not line.startswith("#"):
                    test, requirement, reason = line.rstrip("\n").split("\t")
                    rows[test, requirement] = reason
    return rows
