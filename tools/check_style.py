#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check rules of style that a program can check (CONTRIBUTING.md): check_style.py [FILE...]

White space, lengths, licence lines, leftovers, register numbers outside spec/, paths of one
machine, words for persons. Checks the named files, or all files that git knows. Prints a line for
each finding; exit status 1 if there is one.
"""
import os
import re
import subprocess
import sys

MAX_LINE, MAX_FILE = 100, 700
KINDS = (
    ("c", r"\.[ch]$"), ("asm", r"\.(asm|inc)$"), ("table", r"\.def$"),
    ("script", r"\.(sh|py|mk|ld|gdb|yml)$|(^|/)Makefile$|^\.ci/"), ("text", r"\.md$"),
)
LICENSED = ("c", "asm", "script")
# Tables hold sentences, text has tables, make's recipes don't wrap: no line length there.
WRAPPED = re.compile(r"\.(c|h|asm|inc|sh|py|ld|gdb)$")
PROGRAM = re.compile(r"^(boot|kernel|pmu|refpmu|tests)/")

BLANK_AT_END = re.compile(rb"[ \t]+$")
EIGHT_BLANKS = re.compile(rb"^ {8}")
LEFTOVER = re.compile(rb"\b(TODO|FIXME|XXX|HACK)\b")
# TAP's own directive "# TODO" is no leftover.
NO_LEFTOVER = re.compile(rb'# TODO|"TODO|TODO KNOWN|`TODO|TODO\|FIXME')
REGISTER = re.compile(rb"(rdmsr|wrmsr|msr_(try_)?(read|write)) ?\((&?m, ?)?0x")
# A processor or a piece of code isn't a person.
PERSON = re.compile(rb"\b(whoe" rb"ver|no" rb"body|some" rb"body|every" rb"body)\b", re.IGNORECASE)
PLAIN = re.compile(r"^(?!claims/.*\.def$)")
# An absolute path that isn't one of every machine's, nor \EFI\... of a stick.
PATH = re.compile(rb"(?:^|[ \t\"'=(:])/([a-z][a-z0-9_-]*)/[A-Za-z0-9._-]+")
EVERY_MACHINES = frozenset(b"usr dev etc bin sbin sys proc run tmp var lib opt boot mnt efi"
                           .split())


def kind_of(path):
    return next((kind for kind, pattern in KINDS if re.search(pattern, path)), "other")


def line_findings(path, kind, line):
    """What is wrong with one line, without its line feed."""
    if BLANK_AT_END.search(line):
        yield "blank at the end of the line"
    if b"\r" in line:
        yield "carriage return"
    if WRAPPED.search(path) and len(line) > MAX_LINE // 8 and len(line.expandtabs(8)) > MAX_LINE:
        yield f"longer than {MAX_LINE} columns"
    if kind in ("c", "asm") and EIGHT_BLANKS.search(line):
        yield "indented with blanks instead of tabs"
    if LEFTOVER.search(line) and not NO_LEFTOVER.search(line):
        yield "leftover"
    if PLAIN.search(path) and PERSON.search(line):
        yield "names a person: say which processor, program or file"
    if PROGRAM.search(path) and REGISTER.search(line):
        yield "register number: name it in spec/msr.def"
    if b"/" in line and any(m[1] not in EVERY_MACHINES for m in PATH.finditer(line)):
        yield "path of one machine"


def findings(path):
    """Each as (line number or None, what)."""
    with open(path, "rb") as file:
        data = file.read()
    kind = kind_of(path)
    try:
        text = b"\0" not in data and (data.decode() or "")
    except UnicodeDecodeError:
        text = False
    if text is False:
        if kind != "other":
            yield None, "not a text in UTF-8"
        return
    if not data.strip(b"\n"):
        return
    lines = data.split(b"\n")
    if lines.pop():
        yield None, "no line feed at the end of the file"
        lines = data.split(b"\n")
    if kind in LICENSED:
        if b"SPDX-License-Identifier: MIT" not in b"\n".join(lines[:3]):
            yield None, "no SPDX line among the first three"
        if len(lines) > MAX_FILE:
            yield None, f"{len(lines)} lines, more than {MAX_FILE}"
    for number, line in enumerate(lines, 1):
        for what in line_findings(path, kind, line):
            yield number, what


def known_files():
    """Those of git; those that are here where there is no git."""
    listed = subprocess.run(["git", "ls-files", "-z"], stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, check=False).stdout.decode().split("\0")
    found = [name for name in listed if name]
    if not found:
        for folder, folders, names in os.walk("."):
            folders[:] = [name for name in folders
                          if not name.startswith((".", "build")) or name in (".ci", ".github")]
            found += [os.path.relpath(os.path.join(folder, name)) for name in names]
    return sorted(found)


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    files = sys.argv[1:] or known_files()
    bad = 0
    for path in files:
        if not os.path.isfile(path):
            continue
        for number, what in findings(path):
            print(f"{path}{f':{number}' if number else ''}: {what}")
            bad += 1
    if bad:
        print(f"check-style: {bad} findings", file=sys.stderr)
        return 1
    print(f"check-style: {len(files)} files, no finding")
    return 0


if __name__ == "__main__":
    sys.exit(main())
