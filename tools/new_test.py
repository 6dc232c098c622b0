#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the skeleton of a test: new_test.py group.claim [ID,...], called by `make new-test`.

The test is added at the end of the file that has most tests of the group and has room for one more.
The skeleton has the comment (tools/test_comment.py), the control, and a check that fails until it
is written.
"""
import os
import re
import sys

import check_style
import test_comment
import test_source

NAME = re.compile(r"([a-z][a-z0-9]*)\.([a-z][a-z0-9]*(?:_[a-z0-9]+)*)")
LEAST_WORDS, MOST_LETTERS = 3, 80
ROOM = 100  # lines that a new test may need
SKELETON = """
{comment}
TEST({group}, {claim}, {reqs},
     NEEDS(need_perfmon))
{{
	/* The expected value first, by its name; then the observation. */
	CHECK_EQ(t, {token}, 1, 0, "what is observed");
	/* One thing is changed, and it happens. */
	CONTROL_EQ(t, {token}, 1, 0, "what is observed then");
}}
"""


def refuse(text):
    print(f"new-test: {text}", file=sys.stderr)
    sys.exit(2)


def has_room(file):
    with open(os.path.join(test_source.ROOT, file), encoding="utf-8") as lines:
        return sum(1 for _ in lines) + ROOM <= check_style.MAX_FILE


def homes():
    """Group to the file with most of its tests, one with room if there is one; and every test's
    name."""
    counts, names = {}, set()
    for file in test_source.files():
        if not file.endswith(".c"):
            continue
        for one in test_source.definitions(file):
            if one.is_test:
                names.add(one.name)
                group = counts.setdefault(one.name.split(".")[0], {})
                group[file] = group.get(file, 0) + 1
    rooms = {file: has_room(file) for files in counts.values() for file in files}
    return {group: max(sorted(files), key=lambda file: (rooms[file], files[file]))
            for group, files in counts.items()}, names


def tokens_of(text, rows):
    found = [word.strip().replace("-", "_") for word in text.split(",") if word.strip()]
    for token in found:
        if token not in rows:
            refuse(f"no requirement '{token.replace('_', '-')}'; "
                   "./run-qemu.sh --list requirements lists them")
    return found


def main():
    name, wanted = (sys.argv[1:] + ["", ""])[:2]
    match = NAME.fullmatch(name)
    if not match:
        refuse(f"NAME is group.claim_in_words, lower case, not '{name}'")
    group, claim = match.groups()
    home, names = homes()
    if group not in home:
        refuse(f"no group '{group}'; known: {' '.join(sorted(home))}")
    if claim.count("_") + 1 < LEAST_WORDS:
        refuse(f"'{claim}' is no claim with a subject and a verb, as in "
               "status_bit_stays_until_software_clears_it")
    if len(name) > MOST_LETTERS:
        refuse(f"'{name}' has {len(name)} letters, more than {MOST_LETTERS}")
    if name in names:
        refuse(f"there is a test '{name}' already")
    rows = test_source.requirements()
    tokens = tokens_of(wanted, rows)
    head = test_source.head(tokens, rows) if tokens else \
        ["ID     the requirement's sentence (claims/requirement.def): name it in REQS and below"]
    text = SKELETON.format(comment=test_comment.comment(head + test_comment.REST), group=group,
                           claim=claim, reqs=f"REQS({', '.join(tokens or ['ID'])})",
                           token=(tokens or ["ID"])[0])
    with open(os.path.join(test_source.ROOT, home[group]), "a", encoding="utf-8") as file:
        file.write(text)
    print(f"{home[group]}: {name}; fill in Given, When, Then, Control and the checks "
          "(docs/ADDING-A-TEST.md)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
