#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Tests of what pmutest86-report says: test_report.py PROGRAM [NAME...], for unittest.

PROGRAM is build/pmutest86-report.
"""
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import xml.dom.minidom

import logs

HERE = os.path.dirname(os.path.abspath(__file__))
SCHEMA = os.path.join(HERE, "..", "..", "tools", "report", "results.schema.json")
PROGRAM = ""
GOOD = [("PASS", "count.loads", "CNT-03"), ("PASS", "pmi.masks", "PMI-04"),
        ("SKIP", "nb.escr", "NB-01")]


class Case(unittest.TestCase):
    """A folder of its own, and the program in it."""

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, text):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        return path

    def run_program(self, *words):
        return subprocess.run([PROGRAM, *words], capture_output=True, check=False, timeout=120)

    def good(self, *words):
        result = self.run_program(*words)
        self.assertEqual((result.returncode, result.stderr), (0, b""), words)
        return result.stdout.decode()

    def refused(self, text, *words):
        """Exit status 2, nothing on standard output, and one line that contains the text."""
        result = self.run_program(*words)
        said = result.stderr.decode("utf-8", "replace")
        self.assertEqual((result.returncode, result.stdout), (2, b""), said)
        self.assertEqual(said.count("\n"), 1, said)
        self.assertIn(text, said)
        self.assertTrue(said.rstrip("\n").isprintable(), said)

    def json_of(self, *paths):
        return json.loads(self.good("--json", "-", *paths))

    def page_of(self, *paths):
        return self.good("--html", "-", *paths)


class BadInput(Case):
    """A table of inputs that aren't results, each with its one line."""

    def test_what_is_no_log(self):
        deep = b"[" * 100000
        for name, data, text in (
                ("empty", b"", "no TAP output"), ("zeros", bytes(5000), "no TAP output"),
                ("noise", os.urandom(1 << 16), "no TAP output"),
                ("json", b'{"format": "pmutest86-results"', "no TAP output"),
                ("nested", deep, "no TAP output"),
                ("newlines", b"\n" * 100000, "no TAP output"),
                ("other", b"hello\r\nworld\r\n", "no TAP output"),
                ("points", b"TAP version 14\n" + b"ok 1 - a.b [CNT-01]\n" * 400000,
                 "more than 64 MiB of test results")):
            with self.subTest(name):
                self.refused(text, "--html", "-", self.write(name, data))

    def test_what_is_no_file(self):
        os.makedirs(self.path("folder"))
        self.refused("holds neither results.tap nor serial.log", self.path("folder"))
        self.refused("No such file", self.path("nothing"))
        self.refused("neither a file nor a pipe", "/dev/zero")
        self.refused("No such file", self.path("a\x1b[31m\nb"))
        self.refused("File name too long", "x" * 5000)
        os.makedirs(self.path("fifo", "sub"))
        os.mkfifo(self.path("fifo", "results.tap"))
        self.refused("holds neither", self.path("fifo"))
        os.symlink(self.path("loop"), self.path("loop"))
        self.refused("symbolic links", self.path("loop"))

    def test_bad_options(self):
        good = self.write("log", logs.log(GOOD))
        self.refused("no RESULT given")
        self.refused("unrecognized arguments: --htm2", "--htm2", good)
        self.refused("expected 2 arguments", "--bug", good)
        self.refused("broken are: none", "--bug", "CNT-03", self.path("bug"), good)
        self.assertFalse(os.path.exists(self.path("bug")))
        self.refused("Is a directory", "--html", self.folder, good)
        bad = self.write("bad", logs.log([("FAIL", "count.loads", "CNT-03")]))
        self.refused("'CNT-9\\x1b' broken; broken are: CNT-03", "--bug", "CNT-9\x1b",
                     self.path("bug"), bad)
        self.refused("the folder isn't empty", "--bug", "CNT-03", self.folder, bad)

    def test_a_damaged_file_beside_a_good_log_costs_a_note(self):
        for text, note in ((b'{"said": {', "can't be read"), (b"[" * 100000, "can't be read"),
                           (b"\xff\xfe{", "can't be read"), (b"[]", "holds no object"),
                           (b" " * (5 << 20), "longer than 4 MiB")):
            self.write("one/results.tap", logs.log(GOOD))
            self.write("one/machine.json", text)
            run = self.json_of(self.path("one"))["runs"][0]
            self.assertEqual(run["outcome"], "PASSED")
            self.assertIn(note, run["notes"][0])
            self.assertIn(note.replace("'", "&#x27;"), self.page_of(self.path("one")))


