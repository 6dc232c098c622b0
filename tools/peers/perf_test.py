#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs `perf test` of a distribution's perf on plain QEMU and on the reference PMU, and compares.

perf_test.py [--cpu NAME] [--smp N] [--suite SUITE] [--skip N,...] [--timeout S] [--build FOLDER]

Boots the suite's newest kernel twice (tools/linux/run.py) and runs `perf test` there, which tests
perf and what it asks the kernel for. Of its tests none may fail on the reference PMU that doesn't
fail on QEMU, unless known.py says why. A test that is skipped on one of them only is shown. What
was printed is in build/results/perf-test-*/.

--skip    numbers of tests that are left out on the reference PMU: 23 of perf 7.3, "Object code
          reading", samples the whole kernel and takes more than eight minutes there

Exit status: 0 nothing is worse; 1 something is; 2 it couldn't be tried, a bad option.
"""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(1, os.path.dirname(HERE))
import command      # noqa: E402
import known        # noqa: E402
import plan         # noqa: E402

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
# A line of tools/perf/tests/builtin-test.c: number, name, verdict. A group's first line has none.
RESULT = re.compile(r"^\s*(\d+(?:\.\d+)?): (.*?)\s*: ?(Ok|Skip|FAILED!)", re.M)


def results(text):
    """{number and name: verdict} of each test; perf cuts long names, so a name may come twice."""
    text = ESCAPE.sub("", re.sub(r"^# \| ?", "", text, flags=re.M)).replace("\r", "")
    groups = dict(re.findall(r"^\s*(\d+): (.*?)\s*:\s*$", text, re.M))
    found = {}
    for number, name, verdict in RESULT.findall(text):
        group = groups.get(number.partition(".")[0]) if "." in number else None
        found[f"{number} {group}: {name}" if group else f"{number} {name}"] = verdict
    return found


def perf_test(options, skip, *more):
    """The results on one machine."""
    command_there = f"perf test -s {skip}" if skip else "perf test"
    words = [os.path.join(TOP, "tools", "linux", "run.py"), "--cpu", options.cpu,
             "--smp", str(options.smp), "--suite", options.suite, "--timeout",
             str(options.timeout), "--steps", "driver", "--shell", command_there, *more]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=False)
    found = results(done.stdout)
    if not found:
        raise plan.PlanError(f"no test of perf ended with {' '.join(more)}")
    if "=== Test Summary ===" not in done.stdout:
        print(f"# ended before its summary, after {len(found)} tests: {' '.join(more)}")
    return found


def compared(plain, here):
    """Prints what differs; whether nothing is worse without a reason."""
    bad = []
    for name, verdict in here.items():
        before = plain.get(name, "not run")
        if verdict == before:
            continue
        reason = next((why for pattern, why in known.PERF_TESTS if re.search(pattern, name)), "")
        print(f"# {name}: {verdict}, on QEMU {before}{': ' + reason if reason else ''}")
        if verdict == "FAILED!" and not reason:
            bad.append(name)
    bad += [name for name, verdict in plain.items() if verdict == "Ok" and name not in here]
    return not bad


def counts(found):
    """In one line."""
    return ", ".join(f"{list(found.values()).count(verdict)} {word}" for verdict, word in
                     (("Ok", "ok"), ("Skip", "skipped"), ("FAILED!", "failed")))


def main():
    parser = command.Parser("perf_test.py", __doc__, cpu="haswell", smp=1,
                            build=os.environ.get("BUILD", "build"))
    parser.add_argument("--suite", default="trixie-backports")
    parser.add_argument("--skip", default="")
    parser.add_argument("--timeout", type=command.number(1), default=1800)
    options = parser.parse_args()
    out = os.path.join(options.build, "results", "perf-test-")
    plain = perf_test(options, "", "--plain", "--out", out + "qemu")
    here = perf_test(options, options.skip, "--out", out + options.cpu)
    print("TAP version 14\n1..1")
    good = compared(plain, here)
    print(f"{'ok' if good else 'not ok'} 1 - peers.perf_test {options.cpu}")
    print(f"# QEMU: {counts(plain)}; reference PMU: {counts(here)}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(command.run("perf_test.py", main))
