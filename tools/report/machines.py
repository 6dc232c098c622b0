# SPDX-License-Identifier: MIT
"""Machines and their runs: the result of each run in one sentence, and which runs are of one
machine.

Runs of one machine are in the order of the command line, the oldest first.
"""
import re

import decide

OUTCOMES = ("FAILED", "NOT TRUSTWORTHY", "NOT TESTED", "PASSED")    # the worst first
# What tells one machine from another, in the log's own comments.
IDENTITY = ("processor", "system", "board")
FACTS = ("generation", "microcode", "platform", "perfmon", "pebs", "firmware", "bios", "system",
         "board", "processors", "version")
MANY = 8        # requirements that a sentence names


def plural(number, word):
    return f"{number} {word}" + ("" if number == 1 else "s")


def listed(names):
    return ", ".join(names[:MANY]) + (f" and {len(names) - MANY} more"
                                      if len(names) > MANY else "")


def broken(run):
    """Ids of the requirements that the run saw broken, in the order of its points."""
    verdicts = run.requirement_verdicts()
    return [name for name in verdicts if verdicts[name] == "FAIL"]


def outcome(run):
    if run.count("FAIL"):
        return "FAILED"
    if run.problem or run.count("ERROR"):
        return "NOT TRUSTWORTHY"
    if run.not_tested:
        return "NOT TESTED"
    return "PASSED" if run.exit_status == 0 else "NOT TRUSTWORTHY"


def decidable(run):
    """How many requirements could be decided, or None where the log doesn't say."""
    words = decide.summary(run).split()
    return int(words[4]) if words[3:4] == ["of"] and words[4].isdigit() else None


def of_all(run):
    """ "229 of the 230 requirements that can be decided here" """
    total = decidable(run)
    if total is None:
        return plural(len(run.decided), "requirement")
    if total == len(run.decided):
        return f"all {plural(total, 'requirement')} that can be decided here"
    return f"{len(run.decided)} of the {plural(total, 'requirement')} that can be decided here"


def sentence(run):
    """What a run found, without its outcome's word."""
    result, errors = outcome(run), run.count("ERROR")
    if result == "NOT TESTED":
        return f"Nothing was tested: {run.not_tested}."
    if result == "NOT TRUSTWORTHY":
        why = run.problem or (f"{plural(errors, 'test')} ended with an error of the harness"
                              if errors else
                              f"the harness ended with status {run.claim}, though nothing failed")
        so_far = f"; up to there {of_all(run)} were decided" if run.decided else ""
        return f"{why[:1].upper()}{why[1:]}{so_far}."
    known, unclear = run.count("KNOWN"), run.count("INCONCLUSIVE")
    more = []
    if known:
        more.append(f"{plural(known, 'test')} failed as a published erratum says")
    if unclear:
        more.append(f"{plural(unclear, 'test')} came to no verdict")
    if result == "FAILED":
        names = broken(run)
        if run.problem:
            more.append(run.problem)
        elif errors:
            more.append(f"{plural(errors, 'test')} ended with an error of the harness")
        what = f"{plural(len(names), 'requirement')} broken" if names else \
            f"{plural(run.count('FAIL'), 'test')} failed"
        text = f"{what}{': ' + listed(names) if names else ''}; {of_all(run)} were decided"
    else:
        text = f"{of_all(run)} were decided, and none is broken"
    text = "; ".join([text, *more])
    return f"{text[:1].upper()}{text[1:]}."


def condition(run):
    """What the reference PMU was told to be, or ""."""
    return ", ".join(f"{key} {run.settings[key]}" for key in
                     ("fault", "seed", "profile", "latitude")
                     if run.settings.get(key, "none") not in ("none", "0", ""))


class Machine:
    """Some runs of one machine."""

    def __init__(self, name, facts):
        self.name, self.facts, self.runs = name, facts, []

    @property
    def last(self):
        return self.runs[-1]

    @property
    def outcome(self):
        """The last run's; but a machine of which a run failed hasn't simply passed."""
        results = [outcome(run) for run in self.runs]
        return "FAILED" if results[-1] == "PASSED" and "FAILED" in results else results[-1]

    @property
    def sentence(self):
        text, failed = sentence(self.last), [run for run in self.runs[:-1] if broken(run)]
        if not failed or broken(self.last):
            return text
        names = list(dict.fromkeys(name for run in failed for name in broken(run)))
        return f"The last run passed, {plural(len(failed), 'earlier run')} did not " \
            f"({listed(names)}). {text}" if outcome(self.last) == "PASSED" else \
            f"{text} {plural(len(failed), 'earlier run')} failed ({listed(names)})."


def is_reference(run):
    return run.settings.get("pmu") == "reference"


def machine_key(run):
    if is_reference(run):
        return "reference", run.settings.get("cpu", ""), run.settings.get("profile", "none")
    identity = tuple(run.comment(key) for key in IDENTITY)
    return identity if any(identity) else (run.settings.get("cpu", ""), run.source)


def machine_name(run):
    """What people call it: its brand string, or the generation that the reference PMU shows."""
    if is_reference(run):
        profile = run.settings.get("profile", "none")
        return f"Reference PMU, {run.settings.get('cpu', '?')}" + \
            (f", profile {profile}" if profile != "none" else "")
    text = run.comment("processor")
    brand = text.partition(", ")[2] or text
    brand = " ".join(re.sub(r"\((?:R|TM)\)|\bCPU\b(?! version)", " ", brand).split())
    return brand or run.settings.get("cpu", "") or "unknown machine"


def facts(run):
    """Names and texts of what identifies the machine."""
    named = [("processor", run.comment("processor"))]
    named += [(key, run.comment(key)) for key in FACTS]
    return [(key, text) for key, text in named if text]


def run_name(run, position):
    """What distinguishes a run from the machine's others."""
    return condition(run) or (run.source and run.source.rstrip("/").rpartition("/")[2]) or \
        f"run {position}"


def group(runs):
    """The machines, in the order of their first runs. Each run gets a title of its own."""
    machines, seen = {}, {}
    for run in runs:
        key = machine_key(run)
        if key not in machines:
            name = machine_name(run)
            seen[name] = seen.get(name, 0) + 1
            if seen[name] > 1:
                name += f" (machine {seen[name]})"
            machines[key] = Machine(name, facts(run))
        machines[key].runs.append(run)
    for machine in machines.values():
        names = {}
        for position, run in enumerate(machine.runs, 1):
            name = run_name(run, position) if len(machine.runs) > 1 else condition(run)
            names[name] = names.get(name, 0) + 1
            if names[name] > 1:
                name += f" (run {position})"
            run.machine_name, run.name = machine.name, name
            run.full_name = f"{machine.name}: {name}" if name else machine.name
    return list(machines.values())


def headline(machines):
    """What all of them found, in one line."""
    results = [machine.outcome for machine in machines]
    total = len(results)
    if total == 1:
        return results[0]
    parts = [f"{results.count(name)} {name.lower()}" for name in OUTCOMES if name in results]
    return f"{total} machines: " + ", ".join(parts)
