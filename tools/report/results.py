# SPDX-License-Identifier: MIT
"""What a run's log says: serial logs and TAP files become runs of test points with verdicts.

A log holds one run (a results.tap) or many (the serial log of the launcher, which prints
"launch: run N cpu=.. fault=.. seed=.." in front of each and "launch: engine N fast blocks=.." and
"launch: end N status=.." after it).
A run that doesn't end with the harness's own last line is incomplete, whatever it says.

Serial lines lose and mix characters. No line may cost more than itself. A test point that can't be
read is an ERROR named garbled_line, with its text. A plan, totals or an end that can't be read, and
numbers that contradict the test points, are the run's problem. So one line that is garbled or lost
doesn't turn a run with a FAIL into a green one.
"""
import os
import re

OTHERS = ("borrow.", "efi.")    # runs that are about something else than a PMU
DECIDED = ("PASS", "FAIL", "KNOWN")
VERDICTS = ("PASS", "SKIP", "INCONCLUSIVE", "KNOWN", "FAIL", "ERROR")   # by severity
# What a results.tap has after the harness's own last line.
HYPERVISOR = "refpmu: "         # its last words
TOTALS = ("# requirements decided ", "# NOT TESTED: ")
END = "# end of PMUTest86"
ESCAPES = re.compile(r"\x1b\[[0-9;=?]*[A-Za-z]|\x1b[()=>][0-9A-Z]?|[\0\x08]")
LONGEST = 4096          # characters of a line; the harness's own are shorter by far
GARBLED = "garbled_line"
HEAD = re.compile(r"(?:not )?ok [0-9]")
POINT = re.compile(r"(not )?ok ([0-9]{1,6})(?: - (.*))?$")
DESCRIPTION = re.compile(r"((?:[^#\\]|\\.)*)(?:#\s*(.*))?")
NAME = re.compile(r"(\S+)(?: \[([^\]]*)\])?")
TAP_LINE = re.compile(r"(?:not )?ok [0-9]|1\.\.[0-9]|#( |$)|Bail out!|  (?:---|\.\.\.)$|  \w+: ")
PLAN = re.compile(r"1\.\.([0-9]{1,6})\s*(?:#.*)?$")
COUNTS = re.compile(r"decided .*\bknown ([0-9]{1,6}), failed ([0-9]{1,6}), errors ([0-9]{1,6})$")
EXIT = re.compile(r"# end of PMUTest86: exit ([0-9])$")
STATUS = re.compile(r"\bstatus=((?:0x)?[0-9a-fA-F]{1,16})(?: |$)")
NO_COMPLAINT = ("launch: done", "launch: hypervisor at ")
LAUNCH = re.compile(r"launch: (run|engine|end) ([0-9]{1,9})\b(.*)")
CHECK = re.compile(r"# (check|control) (\S+) (\S+:[0-9]+) (ok|failed|reported|unjudged)$")


class ReadError(Exception):
    """Input that isn't a result; the text is for the user."""


class Point:
    """One test point: its verdict, the requirements it decides, and a failure's details."""

    def __init__(self, number, name, requirements, verdict, reason):
        self.number, self.name, self.requirements = number, name, requirements
        self.verdict, self.reason = verdict, reason
        self.details = {}
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
        return {"settings": self.settings, "title": self.title, "complete": self.complete,
                "problem": self.problem, "exit": self.exit_status,
                "not_tested": self.not_tested,
                "decided": len(self.decided),
                "counts": {verdict: self.count(verdict) for verdict in VERDICTS},
                "requirements": dict(sorted(self.requirement_verdicts().items())),
                "engine": self.engine, "comments": self.comments,
                "points": [point.as_dict() for point in self.points]}


def unquote(value):
    if len(value) >= 2 and value[0] == value[-1] == '"':
        return re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], value[1:-1])
    return value


def make_point(failed, number, text):
    """text: description and directive. A '#' of the description is escaped. None: garbled."""
    parts = DESCRIPTION.fullmatch(text or "")
    words = NAME.fullmatch(parts[1].strip() or "unnamed") if parts else None
    if not words:
        return None
    name, requirements = words.groups()
    directive = parts[2] or ""
    verdict, reason = ("FAIL" if failed else "PASS"), ""
    skip = re.match(r"SKIP\s*(INCONCLUSIVE:?)?\s*(.*)", directive, re.I)
    todo = re.match(r"TODO\s*(?:KNOWN)?\s*(.*)", directive, re.I)
    if skip:
        verdict, reason = ("INCONCLUSIVE" if skip[1] else "SKIP"), skip[2]
    elif todo:
        verdict, reason = ("KNOWN" if failed else "PASS"), todo[1]
    return Point(number, name, [word for word in re.split(r"[,\s]+", requirements or "")
                                if word not in ("", "-")],
                 verdict, reason)


