#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check that the comment above each test agrees with claims/requirement.def.

The head of the comment must name exactly the ids in REQS, each with the row's sentence and source,
as tools/test_comment.py prints them. Then follow Given, When, Then and Control; a test with a
control in its own code must have the last one. Continuation lines are indented. Prints a line for
each finding; exit status 1 if there is one.
"""
import os
import re
import sys

import test_comment
import test_source

KEYS = re.compile(r"(Given|When|Then|Control:)(?=\s)")


def findings(file, rows):
    with open(os.path.join(test_source.ROOT, file), encoding="utf-8") as source:
        lines = source.read().split("\n")
    for test in test_source.definitions(file):
        if not test.is_test:
            continue
        where = f"{file}:{test.line}: {test.name}"
        unknown = [token for token in test.declared if token not in rows]
        place = test_comment.above(lines, test.line - 1)
        if unknown or not place:
            yield f"{where}: " + (f"there is no requirement {unknown[0]}" if unknown else
                                  "no comment above it")
            continue
        text = [line[3:] for line in lines[place[0] + 1:place[1]]]
        head = test_source.head(test.declared, rows)
        if text[:len(head)] != head or text[len(head):len(head) + 1] != [""]:
            yield f"{where}: the comment's head isn't what tools/test_comment.py --fix writes"
            continue
        keys = [match[1] for match in map(KEYS.match, text[len(head):]) if match]
        if keys not in (["Given", "When", "Then"], ["Given", "When", "Then", "Control:"]):
            yield f"{where}: no Given, When and Then, in this order and once each"
        if "Control:" not in keys and re.search(r"\bCONTROL(_AT|_EQ|_RANGE)?\(", test.code):
            yield f"{where}: a control in the code, and no line Control"
        if any(line and line[0] != " " and not KEYS.match(line) for line in text[len(head) + 1:]):
            yield f"{where}: a line of Given, When, Then or Control that isn't indented"


def main():
    rows = test_source.requirements()
    bad, count = [], 0
    for file in test_source.files():
        if file.endswith(".c"):
            bad += findings(file, rows)
            count += 1
    for line in bad:
        print(line)
    if bad:
        print(f"check_test_comments: {len(bad)} findings", file=sys.stderr)
        return 1
    print(f"check_test_comments: {count} files, no finding")
    return 0


if __name__ == "__main__":
    sys.exit(main())
