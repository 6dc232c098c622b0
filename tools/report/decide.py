# SPDX-License-Identifier: MIT
"""Which requirements a run decided, and where else they could be decided.

rows: requirement id to its row of claims/requirement.def, with the key cpus (names of those that it
applies to). A platform decides a requirement when a breach may be called a failure there. On
silicon this is so only for sentences of the manual whose effect a program can see. Under a
hypervisor, and on the reference PMU, it is so for everything that can be observed. The rows of
claims/practice.def, which are about some processors only, aren't looked at here.
"""
WORDS = {"AUTH_TEXT": "text", "AUTH_FIGURE": "figure", "AUTH_PRACTICE": "practice",
         "AUTH_INFERENCE": "inference", "OBS_EXACT": "exact", "OBS_STATISTICAL": "statistical",
         "OBS_ONE_SIDED": "one-sided", "OBS_NONE": "none"}


def platform(run):
    if run.settings.get("pmu") == "reference" and \
            run.settings.get("profile", "none") == "none":
        return "reference"
    if run.settings.get("pmu") == "host" or run.comment("platform").startswith("hypervisor"):
        return "kvm"
    return "silicon"


def decides(row, where):
    """May a breach be called a failure on that platform?"""
    if where == "silicon" and row["authority"] != "AUTH_TEXT":
        return False
    return row[where] != "OBS_NONE"


def holding_shown(row, where):
    """Can a program see there that it holds, not just that it is broken?"""
    return decides(row, where) and row[where] != "OBS_ONE_SIDED"


def summary(run):
    """One number for all: the harness's own, which knows what it judged. A log that broke off has
    none; then it is what its points say."""
    counted = run.comment_that_begins("requirements decided ")
    return counted or f"requirements decided {len(run.decided)} before the log ends"


def where(row):
    """For a table: where a requirement can be decided."""
    names = [("silicon", "silicon"), ("kvm", "KVM"), ("reference", "reference PMU")]
    text = ", ".join(title + (" (one-sided)" if row[name] == "OBS_ONE_SIDED" else "")
                     for name, title in names if decides(row, name))
    return text or "nowhere"


def reference_only(run, rows, groups):
    """Comment lines for a run that requires groups: what only the reference PMU can tell."""
    here = [name for name in rows if rows[name]["group"] in groups and name in
            run.requirement_verdicts()]
    others = ("silicon", "kvm")
    alone = [name for name in here if decides(rows[name], "reference") and
             not any(decides(rows[name], other) for other in others)]
    better = [name for name in here if holding_shown(rows[name], "reference") and
              name not in alone and not any(holding_shown(rows[name], other) for other in others)]
    return ["decidable on the reference PMU only: " + (" ".join(alone) or "-"),
            "elsewhere only a breach can be seen: " + (" ".join(better) or "-")]
