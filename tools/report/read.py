# SPDX-License-Identifier: MIT
"""The runs in a result folder or a file."""
import os

import results


class ReadError(Exception):
    """Input that isn't a result; the text is for the user."""


def read(path):
    """The runs of a result folder or of a log file."""
    if os.path.isdir(path):
        names = ("results.tap", "serial.log")
        files = [os.path.join(path, name) for name in names
                 if os.path.isfile(os.path.join(path, name))]
        if not files:
            raise ReadError(f"{path}: holds neither results.tap nor serial.log")
        path = files[0]
    try:
        with open(path, "rb") as file:
            text = file.read().decode("utf-8", "replace")
    except OSError as error:
        raise ReadError(f"{path}: {error.strerror}") from error
    # A --all run is a TAP stream of subtests: only the inner runs hold tests of the harness.
    runs = [run for run in results.parse(text)[0] if run.complete or run.points or run.settings]
    if not runs:
        raise ReadError(f"{path}: no TAP output of PMUTest86 in it")
    return runs
