# SPDX-License-Identifier: MIT
"""The tables of a run: for a terminal, and as a part of docs/DETECTION.md."""
from mutate import legal, machine

CLASSES = (machine.KILLED, machine.BROKEN, machine.SURVIVED, legal.MISSING, machine.NOT_REACHED,
           machine.NOT_RUN, legal.LEGAL, legal.NO_EFFECT)
JUDGED = -3     # of CLASSES: those before it
BEGIN, END = "<!-- by tools/mutation.py --docs -->", "<!-- end -->"


def file_of(row):
    return row["key"][0].removeprefix("refpmu/model/")


def group_of(row):
    return row["group"]


def lines(rows, key):
    """Name, count of all, counts by class, score in percent: a row a name, the sum last."""
    for name in sorted({key(row) for row in rows}) + ["all"]:
        of = [row for row in rows if name in ("all", key(row))]
        counts = [sum(row["class"] == word for row in of) for word in CLASSES]
        judged = sum(counts[:JUDGED])
        yield name, len(of), counts, 100 * (counts[0] + counts[1]) // judged if judged else 100


def print_table(rows, key, title):
    print(f"\n{title:20} " + " ".join(f"{word:>11}" for word in ("all", *CLASSES)) + "  score")
    for name, number, counts, score in lines(rows, key):
        print(f"{name:20} " + " ".join(f"{count:11}" for count in (number, *counts)) +
              f"  {score:3} %")


def as_markdown(rows, key, title):
    text = [f"| {title} | mutants | " + " | ".join(CLASSES) + " | score |",
            "| --- " * (len(CLASSES) + 3) + "|"]
    text += [f"| {name} | {number} | " + " | ".join(str(count) for count in counts) +
             f" | {score} % |" for name, number, counts, score in lines(rows, key)]
    return "\n".join(text) + "\n"


def write(path, heading, rows):
    """Replaces what is between the two marks."""
    with open(path, encoding="utf-8") as file:
        before, _, rest = file.read().partition(BEGIN)
    after = rest.partition(END)[2]
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{before}{BEGIN}\n{heading}\n\n{as_markdown(rows, group_of, 'group')}\n"
                   f"{as_markdown(rows, file_of, 'file')}{END}{after}")