class Reading(Case):
    def test_noise_of_the_firmware_around_a_run_is_left_out(self):
        noise = "\x1b[2J\x1b[01;01HBdsDxe: loading Boot0001\r\n# a prompt\r\nok, booting\r\n"
        text = noise * 3 + logs.log(GOOD).replace("\n", "\r\n") + noise * 3
        run, = self.json_of(self.write("serial.log", text))["runs"]
        self.assertEqual((run["outcome"], len(run["points"])), ("PASSED", 3))

    def test_two_boots_in_one_log_are_two_runs(self):
        text = logs.log(GOOD, ends=False) + "the firmware again\n" + logs.log(GOOD)
        first, second = self.json_of(self.write("serial.log", text))["runs"]
        self.assertEqual((first["outcome"], second["outcome"]), ("NOT TRUSTWORTHY", "PASSED"))
        self.assertIn("ends after test point 3", first["problem"])

    def test_a_folder_of_folders_is_read_by_name(self):
        for name in ("2026-02-01", "2026-01-01", "2026-03-01"):
            self.write(f"results/{name}/results.tap", logs.log(GOOD))
        self.write("results/notes.txt", "nothing")
        said = self.json_of(self.path("results"))
        self.assertEqual([os.path.basename(run["source"]) for run in said["runs"]],
                         ["2026-01-01", "2026-02-01", "2026-03-01"])
        self.assertEqual(said["machines"][0]["runs"], [0, 1, 2])

    def test_bad_utf8_and_utf16_are_read(self):
        text = logs.log(GOOD)
        for data in (text.encode("utf-16"), text.encode("utf-8-sig"),
                     text.encode().replace(b"Example", b"Ex\xff\xfe\x80ample")):
            run, = self.json_of(self.write("log", data))["runs"]
            self.assertEqual(run["outcome"], "PASSED")

    def test_a_line_without_end_costs_itself(self):
        text = logs.log(GOOD, more=["# " + "x" * 3000000])
        run, = self.json_of(self.write("log", text))["runs"]
        self.assertEqual((run["outcome"], len(run["points"])), ("PASSED", 3))

    def test_a_pipe_is_read(self):
        log = self.write("log", logs.log(GOOD))
        said = subprocess.run(["bash", "-c", f"{PROGRAM} --json - <(cat {log})"], check=True,
                              capture_output=True).stdout
        self.assertEqual(json.loads(said)["runs"][0]["outcome"], "PASSED")

    def test_a_gigabyte_is_read_in_bounded_memory(self):
        log = logs.log(GOOD).encode()
        with open(self.path("big"), "wb") as file:      # sparse: it takes no room
            for place in (0, 500 << 20, 1 << 30):
                file.seek(place)
                file.write(b"\n" + log)
        limited = f"ulimit -v 1000000; exec {PROGRAM} --json - {self.path('big')}"
        said = subprocess.run(["bash", "-c", limited], check=True, timeout=100,
                              capture_output=True).stdout
        self.assertEqual([run["outcome"] for run in json.loads(said)["runs"]], ["PASSED"] * 3)


