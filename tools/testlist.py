#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""List the tests of the harness: testlist.py pmutest86.so

Each TEST() leaves a line "group.claim<TAB>REQS(TOKEN, ...)<TAB>MEMBERS" in section .testlist of the
ELF file. Prints one line a test, sorted; between them a tab: name, requirement ids, and
"every-fault" if it runs under every fault of mutants.py, else "-".
"""
import os
import re
import subprocess
import sys
import tempfile


def read_section(path):
    """The contents of .testlist; empty when there is no such section."""
    with tempfile.TemporaryDirectory() as folder:
        dump = os.path.join(folder, "testlist")
        subprocess.run(["objcopy", "--dump-section", f".testlist={dump}", path,
                        os.path.join(folder, "copy")], check=True, stderr=subprocess.DEVNULL)
        with open(dump, "rb") as file:
            return file.read().decode()


def requirement_ids(tokens):
    """REQS(PMI_01, REC_HSW_02) becomes PMI-01,REC-HSW-02: an id is its token with dashes.
    NO_REQS is a test of the harness itself: no id."""
    if tokens == "NO_REQS":
        return ""
    return ",".join(word.replace("_", "-") for word in
                    re.findall(r"\w+", tokens.removeprefix("REQS")))


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: testlist.py pmutest86.so")
    try:
        text = read_section(sys.argv[1])
    except (OSError, subprocess.CalledProcessError):
        sys.exit(f"{sys.argv[1]}: no section .testlist: no tests are linked in")
    for line in sorted(set(filter(None, re.split(r"[\0\n]+", text)))):
        name, tokens, members = line.split("\t")
        mark = "every-fault" if "under_every_fault" in members else "-"
        print(f"{name}\t{requirement_ids(tokens)}\t{mark}")


if __name__ == "__main__":
    main()
