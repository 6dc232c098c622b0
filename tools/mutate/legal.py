# SPDX-License-Identifier: MIT
"""claims/mutants-legal.tsv: mutants that no test can kill, and why. A row names its mutants by
file, function, kind, original and mutated text, each a pattern with * and ?, and says what they
are: "legal", with the sentence or the section of docs/READINGS.md that leaves it open, "no
effect", or "no test yet", which counts as survived.
"""
import fnmatch
import os

import spec

PATH = os.path.join(spec.ROOT, "claims", "mutants-legal.tsv")
LEGAL, NO_EFFECT, MISSING = "legal", "no effect", "no test yet"
CLASSES = (LEGAL, NO_EFFECT, MISSING)


class Table:
    def __init__(self, path=PATH):
        self.rows = []
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if not line.strip() or line.startswith("#"):
                    continue
                fields = line.rstrip("\n").split("\t")
                if len(fields) != 7 or fields[5] not in CLASSES or not fields[6]:
                    raise ValueError(f"{path}:{number}: file, function, kind, original, mutated, "
                                     f"one of {CLASSES}, reason, with tabs between")
                self.rows.append((number, fields[:5], fields[5], fields[6]))

    @staticmethod
    def matches(patterns, key):
        return all(fnmatch.fnmatchcase(text, pattern.replace("[", "[[]"))
                   for pattern, text in zip(patterns, (key[0].removeprefix("refpmu/model/"),
                                                       *key[1:])))

    def reason(self, key):
        """(class, reason) of a mutant, or None."""
        return next(((what, why) for _, patterns, what, why in self.rows
                     if self.matches(patterns, key)), None)

    def stale(self, keys):
        """Numbers of the lines whose mutants don't exist."""
        return [number for number, patterns, _, _ in self.rows
                if not any(self.matches(patterns, key) for key in keys)]
