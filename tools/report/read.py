# SPDX-License-Identifier: MIT
"""The runs in result folders and files.

A file may be a whole boot's serial log, of any length: it is read piece by piece, and lines outside
of runs aren't kept. Input that can't be a result is refused with one line (ReadError). If a file
next to a good log, such as machine.json, is damaged, there is a note, and the log is used.
"""
import codecs
import datetime
import json
import os
import stat

import results

NAMES = ("results.tap", "serial.log")   # of a result folder, the best first
PIECE = 1 << 20
MOST_READ = 8 << 30         # bytes of one file
MOST_KEPT = 64 << 20        # and of what is kept of it
MOST_FOLDERS = 1000
MOST_JSON = 4 << 20
DEPTH = 2                   # folders of folders of results
# What the first two bytes of a file say of its encoding; a UEFI shell writes UTF-16.
MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16",
         codecs.BOM_UTF8[:2]: "utf-8-sig"}


class ReadError(Exception):
    """Input that isn't a result; the text is for the user."""


def printable(text):
    """For a line of error: no control characters in it."""
    return "".join(char if char.isprintable() else "?" for char in text)


def pieces(file):
    """The text of a file in pieces, each of whole lines but where a line is too long."""
    data = file.read(PIECE)
    decoder = codecs.getincrementaldecoder(MARKS.get(data[:2], "utf-8"))("replace")
    text, total, skipping = "", 0, False
    while data:
        total += len(data)
        if total > MOST_READ:
            raise ReadError(f"longer than {MOST_READ >> 30} GiB")
        text += decoder.decode(data)
        end = text.rfind("\n") + 1
        if skipping and end:            # the rest of a line that was too long
            start, skipping = text.find("\n") + 1, False
            yield text[start:end]
            text = text[end:]
        elif end:
            yield text[:end]
            text = text[end:]
        elif len(text) > PIECE:         # enough of it to see that it is too long
            if not skipping:
                yield text[:PIECE] + "\n"
            text, skipping = "", True
        data = file.read(PIECE)
    if text and not skipping:
        yield text


def read_log(path):
    """The runs in a file."""
    log = results.Log(MOST_KEPT)
    try:
        with open(path, "rb", buffering=0) as file:
            kind = os.fstat(file.fileno())
            if not (stat.S_ISREG(kind.st_mode) or stat.S_ISFIFO(kind.st_mode)):
                raise ReadError("neither a file nor a pipe")
            for text in pieces(file):
                if log.idle(text):
                    continue
                for line in text.split("\n"):
                    log.take(line)
    except results.TooMuch as error:
        raise ReadError(f"more than {MOST_KEPT >> 20} MiB of test results") from error
    # A --all run is a TAP stream of subtests: only the inner runs hold tests of the harness.
    runs = [run for run in log.end()[0] if run.complete or run.points or run.settings]
    if not runs:
        raise ReadError("no TAP output of PMUTest86 in it")
    when = datetime.datetime.fromtimestamp(kind.st_mtime, datetime.timezone.utc)
    for run in runs:
        run.source, run.when = path, when.replace(microsecond=0, tzinfo=None)
    return runs


def result_folders(path, depth=DEPTH):
    """That folder, if it is one of results, or those in it, by name."""
    if any(os.path.isfile(os.path.join(path, name)) for name in NAMES):
        return [path]
    if not depth:
        return []
    found = []
    with os.scandir(path) as entries:
        for entry in sorted(entries, key=lambda one: one.name):
            if entry.is_dir(follow_symlinks=False):
                found += result_folders(entry.path, depth - 1)
            if len(found) > MOST_FOLDERS:
                raise ReadError(f"more than {MOST_FOLDERS} result folders")
    return found


def read_machine(path):
    """What machine.json says, and what is wrong with it; {} without one."""
    try:
        with open(path, "rb") as file:
            data = file.read(MOST_JSON + 1)
        if len(data) > MOST_JSON:
            return {}, f"machine.json is longer than {MOST_JSON >> 20} MiB"
        machine = json.loads(data)
    except FileNotFoundError:
        return {}, ""
    except OSError as error:
        return {}, f"machine.json: {error.strerror}"
    except (ValueError, RecursionError):
        return {}, "machine.json can't be read: it was cut short or damaged"
    if not isinstance(machine, dict):
        return {}, "machine.json holds no object"
    return machine, ""


def read_folder(path):
    name = next(os.path.join(path, name) for name in NAMES
                if os.path.isfile(os.path.join(path, name)))
    runs = read_log(name)
    machine, note = read_machine(os.path.join(path, "machine.json"))
    for run in runs:
        run.source, run.machine = path, machine
        run.notes += [note] if note else []
    return runs


def read(path):
    """The runs of a result folder, of all those in a folder, or of a file."""
    try:
        if not os.path.isdir(path):
            return read_log(path)
        folders = result_folders(path)
        if not folders:
            raise ReadError("holds neither results.tap nor serial.log")
        return [run for folder in folders for run in read_folder(folder)]
    except OSError as error:
        raise ReadError(f"{printable(path)}: {error.strerror}") from error
    except ReadError as error:
        raise ReadError(f"{printable(path)}: {error}") from error
