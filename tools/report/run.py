# SPDX-License-Identifier: MIT
"""A run of the harness: test points with verdicts, and its comments."""
import re

OTHERS = ("borrow.", "efi.")    # runs that are about something else than a PMU
DECIDED = ("PASS", "FAIL", "KNOWN")
VERDICTS = ("PASS", "SKIP", "INCONCLUSIVE", "KNOWN", "FAIL", "ERROR")   # by severity
GARBLED = "garbled_line"
COUNTS = re.compile(r"decided .*\bknown ([0-9]{1,6}), failed ([0-9]{1,6}), errors ([0-9]{1,6})$")


class Point:
    """One test point: its verdict, the requirements it decides, and a failure's details."""

    def __init__(self, number, name, requirements, verdict, reason):
        self.number, self.name, self.requirements = number, name, requirements
        self.verdict, self.reason = verdict, reason
        self.details = {}
        self.line = 0           # where it stands in the run's lines
        self.garbled = False    # its line: details say so, and no block is expected
        self.checks = {}        # (requirement, place) to ok, failed, ...; with checks=on
        self.controls = set()   # those of them that decide nothing when they hold

    @property
    def broken(self):
        """Requirement ids of the failing checks."""
        if self.verdict not in ("FAIL", "KNOWN"):
            return []
        if "failed" in self.checks.values():
            return list(dict.fromkeys(requirement for (requirement, _), state
                                      in self.checks.items() if state == "failed"))
        ids = [self.details.get("requirement", "")]
        ids += [text.split(" ", 1)[0] for key, text in self.details.items()
                if key.startswith("also_")]
        return list(dict.fromkeys(filter(None, ids)))

    def as_dict(self):
        return {"number": self.number, "name": self.name, "requirements": self.requirements,
                "verdict": self.verdict, "reason": self.reason, "details": self.details}


class Run:
    """One run of the harness."""

    def __init__(self, settings=None):
        self.settings = dict(settings or {})    # pmu, cpu, fault, seed
        self.number = 0                         # the launcher's
        self.lines, self.points, self.comments = [], [], []
        self.plan = None
        self.complete = False
        self.claim = 0                          # the exit status in the harness's end line
        self.status = None                      # what the launcher saw the program return
        self.problem = ""
        self.engine = {}        # the launcher's words on how instructions were counted
        self.source, self.when = "", None       # the file or folder, and when that was written
        self.machine, self.notes = {}, []       # its machine.json; what was wrong with its files

    def count(self, verdict):
        return sum(point.verdict == verdict for point in self.points)

    def comment(self, key):
        """The text after "# key: ", or ""."""
        for text in self.comments:
            if text.startswith(key + ": "):
                return text[len(key) + 2:]
        return ""

    def comment_that_begins(self, text):
        """The last one, or ""."""
        return next((line for line in reversed(self.comments) if line.startswith(text)), "")

    @property
    def title(self):
        """What the machine is called in a table."""
        if self.settings.get("pmu") == "reference":
            extra = "".join(f" {key}={self.settings[key]}" for key in
                            ("fault", "seed", "profile", "latitude")
                            if self.settings.get(key, "none") not in ("none", "0"))
            return f"{self.settings.get('cpu', '?')}{extra} (reference PMU)"
        return self.comment("processor") or self.settings.get("cpu", "") or "unknown machine"

    @property
    def exit_status(self):
        """0, 1 or 2 as the README's table says."""
        if self.count("FAIL"):
            return 1
        if self.problem or self.claim or self.count("ERROR") or self.not_tested:
            return 2    # claim: the harness knows of a SKIP that --require forbids
        return 0

    @property
    def decided(self):
        """Ids of the requirements that this run has a verdict on."""
        return [name for name, verdict in self.requirement_verdicts().items()
                if verdict in DECIDED]

    @property
    def not_tested(self):
        """Why the run says nothing about a PMU, or "": self tests alone decide nothing."""
        about_others = any(point.name.startswith(OTHERS) for point in self.points)
        if self.decided or about_others:
            return ""
        return self.comment("NOT TESTED") or self.problem or "no requirement was decided"

    @property
    def engine_text(self):
        """How the reference PMU counted the run's instructions, and why it stepped; or ""."""
        words = dict(self.engine)
        name, stepped = words.pop("name", ""), words.pop("stepped", 0)
        words.pop("acted", 0)
        if not name or name == "step":
            return f"{name}, {stepped} instructions stepped" if name else ""
        blocks, runs = words.pop("blocks", 0), words.pop("runs", 0)
        emulated = words.pop("emulated", 0)
        stepped -= emulated
        translated = f"{blocks} instructions in {runs} runs of blocks, " if name == "fast" else ""
        why = ", ".join(f"{key} {count}" for key, count in words.items() if count)
        return (f"{name}, {translated}{emulated} emulated, {stepped} stepped" +
                (f" (fell back: {why})" if why else ""))

    def find_problem(self):
        """Is the run whole?"""
        if not self.lines:
            self.problem = self.problem or "the harness printed nothing"
        elif not self.complete:
            last = f"test point {self.points[-1].number}" if self.points else "the first line"
            self.problem = self.problem or f"the log ends after {last}, without its end line"
        elif self.plan is not None and self.plan != len(self.points):
            self.problem = self.problem or \
                f"{self.plan} tests were planned, {len(self.points)} are in the log"
        else:
            self.problem = self.problem or self.contradiction()

    def contradiction(self):
        """What else the log says than its test points do, or ""."""
        for number, point in enumerate(self.points, 1):
            if point.number != number:
                return f"test point {point.number} stands where {number} is due"
        for text in self.comments:
            if not text.startswith("decided "):
                continue
            counts = COUNTS.match(text)
            if not counts:
                return f"the totals can't be read: {text[:80]}"
            counted = [int(number) for number in counts.groups()]
            seen = [self.count(verdict) for verdict in ("KNOWN", "FAIL", "ERROR")]
            if seen != counted and not any(point.name == GARBLED for point in self.points):
                return ("the harness counted {} known, {} failed, {} errors; its test points are "
                        "{}, {} and {}".format(*counted, *seen))
        return ""

    def requirement_verdicts(self):
        """Requirement id to verdict: the worst of what the tests said about just that one."""
        worst = {}
        for point in self.points:
            broken = point.broken
            for requirement in dict.fromkeys(point.requirements + broken):
                if broken and requirement not in broken:
                    continue    # the test stopped for another reason: it says nothing here
                verdict = point.verdict
                old = worst.get(requirement)
                if old in (None, "SKIP", "INCONCLUSIVE") and verdict == "PASS":
                    worst[requirement] = verdict
                elif old is None or (VERDICTS.index(verdict) > VERDICTS.index(old) and
                                     not (old == "PASS" and verdict in ("SKIP", "INCONCLUSIVE"))):
                    worst[requirement] = verdict
        return worst

    def as_dict(self):
        """What the harness itself writes of a run; as_json.py adds to it."""
        return {"settings": self.settings, "title": self.title, "complete": self.complete,
                "problem": self.problem, "exit": self.exit_status,
                "not_tested": self.not_tested, "decided": len(self.decided),
                "counts": {verdict: self.count(verdict) for verdict in VERDICTS},
                "requirements": dict(sorted(self.requirement_verdicts().items())),
                "engine": self.engine, "comments": self.comments,
                "points": [point.as_dict() for point in self.points]}
