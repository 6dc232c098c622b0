#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Formats C, but for the columns that its author has made.

keep_columns.py [--check] PROGRAM FILE...: formats each FILE with clang-format (PROGRAM). --check
changes nothing, prints the name of each FILE that would change, and exits 1 if there is one.
clang-format has no option that leaves blanks inside a line as they are: it closes up the
columns of comments and tables. So a line whose words are those of a line of FILE has that line's
blanks between them, and clang-format's in front: indentation and ends of lines are its own.
"""
import difflib
import re
import subprocess
import sys

COLUMNS = 100


def words(line):
    return re.sub(r"[ \t]+", " ", line.strip())


def width(line):
    return len(line.expandtabs(8))


def kept(old, new):
    """The lines of new, with the blanks inside those of old."""
    lines = list(new)
    matcher = difflib.SequenceMatcher(None, [words(line) for line in old],
                                      [words(line) for line in new], autojunk=False)
    for block in matcher.get_matching_blocks():
        for i in range(block.size):
            line = new[block.b + i]
            blanks = line[:len(line) - len(line.lstrip())]
            line = blanks + old[block.a + i].strip()
            if width(line) <= COLUMNS:
                lines[block.b + i] = line
    return lines


def main():
    arguments = sys.argv[1:]
    check = arguments[:1] == ["--check"]
    if len(arguments) < 2 + check:
        print("usage: keep_columns.py [--check] PROGRAM FILE...", file=sys.stderr)
        return 2
    program, status = arguments[check], 0
    for path in arguments[check + 1:]:
        with open(path, encoding="utf-8") as file:
            old = file.read()
        new = subprocess.run([program, path], stdout=subprocess.PIPE, check=True,
                             encoding="utf-8").stdout
        new = "\n".join(kept(old.split("\n"), new.split("\n")))
        if new == old:
            continue
        if check:
            print(path, flush=True)
            status = 1
        else:
            with open(path, "w", encoding="utf-8") as file:
                file.write(new)
    return status


if __name__ == "__main__":
    sys.exit(main())
