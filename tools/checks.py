# SPDX-License-Identifier: MIT
"""Which checks of the tests can fail? Used by mutants.py and coverage.py.

A check is a place in a test's source and the requirement that it decides. It counts as able to
fail when a fault turns it red that names its requirement, while at least 80 % of the other tests
stay green: when all turn red, anything would have done. A check that no fault can turn red needs
a row in tools/unkillable.tsv: test, requirement, reason. A row that isn't needed is an error.
"""
import os

TOOLS = os.path.dirname(os.path.abspath(__file__))
GREEN = 0.8
RED = ("FAIL", "ERROR")


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


class Scores:
    """Every check, and the faults that showed that it can fail."""

    def __init__(self, clean_runs):
        self.tests = sorted({point.name for run in clean_runs for point in run.points})
        self.killers = {key: [] for run in clean_runs for key in keys(run)}

    def add(self, fault, requirements, run):
        """What a run under that fault shows."""
        red = red_tests(run, self.tests)
        for key in keys(run):
            self.killers.setdefault(key, [])
        for key in failed(run):
            others = len(self.tests) - 1
            green = others - len(red - {key[0]})
            if key[1] in requirements and green >= GREEN * others:
                self.killers[key].append(fault)

    def pairs(self):
        """(test, requirement) to [checks, checks able to fail, the fault that did it first]."""
        table = {}
        for key in sorted(self.killers, key=lambda key: (key[0], key[1], place_order(key[2]))):
            row = table.setdefault(key[:2], [0, 0, ""])
            row[0] += 1
            if self.killers[key]:
                row[1] += 1
                row[2] = row[2] or self.killers[key][0]
        return table

    def never_red(self):
        return sorted((key for key, faults in self.killers.items() if not faults),
                      key=lambda key: (key[0], key[1], place_order(key[2])))


def place_order(place):
    file, _, line = place.rpartition(":")
    return file, int(line)


def explanations(path=os.path.join(TOOLS, "unkillable.tsv")):
    """(test, requirement) to the reason why no fault turns that check red."""
    rows = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            for line in file:
                if line.strip() and not line.startswith("#"):
                    test, requirement, reason = line.rstrip("\n").split("\t")
                    rows[test, requirement] = reason
    return rows
