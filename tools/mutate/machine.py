# SPDX-License-Identifier: MIT
"""Runs of the harness on the mutation build: which tests reach which places, and which tests fail
under a mutant.
"""
import hashlib
import json
import os
import re

import plan
import spec

SOURCES = (".c", ".h", ".asm", ".inc", ".def")
PROGRAMS = ("boot", "kernel", "pmu", "tests", "claims", "spec", "refpmu")
REACHED = re.compile(r"mutation: reached ([0-9a-f]+)( endless)?")
RUN = re.compile(r"^launch: run (\d+) ", re.M)
SILENCE = 25            # seconds: what hangs is a mutant's doing
LONGEST = 20            # of a run: one whose tests all come to their deadlines,
LONGEST_OF_ALL = 90     # and of one of all tests
FIRST_TESTS = 10        # that a mutant runs under first
SPREAD = 2              # and then of each group of tests
DECIDED = ("PASS", "KNOWN")
KILLED, BROKEN, SURVIVED, NOT_REACHED = "killed", "broken", "survived", "not reached"
NOT_RUN = "not run"     # twice without a result


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
    one = plan.Job(latitude=f"mutant:{number}" if number else "", **words)
    one.reached, one.endless = "", False
    return one


def places(digits):
    """Numbers of the places that were reached."""
    return {4 * at + bit for at, digit in enumerate(digits) for bit in range(4)
            if int(digit, 16) >> bit & 1}


def short_patterns(names):
    """Name to a pattern with * that matches no other of the names."""
    short = {}
    for name in names:
        length = name.index(".") + 2
        while sum(other.startswith(name[:length]) for other in names) > 1 and length < len(name):
            length += 1
        short[name] = name if length == len(name) else name[:length] + "*"
    return short


def digest(root):
    """Of the sources of both programs: they themselves hold the commit's name."""
    total = hashlib.sha256()
    for folder in PROGRAMS:
        for where, _, names in sorted(os.walk(os.path.join(root, folder))):
            for name in sorted(name for name in names if name.endswith(SOURCES)):
                with open(os.path.join(where, name), "rb") as file:
                    total.update(name.encode() + file.read())
    return total.hexdigest()


