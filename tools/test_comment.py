#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The comment above a test.

test_comment.py group.claim ...   prints it: the head, made from the rows of the test's
                                  requirements, and what is to be filled in
test_comment.py --fix             writes the heads again of all tests that have such a comment,
                                  after a change in claims/requirement.def or in REQS

tools/check_test_comments.py holds comments and table together.
"""
import os
import re
import sys

import test_source

REST = ["", "Given", "When", "Then", "Control:"]


def comment(lines):
    return "\n".join(["/*"] + [f" * {line}".rstrip() for line in lines] + [" */"])


def above(lines, line):
    """(first, last) of the comment that ends right above that line, all counted from 0; None."""
    last = line - 1
    if last < 0 or not lines[last].endswith("*/"):
        return None
    first = last
    while not lines[first].startswith("/*"):
        first -= 1
    return first, last


def fix(file, rows):
    """Replace what is before the comment's first blank line."""
    with open(os.path.join(test_source.ROOT, file), encoding="utf-8") as source:
        lines = source.read().split("\n")
    for test in reversed([one for one in test_source.definitions(file) if one.is_test]):
        place = above(lines, test.line - 1)
        if place is None:
            continue
        first, last = place
        blank = next((n for n in range(first, last) if lines[n] == " *"), None)
        if blank is None or not any(re.match(r" \* Given\b", line) for line in lines[blank:last]):
            continue
        head = comment(test_source.head(test.declared, rows)).split("\n")[:-1]
        lines[first:blank] = head
    with open(os.path.join(test_source.ROOT, file), "w", encoding="utf-8") as source:
        source.write("\n".join(lines))


def main():
    rows = test_source.requirements()
    every = [file for file in test_source.files() if file.endswith(".c")]
    wanted = sys.argv[1:]
    if wanted == ["--fix"]:
        for file in every:
            fix(file, rows)
        return 0
    if not wanted or wanted[0].startswith("-"):
        print(__doc__.strip())
        return 0 if wanted == ["--help"] else 2
    tests = {one.name: one for file in every for one in test_source.definitions(file)
             if one.is_test}
    for name in wanted:
        if name not in tests:
            print(f"test_comment.py: there is no test {name}", file=sys.stderr)
            return 2
        print(comment(test_source.head(tests[name].declared, rows) + REST))
    return 0


if __name__ == "__main__":
    sys.exit(main())
