#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Read the X-macro tables in spec/ through the C preprocessor.

spec.py list cpus|faults|requirements     one line an item: name, tab, sentence
spec.py json                              all requirements, for the report's pages
As a module: table(file, macro, fields) gives the rows as dictionaries.
"""
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MARK = "SPEC_ROW"
TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"|([(),])|([^"(),\s][^"(),]*)')

REQUIREMENT = ("token id group authority silicon kvm reference generations source "
               "sentence").split()
FAULT = "token name requirements sentence".split()
GENERATION = ("token name title family model stepping brand perfmon gp gp_no_ht fixed width "
              "pebs_format pebs_mask ll_mask facilities source").split()


def split_row(text):
    """The arguments of one row: adjacent string literals joined, other text as it stands."""
    fields, depth = [""], 0
    for string, mark, word in TOKEN.findall(text):
        if mark == "," and depth == 1:
            fields.append("")
        elif mark:
            depth += {"(": 1, ")": -1}.get(mark, 0)
            if depth == 0:
                return fields
            if depth > 1:
                fields[-1] += mark
        else:
            fields[-1] += re.sub(r"\\(.)", r"\1", string) if string else word.strip()
    raise ValueError(f"row without an end: {text[:60]}")


def table(file, macro, fields):
    """The rows of one macro of one table, in order."""
    source = f"#define {macro}(...) {MARK} (__VA_ARGS__)\n#include \"spec/{file}\"\n"
    text = subprocess.run(["gcc",
                           "-E", "-P", "-x", "c", "-I", ROOT, "-"], input=source, text=True,
                          capture_output=True, check=True).stdout
    rows = []
    for piece in re.split(rf"\b{MARK}\b", text)[1:]:
        values = split_row(piece.strip())
        if len(values) != len(fields):
            raise ValueError(f"spec/{file}: {macro} has {len(values)} fields, not {len(fields)}")
        rows.append(dict(zip(fields, values)))
    return rows


def requirements():
    return table("requirement.def", "REQUIREMENT", REQUIREMENT)


def faults():
    rows = table("fault.def", "FAULT", FAULT)
    for row in rows:
        row["requirements"] = [word.strip() for word in row["requirements"].split(",")]
    return rows


def generations():
    return table("generation.def", "GENERATION", GENERATION)


def main():
    lists = {
        "cpus": lambda: [(row["name"], row["title"]) for row in generations()],
        "faults": lambda: [(row["name"], row["sentence"]) for row in faults()],
        "requirements": lambda: [(row["id"], row["sentence"]) for row in requirements()],
        "groups": lambda: sorted({(row["group"], "") for row in requirements()}),
    }
    if len(sys.argv) == 3 and sys.argv[1] == "list" and sys.argv[2] in lists:
        for name, sentence in lists[sys.argv[2]]():
            print(f"{name}\t{sentence}")
    elif sys.argv[1:] == ["json"]:
        json.dump(requirements(), sys.stdout, indent=1)
    else:
        sys.exit("usage: spec.py list cpus|faults|requirements|groups, or spec.py json")


if __name__ == "__main__":
    main()
