# SPDX-License-Identifier: MIT
"""Runs as Markdown, for pasting into a bug report."""
import re

import compare
import decide
import machines
import table

SPECIAL = re.compile(r"([\\`*{}\[\]<>#|&~]|\b_|_\b)")


def plain(text):
    """That text in Markdown, whatever is in it."""
    return SPECIAL.sub(r"\\\1", " ".join(str(text).split()))


def fenced(text):
    """A block that the text can't end."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return [fence, text, fence]


def printable(text):
    return "".join(char if char.isprintable() else "?" for char in text)


def printable_lines(text):
    return "\n".join(map(printable, text.rstrip("\n").split("\n")))


def failing_point(run, point):
    out = ["", f"## {point.verdict} {plain(point.name)} - {plain(run.full_name)}", ""]
    return out + fenced("\n".join(f"{key}: {printable(value)}"
                                  for key, value in point.details.items()))


def markdown_page(runs):
    grouped = machines.group(runs)
    out = [f"# PMUTest86: {machines.headline(grouped)}", ""]
    for machine in grouped:
        for run in reversed(machine.runs):
            out.append(f"* **{machines.outcome(run)}** {plain(run.full_name)}: "
                       f"{plain(machines.sentence(run))}")
    for machine in grouped:
        facts = machines.facts(machine.last)
        if facts:
            out += ["", f"Machine {plain(machine.name)}:", ""]
            out += [f"* {key}: {plain(text)}" for key, text in facts]
    for run in runs:
        for point in run.points:
            if point.verdict in ("FAIL", "ERROR"):
                out += failing_point(run, point)
    for machine, before, after, changes, _ in compare.between_runs(grouped):
        out += ["", f"## {plain(machine.name)}: {plain(before.name or 'earlier run')} to "
                f"{plain(after.name or 'later run')}", ""]
        out += [f"* {plain(one.requirement)}: {one.before or 'no test'} to "
                f"{one.after or 'no test'} ({compare.KINDS[one.kind]})" for one in changes]
    out += ["", "<details><summary>All requirements</summary>", "",
            "| requirement | can be decided on | " +
            " | ".join(plain(run.full_name) for run in runs) + " |",
            "| --- | --- |" + " --- |" * len(runs)]
    out += [f"| {plain(name)} {plain(row.get('sentence', ''))} | "
            f"{decide.where(row) if row else '-'} | " +
            " | ".join(verdict or "-" for verdict in verdicts) + " |"
            for name, row, verdicts in table.matrix(runs)]
    return "\n".join([*out, "", "</details>"]) + "\n"
