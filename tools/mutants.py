#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Mutants: does the suite turn red for every fault, and stay green for every seed?

mutants.py [--build FOLDER] [--jobs N] [--faults NAME,...] [--save FILE]

Runs the unchanged harness on the reference PMU once a seed without a fault and once a fault, many
runs a boot through the launcher's plan. A fault is caught when at least one test FAILs a check of
a requirement that the fault's row names. Under the fault "inert" nothing ever counts: it is caught
when no test passes that needs the PMU to act. A run that hangs or whose log is cut isn't a catch.
Prints the matrix; the last line is "N of N faults caught, N false alarms". Writes
FOLDER/mutants.json, and with --save a table for docs/COVERAGE.md. Exit status: 0 all caught and no
false alarm, 1 otherwise, 2 bad option or no QEMU.
"""
import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

TOOLS = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(TOOLS, "report"))
sys.path.insert(0, TOOLS)
import results      # noqa: E402
import spec         # noqa: E402

SEEDS = range(0, 6)
SILENCE = 90            # seconds without a byte on the serial line: hung

# Groups that don't need the PMU to act, and why: they may pass under "inert".
EXEMPT = {
    "selftest": "judges the harness, not the PMU",
    "enumeration": "reads CPUID and capability MSRs: inert enumerates as usual",
    "msr": "write rules: inert refuses what the real one refuses",
}


class Job:
    """One run of the harness in a plan."""

    def __init__(self, fault, seed):
        self.fault, self.seed = fault, seed
        self.run = None

    def plan_line(self):
        return (f"run cpu=haswell fault={self.fault} seed={self.seed} efi=\\pmutest86.efi "
                "args=results=off strict=on serial=0x3f8 at_end=return\n")

    def __str__(self):
        return self.fault if self.fault != "none" else f"no fault, seed {self.seed}"


def ended(log):
    """How many runs have come to their end so far, and the size of the log."""
    try:
        with open(log, "rb") as file:
            data = file.read()
    except OSError:
        return 0, 0
    return data.count(b"launch: end "), len(data)


def boot(build, jobs, progress):
    """One boot with jobs as its plan. Returns the runs that the log shows."""
    with tempfile.TemporaryDirectory(dir=build, prefix="mutants.") as work:
        esp = os.path.join(work, "esp")
        os.makedirs(os.path.join(esp, "EFI", "BOOT"))
        shutil.copy(os.path.join(build, "launch.efi"), os.path.join(esp, "EFI/BOOT/BOOTX64.EFI"))
        for name in ("refpmu.efi", "pmutest86.efi"):
            shutil.copy(os.path.join(build, name), esp)
        with open(os.path.join(esp, "refpmu-plan.txt"), "w", encoding="ascii") as file:
            file.writelines(job.plan_line() for job in jobs)
        log = os.path.join(work, "serial.log")
        with subprocess.Popen([os.path.join(TOOLS, "boot.sh"), "--timeout", "3600", work],
                              stderr=subprocess.DEVNULL) as machine:
            runs, size, since = 0, 0, time.monotonic()
            while machine.poll() is None:
                time.sleep(0.5)
                now = ended(log)
                progress(now[0] - runs)
                if now[1] != size:
                    since = time.monotonic()
                runs, size = now
                if time.monotonic() - since > SILENCE:
                    machine.send_signal(signal.SIGTERM)
                    break
            machine.wait()
        if not os.path.exists(log):
            return []
        with open(log, "rb") as file:
            return results.parse(file.read().decode("utf-8", "replace"))[0]


def work_through(build, jobs, progress):
    """Boot until every job has run; one that doesn't come back is left behind."""
    while jobs:
        by_number = {run.number: run for run in boot(build, jobs, progress)}
        done = 0
        for number, job in enumerate(jobs, 1):
            run = by_number.get(number)
            if run is None:
                break
            job.run = run
            done = number
        if done == 0:       # not even the first began: don't try that one for ever
            jobs[0].run = results.Run({"fault": jobs[0].fault})
            jobs[0].run.problem = "it never started"
            done = 1
        jobs = jobs[done:]


def failures(run):
    """Test name to the requirement ids of its failing checks."""
    return {point.name: point.broken for point in run.points if point.verdict == "FAIL"}


def judge_inert(run):
    """(caught, tests that pass although they need the PMU to act)"""
    passed = [point.name for point in run.points if point.verdict == "PASS" and
              point.name.split(".")[0] not in EXEMPT]
    return run.complete and bool(run.points) and not passed, passed


