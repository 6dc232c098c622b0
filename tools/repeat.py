#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Repeat: check that each test has the same verdict every time.

repeat.py [--build FOLDER] [--times N] [--smp N] [--cpu NAME] [--tests GLOB] [--load N] [--jobs N]

Runs the unchanged harness on the correct reference PMU N times (50), with 2 processors unless told
otherwise, and compares the verdicts of each test. Without --tests it runs the tests of several
processors, because the order of events on two processors is never the same twice. --load N runs N
endless loops on this machine at the same time. Prints each test with different verdicts, how often
it had each, and the wall time; the last line is "N tests N times, N differ, N failed". Exit status:
0 all the same and none failed, 1 otherwise, 2 bad option or nothing ran.
"""
import collections
import contextlib
import subprocess
import sys
import time

import checks
import command
import plan

TESTS = "count.any_thread*,count.proc*,msr.each_proc*,pmi.a*_own_processor*,ds.each_proc*," \
        "unc.uncore_interrupt_reaches_every_core*,selftest.*"


def verdicts_of(jobs):
    """Test to its verdicts and how often each; a run that broke off counts as one of its own."""
    verdicts = collections.defaultdict(collections.Counter)
    for job in jobs:
        for point in job.run.points:
            verdicts[point.name][point.verdict] += 1
        verdicts["the run as a whole"][job.run.problem or "complete"] += 1
    return verdicts


@contextlib.contextmanager
def load(count):
    """That many endless loops run meanwhile."""
    loops = []
    try:
        for _ in range(count):
            loops.append(subprocess.Popen([sys.executable, "-c", "while True: pass"]))
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def main():
    parser = command.Parser("repeat.py", __doc__, build="build", smp=2, cpu="haswell",
                            tests=TESTS, jobs=1)
    parser.add_argument("--times", type=command.number(1), default=50)
    parser.add_argument("--load", type=command.number(0), default=0)
    options = parser.parse_args()
    jobs = [plan.Job(cpu=options.cpu, tests=options.tests, processors=options.smp)
            for _ in range(options.times)]
    start = time.monotonic()
    with load(options.load):
        plan.Pool(options.build, options.jobs).work_through(jobs)
    verdicts = verdicts_of(jobs)
    differ = failed = 0
    for name, counts in verdicts.items():
        red = any(verdict in checks.RED for verdict in counts)
        same = len(counts) == 1 and sum(counts.values()) == options.times
        differ += not same
        failed += red
        if red or not same:
            print(f"{'FAILED' if red else 'DIFFERS'} {name}: " + ", ".join(
                f"{verdict} {count}" for verdict, count in counts.most_common()))
    print(f"{time.monotonic() - start:.0f} s, {options.smp} processors, "
          f"{options.load} loops beside")
    print(f"{len(verdicts) - 1} tests {options.times} times, {differ} differ, {failed} failed")
    return 1 if differ or failed else 0


if __name__ == "__main__":
    sys.exit(command.run("repeat.py", main))