class Words(Case):
    """One sentence a machine, and what the whole page says first."""

    def sentence(self, points, **words):
        machine, = self.json_of(self.write("log", logs.log(points, **words)))["machines"]
        return machine["outcome"], machine["sentence"]

    def test_each_outcome_has_its_sentence(self):
        self.assertEqual(self.sentence(GOOD), (
            "PASSED", "2 of the 9 requirements that can be decided here were decided, and none is "
            "broken."))
        self.assertEqual(self.sentence(GOOD, total=2)[1], (
            "All 2 requirements that can be decided here were decided, and none is broken."))
        self.assertEqual(self.sentence([*GOOD, ("FAIL", "pmi.two", "PMI-05"),
                                        ("INCONCLUSIVE", "pmi.three", "PMI-06")]), (
            "FAILED", "1 requirement broken: PMI-05; 3 of the 9 requirements that can be decided "
            "here were decided; 1 test came to no verdict."))
        self.assertEqual(self.sentence([("SKIP", "count.loads", "CNT-03")]), (
            "NOT TESTED", "Nothing was tested: this processor has no PMU."))
        self.assertEqual(self.sentence([*GOOD, ("ERROR", "pmi.hangs", "PMI-05")]), (
            "NOT TRUSTWORTHY", "1 test ended with an error of the harness; up to there 2 of the 9 "
            "requirements that can be decided here were decided."))
        outcome, text = self.sentence(GOOD, ends=False)
        self.assertEqual(outcome, "NOT TRUSTWORTHY")
        self.assertIn("The log ends after test point 3", text)
        self.assertIn("1 test failed as a published erratum says",
                      self.sentence([*GOOD, ("KNOWN", "pmi.two", "PMI-05")])[1])

    def test_machines_are_told_apart_and_runs_of_one_kept_together(self):
        one = self.write("1", logs.log(GOOD))
        two = self.write("2", logs.log(GOOD, microcode="0x2a"))
        three = self.write("3", logs.log(GOOD, system="Example Corp., Model 2"))
        four = self.write("4", logs.log(GOOD, brand="Another"))
        said = self.json_of(one, two, three, four)
        self.assertEqual([machine["runs"] for machine in said["machines"]], [[0, 1], [2], [3]])
        names = [machine["name"] for machine in said["machines"]]
        self.assertEqual(names, ["Intel Core i7-4770 @ 3.40GHz",
                                 "Intel Core i7-4770 @ 3.40GHz (machine 2)", "Another"])

    def test_a_machine_whose_earlier_run_failed_has_not_simply_passed(self):
        bad = self.write("1", logs.log([("FAIL", "count.loads", "CNT-03"), *GOOD[1:]]))
        good = self.write("2", logs.log(GOOD))
        machine, = self.json_of(bad, good)["machines"]
        self.assertEqual(machine["outcome"], "FAILED")
        self.assertIn("The last run passed, 1 earlier run did not (CNT-03)", machine["sentence"])


class Differences(Case):
    def test_regressions_come_first(self):
        old = self.write("1", logs.log([("FAIL", "a.a", "CNT-01"), ("PASS", "a.b", "CNT-02"),
                                        ("PASS", "a.c", "CNT-03"), ("SKIP", "a.d", "CNT-04"),
                                        ("PASS", "a.e", "CNT-05")]))
        new = self.write("2", logs.log([("PASS", "a.a", "CNT-01"), ("SKIP", "a.b", "CNT-02"),
                                        ("FAIL", "a.c", "CNT-03"), ("PASS", "a.d", "CNT-04"),
                                        ("PASS", "a.e", "CNT-05")], microcode="0x2a"))
        change, = self.json_of(old, new)["changes"]
        self.assertEqual([(one["requirement"], one["kind"]) for one in change["requirements"]],
                         [("CNT-03", "broken"), ("CNT-02", "lost"), ("CNT-04", "decided"),
                          ("CNT-01", "repaired")])
        page = self.page_of(old, new)
        self.assertIn("microcode 0x28 → 0x2a", page)
        self.assertLess(page.index('id="failures"'), page.index('id="differences"'))
        self.assertLess(page.index('id="differences"'), page.index('id="requirements"'))
        self.assertIn("(now broken)", self.good("--markdown", "-", old, new))

    def test_equal_runs_differ_in_nothing(self):
        log = self.write("1", logs.log(GOOD))
        self.assertEqual(self.json_of(log, log)["changes"], [])
        self.assertNotIn('id="differences"', self.page_of(log, log))

    def test_what_one_machine_holds_and_another_breaks_is_told(self):
        good = self.write("1", logs.log(GOOD))
        bad = self.write("2", logs.log([("FAIL", "count.loads", "CNT-03"), *GOOD[1:]],
                                       brand="Other"))
        page = self.page_of(good, bad)
        self.assertIn("Between machines", page)
        part = page[page.index("Between machines"):page.index('id="requirements"')]
        self.assertIn("CNT-03", part)
        self.assertNotIn("PMI-04", part)