def judge(row, run):
    """What is written down about one fault."""
    broken = failures(run)
    wanted = set(row["requirements"])
    if row["name"] == "inert":
        caught, passed = judge_inert(run)
        note = "passed although nothing acts: " + " ".join(passed) if passed else ""
        killers = sorted(broken)
    else:
        killers = sorted(name for name, ids in broken.items() if wanted & set(ids))
        caught, note = bool(killers), ""
    others = sorted(name for name in broken if name not in killers)
    if run.problem:
        caught, note = False, run.problem
    red = sorted(wanted & {name for ids in broken.values() for name in ids})
    return {"caught": caught, "requirements": row["requirements"], "red": red, "tests": killers,
            "others": others, "note": note,
            "errors": [point.name for point in run.points if point.verdict == "ERROR"]}


def false_alarms(jobs):
    """Text lines: what is red where nothing is broken."""
    lines = []
    for job in jobs:
        if job.fault != "none":
            continue
        if job.run.problem:
            lines.append(f"{job}: {job.run.problem}")
        lines += [f"{job}: {point.verdict} {point.name} {' '.join(point.broken)}"
                  for point in job.run.points if point.verdict in ("FAIL", "ERROR")]
    return lines


def print_matrix(faults):
    width = max(map(len, faults), default=0)
    for name, row in faults.items():
        text = " ".join(row["tests"][:6]) + (" ..." if len(row["tests"]) > 6 else "")
        green = [] if name == "inert" else sorted(set(row["requirements"]) - set(row["red"]))
        extra = f" (stays green: {','.join(green)})" if row["caught"] and green else ""
        extra += f" (also red: {len(row['others'])})" if row["others"] else ""
        extra += f" (errors: {len(row['errors'])})" if row["errors"] else ""
        extra += f" [{row['note']}]" if row["note"] else ""
        print(f"{name:{width}}  {'caught' if row['caught'] else 'MISSED'}  "
              f"{','.join(row['requirements'])}: {text or '-'}{extra}")


def save(path, faults):
    """Fault, tests that catch it, its requirements that turned red: for docs/COVERAGE.md."""
    with open(path, "w", encoding="utf-8") as file:
        for name, row in faults.items():
            columns = (row["tests"], row["red"]) if row["caught"] else ((), ())
            file.write("\t".join([name] + [" ".join(words) for words in columns]) + "\n")


def choose(names, parser):
    rows = spec.faults()
    if not names:
        return rows
    unknown = set(names) - {row["name"] for row in rows}
    if unknown:
        parser.error(f"unknown fault '{sorted(unknown)[0]}'; "
                     "./run-qemu.sh --list faults lists them")
    return [row for row in rows if row["name"] in names]


def main():
    parser = argparse.ArgumentParser(prog="mutants.py")
    parser.add_argument("--build", default="build")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--faults", default="")
    parser.add_argument("--save")
    options = parser.parse_args()
    rows = choose([name for name in options.faults.split(",") if name], parser)
    jobs = [Job("none", seed) for seed in SEEDS] + [Job(row["name"], 0) for row in rows]

    lock, count, start = threading.Lock(), [0], time.monotonic()

    def progress(more):
        with lock:
            count[0] += more
            if sys.stderr.isatty():
                print(f"\r{time.monotonic() - start:.0f} s, {count[0]} of {len(jobs)} runs ",
                      end="", file=sys.stderr)

    threads = [threading.Thread(target=work_through,
                                args=(options.build, jobs[i::options.jobs], progress))
               for i in range(options.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if sys.stderr.isatty():
        print(file=sys.stderr)

    runs = {job.fault: job.run for job in jobs if job.fault != "none"}
    faults = {row["name"]: judge(row, runs[row["name"]]) for row in rows}
    alarms = false_alarms(jobs)
    print_matrix(faults)
    for line in alarms:
        print(f"false alarm: {line}")
    with open(os.path.join(options.build, "mutants.json"), "w", encoding="utf-8") as file:
        json.dump({"faults": faults, "false_alarms": alarms, "seeds": list(SEEDS)}, file, indent=1)
        file.write("\n")
    if options.save:
        save(options.save, faults)
    caught = sum(row["caught"] for row in faults.values())
    print(f"{caught} of {len(faults)} faults caught, {len(alarms)} false alarms")
    return 0 if caught == len(faults) and not alarms else 1


if __name__ == "__main__":
    sys.exit(main())
