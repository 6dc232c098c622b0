#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The recipes of docs/recipes/ against the tools that they are for, where those are installed.

test_recipes.py [NAME...], for unittest. Each test that is skipped says which package it wants.
"""
import importlib.util
import os
import pty
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import tty
import unittest

import logs

RECIPES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "recipes")
POINTS = [("PASS", "count.loads", "CNT-03"), ("SKIP", "nb.escr", "NB-01"),
          ("INCONCLUSIVE", "ll.slow", "LL-01"), ("KNOWN", "pmi.two", "PMI-02")]
FAILING = [*POINTS, logs.failing(5, "dla.address@cpu1", "DLA-02")]


def needs(*names):
    missing = [name for name in names if not importlib.util.find_spec(name)]
    return unittest.skipIf(missing, f"no Python module {' '.join(missing)}")


def read(name):
    with open(os.path.join(RECIPES, name), encoding="utf-8") as file:
        return file.read()


class Workflows(unittest.TestCase):
    @needs("yaml")
    def test_every_recipe_is_yaml(self):
        import yaml
        for folder, _, names in os.walk(RECIPES):
            for name in names:
                if name.endswith((".yml", ".yaml")):
                    self.assertTrue(yaml.safe_load(read(os.path.join(folder, name))))

    @unittest.skipUnless(shutil.which("actionlint"), "no actionlint")
    def test_actionlint_finds_nothing(self):
        subprocess.run(["actionlint", os.path.join(RECIPES, "github-actions.yml")], check=True)

    @needs("yaml")
    def test_commands_of_the_recipes_have_options_that_exist(self):
        helps = [subprocess.run([os.path.join(RECIPES, "..", "..", "run-qemu.sh"), "--help"],
                                capture_output=True, text=True, check=True).stdout,
                 "--html --junit --json --markdown --bug"]
        for name in ("github-actions.yml", "gitlab-ci.yml"):
            for line in read(name).splitlines():
                if "run-qemu.sh" in line or "pmutest86-report" in line:
                    for word in line.split():
                        if word.startswith("--"):
                            self.assertIn(word, " ".join(helps), line)


class Lava(unittest.TestCase):
    @needs("yaml", "lava_common")
    def test_the_job_obeys_its_schema(self):
        import yaml
        from lava_common.schemas import validate
        validate(yaml.safe_load(read("lava.yaml")), strict=True)

    def monitored(self, log, piece):
        """(suite, case, result) as LAVA's monitors find them in a log that comes in pieces."""
        import pexpect
        import yaml
        actions = yaml.safe_load(read("lava.yaml"))["actions"]
        monitors = next(action["test"]["monitors"] for action in actions if "test" in action)
        with tempfile.NamedTemporaryFile() as file:
            file.write(log)
            file.flush()
            program = ("import sys\ndata = open(sys.argv[1], 'rb').read()\n"
                       f"for at in range(0, len(data), {piece}):\n"
                       f"    sys.stdout.buffer.write(data[at:at + {piece}])\n"
                       "    sys.stdout.flush()\n")
            child = pexpect.spawn(sys.executable, ["-c", program, file.name], timeout=30)
            found = []
            for monitor in monitors:
                child.expect([monitor["start"].encode()])
                # In LAVA's own order: the end first.
                while child.expect([monitor["end"].encode(), monitor["pattern"].encode()]):
                    words = {key: text.decode() for key, text in child.match.groupdict().items()}
                    found.append((monitor["name"], words["test_case_id"],
                                  monitor["fixupdict"][words["result"]]))
            child.close()
        return found

    @needs("yaml", "pexpect")
    def test_each_point_is_a_case_with_its_result(self):
        names = ["count.loads", "nb.escr", "ll.slow", "pmi.two", "dla.address@cpu1"]
        for piece in (1, 7, 4096):
            for points, result in ((FAILING, "fail"), (POINTS, "pass")):
                text = "noise\r\nok 1 - noise\r\n" + logs.log(points).replace("\n", "\r\n")
                found = self.monitored(text.encode(), piece)
                results = ["pass", "skip", "skip", "skip", "fail"][:len(points)]
                self.assertEqual(found[:-1], [("pmutest86", *pair) for pair in
                                              zip(names, results)])
                self.assertEqual(found[-1], ("pmutest86-whole-run", "exit", result))

    @needs("yaml", "pexpect")
    def test_a_run_that_tested_nothing_is_not_green(self):
        log = logs.log([("SKIP", "count.loads", "CNT-03")]).encode()
        self.assertEqual(self.monitored(log, 4096)[-1], ("pmutest86-whole-run", "exit", "fail"))


class Labgrid(unittest.TestCase):
    ENVIRONMENT = ("targets:\n main:\n  resources:\n   RawSerialPort:\n    port: {port}\n"
                   "    speed: 115200\n  drivers:\n   SerialDriver: {{}}\n   ExternalPowerDriver:\n"
                   "    cmd_on: 'true'\n    cmd_off: touch {folder}/off\n"
                   "    cmd_cycle: touch {folder}/on\n")

    def play(self, log, seconds=30):
        """The recipe's pytest on a serial line that says this log once the power is on."""
        with tempfile.TemporaryDirectory() as folder:
            master, slave = pty.openpty()
            tty.setraw(slave)
            with open(os.path.join(folder, "env.yaml"), "w", encoding="utf-8") as file:
                file.write(self.ENVIRONMENT.format(port=os.ttyname(slave), folder=folder))

            def feed():
                end = time.monotonic() + 60
                while not os.path.exists(os.path.join(folder, "on")) and time.monotonic() < end:
                    time.sleep(0.05)
                for at in range(0, len(log), 512):
                    os.write(master, log[at:at + 512])

            thread = threading.Thread(target=feed, daemon=True)
            thread.start()
            said = subprocess.run(
                [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--lg-env",
                 os.path.join(folder, "env.yaml"),
                 os.path.join(RECIPES, "labgrid", "test_pmutest86.py")],
                capture_output=True, text=True, check=False, timeout=100,
                env={**os.environ, "SECONDS": str(seconds), "PYTHONDONTWRITEBYTECODE": "1",
                     "LOG": os.path.join(folder, "log")})
            thread.join(5)
            os.close(master)
            os.close(slave)
            with open(os.path.join(folder, "log"), "rb") as file:
                return said, file.read(), os.path.exists(os.path.join(folder, "off"))

    @needs("labgrid", "pytest")
    def test_the_environment_is_one(self):
        from labgrid import Environment
        target = Environment(os.path.join(RECIPES, "labgrid", "machine.yaml")).get_target("main")
        self.assertEqual(len(target.drivers), 2)

    @needs("labgrid", "pytest")
    def test_the_exit_status_decides(self):
        for points, good, text in ((POINTS, True, "1 passed"),
                                   (FAILING, False, "exit 1; failed: dla.address@cpu1"),
                                   (POINTS[1:2], False, "exit 2; failed: nothing")):
            log = logs.log(points).replace("\n", "\r\n").encode()
            said, kept, off = self.play(b"# end of PMUTest86: exit 0, noise\r\n" + log)
            self.assertEqual(said.returncode == 0, good, said.stdout)
            self.assertIn(text, said.stdout)
            self.assertIn(b"TAP version 14", kept)
            self.assertEqual(off, True)

    @needs("labgrid", "pytest")
    def test_a_machine_that_says_nothing_fails(self):
        said, _, _ = self.play(b"noise\r\n", seconds=2)
        self.assertNotEqual(said.returncode, 0)


if __name__ == "__main__":
    unittest.main()
