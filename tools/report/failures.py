# SPDX-License-Identifier: MIT
"""Failures by requirement: the failing checks of each test, and its PEBS records."""
import re

import records
import table

ALSO = re.compile(r"(\S+) (.*): wanted (.*), got (.*) \(([^()]*)\)$")


class Check:
    """One failing check."""

    def __init__(self, what, wanted, got, place):
        self.what, self.wanted, self.got, self.place = what, wanted, got, place


class Observation:
    """A test of one run that saw a requirement broken."""

    def __init__(self, run, point, requirement):
        self.run, self.point = run, point
        self.checks = list(checks(point, requirement))
        self.records = records.records_of(point)


class Failure:
    """A broken requirement: its row of claims/requirement.def, and where it was seen."""

    def __init__(self, requirement, row):
        self.requirement, self.row = requirement, row
        self.observations = []

    @property
    def runs(self):
        return list(dict.fromkeys(one.run for one in self.observations))


def checks(point, requirement):
    """The failing checks of that requirement in a test point's block."""
    details = point.details
    if details.get("requirement", requirement) == requirement and \
            ("wanted" in details or "got" in details):
        yield Check(details.get("what", ""), details.get("wanted", ""), details.get("got", ""),
                    details.get("place", ""))
    for key, text in details.items():
        match = ALSO.match(text) if key.startswith("also_") else None
        if match and match[1] == requirement:
            yield Check(*match.groups()[1:])


def collect(runs, verdict="FAIL"):
    """The broken requirements: those first that most runs see broken."""
    known = table.sentences()
    found = {}
    for run in runs:
        for point in run.points:
            if point.verdict != verdict:
                continue
            for name in point.broken or point.requirements or ["-"]:
                if name not in found:
                    found[name] = Failure(name, known.get(name, {}))
                found[name].observations.append(Observation(run, point, name))
    order = {name: i for i, name in enumerate(known)}
    return sorted(found.values(), key=lambda one: (-len(one.runs), order.get(
        one.requirement, len(order)), one.requirement))


def errors(runs):
    """(run, point) of each test that the harness or its environment broke."""
    return [(run, point) for run in runs for point in run.points if point.verdict == "ERROR"]
