#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check that files and functions named in documents exist: check_paths.py [DOCUMENT...] (default:
docs/ARCHITECTURE.md)

In backticks: a file must exist; `function()` must be defined somewhere in the project, and `file:
function()` in that file. A file is named from the top, or by the end of its path: `emulate/rep.c`.
Prints a line for each name that doesn't exist; exit status 1 if there is one.
"""
import fnmatch
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SOURCE = (".c", ".h", ".asm", ".inc", ".def", ".py", ".sh")
CODE = re.compile(r"`([^`]+)`")
FILE = re.compile(r"[\w./*-]+\.(?:c|h|asm|inc|def|py|sh|md)$")
CALL = re.compile(r"(?:([\w./-]+):\s+)?(\w+)\(\)$")


def project_files():
    found = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders if name != "build" and not name.startswith(".")]
        found += [os.path.relpath(os.path.join(folder, name), ROOT) for name in names]
    return found


def named(files, name):
    """The files that a document may mean by that name."""
    return [file for file in files if fnmatch.fnmatch(file, name)
            or fnmatch.fnmatch(file, "*/" + name)]


def read(file):
    with open(os.path.join(ROOT, file), encoding="utf-8") as text:
        return text.read()


def defines(file, function):
    """Is the function defined there? A declaration ends with ; before any {."""
    if not file.endswith(SOURCE):
        return False
    text = read(file)
    if file.endswith((".asm", ".inc")):
        return re.search(rf"^{function}:", text, re.M) is not None
    if file.endswith(".py"):
        return re.search(rf"^\s*def {function}\(", text, re.M) is not None
    if file.endswith(".sh"):
        return re.search(rf"^{function}\(\)", text, re.M) is not None
    if re.search(rf"^#define {function}\(|^HOOK(?:_VALUE\([^,]+, |\(){function},", text, re.M):
        return True
    return any(text[found.end():].lstrip("\n")[:1] == "{" for found in
               re.finditer(rf"^[A-Za-z_][\w\s*]*?\b{function}\((?:[^();{{]|\([^()]*\))*\)\s*",
                           text, re.M))


def findings(document):
    files = project_files()
    for number, line in wrapped(read(document)):
        for code in CODE.findall(line):
            call = CALL.match(code)
            if call:
                where = named(files, call[1]) if call[1] else files
                if not any(defines(file, call[2]) for file in where):
                    yield f"{document}:{number}: {call[2]}() isn't in {call[1] or 'the project'}"
            elif FILE.match(code) and not named(files, code):
                yield f"{document}:{number}: there is no {code}"


def wrapped(text):
    """(line number, paragraph in one line): names may be broken between two lines."""
    number = 1
    for paragraph in re.split(r"(\n\n|\n(?=\s*(?:\d+\.|\*|\|) ))", text):
        if paragraph.strip():
            yield number, " ".join(paragraph.split())
        number += paragraph.count("\n")


def main():
    found = [text for document in sys.argv[1:] or ["docs/ARCHITECTURE.md"]
             for text in findings(document)]
    for text in found:
        print(text)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
