#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turn the serial log of a run into its results: called by run-qemu.sh.

conclude.py --serial FILE --out FOLDER --run "pmu=reference cpu=haswell ..."
            [--reason TEXT] [--end TEXT] [--efi NAME [--system]] [--build FOLDER]

REASON is why the run was ended from outside, END how the machine ended by itself. A program that is
a system (--system) doesn't return: it switches the machine off. With the folder
in which the programs were built, addresses of register dumps get names.

Writes serial.log, results.tap, results.json, junit.xml and machine.json to FOLDER, in this order;
then it prints the run's TAP. Exit status: that of the run (README, "How to read a result"); 2 if
FOLDER or standard output takes no results.
"""
import contextlib
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "report"))
import as_json      # noqa: E402
import command      # noqa: E402
import decide       # noqa: E402
import junit        # noqa: E402
import machine      # noqa: E402
import output       # noqa: E402
import records      # noqa: E402
import results      # noqa: E402
import spec         # noqa: E402
import symbols      # noqa: E402
from run import Run     # noqa: E402

MACHINE = "the machine "        # how run-qemu.sh begins when it tells how it ended
SWITCHED_OFF = MACHINE + "switched itself off"


def harness_tap(run, settings):
    """The run's own lines; the totals come last, and what a reader needs to know is added."""
    totals = [line for line in run.lines if line.startswith("# decided ")]
    lines = [line for line in run.lines if line not in totals and
             not line.startswith(results.TOTALS)]
    out = lines[:1] or ["TAP version 14"]
    out.append("# run: " + " ".join(f"{key}={value}" for key, value in settings.items()))
    out += [line for line in lines[1:] if not line.startswith("Bail out!")]
    if run.problem:
        out.append(f"Bail out! {run.problem}")
    if run.settings.get("require"):
        rows = {row["id"]: row for row in spec.with_cpus()}
        out += ["# " + line for line in
                decide.reference_only(run, rows, run.settings["require"].split(","))]
    if run.engine_text:
        out.append(f"# engine: {run.engine_text}")
    if run.settings.get("fault", "none") != "none" and "acted" in run.engine:
        out.append(f"# fault: acted {run.engine['acted']} times")
    out += ["# " + decide.summary(run)] + totals
    return out + ([f"# NOT TESTED: {run.not_tested}"] if run.not_tested else [])


def how_system_ended(run, complaints, end):
    """Did a system switch the machine off, and what it did instead."""
    good = run is not None and not complaints and end == SWITCHED_OFF
    return good, "it didn't switch the machine off"


def how_program_ended(run):
    """Did a program return, and what it did instead."""
    if run is None:
        return False, "it wasn't started"
    if run.status is None:
        return False, "it didn't return"
    return int(run.status, 16) == 0, f"it returned EFI status {run.status}"


def efi_tap(run, name, serial, ended, point, reason):
    """A program that isn't ours: what it printed, as comments, and how it ended."""
    good, message = ended
    text = results.ESCAPES.sub("\n", serial)
    start = re.search(r"launch: run 1\b[^\n]*\n", text)
    text = re.split(r"launch: (?:engine|end) 1\b", text[start.end():])[0] if start else ""
    out = ["TAP version 14", "1..1", f"# program: {name}"]
    out += [f"# | {line.rstrip()}" for line in re.split(r"[\r\n]+", text) if line.strip()]
    if run is not None and run.engine_text:
        out.append(f"# engine: {run.engine_text}")
    out.append(f"{'ok' if good else 'not ok'} 1 - {point}")
    if not good:
        out += ["  ---", "  severity: error",
                f"  message: {message}{': ' + reason if reason else ''}", "  ..."]
    return out, 0 if good else 2


def save(folder, files):
    """Name to text or bytes. A file is there whole or not at all. Raises OSError."""
    os.makedirs(folder, exist_ok=True)
    for name, text in files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        try:
            with open(path + ".part", "wb") as file:
                file.write(text if isinstance(text, bytes) else text.encode())
            os.replace(path + ".part", path)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(path + ".part")
            raise


