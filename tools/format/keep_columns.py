#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Formats C, but for the columns that its author has made.

keep_columns.py [--check] PROGRAM FILE...: formats each FILE with clang-format (PROGRAM). --check
changes nothing, prints the name of each FILE that would change, and exits 1 if there is one.
clang-format has no option that leaves blanks inside a line as they are: it closes up the
columns of comments and tables. So a line whose words are those of a line of FILE has that line's
blanks between them, and clang-format's in front: indentation and ends of lines are its own. Nor has
it one that leaves several elements of a list between braces on a line, or an attribute on a line in
front of its function: where only that differs the lines of FILE stay.
"""
import difflib
import re
import subprocess
import sys

COLUMNS = 100
COMMENT = re.compile(r"\s*/\*.*?\*/\s*")


def words(line):
    return re.sub(r"[ \t]+", " ", line.strip())


def width(line):
    return len(line.expandtabs(8))


def is_list(lines):
    """Only elements between braces, and the braces; the last may be a word without a comma."""
    ends = [COMMENT.sub("", line).rstrip() for line in lines]
    return all(not end or end.endswith((",", "{", "}", "};")) or re.fullmatch(r"\s*[.\w]+", end)
               for end in ends)


def stays(was, wanted):
    """Does another breaking of these lines leave them as they were?"""
    joined = ["".join("".join(lines).split()) for lines in (was, wanted)]
    return joined[0] == joined[1] and all(width(line) <= COLUMNS for line in was) and \
        (is_list(wanted) or any(line.startswith("__attribute__") for line in was))


def with_blanks_of(old, new):
    """The line new with the blanks inside the line old."""
    line = new[:len(new) - len(new.lstrip())] + old.strip()
    return line if width(line) <= COLUMNS else new


def kept(old, new):
    """The lines of new, with the blanks inside those of old, and those of old that stay."""
    lines = []
    matcher = difflib.SequenceMatcher(None, [words(line) for line in old],
                                      [words(line) for line in new], autojunk=False)
    for kind, a, a_end, b, b_end in matcher.get_opcodes():
        was, wanted = old[a:a_end], new[b:b_end]
        if kind == "equal":
            lines += [with_blanks_of(*pair) for pair in zip(was, wanted)]
        else:
            lines += was if stays(was, wanted) else wanted
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