class Failures(Case):
    POINTS = [logs.failing(1, "count.loads", "CNT-03", records=[logs.RECORD], also=["PMI-04"]),
              ("PASS", "pmi.masks", "PMI-01")]

    def test_a_record_is_decoded_beside_its_layout(self):
        point = self.json_of(self.write("1", logs.log(self.POINTS)))["runs"][0]["points"][0]
        record, = point["records"]
        self.assertEqual((record["layout"], record["bytes"]), ("format 2", logs.RECORD.hex()))
        fields = {field["offset"]: field for field in record["fields"]}
        self.assertEqual(fields[0xb0]["name"], "EventingIP")
        self.assertEqual(fields[0x90]["meaning"], "OVF_PMC1 OVF_FIXED_CTR0 OVF_BUF")
        self.assertEqual((fields[0xa0]["value"], fields[0xa0]["meaning"]),
                         (3, "as load latency: L2 hit"))
        page = self.page_of(self.path("1"))
        self.assertIn("<td>EventingIP</td>", page)
        self.assertIn("OVF_PMC1 OVF_FIXED_CTR0 OVF_BUF", page)

    def test_an_adaptive_record_is_decoded_by_its_format_word(self):
        def quadwords(*values):
            return b"".join(value.to_bytes(8, "little") for value in values)
        basic = [0x401000, 1 << 35, 0x1122]
        for config, rest, title in (
                (0, [], "format 4: basic"),
                (1, [0x1000, 3, 7, 0], "format 4: basic, memory"),
                (0x1000008, [1, 2, 3, 4, 5, 6], "format 4: basic, last branch records")):
            data = quadwords((32 + 8 * len(rest)) << 48 | config, *basic, *rest)
            point = logs.failing(1, "a.b", "CNT-03", records=[data])
            run, = self.json_of(self.write("1", logs.log([point])))["runs"]
            record, = run["points"][0]["records"]
            self.assertEqual(record["layout"], title)
            fields = {field["name"]: field["value"] for field in record["fields"]}
            self.assertEqual((fields["EventingIP"], fields["Applicable Counters"]),
                             (0x401000, 1 << 35))
            if config == 1:
                self.assertEqual(fields["Data Linear Address"], 0x1000)
            if config == 0x1000008:
                self.assertEqual((fields["LBR[0] TO"], fields["LBR[1] INFO"]), (2, 6))

    def decoded(self, *quadwords):
        """The one record of a failure, as the report has it."""
        data = b"".join(value.to_bytes(8, "little") for value in quadwords)
        point = logs.failing(1, "a.b", "CNT-03", records=[data])
        run, = self.json_of(self.write("1", logs.log([point])))["runs"]
        record, = run["points"][0]["records"]
        return record["layout"], {one["name"]: one["value"] for one in record["fields"]}

    def test_counters_of_an_adaptive_record_are_named_by_their_head(self):
        layout, fields = self.decoded(0x58 << 48 | 0x30, 0x401000, 1, 0x1122,
                                      1 << 32 | 0x82, 3, 0x11, 0x77, 0x22, 0x33, 0x44)
        self.assertEqual(layout, "format 4: basic, counters")
        self.assertEqual([fields["counters: " + name] for name in (
            "IA32_PMC1", "IA32_PMC7", "fixed counter 0", "fixed counter 3", "MSR_PERF_METRICS")],
                         [0x11, 0x77, 0x22, 0x33, 0x44])

    def test_an_architectural_record_is_decoded_by_its_header(self):
        layout, fields = self.decoded(
            1 << 63 | 1 << 62 | 1 << 40 | 0x170 | 1 << 30, 0, 0x401000, 1, 0x1122, 0, 0, 0,
            0x1000, 0, 0, 0, 0, 3, 7, 0, 0, 0x7f0001, 8, 0, 0, 0, *range(24))
        self.assertEqual(layout, "architectural: header, basic, auxiliary, last branch records")
        self.assertEqual((fields["EventingIP"], fields["Data Linear Address"], fields["latencies"],
                          fields["IA32_LBR_DEPTH"], fields["LBR[7] IA32_LBR_x_INFO"]),
                         (0x401000, 0x1000, 7, 8, 23))

    def test_an_empty_architectural_fragment_tells_of_another_one(self):
        layout, _ = self.decoded(1 << 31 | 0x10, 0)
        self.assertEqual(layout, "architectural, and another fragment: header")

    def test_a_long_adaptive_record_is_decoded_as_far_as_it_is_there(self):
        data = (0x1d0 << 48 | 7).to_bytes(8, "little") + bytes(0x1b8 - 8)
        point = logs.failing(1, "a.b", "CNT-03", records=[data])
        run, = self.json_of(self.write("1", logs.log([point])))["runs"]
        record, = run["points"][0]["records"]
        self.assertEqual(record["layout"], "format 4: basic, memory, general registers, "
                                           "XMM registers, its first 440 of 464 bytes")
        self.assertEqual(record["fields"][-1]["name"], "XMM14[63:0]")

    def test_layouts_follow_the_size(self):
        for size, layout in ((0x28, "NetBurst, 32 bits"), (0x90, "NetBurst, 64 bits"),
                             (0xb0, "format 1"), (0xc0, "format 2"),
                             (0x98, "no layout of 152 bytes is known")):
            point = logs.failing(1, "a.b", "CNT-03", records=[bytes(size)])
            run, = self.json_of(self.write("1", logs.log([point])))["runs"]
            self.assertEqual(run["points"][0]["records"][0]["layout"], layout)

    def test_each_broken_requirement_has_its_checks(self):
        page = self.page_of(self.write("1", logs.log(self.POINTS)))
        card = page[page.index('id="fail-CNT-03"'):]
        card = card[:card.index("</article>")]
        self.assertIn(logs.SENTENCE, card)
        for text in ("0x50 (80)", "SDM chapter 19", "tests/core/count.c:145"):
            self.assertIn(text, card)
        card = page[page.index('id="fail-PMI-04"'):]
        self.assertIn("another thing, IA32_PMC1", card[:card.index("</article>")])

    def test_a_bundle_holds_what_a_bug_report_needs(self):
        log = self.write("1/results.tap", logs.log(self.POINTS, more=["# cpuid: 0 1 2 3 4"]))
        self.write("1/machine.json", '{"format": "pmutest86-machine"}')
        self.good("--bug", "CNT-03", self.path("bug"), os.path.dirname(log))
        self.assertEqual(sorted(os.listdir(self.path("bug"))), [
            "log.txt", "machine.json", "machine.txt", "points.tap", "record-1.bin", "record-1.txt",
            "report.md"])
        read = {}
        for name in os.listdir(self.path("bug")):
            with open(self.path("bug", name), "rb") as file:
                read[name] = file.read()
        self.assertEqual(read["record-1.bin"], logs.RECORD)
        self.assertIn(b"EventingIP", read["record-1.txt"])
        self.assertEqual(read["points.tap"].decode().splitlines(), self.POINTS[0])
        self.assertIn(b"cpuid: 0 1 2 3 4", read["machine.txt"])
        report = read["report.md"].decode()
        for text in ("CNT-03 is broken on Intel Core i7-4770", logs.SENTENCE, "SDM chapter 19",
                     "wanted: 0x0 (0)", "got:    0x50 (80)", "tests = count.loads"):
            self.assertIn(text, report)

    def test_a_bundle_of_several_runs_is_an_archive_with_a_folder_each(self):
        one = self.write("1", logs.log(self.POINTS))
        two = self.write("2", logs.log(self.POINTS, reference=True))
        for name in ("bug.tar", "bug.tar.gz", "bug.tgz"):
            self.good("--bug", "CNT-03", self.path(name), one, two)
            with tarfile.open(self.path(name)) as archive:
                names = archive.getnames()
            self.assertEqual(len([name for name in names if name.endswith("report.md")]), 2, names)
        self.good("--bug", "CNT-03", self.path("bug"), one, two)
        folder = next(name for name in os.listdir(self.path("bug")) if name.startswith("2-"))
        with open(self.path("bug", folder, "report.md"), encoding="utf-8") as file:
            self.assertIn("./run-qemu.sh --cpu haswell --tests count.loads", file.read())


