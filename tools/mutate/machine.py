# SPDX-License-Identifier: MIT
"""Runs of the harness on the mutation build: which tests reach which places, and under which of
them a mutant turns the suite red.
"""
import hashlib
import json
import os
import re

import plan

REACHED = re.compile(r"mutation: reached ([0-9a-f]+)( endless)?")
RUN = re.compile(r"^launch: run (\d+) ", re.M)
SILENCE = 25            # seconds: what hangs is a mutant's doing
FIRST_TESTS = 12        # that a mutant runs under first, those that reach the fewest places
DECIDED = ("PASS", "KNOWN")
KILLED, BROKEN, SURVIVED, NOT_REACHED = "killed", "broken", "survived", "not reached"


class Pool(plan.Pool):
    """A plan's pool that also reads what was reached: job.reached, digits of four places each, and
    job.endless."""

    def __init__(self, build, workers, last):
        super().__init__(build, workers)
        self.silence, self.last = SILENCE, last

    def boot(self, jobs):
        # What a run has reached is told when the next one begins.
        return super().boot(jobs + [self.last])

    def read_log(self, jobs, text):
        pieces = RUN.split(text)        # text, number, text, number, text
        for number, piece in zip(pieces[1::2], pieces[2::2]):
            match, at = REACHED.search(piece), int(number) - 2
            if match and 0 <= at < len(jobs):
                jobs[at].reached, jobs[at].endless = match[1], bool(match[2])


def job(number=0, **words):
    one = plan.Job(latitude=f"mutant:{number}" if number else "", engine="fast", **words)
    one.reached, one.endless = "", False
    return one


def places(digits):
    """Numbers of the places that were reached."""
    return {4 * at + bit for at, digit in enumerate(digits) for bit in range(4)
            if int(digit, 16) >> bit & 1}


def digest(*paths):
    total = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as file:
            total.update(file.read())
    return total.hexdigest()


class Machine:
    """One generation of the mutation build in a folder, with a number of processors."""

    def __init__(self, folder, workers, cpu, processors):
        self.folder, self.workers, self.cpu, self.processors = folder, workers, cpu, processors
        self.reach = {}     # test that passes to the places that it reaches

    def work_through(self, jobs):
        last = job(cpu=self.cpu, processors=self.processors, tests="enumeration.*", name="last")
        Pool(self.folder, self.workers, last).work_through(jobs)

    def record(self, tests):
        """Which places each test reaches. Kept until one of the programs is another."""
        path = os.path.join(self.folder, f"reach-{self.cpu}-{self.processors}.json")
        state = digest(*(os.path.join(self.folder, name)
                         for name in ("refpmu.efi", "pmutest86.efi")))
        try:
            with open(path, encoding="utf-8") as file:
                kept = json.load(file)
        except (OSError, ValueError):
            kept = {}
        if kept.get("state") != state:
            jobs = [job(cpu=self.cpu, processors=self.processors, tests=name, name=name)
                    for name in tests]
            self.work_through(jobs)
            kept = {"state": state, "reach": {
                one.name: one.reached for one in jobs if one.run and
                any(point.name == one.name and point.verdict in DECIDED
                    for point in one.run.points)}}
            with open(path, "w", encoding="utf-8") as file:
                json.dump(kept, file)
        self.reach = {name: places(digits) for name, digits in kept["reach"].items()}

    def tests_of(self, mutant):
        """The tests that reach it, those that reach the fewest places first."""
        return sorted((name for name, reached in self.reach.items()
                       if mutant.point.number in reached),
                      key=lambda name: (len(self.reach[name]), name))

    def job_of(self, mutant, tests):
        words = ",".join(tests)
        return job(mutant.number, cpu=self.cpu, processors=self.processors,
                   tests=words if len(words) <= plan.LONGEST_PATTERN else
                   ",".join(sorted({name.split(".")[0] + ".*" for name in tests})),
                   name=str(mutant.number))

    def judge(self, one):
        """(verdict, the test that shows it) of a mutant's run."""
        red = [point.name for point in one.run.points if point.verdict == "FAIL"] if one.run else []
        if red:
            return KILLED, red[0]
        if one.endless:
            return BROKEN, "a loop without an end"
        if one.run is None or one.run.problem:
            return BROKEN, one.run.problem if one.run else "the machine ended"
        for point in one.run.points:
            if point.verdict not in DECIDED and point.name in self.reach:
                return BROKEN, f"{point.verdict} {point.name}"
        return SURVIVED, ""

    def stage(self, mutants, chosen, verdicts):
        """Runs of mutants under chosen(mutant); those that survive."""
        jobs = [(mutant, self.job_of(mutant, chosen(mutant))) for mutant in mutants]
        self.work_through([one for _, one in jobs])
        for mutant, one in jobs:
            verdicts[mutant.number] = self.judge(one)
        return [mutant for mutant in mutants if verdicts[mutant.number][0] == SURVIVED]

    def run(self, mutants, verdicts):
        """verdicts: number to (verdict, why), of each of them afterwards."""
        tests = {mutant.number: self.tests_of(mutant) for mutant in mutants}
        for mutant in mutants:
            if not tests[mutant.number]:
                verdicts.setdefault(mutant.number, (NOT_REACHED, ""))
        reached = [mutant for mutant in mutants if tests[mutant.number]]
        left = self.stage(reached, lambda of: tests[of.number][:FIRST_TESTS], verdicts)
        again = [mutant for mutant in left if len(tests[mutant.number]) > FIRST_TESTS]
        self.stage(again, lambda of: tests[of.number][FIRST_TESTS:], verdicts)