def quote(text):
    """As the harness quotes a value of a YAML block."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def take_point(run, line):
    match = POINT.match(line) if len(line) <= LONGEST else None
    point = make_point(bool(match[1]), int(match[2]), match[3]) if match else None
    if point:
        run.lines.append(line)
    else:
        message = f"a garbled line in the log: {line[:200]}"
        point = Point(len(run.points) + 1, GARBLED, [], "ERROR", "")
        point.garbled, point.details = True, {"severity": "error", "message": message}
        run.lines += [f"not ok {point.number} - {GARBLED} [-]", "  ---", "  severity: error",
                      f"  message: {quote(message)}", "  ..."]
    run.points.append(point)


def take_block(run, line):
    """A line of the YAML block of the last point. Returns whether the block goes on."""
    point = run.points[-1] if run.points else None
    if line in ("  ---", "  ..."):
        if point is None or not point.garbled:      # that one has its block already
            run.lines.append(line)
        return line == "  ---"
    key, _, value = line.strip().partition(": ")
    if point is None or point.garbled:
        run.lines.append(f"# | {line.strip()}")
        return True
    run.lines.append(line)
    point.details[key] = unquote(value)
    if key == "severity" and value == "error":
        point.verdict = "ERROR"
    return True


def take_line(run, line, block, before):
    """One line of TAP, and the log's line before it. Returns whether the next line is inside a YAML
    block. What failed has one, right after its line; any other belongs to a line that was lost."""
    if line.startswith("  "):
        if not block and not before.startswith("not ok "):
            run.lines.append(f"# | {line.strip()}")
            return False
        if not block and line != "  ---":
            take_block(run, "  ---")        # that line was lost
        return take_block(run, line)
    if block:
        take_block(run, "  ...")            # that one
    if HEAD.match(line):
        take_point(run, line)
        return False
    run.lines.append(line)
    plan, check = PLAN.match(line), CHECK.match(line)
    if check and run.points:
        run.points[-1].checks[check[2], check[3]] = check[4]
        if check[1] == "control":
            run.points[-1].controls.add((check[2], check[3]))
    elif plan:
        run.plan = int(plan[1])
    elif line.startswith("1.."):
        run.problem = f"the plan can't be read: {line[:80]}"
    elif line.startswith("Bail out!"):
        run.problem = line[len("Bail out!"):].strip() or "bailed out"
    elif line.startswith("# run: "):
        run.settings.update(word.split("=", 1) for word in line[7:].split() if "=" in word)
    elif line.startswith(END):
        run.complete = True
        status = EXIT.match(line)
        run.claim = int(status[1]) if status else 2
        if not status:
            run.problem = run.problem or f"the end line can't be read: {line[:80]}"
    elif line.startswith("# "):
        run.comments.append(line[2:])
    return False


def engine_of(text):
    """The launcher's words on how instructions were counted: "fast blocks=1 stepped=2 ..."."""
    words = text.split()
    engine = {"name": words[0]} if words else {}
    for key, _, value in (word.partition("=") for word in words[1:]):
        if re.fullmatch("[0-9]{1,18}", value) and key != "name":
            engine[key] = int(value)
    return engine


def lines_of(text):
    """The lines, without what only a terminal needs; of one that is too long what shows that."""
    for line in ESCAPES.sub("", text).split("\n"):
        yield line.strip("\r")[:LONGEST + 1]


def parse(text):
    """All runs in a log, and what the launcher and the hypervisor complained of."""
    runs, complaints = [], []
    run, started, block, pending, before = None, False, False, None, ""
    for line in lines_of(text):
        bare = line[4:] if line.startswith("    ") else line     # a subtest's lines
        launch = LAUNCH.match(line)
        if launch and launch[1] == "run":
            pending = Run(word.split("=", 1) for word in launch[3].split() if "=" in word)
            pending.settings["pmu"] = "reference"
            pending.number = int(launch[2])
            runs.append(pending)
            run, started, block = pending, False, False
        elif launch and launch[1] == "engine":
            if run:
                run.engine = engine_of(launch[3])
        elif launch:
            if run:
                status = STATUS.search(launch[3])
                run.status = status[1] if status else None
            run, started, block = None, False, False
        elif line.startswith("launch: ") and not line.startswith(NO_COMPLAINT):
            complaints.append(line[len("launch: "):])
        elif line.startswith(HYPERVISOR):
            complaints.append(line)
        elif bare == "TAP version 14":
            if run is None or run.lines:
                run = Run()
                runs.append(run)
            run.lines.append(bare)
            started, block = True, False
        elif run is not None and run.complete and bare.startswith("Bail out!"):
            run.problem = bare[len("Bail out!"):].strip()   # said by another processor
        elif started and TAP_LINE.match(bare):
            block = take_line(run, bare, block, before)
            if run.complete:
                started = False
        elif run is not None and run.complete and bare.startswith(TOTALS):
            run.comments.append(bare[2:])
        elif run is not None and run.complete and bare.startswith("Bail out!"):
            run.problem = bare[len("Bail out!"):].strip()
        before = bare or before
    for run in runs:
        run.find_problem()
    return runs, complaints


def read(path):
    """The runs of a result folder or of a log file."""
    if os.path.isdir(path):
        names = ("results.tap", "serial.log")
        files = [os.path.join(path, name) for name in names
                 if os.path.isfile(os.path.join(path, name))]
        if not files:
            raise ReadError(f"{path}: holds neither results.tap nor serial.log")
        path = files[0]
    try:
        with open(path, "rb") as file:
            text = file.read().decode("utf-8", "replace")
    except OSError as error:
        raise ReadError(f"{path}: {error.strerror}") from error
    # A --all run is a TAP stream of subtests: only the inner runs hold tests of the harness.
    runs = [run for run in parse(text)[0] if run.complete or run.points or run.settings]
    if not runs:
        raise ReadError(f"{path}: no TAP output of PMUTest86 in it")
    return runs