class Hostile(Case):
    """Nothing in a log becomes a part of the page, of a command or of a file's name."""
    SCRIPT = "<script>alert(1)</script>"

    def test_markup_is_text(self):
        brand = f"{self.SCRIPT}\"'><img src=x onerror=alert(2)>]]></script>&amp;`|[a](b)"
        point = logs.failing(1, "a.b", "CNT-03", wanted=self.SCRIPT, got="```\n# title")
        log = self.write("log", logs.log([point, ("PASS", f"a.{self.SCRIPT}", self.SCRIPT)], brand,
                                         more=[f"# {self.SCRIPT}", "# x: \x1b]0;t\x07\x00\x7f"]))
        page = self.page_of(log)
        self.assertNotIn(self.SCRIPT, page)
        self.assertNotIn("<img", page)
        self.assertEqual(page.count("<script"), 2)
        self.assertEqual(page.count("</script"), 2)
        for bad in "\x00\x07\x1b\x7f":
            self.assertNotIn(bad, page)
        text = self.good("--markdown", "-", log)
        self.assertNotRegex(text, r"(?<!\\)\]\(b\)")
        for line in text.splitlines():
            self.assertTrue(self.SCRIPT not in line or line.startswith(("wanted:", "what:")), line)
        xml.dom.minidom.parseString(self.good("--junit", "-", log))

    def test_a_name_is_no_command_and_no_path(self):
        point = logs.failing(1, "a.b';reboot;'$(reboot)", "../../CNT-03")
        text = logs.log([point], reference=True).replace("fault=none", "fault=$(reboot);x")
        self.good("--bug", "../../CNT-03", self.path("bug"), self.write("log", text))
        with open(self.path("bug", "report.md"), encoding="utf-8") as file:
            command, = [line for line in file if "run-qemu.sh" in line]
        self.assertEqual(command.strip(), "./run-qemu.sh --cpu haswell --fault '$(reboot);x' "
                                          "--tests a.b")
        self.good("--bug", "../../CNT-03", self.path("bug.tar"), self.path("log"))
        with tarfile.open(self.path("bug.tar")) as archive:
            for name in archive.getnames():
                self.assertTrue(name.startswith("pmutest86-CNT-03/"), name)
                self.assertNotIn("..", name)

    def test_the_page_needs_nothing_else(self):
        page = self.page_of(self.write("log", logs.log(GOOD)))
        self.assertIn("default-src 'none'", page)
        for text in ("http:", "https:", "src=", "@import", "url(", "<link"):
            self.assertNotIn(text, page.replace("data-src=", ""), text)


