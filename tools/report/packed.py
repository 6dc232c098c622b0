# SPDX-License-Identifier: MIT
"""The data that the Makefile packs into build/pmutest86-report: requirements and version."""
import os
import zipfile


def text(name):
    """That file, from the archive or from this folder. Raises OSError, KeyError."""
    here = os.path.dirname(os.path.abspath(__file__))
    if os.path.isfile(here):
        with zipfile.ZipFile(here) as archive:
            return archive.read(name).decode()
    with open(os.path.join(here, name), encoding="utf-8") as file:
        return file.read()


def version():
    """The program's version, or "" where it isn't packed."""
    try:
        return text("version.txt").strip()
    except (OSError, KeyError):
        return ""
