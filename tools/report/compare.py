# SPDX-License-Identifier: MIT
"""Differences between two runs of one machine, and between machines."""
import machines

BAD = ("FAIL", "ERROR")
DECIDED = ("PASS", "KNOWN", "FAIL")
# Kinds of a change from one run to the next, those that matter most first.
KINDS = {"broken": "now broken", "lost": "no longer decided", "changed": "other",
         "decided": "now decided", "repaired": "no longer broken"}


def kind(before, after):
    """Of a requirement's verdicts; "" is no test at all."""
    if after in BAD:
        return "broken"
    if before in BAD:
        return "repaired" if after in DECIDED else "lost"
    if before in DECIDED and after not in DECIDED:
        return "lost"
    if before not in DECIDED and after in DECIDED:
        return "decided"
    return "changed"


class Change:
    """A requirement whose verdict differs between two runs of one machine."""

    def __init__(self, requirement, before, after):
        self.requirement, self.before, self.after = requirement, before, after
        self.kind = kind(before, after)


def changes(before, after):
    """Changes from one run to the next, regressions first."""
    old, new = before.requirement_verdicts(), after.requirement_verdicts()
    found = [Change(name, old.get(name, ""), new.get(name, ""))
             for name in dict.fromkeys([*new, *old]) if old.get(name, "") != new.get(name, "")]
    order = list(KINDS)
    return sorted(found, key=lambda one: order.index(one.kind))


def conditions(before, after):
    """What else differs: the program's version, microcode, firmware, the run's settings."""
    pairs = [(key, before.comment(key), after.comment(key))
             for key in ("version", "microcode", "firmware", "bios", "processors")]
    pairs += [(key, before.settings.get(key, ""), after.settings.get(key, ""))
              for key in ("fault", "seed", "latitude")]
    return [(key, one or "-", other or "-") for key, one, other in pairs if one != other]


def between_runs(grouped):
    """(machine, earlier run, later run, changes, conditions) where there is a change, those with
    the most that is now broken first."""
    found = []
    for machine in grouped:
        for before, after in zip(machine.runs, machine.runs[1:]):
            there = changes(before, after)
            if there:
                found.append((machine, before, after, there, conditions(before, after)))
    return sorted(found, key=lambda one: -sum(change.kind == "broken" for change in one[3]))


def between_machines(grouped):
    """(requirement, verdict to machines) where one machine's last run holds what another's breaks,
    those first that the fewest machines break: they are the machine's and not the test's."""
    tested = [machine for machine in grouped if machines.outcome(machine.last) != "NOT TESTED"]
    verdicts = {}
    for machine in tested:
        for name, verdict in machine.last.requirement_verdicts().items():
            verdicts.setdefault(name, {}).setdefault(verdict, []).append(machine)
    found = [(name, by) for name, by in verdicts.items()
             if "PASS" in by and any(bad in by for bad in (*BAD, "KNOWN"))]
    return sorted(found, key=lambda one: ("FAIL" not in one[1],
                                          sum(len(one[1].get(bad, [])) for bad in BAD)))
