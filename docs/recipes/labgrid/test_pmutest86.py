# SPDX-License-Identifier: MIT
"""PMUTest86 on a machine of a labgrid lab: pytest --lg-env machine.yaml test_pmutest86.py

Switches the machine on, writes its serial output to LOG (serial.log), and passes if the run's exit
status is 0: nothing is broken, and something was tested. SECONDS is the time limit of the run
(1800). `pmutest86-report serial.log` then shows the details.
"""
import os
import re
import time

START = "TAP version 14"
END = re.compile(r"# end of PMUTest86: exit ([0-9])")
FAILED = re.compile(r"not ok [0-9]+ - (?!.* # TODO )(\S+)")


def lines_of(console, seconds):
    """The console's lines, as bytes, until one of them ends the run."""
    end = time.monotonic() + seconds
    started = False
    while True:
        left = end - time.monotonic()
        assert left > 0, f"no end within {seconds} s"
        # One line at a time, because expect() searches everything received so far on each input.
        _, line, _, _ = console.expect("\n", timeout=left)
        yield line + b"\n"
        text = line.decode("utf-8", "replace").strip()
        started = started or text == START
        if started and END.match(text):
            return


def test_pmutest86(target):
    console = target.get_driver("ConsoleProtocol", activate=False)
    power = target.get_driver("PowerProtocol", activate=False)
    target.activate(console)
    target.activate(power)
    power.cycle()
    status, broken = 2, []
    with open(os.environ.get("LOG", "serial.log"), "wb") as file:
        for line in lines_of(console, int(os.environ.get("SECONDS", "1800"))):
            file.write(line)
            text = line.decode("utf-8", "replace").strip()
            failed, end = FAILED.match(text), END.match(text)
            broken += [failed[1]] if failed else []
            status = int(end[1]) if end else status
    power.off()
    assert status == 0, f"exit {status}; failed: {', '.join(broken) or 'nothing'}"
