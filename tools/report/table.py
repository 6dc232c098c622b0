# SPDX-License-Identifier: MIT
"""The table of requirements by run, and the facts about each requirement."""
import functools
import json

import decide
import packed
from run import VERDICTS


@functools.lru_cache(maxsize=None)
def sentences():
    """Requirement id to its row, from the table packed with this program; {} without one."""
    try:
        return {row["id"]: row for row in json.loads(packed.text("requirements.json"))}
    except (OSError, KeyError):
        return {}


def matrix(runs):
    """Rows (requirement id, its row, verdict per run) for every requirement seen anywhere."""
    verdicts = [run.requirement_verdicts() for run in runs]
    known = sentences()
    order = {name: i for i, name in enumerate(known)}
    ids = sorted({name for one in verdicts for name in one},
                 key=lambda name: (order.get(name, len(order)), name))
    return [(name, known.get(name, {}), [one.get(name, "") for one in verdicts]) for name in ids]


def applies(row, run):
    """Is a requirement about this run's processor? True where the log doesn't say which it is."""
    cpu = run.settings.get("cpu") or cpu_of(run.comment("generation"))
    return not cpu or not row or cpu in row["cpus"]


def cpu_of(title):
    """The short name of a generation that a log gives in words."""
    words = title.rpartition("(")[2].rstrip(")").lower().replace(" ", "")
    names = {cpu for row in sentences().values() for cpu in row["cpus"]}
    return words if words in names else ""


def decidable_here(row, run):
    """May this run call a breach of the requirement a failure?"""
    return bool(row) and applies(row, run) and decide.decides(row, decide.platform(run))


def counts(run):
    """Test points by verdict, in words."""
    return ", ".join(f"{run.count(verdict)} {verdict}" for verdict in VERDICTS
                     if run.count(verdict)) or "no test points"