class Formats(Case):
    """Other programs read them."""

    def several(self):
        return [self.write("1", logs.log(GOOD)),
                self.write("2", logs.log([*Failures.POINTS, ("ERROR", "a.c", "PMI-02"),
                                          ("KNOWN", "a.d", "PMI-03"),
                                          ("INCONCLUSIVE", "a.e", "PMI-06")])),
                self.write("3", logs.log([("SKIP", "a.b", "CNT-01")], brand="\x01\ufffe]]>&")),
                self.write("4", logs.log(GOOD, ends=False, reference=True))]

    @unittest.skipUnless(importlib.util.find_spec("jsonschema"), "python3-jsonschema is missing")
    def test_json_obeys_its_schema(self):
        import jsonschema
        with open(SCHEMA, encoding="utf-8") as file:
            schema = json.load(file)

        def closed(node):
            """No member that the schema doesn't name."""
            if isinstance(node, dict):
                if "properties" in node:
                    node["additionalProperties"] = False
                for child in node.values():
                    closed(child)
            elif isinstance(node, list):
                for child in node:
                    closed(child)

        closed(schema)
        jsonschema.Draft202012Validator.check_schema(schema)
        said = self.json_of(*self.several())
        self.assertEqual((said["format"], said["version"]), ("pmutest86-results", 1))
        jsonschema.validate(said, schema)
        for change in (lambda: said["runs"][0].pop("settings"),
                       lambda: said["runs"][0].update(more=1),
                       lambda: said["runs"][0]["points"][0].update(verdict="GOOD")):
            said = self.json_of(*self.several())
            change()
            with self.assertRaises(jsonschema.ValidationError):
                jsonschema.validate(said, schema)

    @unittest.skipUnless(shutil.which("xmllint"), "xmllint (libxml2-utils) is missing")
    def test_junit_obeys_its_schema(self):
        rules = os.path.join(HERE, "junit.rng")
        text = self.good("--junit", "-", *self.several())
        check = ["xmllint", "--noout", "--relaxng", rules]
        self.write("junit.xml", text)
        said = subprocess.run([*check, self.path("junit.xml")], capture_output=True, check=False)
        self.assertEqual(said.returncode, 0, said.stderr.decode())
        self.write("bad.xml", text.replace(' time="0"', "", 1))
        said = subprocess.run([*check, self.path("bad.xml")], capture_output=True, check=False)
        self.assertNotEqual(said.returncode, 0)

    def test_junit_counts_what_it_holds(self):
        document = xml.dom.minidom.parseString(self.good("--junit", "-", *self.several()))
        for suite in document.getElementsByTagName("testsuite"):
            for tag, name in (("testcase", "tests"), ("failure", "failures"), ("error", "errors"),
                              ("skipped", "skipped")):
                self.assertEqual(len(suite.getElementsByTagName(tag)),
                                 int(suite.getAttribute(name)), name)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: test_report.py PROGRAM [NAME...]")
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
