# SPDX-License-Identifier: MIT
"""Reads logs: serial logs and TAP files become runs of test points with verdicts.

A log holds one run (a results.tap) or many (the serial log of the launcher, which prints "launch:
run N cpu=.. fault=.. seed=.." in front of each and "launch: engine N fast blocks=.." and "launch:
end N status=.." after it). A run that doesn't end with the harness's own last line is always
incomplete.

Serial lines may lose and mix characters. A damaged line must not affect other lines. A test point
that can't be parsed is an ERROR named garbled_line, with its text. A plan, totals or an end that
can't be read, and numbers that contradict the test points, are the run's problem. So a garbled or
lost line can't turn a run with a FAIL into a passing one.
"""
import re

from run import GARBLED, Point, Run

# What a results.tap has after the harness's own last line.
HYPERVISOR = "refpmu: "         # its last words
TOTALS = ("# requirements decided ", "# NOT TESTED: ")
END = "# end of PMUTest86"
ESCAPES = re.compile(r"\x1b\[[0-9;=?]*[A-Za-z]|\x1b[()=>][0-9A-Z]?|[\0\x08]")
LONGEST = 4096          # characters of a line; the harness's own are shorter by far
HEAD = re.compile(r"(?:not )?ok [0-9]")
POINT = re.compile(r"(not )?ok ([0-9]{1,6})(?: - (.*))?$")
DESCRIPTION = re.compile(r"((?:[^#\\]|\\.)*)(?:#\s*(.*))?")
NAME = re.compile(r"(\S+)(?: \[([^\]]*)\])?")
TAP_LINE = re.compile(r"(?:not )?ok [0-9]|1\.\.[0-9]|#( |$)|Bail out!|  (?:---|\.\.\.)$|  \w+: ")
PLAN = re.compile(r"1\.\.([0-9]{1,6})\s*(?:#.*)?$")
EXIT = re.compile(r"# end of PMUTest86: exit ([0-9])$")
STATUS = re.compile(r"\bstatus=((?:0x)?[0-9a-fA-F]{1,16})(?: |$)")
NO_COMPLAINT = ("launch: done", "launch: hypervisor at ")
LAUNCH = re.compile(r"launch: (run|engine|end) ([0-9]{1,9})\b(.*)")
# What a line holds that matters outside of a run.
MARKS = re.compile("launch: |refpmu: |TAP version 14|Bail out!|# requirements decided |"
                   "# NOT TESTED: ")
LINE_COST = 200         # bytes that a line takes that is kept, besides its characters
CHECK = re.compile(r"# (check|control) (\S+) (\S+:[0-9]+) (ok|failed|reported|unjudged)$")


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
        point.line = len(run.lines)
        run.lines.append(line)
    else:
        message = f"a garbled line in the log: {line[:200]}"
        point = Point(len(run.points) + 1, GARBLED, [], "ERROR", "")
        point.line = len(run.lines)
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


def clean(line):
    """The line, without what only a terminal needs; of one that is too long what shows that."""
    return ESCAPES.sub("", line).strip("\r")[:LONGEST + 1]


class TooMuch(Exception):
    """A log holds more than a reader is given room for."""


class Log:
    """Takes the lines of a log, one after the other, and finds the runs in it, and what the
    launcher and the hypervisor complained of. room: how much it may keep, in bytes."""

    def __init__(self, room=None):
        self.runs, self.complaints = [], []
        self.run = None         # that whose lines come
        self.started = False    # and its TAP has begun
        self.block, self.before = False, ""
        self.room = room

    def idle(self, text):
        """Would none of these lines be kept?"""
        return not self.started and not MARKS.search(text)

    def keep(self, line):
        if self.room is not None:
            self.room -= len(line) + LINE_COST
            if self.room < 0:
                raise TooMuch

    def launch(self, what, number, text):
        if what == "run":
            self.run = Run(word.split("=", 1) for word in text.split() if "=" in word)
            self.run.settings["pmu"] = "reference"
            self.run.number = number
            self.runs.append(self.run)
            self.started = self.block = False
        elif what == "engine":
            if self.run:
                self.run.engine = engine_of(text)
        else:
            if self.run:
                status = STATUS.search(text)
                self.run.status = status[1] if status else None
            self.run, self.started, self.block = None, False, False

    def tap(self, line):
        """A line that isn't the launcher's or the hypervisor's."""
        run = self.run
        if line == "TAP version 14":
            if run is None or run.lines:
                run = self.run = Run()
                self.runs.append(run)
            run.lines.append(line)
            self.started, self.block = True, False
        elif run is None:
            return
        elif run.complete:      # said by another processor, or added after the harness's end
            if line.startswith("Bail out!"):
                run.problem = line[len("Bail out!"):].strip()
            elif line.startswith(TOTALS):
                run.comments.append(line[2:])
            else:
                return
        elif self.started and TAP_LINE.match(line):
            self.block = take_line(run, line, self.block, self.before)
            self.started = not run.complete
        else:
            return
        self.keep(line)

    def take(self, line):
        line = clean(line)
        bare = line[4:] if line.startswith("    ") else line     # a subtest's lines
        launch = LAUNCH.match(line)
        if launch:
            self.keep(line)
            self.launch(launch[1], int(launch[2]), launch[3])
        elif line.startswith("launch: ") and not line.startswith(NO_COMPLAINT):
            self.keep(line)
            self.complaints.append(line[len("launch: "):])
        elif line.startswith(HYPERVISOR):
            self.keep(line)
            self.complaints.append(line)
        else:
            self.tap(bare)
        self.before = bare or self.before

    def end(self):
        """No more lines: the runs and the complaints."""
        for run in self.runs:
            run.find_problem()
        return self.runs, self.complaints


def parse(text):
    """The runs in a log, and the complaints."""
    log = Log()
    for line in text.split("\n"):
        log.take(line)
    return log.end()
