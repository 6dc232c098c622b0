#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Fuzzes what reads a run's log (tools/conclude.py, tools/report/), by Hypothesis.

fuzz_results.py [SECONDS]: the same inputs each time, or random ones for so long. The last line is
"fuzz_results.py: N passed, N failed".

What holds for any log: nothing raises; the log is saved as it came, the other files can be read
back, and say of each test point what was said before. What holds for a log with one line garbled,
lost or doubled: every point of another line is as it was, and a log with a FAIL isn't green.
"""
import contextlib
import io
import json
import os
import sys
import tempfile
import time
import traceback
import xml.dom.minidom

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = os.path.join(ROOT, ".cache", "hypothesis")
from hypothesis import HealthCheck, given, settings, strategies as st       # noqa: E402
sys.path[:0] = [os.path.join(ROOT, "tools"), os.path.join(ROOT, "tools", "report")]
import as_json      # noqa: E402
import bundle       # noqa: E402
import conclude     # noqa: E402
import failures     # noqa: E402
import junit        # noqa: E402
import machines     # noqa: E402
import markdown     # noqa: E402
import page         # noqa: E402
import read         # noqa: E402
import results      # noqa: E402
from run import VERDICTS    # noqa: E402

EXAMPLES = 200 if os.environ.get("LONG") else 70
SKIPPED = ("SKIP no such counter", "SKIP INCONCLUSIVE: disturbed")
WORDS = ["", "ok 1", "not ok 2 - a.b [X]", "ok 3 - a b c", "ok 4 - x \\", "1..3", "1..", "1..²",
         "1.." + "9" * 5000, "ok " + "9" * 5000 + " - a.b", "ok ² - a.b", "Bail out!", "  ---",
         "  ...", "  severity: error", "  requirement: X-1", "TAP version 14", "    TAP version 14",
         "# decided x, known 0, failed 0", "# run: pmu=reference cpu", "# run: a=b=c",
         "# end of PMUTest86: exit 0", "# end of PMUTest86: exit", "launch: run 1 cpu=haswell x",
         "launch: run " + "1" * 5000, "launch: engine 1 fast blocks=² runs=" + "1" * 5000,
         "launch: engine 1", "launch: engine 1 fast name=1 stepped=x", "launch: end 1 status=zz",
         "launch: end 1 status=0x0", "launch: bad plan line 1", "launch: done", "\x1b[0m", "\r",
         "# check X a.c:1 failed", "# control X a.c:2 failed",
         "# requirements decided 1 of 2", "# NOT TESTED: x", "\ufffe",
         "# | \\", "ok 5 - " + "#" * 3000, "ok 6 - " + "\\" * 3001, "ok 7 - a.b [" + " " * 5000]

any_log = st.one_of(
    st.binary(max_size=300),
    st.lists(st.one_of(st.sampled_from(WORDS), st.text(max_size=40)), max_size=25)
    .map(lambda lines: "\n".join(["launch: run 1 cpu=haswell", "TAP version 14"] + lines)
         .encode("utf-8", "replace")))


def good_log(verdicts):
    """As the harness and the launcher write it; line i + 3 begins point i."""
    lines = ["launch: run 1 cpu=haswell fault=none seed=0", "TAP version 14",
             f"1..{len(verdicts)}"]
    for number, verdict in enumerate(verdicts, 1):
        head = f"ok {number} - group.claim_{number} [CNT-0{number % 7 + 1}]"
        if verdict in ("KNOWN", "FAIL", "ERROR"):
            kind = "severity: error" if verdict == "ERROR" else "requirement: CNT-01"
            known = " # TODO KNOWN some-erratum: as published" if verdict == "KNOWN" else ""
            lines += [f"not {head}{known}", "  ---", f"  {kind}", '  message: "a \\"b\\""', "  ..."]
        else:
            lines.append(head + {"SKIP": " # " + SKIPPED[0], "PASS": "",
                                 "INCONCLUSIVE": " # " + SKIPPED[1]}[verdict])
    count = verdicts.count
    lines.append(f"# decided {count('PASS')}, skipped {count('SKIP')}, inconclusive "
                 f"{count('INCONCLUSIVE')}, known {count('KNOWN')}, failed {count('FAIL')}, errors "
                 f"{count('ERROR')}")
    status = 1 if "FAIL" in verdicts else 2 if "ERROR" in verdicts else 0
    return lines + [f"# end of PMUTest86: exit {status}", "launch: engine 1 fast stepped=1",
                    "launch: end 1 status=0x0", "launch: done"]


verdict_lists = st.lists(st.sampled_from(VERDICTS), min_size=1, max_size=8)


# Of run-qemu.sh: why it ended the machine, and how one ended by itself.
REASONS = ["", "no end within 1 s"]
ENDS = ["", *(conclude.MACHINE + how for how in ("ended", "was reset", "switched itself off"))]


class Options:
    """What conclude.py was asked for."""
    run, reason, efi = "pmu=reference cpu=haswell", "", ""


def points_of(run):
    return [(point.number, point.name, point.verdict, point.requirements) for point in run.points]


def concluded(log, efi="", reason="", end=""):
    """Status of conclude.py for that log, and its saved files."""
    with tempfile.TemporaryDirectory() as folder:
        serial, out = os.path.join(folder, "serial"), os.path.join(folder, "out")
        with open(serial, "wb") as file:
            file.write(log)
        old, sys.argv = sys.argv, ["conclude.py", f"--serial={serial}", f"--out={out}",
                                   f"--run={Options.run}", f"--efi={efi}",
                                   f"--reason={reason}", f"--end={end}"]
        try:
            with contextlib.redirect_stdout(io.StringIO()) as said, \
                    contextlib.redirect_stderr(io.StringIO()):
                status = conclude.main()
        finally:
            sys.argv = old
        files = {}
        for name in os.listdir(out):
            with open(os.path.join(out, name), "rb") as file:
                files[name] = file.read()
    assert status in (0, 1, 2), status
    assert files["serial.log"] == log
    assert said.getvalue().encode() == files["results.tap"]
    return status, files


@given(any_log, st.sampled_from(["", "shell.efi"]), st.sampled_from(REASONS),
       st.sampled_from(ENDS))
def any_log_has_results(log, efi, reason, end):
    _, files = concluded(log, efi, reason, end)
    points = json.loads(files["results.json"])["runs"][0]["points"]
    xml.dom.minidom.parseString(files["junit.xml"])
    again = results.parse(files["results.tap"].decode())[0]
    assert len(again) == 1
    assert [(point["number"], point["name"], point["verdict"]) for point in points] == \
        [(point.number, point.name, point.verdict) for point in again[0].points]


def reported(runs):
    """Each format of these runs: none raises, and no text of a log is a part of its markup."""
    xml.dom.minidom.parseString(junit.junit_xml(runs))
    text = page.html_page(runs)
    assert text.count("<script") == text.count("</script") == 2, text
    assert not set(text) & set("\0\x07\x08\x1b\x7f"), "a control character"
    markdown.markdown_page(runs)
    json.loads(as_json.json_text(runs))
    machines.group(runs)
    for failure in failures.collect(runs):
        assert bundle.collect(runs, failure.requirement)["report.md"]


@given(any_log)
def any_log_can_be_reported(log):
    reported(results.parse(log.decode("utf-8", "replace"))[0])


HOSTILE = ["<script>", "</script><script>", "\x1b]0;", "\u2028", "\u202e", "]]>", "<!--", "'\"",
           "\0", "```", "\ud800", "&lt;", "$(id)", "../..", "\uffff"]


@given(st.lists(st.tuples(st.sampled_from(["# processor: x, ", "# microcode: ", "# system: ",
                                           "# platform: ", "ok 1 - ", "not ok 1 - a.b [",
                                           "  got: ", "  wanted: ", "  record_1: ", "  also_2: ",
                                           "# run: fault=", "# NOT TESTED: "]),
                          st.lists(st.one_of(st.sampled_from(HOSTILE), st.text(max_size=9)),
                                   max_size=4).map("".join)), max_size=20))
def hostile_text_is_text(parts):
    lines = ["TAP version 14", *(head + tail for head, tail in parts), "# end of PMUTest86: exit 0"]
    reported(results.parse("\n".join(lines))[0] * 2)


@given(st.binary(max_size=40), st.lists(st.integers(1, 50), min_size=1, max_size=9), st.data())
def a_log_in_pieces_is_the_log(noise, sizes, data):
    text = "\n".join(good_log(data.draw(verdict_lists)))
    log = noise + b"\n" + text.encode() + b"\n" + noise
    if noise[:2] in read.MARKS:
        return

    class File:
        at = 0

        def read(self, _):
            size = sizes[self.at % len(sizes)]
            self.at += size
            return log[self.at - size:self.at]

    found = results.Log()
    for piece in read.pieces(File()):
        for line in piece.split("\n"):
            found.take(line)
    assert [points_of(run) for run in found.end()[0]] == \
        [points_of(run) for run in results.parse(log.decode("utf-8", "replace"))[0]]


@given(verdict_lists)
def a_good_log_says_what_it_said(verdicts):
    run = results.parse("\n".join(good_log(verdicts)))[0][0]
    assert not run.problem, run.problem
    assert [point.verdict for point in run.points] == verdicts


@given(verdict_lists, st.data())
def a_garbled_line_costs_itself(verdicts, data):
    lines = good_log(verdicts)
    place = data.draw(st.integers(1, len(lines) - 1), "line")
    line = lines[place]
    at = data.draw(st.integers(0, len(line)), "character")
    kind = data.draw(st.sampled_from(("drop", "insert", "lose", "double", "truncate", "join")))
    more = data.draw(st.sampled_from(["x", " ", "BdsDxe: loading", "\\", "\x00", "[", "#", "\r",
                                      "²", "9" * 5000]))
    count = data.draw(st.integers(1, 9), "characters")
    changed = {"drop": [line[:at] + line[at + count:]], "insert": [line[:at] + more + line[at:]],
               "lose": [], "double": [line, line], "truncate": [line[:at]],
               "join": [line + more + "".join(lines[place + 1:place + 2])]}[kind]
    lines[place:place + 1 + (kind == "join")] = changed
    status, files = concluded("\n".join(lines).encode())
    if "FAIL" in verdicts:
        assert status != 0, "a FAIL is gone"
    if place < 3 or kind == "join" or lines[place - 1] == "  ---":
        return
    before = good_log(verdicts)
    own = sum(text.startswith(("ok ", "not ok ")) for text in before[:place + 1])
    now = {point["name"]: point["verdict"]
           for point in json.loads(files["results.json"])["runs"][0]["points"]}
    for number, verdict in enumerate(verdicts, 1):
        if number != own:
            assert now.get(f"group.claim_{number}") == verdict, (number, verdict, now)


@given(verdict_lists, st.sampled_from(ENDS[1:]), st.data())
def a_log_cut_short_says_how_the_machine_ended(verdicts, end, data):
    lines = good_log(verdicts)
    whole = next(i for i, line in enumerate(lines) if line.startswith("# end of "))
    lines = lines[:data.draw(st.integers(1, whole), "lines")]
    status, files = concluded("\n".join(lines).encode(), end=end)
    assert status in (1, 2), status
    told = [line for line in files["results.tap"].decode().splitlines()
            if line.startswith("Bail out!")]
    assert len(told) == 1 and end in told[0], told


PROPERTIES = (any_log_has_results, any_log_can_be_reported, hostile_text_is_text,
              a_log_in_pieces_is_the_log, a_good_log_says_what_it_said,
              a_garbled_line_costs_itself, a_log_cut_short_says_how_the_machine_ended)


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 0
    end = time.monotonic() + seconds
    failed = set()
    # Once: Hypothesis refuses settings for what has some.
    runs = {check.__name__: settings(max_examples=EXAMPLES, deadline=None, database=None,
                                     derandomize=not seconds,
                                     suppress_health_check=list(HealthCheck))(check)
            for check in PROPERTIES}
    while True:
        for name, run in runs.items():
            try:
                run()
            except Exception:       # whatever it is, it is a finding
                failed.add(name)
                traceback.print_exc()
        if failed or time.monotonic() >= end:
            break
    print(f"fuzz_results.py: {len(PROPERTIES) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
