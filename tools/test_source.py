# SPDX-License-Identifier: MIT
"""Reads the source of the tests by its layout: the functions, tables and macros, their checks, and
what they use. Used by check_test_claims.py, check_test_comments.py and test_comment.py.

A definition begins in the first column and ends with a line that begins with "}" (a macro: where no
backslash continues it). That is how every file here is written.
"""
import glob
import os
import re
import textwrap

import spec

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WIDTH = 96              # columns of a comment's text, after " * "
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
TEST = re.compile(r"TEST\((\w+),\s*(\w+),\s*(NO_REQS|REQS\(([^)]*)\))", re.S)
WORD = re.compile(r"[A-Za-z_]\w*")
CHECKED = re.compile(r"\b(?:(CHECK|CONTROL)(?:_EQ|_RANGE)?\s*\((?:[^,()]|\([^()]*\))*,"
                     r"\s*(IDS\([^)]*\)|\w+)\s*,|((?:CONTROL_)?AT)\(([^)]*)\))")
START = re.compile(r"[A-Za-z_].*[^;:,]\s*$|#define|TEST\(")


def blank(match):
    return re.sub(r"[^\n]", " ", match[0])


def code_only(text):
    """The text with comments and strings blanked; lines stay where they are."""
    return COMMENT.sub(blank, STRING.sub(blank, text))


class Definition:
    """A function, a table, a macro, or a test: name is "group.claim" then."""

    def __init__(self, file, line, code):
        self.file, self.line, self.code = file, line, code
        test = TEST.match(code)
        self.is_test = bool(test)
        self.group, self.claim = test.group(1, 2) if test else ("", "")
        self.declared = re.findall(r"\w+", test[4] or "") if test else []
        self.name = f"{self.group}.{self.claim}" if test else self.own_name()
        self.is_static = code.startswith(("static", "#define", "TEST("))
        # What a macro checks may be a parameter of its own: it is told where the macro is used.
        parameters = re.match(r"#define \w+\(([^)]*)\)", code)
        self.parameters = re.findall(r"\w+", parameters[1]) if parameters else []
        self.uses = set(WORD.findall(code)) - {self.name}

    def own_name(self):
        if self.code.startswith("#define"):
            return WORD.findall(self.code)[1]
        code = re.sub(r"__attribute__\(\(.*?\)\)", "", self.code)
        words = WORD.findall(re.split(r"[={(\[]", code, maxsplit=1)[0])
        return words[-1] if words else ""

    def checks(self):
        """(token, line, is it a control) of each check that stands here."""
        for match in CHECKED.finditer(self.code):
            for token in WORD.findall((match[2] or match[4]).removeprefix("IDS")):
                yield (token, self.line_at(match.start()),
                       (match[1] or match[3]).startswith("CONTROL"))

    def line_at(self, offset):
        return self.line + self.code.count("\n", 0, offset)

    def relayed(self, macro):
        """The same of what a macro checks for this definition, which uses it."""
        wanted = [(macro.parameters.index(token), control) for token, _, control in macro.checks()
                  if token in macro.parameters]
        for match in re.finditer(rf"\b{macro.name}\(([^()]*)\)", self.code) if wanted else ():
            words = [word.strip() for word in match[1].split(",")]
            for at, control in wanted:
                yield words[at], self.line_at(match.start()), control


def definitions(file):
    with open(os.path.join(ROOT, file), encoding="utf-8") as source:
        lines = code_only(source.read()).split("\n")
    at = 0
    while at < len(lines):
        start = at
        at += 1
        if lines[start].startswith("#define"):
            while lines[at - 1].endswith("\\"):
                at += 1
        elif re.match(r"[A-Za-z_]", lines[start]):
            while at < len(lines) and not re.search(r";\s*$", lines[at - 1]) or \
                    "{" in "".join(lines[start:at]) and not re.match(r"\}", lines[at - 1]):
                at += 1
                if at >= len(lines) or one_line(lines[start:at]):
                    break
        else:
            continue
        yield Definition(file, start + 1, "\n".join(lines[start:at]))


def one_line(lines):
    """A table that begins and ends on the same line, or a definition that is whole."""
    text = "\n".join(lines)
    return text.count("{") == text.count("}") and "{" in text and \
        (text.rstrip().endswith((";", "}")))


def folders():
    return sorted(os.path.dirname(path) for path in glob.glob(os.path.join(ROOT, "tests/*/")))


def files():
    return sorted(os.path.relpath(path, ROOT) for folder in folders()
                  for path in glob.glob(os.path.join(folder, "*.[ch]")))


def requirements():
    """Token to row."""
    return {row["token"]: row for row in spec.requirements()}


def wrapped(label, text):
    """Lines "label  text", the label in a column of its own."""
    return textwrap.wrap(text, WIDTH, initial_indent=label, subsequent_indent=" " * len(label),
                         break_long_words=False, break_on_hyphens=False)


NO_REQUIREMENT = "A test of the harness itself: it decides no requirement."
MOST_SENTENCES = 6


def head(declared, rows):
    """What a comment begins with: each id with its sentence, and the source of those that share
    one. Of many the ids alone: a reader of such a test looks for one of them."""
    if not declared:
        return [NO_REQUIREMENT]
    if len(declared) > MOST_SENTENCES:
        ids = ", ".join(rows[token]["id"] for token in declared)
        return wrapped("", f"Decides {ids} (claims/requirement.def has their sentences).")
    out = []
    indent = max(len(rows[token]["id"]) for token in declared) + 2
    for n, token in enumerate(declared):
        row = rows[token]
        out += wrapped(row["id"].ljust(indent), row["sentence"])
        after = declared[n + 1:n + 2]
        if not after or rows[after[0]]["source"] != row["source"]:
            out += wrapped(" " * indent, row["source"])
    return out