def record_file(point):
    """The file of the records behind a failure, and its bytes; None: there are none."""
    found = records.records_of(point)
    if not found or not re.fullmatch(r"[A-Za-z0-9_@.]{1,200}", point.name):
        return None
    return f"records/{point.name}.bin", b"".join(record.data for record in found)


def saved_as(tap, run):
    """What save() takes."""
    return {
        "results.tap": "\n".join(tap) + "\n",
        "results.json": as_json.json_text([run]),
        "junit.xml": junit.junit_xml([run]),
        "machine.json": json.dumps(machine.machine(run), indent=1) + "\n",
        **dict(filter(None, map(record_file, run.points))),
    }


def settings_of(text):
    return dict(word.split("=", 1) for word in text.split() if "=" in word)


def cause(problem, complaints, reason):
    """Why a run isn't whole, in one line: what was printed last, or how the machine ended."""
    words = [line for line in complaints if line.startswith(results.HYPERVISOR)]
    launcher = [line for line in complaints if line not in words]
    if reason.startswith(MACHINE) and not complaints:
        reason += " without a word"
    return ": ".join(filter(None, [launcher[0] if launcher else problem, *words[-1:], reason]))


def conclude(options, log):
    """The run's TAP and results: (lines, run, exit status)."""
    serial = log.decode("utf-8", "replace")
    runs, complaints = results.parse(serial)
    run = runs[0] if runs else Run()
    run.settings.update(settings_of(options.run))
    run.find_problem()
    if run.problem:
        # How the machine ended says nothing of a log that is whole.
        end = "" if run.complete else options.end
        run.problem = cause(run.problem, complaints, options.reason or end)
    end = "" if runs and runs[0].status is not None else options.end
    words = [line for line in complaints if line.startswith(results.HYPERVISOR)]
    linked = "-direct.so" if run.settings.get("boot") == "direct" else ".so"
    last = symbols.of_hypervisor(words, os.path.join(options.build, "refpmu" + linked))
    if not options.efi:
        tap = symbols.of_dumps(harness_tap(run, run.settings),
                               os.path.join(options.build, "pmutest86" + linked))
        return [*tap[:1], *last, *tap[1:]], run, run.exit_status
    first = runs[0] if runs else None
    point, ended = "efi.runs_and_returns", how_program_ended(first)
    if options.system:
        point = "linux.boots_and_switches_off"
        ended = how_system_ended(first, complaints, options.end)
    tap, status = efi_tap(first, options.efi, serial, ended, point,
                          cause("", complaints, options.reason or end))
    tap = [*tap[:2], *last, *tap[2:]]
    engine = runs[0].engine if runs else {}
    run = results.parse("\n".join(tap))[0][0]
    run.engine = engine
    run.settings = settings_of(options.run)
    run.problem = ""
    return tap, run, status


def main():
    parser = command.Parser("conclude.py", __doc__)
    parser.add_argument("--serial", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--run", default="")
    parser.add_argument("--reason", default="")
    parser.add_argument("--end", default="")
    parser.add_argument("--efi", default="")
    parser.add_argument("--system", action="store_true")
    parser.add_argument("--build", default="build")
    options = parser.parse_args()

    log = b""
    if os.path.exists(options.serial):
        with open(options.serial, "rb") as file:
            log = file.read()
    try:
        # The log first: whatever may go wrong from here on, it is there.
        save(options.out, {"serial.log": log})
        tap, run, status = conclude(options, log)
        save(options.out, saved_as(tap, run))
    except OSError as error:
        print(f"run-qemu.sh: --out {options.out}: {error.strerror}", file=sys.stderr)
        return 2
    if not options.efi and run.problem:
        print(f"run-qemu.sh: {run.problem}; see {options.out}/serial.log", file=sys.stderr)
    sys.stdout.write("\n".join(tap) + "\n")
    return status


if __name__ == "__main__":
    sys.exit(output.guarded("run-qemu.sh", main))
