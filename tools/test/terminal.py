#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Uses a program at a terminal: terminal.py SECONDS COMMAND... < DIALOGUE

Each line of DIALOGUE has the text to wait for, a tab, and the text to type then. Prints the
program's output, without escape sequences. Exit status: the program's; 124 if SECONDS pass before
it ends.
"""
import os
import pty
import re
import select
import signal
import sys
import time

ESCAPE = re.compile(r"\x1b\[[0-9;?=]*[A-Za-z]")


def said(terminal):
    """What has come, None after the end."""
    if not select.select([terminal], [], [], 0.2)[0]:
        return ""
    try:
        return os.read(terminal, 65536).decode(errors="replace") or None
    except OSError:
        return None


def main():
    end = time.monotonic() + int(sys.argv[1])
    dialogue = [line.rstrip("\n").split("\t") for line in sys.stdin]
    child, terminal = pty.fork()
    if not child:
        os.execvp(sys.argv[2], sys.argv[2:])
    everything, waited = "", ""
    while (part := said(terminal)) is not None:
        everything, waited = everything + part, waited + part
        if dialogue and dialogue[0][0] in ESCAPE.sub("", waited):
            time.sleep(0.2)         # what asks may not listen yet
            os.write(terminal, dialogue.pop(0)[1].encode() + b"\r")
            waited = ""
        if time.monotonic() > end:
            os.kill(child, signal.SIGTERM)
            break
    print(ESCAPE.sub("", everything).replace("\r", ""))
    status = os.waitpid(child, 0)[1]
    return 124 if time.monotonic() > end else os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    sys.exit(main())
