# SPDX-License-Identifier: MIT
"""Runs as Markdown."""
import decide
import table


def cell(text):
    return text.replace("|", "\\|").replace("\n", " ")


def markdown_page(runs):
    names = table.titles(runs)
    out = ["# PMUTest86", "", "| machine | result |", "| --- | --- |"]
    out += [f"| {cell(name)} | {cell(table.totals(run))} |" for run, name in zip(runs, names)]
    out += ["", "| requirement | decidable on | " + " | ".join(map(cell, names)) + " |",
            "| --- | --- |" + " --- |" * len(runs)]
    out += [f"| {name} {cell(row.get('sentence', ''))} | {decide.where(row) if row else '-'} | " +
            " | ".join(verdict or "-" for verdict in verdicts) + " |"
            for name, row, verdicts in table.matrix(runs)]
    bad = [(name, point) for run, name in zip(runs, names) for point in run.points
           if point.verdict in ("FAIL", "ERROR")]
    for name, point in bad:
        out += ["", f"## {point.verdict} {point.name} - {name}", "", "```"]
        out += [f"{key}: {value}" for key, value in point.details.items()]
        out += ["```"]
    return "\n".join(out) + "\n"