class Machine:
    """One generation of the mutation build in a folder, with a number of processors, on one of the
    reference PMU's engines."""

    def __init__(self, folder, workers, cpu, processors, engine="fast"):
        self.folder, self.workers, self.cpu, self.processors = folder, workers, cpu, processors
        self.engine = engine
        self.reach = {}     # test that passes to the places that it reaches
        self.short = {}     # test to the shortest pattern that is of no other
        self.about = {}     # test to the groups of its requirements

    def job(self, number=0, **words):
        return job(number, cpu=self.cpu, processors=self.processors, engine=self.engine, **words)

    def work_through(self, jobs, longest=LONGEST):
        last = self.job(tests="enumeration.*", name="last")
        pool = Pool(self.folder, self.workers, last)
        pool.longest = longest
        pool.work_through(jobs)

    def record_by_group(self, tests):
        """Which places the tests of each group reach, all together: quick, and not kept."""
        groups = sorted({name.split(".")[0] + ".*" for name in tests})
        jobs = [self.job(tests=group, name=group)
                for group in groups]
        self.work_through(jobs, None)
        for one in jobs:
            reached = places(one.reached)
            self.reach.update({point.name: reached for point in one.run.points
                               if point.verdict in DECIDED and point.name in tests})
        self.know(tests)

    def know(self, tests):
        self.short = short_patterns(tests)
        self.about = {name: {one.split("-")[0] for one in ids} for name, ids in tests.items()}

    def record(self, tests, number_of_places, quick):
        """Which places each test reaches. Kept until one of the programs is another; quick: by
        group where nothing is kept."""
        path = os.path.join(self.folder, f"reach-{self.cpu}-{self.processors}-{self.engine}.json")
        state = digest(spec.ROOT) + str(number_of_places)
        try:
            with open(path, encoding="utf-8") as file:
                kept = json.load(file)
        except (OSError, ValueError):
            kept = {}
        if kept.get("state") != state and quick:
            self.record_by_group(tests)
            return
        if kept.get("state") != state:
            jobs = [self.job(tests=name, name=name)
                    for name in tests]
            self.work_through(jobs)
            kept = {"state": state, "reach": {
                one.name: one.reached for one in jobs if one.run and
                any(point.name == one.name and point.verdict in DECIDED
                    for point in one.run.points)}}
            with open(path, "w", encoding="utf-8") as file:
                json.dump(kept, file)
        self.reach = {name: places(digits) for name, digits in kept["reach"].items()}
        self.know(tests)

    def tests_of(self, mutant, group):
        """The tests that reach it: those about its group first, and of these the ones that reach
        the fewest places."""
        return sorted((name for name, reached in self.reach.items()
                       if mutant.point.number in reached),
                      key=lambda name: (group not in self.about[name], len(self.reach[name]),
                                        name))

    def job_of(self, mutant, tests):
        words = ",".join(self.short[name] for name in tests)
        return self.job(mutant.number, name=str(mutant.number),
                        tests=words if len(words) <= plan.LONGEST_PATTERN else
                        ",".join(sorted({name.split(".")[0] + ".*" for name in tests})))

    def judge(self, one):
        """(verdict, the test that shows it) of a mutant's run."""
        red = [point.name for point in one.run.points if point.verdict == "FAIL"] if one.run else []
        if red:
            return KILLED, red[0]
        if one.endless:
            return BROKEN, "a loop without an end"
        if one.run is None or not one.run.complete:
            return NOT_RUN, one.run.problem if one.run else "the machine ended"
        if one.run.problem:
            return BROKEN, one.run.problem
        for point in one.run.points:
            if point.verdict not in DECIDED and point.name in self.reach:
                return BROKEN, f"{point.verdict} {point.name}"
        return SURVIVED, ""

    def stage(self, mutants, chosen, verdicts, longest=LONGEST):
        """Runs of mutants under chosen(mutant), once more of those that gave no result; those that
        survive."""
        again = mutants
        for _ in range(2):
            self.stage_once(again, chosen, verdicts, longest)
            again = [mutant for mutant in again if verdicts[mutant.number][0] == NOT_RUN]
        return [mutant for mutant in mutants if verdicts[mutant.number][0] == SURVIVED]

    def stage_once(self, mutants, chosen, verdicts, longest):
        jobs = [(mutant, self.job_of(mutant, chosen(mutant))) for mutant in mutants]
        if not jobs:
            return
        try:
            self.work_through([one for _, one in jobs], longest)
        finally:        # what there is, if it was stopped
            verdicts.update((mutant.number, self.judge(one)) for mutant, one in jobs if one.run)

    @staticmethod
    def spread(tests):
        """The first ones; a few of each group; the rest."""
        first, few, rest = tests[:FIRST_TESTS], [], []
        for name in tests[FIRST_TESTS:]:
            same = [one for one in few if one.split(".")[0] == name.split(".")[0]]
            (rest if len(same) >= SPREAD or name.startswith("random.") else few).append(name)
        return first, few, rest

    def run(self, mutants, verdicts, group_of, deep=True, begin=0):
        """verdicts: number to (verdict, why), of each of them afterwards. What survives the
        first tests runs under a few of each group, and, deep, under all others that reach it.
        begin: after so many of these stages."""
        tests = {mutant.number: self.tests_of(mutant, group_of(mutant)) for mutant in mutants}
        for mutant in mutants:
            if not tests[mutant.number]:
                verdicts.setdefault(mutant.number, (NOT_REACHED, ""))
        left = [mutant for mutant in mutants if tests[mutant.number]]
        for at in range(begin, 3 if deep else 2):
            again = [mutant for mutant in left if self.spread(tests[mutant.number])[at]]
            for mutant in left:
                verdicts.setdefault(mutant.number, (SURVIVED, ""))
            survived = self.stage(again, lambda of, at=at: self.spread(tests[of.number])[at],
                                  verdicts, LONGEST_OF_ALL if at == 2 else LONGEST)
            left = [mutant for mutant in left if mutant in survived or mutant not in again]
