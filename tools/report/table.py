# SPDX-License-Identifier: MIT
"""Runs side by side, requirement by run."""
import json

import decide
import packed
from run import VERDICTS


def sentences():
    """Requirement id to its row, from the table packed with this program; {} without one."""
    try:
        return {row["id"]: row for row in json.loads(packed.text("requirements.json"))}
    except (OSError, KeyError):
        return {}


def titles(runs):
    """One title a run; equal ones get a number."""
    seen, unique = {}, []
    for run in runs:
        seen[run.title] = seen.get(run.title, 0) + 1
        unique.append(run.title + (f" #{seen[run.title]}" if seen[run.title] > 1 else ""))
    return unique


def matrix(runs):
    """Rows (requirement id, sentence, verdict per run) for every requirement seen anywhere."""
    verdicts = [run.requirement_verdicts() for run in runs]
    known = sentences()
    order = {name: i for i, name in enumerate(known)}
    ids = sorted({name for one in verdicts for name in one},
                 key=lambda name: (order.get(name, len(order)), name))
    return [(name, known.get(name, {}), [one.get(name, "") for one in verdicts]) for name in ids]


def totals(run):
    text = ", ".join(f"{run.count(verdict)} {verdict}" for verdict in VERDICTS
                     if run.count(verdict))
    if run.not_tested:
        return f"NOT TESTED: {run.not_tested} ({text or 'no test points'})"
    return f"{decide.summary(run)}; {text}" + (f"; {run.problem}" if run.problem else "")
