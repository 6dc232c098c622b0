#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How large the tree is: lines by folder, as the table of docs/ARCHITECTURE.md.

lines.py [--all | --check]

--all prints a row for each folder, not only for the first level. Code counts lines that are not
blank, not a comment and not in a document. --check prints only the rows of the table in
docs/ARCHITECTURE.md that are wrong by more than a tenth, and folders with more than 40 files; if
there are any, the exit status is 1.
"""
import os
import re
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
MOST_FILES = 40
COMMENTS = ((re.compile(r"\.(c|h|def|inc|ld)$"), re.compile(r"/\*.*?\*/|//[^\n]*", re.S)),
            (re.compile(r"\.asm$"), re.compile(r";[^\n]*")),
            (re.compile(r"\.py$"), re.compile(r'^\s*#[^\n]*|^\s*""".*?"""', re.M | re.S)),
            (re.compile(r"\.(md|tsv)$"), re.compile(r".+", re.S)),
            (re.compile(r""), re.compile(r"^\s*#[^\n]*", re.M)))
ROW = re.compile(r"^\| `?([\w./-]+?)/?`? \| (\d+) \| (\d+) \| (\d+) \|$", re.M)


def count(path):
    if path.endswith(".png"):
        return 0, 0
    with open(path, encoding="utf-8") as file:
        text = file.read()
    comment = next(pattern for name, pattern in COMMENTS if name.search(path))
    return text.count("\n"), sum(bool(line.strip()) for line in comment.sub("", text).split("\n"))


def table(depth):
    """Folder to files, lines, code, and in how many files is any one folder."""
    rows, single = {}, {}
    listed = subprocess.run(["git", "ls-files"], check=True, text=True, stdout=subprocess.PIPE)
    for path in filter(os.path.isfile, listed.stdout.splitlines()):
        folder = os.path.dirname(path)
        single[folder] = single.get(folder, 0) + 1
        name = "/".join(folder.split("/")[:depth]) or "."
        row = rows.setdefault(name, [0, 0, 0])
        for column, value in enumerate((1, *count(path))):
            row[column] += value
    rows["all"] = [sum(row[column] for row in rows.values()) for column in range(3)]
    return rows, single


def main():
    if sys.argv[1:] not in ([], ["--all"], ["--check"]):
        sys.exit("usage: lines.py [--all | --check]")
    os.chdir(ROOT)
    rows, single = table(9 if "--all" in sys.argv else 1)
    if "--check" not in sys.argv:
        print("| folder | files | lines | code |\n| --- | --- | --- | --- |")
        for name, row in rows.items():
            print(f"| {name} | {row[0]} | {row[1]} | {row[2]} |")
        return 0
    with open("docs/ARCHITECTURE.md", encoding="utf-8") as file:
        written = {found[1]: int(found[3]) for found in ROW.finditer(file.read())}
    wrong = [f"docs/ARCHITECTURE.md: {name} has {row[1]} lines, not {written.get(name)}: make lines"
             for name, row in rows.items()
             if abs(written.get(name, 0) - row[1]) > row[1] / 10 and row[1] > 200]
    wrong += [f"{name}/: {files} files, more than {MOST_FILES}"
              for name, files in single.items() if files > MOST_FILES]
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
