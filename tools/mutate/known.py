# SPDX-License-Identifier: MIT
"""claims/mutants-killed.tsv: mutants that a test has killed, each with that test. Running some of
them, each only under its test, is quick. It shows that the machinery works and that these tests
still notice the mutants.
"""
import os

import spec

PATH = os.path.join(spec.ROOT, "claims", "mutants-killed.tsv")
HEAD = """# Mutants of refpmu/model/ that a test has killed: file, function, kind,
# original, mutated, generation, the test. Written by tools/mutation.py --docs; a sample of them
# runs in make test.
"""


class Row:
    """key: that of the mutant (rules.py)."""

    def __init__(self, fields):
        self.key, self.cpu, self.test = tuple(fields[:5]), fields[5], fields[6]

    def fields(self):
        return (*self.key, self.cpu, self.test)


def read(path=PATH):
    with open(path, encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file
                if line.strip() and not line.startswith("#")]
    if any(len(fields) != 7 for fields in rows):
        raise ValueError(f"{path}: a row has seven fields with tabs between")
    return [Row(fields) for fields in rows]


def write(rows, path=PATH):
    with open(path, "w", encoding="utf-8") as file:
        file.write(HEAD)
        file.writelines("\t".join(row.fields()) + "\n"
                        for row in sorted(rows, key=lambda of: of.fields()))


def merge(kept, found, exists):
    """What is known now: the newer row of a mutant, and none that doesn't exist any more."""
    rows = {row.key: row for row in kept if exists(row.key)}
    rows.update({row.key: row for row in found if exists(row.key)})
    return list(rows.values())
