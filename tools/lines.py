#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Count the project's lines by folder: lines.py [--write]

Lines of C, assembly, tables, Python and shell, without documents. Prints the table that
docs/ARCHITECTURE.md has after "## Lines"; --write puts it there.
"""
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DOCUMENT = os.path.join(ROOT, "docs", "ARCHITECTURE.md")
COUNTED = (".c", ".h", ".asm", ".inc", ".def", ".py", ".sh", ".mk", "Makefile")
HARNESS = ("boot", "kernel", "pmu", "tests")
BEGIN, END = "<!-- tools/lines.py --write -->\n", "<!-- end -->\n"


def folder_of(name):
    """refpmu/model/tsx/tx.c is of refpmu/model; tests/core/count.c of tests."""
    parts = name.split("/")[:-1]
    return "/".join(parts[:2] if parts[:1] == ["refpmu"] else parts[:1]) or "."


def count():
    out = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, stdout=subprocess.PIPE,
                         text=True).stdout
    folders = {}
    for name in out.splitlines():
        path = os.path.join(ROOT, name)
        if name.endswith(COUNTED) and os.path.isfile(path):
            with open(path, "rb") as file:
                lines = file.read().count(b"\n")
            files, total = folders.get(folder_of(name), (0, 0))
            folders[folder_of(name)] = files + 1, total + lines
    return folders


def table(folders):
    rows = [(f"`{name}/`" if name != "." else "top", *folders[name]) for name in sorted(folders)]
    groups = (("harness: " + ", ".join(f"`{name}/`" for name in HARNESS), HARNESS),
              ("all", tuple(folders)))
    for title, names in groups:
        rows.append((title, *map(sum, zip(*(folders[name] for name in names)))))
    return "| folder | files | lines |\n| --- | --- | --- |\n" + "".join(
        f"| {name} | {files} | {lines} |\n" for name, files, lines in rows)


def main():
    if sys.argv[1:] not in ([], ["--write"]):
        sys.exit("usage: lines.py [--write]")
    text = table(count())
    if not sys.argv[1:]:
        print(text, end="")
        return
    with open(DOCUMENT, encoding="utf-8") as file:
        before, rest = file.read().split(BEGIN)
    with open(DOCUMENT, "w", encoding="utf-8") as file:
        file.write(before + BEGIN + text + END + rest.split(END, 1)[1])


if __name__ == "__main__":
    main()
