#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Cut the power in the middle of a run, and check which results survive.

cut_power.py [--build FOLDER] [--cpu NAME] [--smp N] [--tests GLOB] [--cuts N] [--seed N]
             [--seconds S] [--after POINT,...] [--room KIB] [--read-only]

Boots the harness on the reference PMU from an image with its results on, kills QEMU in the middle
of the run and boots the same image again, until the run is over; N times (3), each time with a new
image. The time at which QEMU is killed is drawn from --seed, within S seconds (4) of the first
test; --after POINT,... kills it as soon as these test points have been printed. --room leaves that
much free space on the volume; --read-only makes the volume read-only.

Afterwards the image must have one folder with a complete results.tap. Each test that had ended has
the same result as before, except the one that is named as CRASHED; this must be the last test that
ran, or a later one. Without room for a journal the next boot begins a new run, and the log says why
there is no journal; the groups that the first boot had finished are in its folder. Prints a line
for each cut; the last line is "N cuts, N failed". Exit status: 0 none failed, 1 otherwise, 2 bad
option.
"""
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import command

import plan     # adds the folder of
import results

MIB = 1 << 20
IMAGE = 64 * MIB
TIMEOUT = 120
BOOTS = 4               # that finish a run that was cut once
BEGUN = re.compile(rb"^# (?:results in|no journal|results are not saved)", re.M)
CRASHED = "CRASHED: "


class Failed(Exception):
    """What was demanded isn't so."""


def tool(*words):
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, "MTOOLS_SKIP_CHECK": "1"})


class Stick:
    """An image in a folder of its own, and the machine that it is in."""

    def __init__(self, folder, options):
        self.folder, self.options = folder, options
        self.image = os.path.join(folder, "esp.img")
        self.serial = os.path.join(folder, "serial.log")
        with open(self.image, "wb") as file:
            file.truncate(IMAGE)
        tool("mkfs.fat", "-F", "32", "-n", "PMUTEST86", self.image)
        line = (f"run cpu={options.cpu} fault=none seed=0 efi=\\pmutest86.efi args=tests="
                f"{options.tests} results=on serial=0x3f8 at_end=return on=first strict=on\n")
        self.put("refpmu-plan.txt", line.encode())
        tool("mmd", "-i", self.image, "::/EFI", "::/EFI/BOOT")
        for name, at in (("launch.efi", "EFI/BOOT/BOOTX64.EFI"), ("refpmu.efi", "refpmu.efi"),
                         ("pmutest86.efi", "pmutest86.efi")):
            tool("mcopy", "-i", self.image, os.path.join(options.build, name), "::/" + at)
        if options.room is not None:
            self.fill(options.room)

    def put(self, name, data):
        path = os.path.join(self.folder, "file")
        with open(path, "wb") as file:
            file.write(data)
        tool("mcopy", "-i", self.image, path, "::/" + name)
        os.unlink(path)

    def fill(self, room):
        text = subprocess.run(["mdir", "-i", self.image, "::"], check=True, text=True,
                              stdout=subprocess.PIPE).stdout
        free = int(re.sub(r"\D", "", re.search(r"([\d ]+) bytes free", text)[1]))
        self.put("full", bytes(free - room * 1024))

    def boot(self):
        """The process of a machine that boots; it ends with the run."""
        words = [os.path.join(plan.TOOLS, "boot.sh"), "--image", "--timeout", str(TIMEOUT),
                 "--smp", str(self.options.smp)]
        words += ["--read-only"] if self.options.read_only else []
        if os.path.exists(self.serial):
            os.unlink(self.serial)
        return subprocess.Popen(words + [self.folder], stderr=subprocess.DEVNULL)

    def said(self):
        try:
            with open(self.serial, "rb") as file:
                return file.read()
        except FileNotFoundError:
            return b""

    def kept(self):
        """Name of a folder on the image to the text of its results.tap."""
        out = os.path.join(self.folder, "results")
        shutil.rmtree(out, ignore_errors=True)
        subprocess.run(["mcopy", "-s", "-i", self.image, "::/results", self.folder], check=False,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        texts = {}
        for name in sorted(os.listdir(out) if os.path.isdir(out) else []):
            path = os.path.join(out, name, "results.tap")
            if os.path.exists(path):
                with open(path, encoding="utf-8") as file:
                    texts[name] = file.read()
        return texts


def children(process):
    with open(f"/proc/{process}/task/{process}/children", encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def kill_machine(shell):
    """QEMU itself, so that it has no time for anything: a child of timeout, which is boot.sh's."""
    for child in children(shell.pid):
        for machine in children(child):
            os.kill(machine, signal.SIGKILL)
    shell.wait()


def points_of(text):
    """Test points of a log that may end anywhere; the last one may lack its block. A line that was
    cut isn't taken: it may be that of a point that was skipped."""
    runs = results.parse(text[:text.rfind(b"\n") + 1].decode("utf-8", "replace"))[0]
    return runs[-1].points if runs else []


def wait_for(stick, shell, pattern):
    """Until that is in the log; the match, or None: the machine ended before."""
    while shell.poll() is None:
        found = pattern.search(stick.said())
        if found:
            return found
        time.sleep(0.005)
    return pattern.search(stick.said())


def check(stick, before, text):
    """before: what each boot but the last one had printed. text: of results.tap at the end."""
    run = results.parse(text)[0][0]
    run.find_problem()
    if run.problem:
        raise Failed(f"results.tap: {run.problem}")
    crashed = [point for point in run.points
               if point.details.get("message", "").startswith(CRASHED)]
    named = [f"{point.name} ({point.number})" for point in crashed]
    if len(crashed) > len(before):
        raise Failed(f"{len(crashed)} tests are named: {named}")
    final = {point.number: point for point in run.points}
    for printed in before:
        ran = [point for point in printed if point.verdict != "SKIP"]
        for point in printed[:-1]:
            now = final[point.number]
            if now in crashed and point is not ran[-1] and point in ran:
                raise Failed(f"{now.name} is named, it had ended before {ran[-1].name}")
            if now not in crashed and (now.name, now.verdict) != (point.name, point.verdict):
                raise Failed(f"{point.number} {point.name} was {point.verdict} and is "
                             f"{now.name} {now.verdict}")
    return ", ".join(named) or "between two tests"


def check_unjournaled(printed, kept):
    """Without a journal a group is saved when the next one begins. kept: texts, the first boot's
    first."""
    last = printed[-1].name.split(".")[0] if printed else ""
    due = [point for point in printed if point.name.split(".")[0] != last]
    saved = points_of(kept[0].encode()) if kept else []
    if len(saved) < len(due):
        raise Failed(f"{len(saved)} points are saved of {len(due)} in groups that had ended")
    for point, now in zip(due, saved):
        if (now.name, now.verdict) != (point.name, point.verdict):
            raise Failed(f"{point.name} was {point.verdict} and is {now.name} {now.verdict}")


def try_cut(options, delay, after):
    """One image, cut after so many seconds, or when that test point has been printed."""
    folder = tempfile.mkdtemp(prefix="cut.", dir=options.build)
    try:
        stick = Stick(folder, options)
        shell = stick.boot()
        if not wait_for(stick, shell, BEGUN):
            raise Failed("the run didn't begin")
        if after is None:
            time.sleep(delay)
        else:
            wait_for(stick, shell, re.compile(rb"^(?:not )?ok %d " % after, re.M))
        kill_machine(shell)
        cut = stick.said()
        if re.search(rb"^# end of PMUTest86", cut, re.M):
            return "the run was over", 0
        before = [points_of(cut)]
        no_journal = re.search(rb"^# (no journal: .*|results are not saved.*)", cut, re.M)
        for _ in range(BOOTS):
            shell = stick.boot()
            shell.wait()
            if re.search(rb"^# end of PMUTest86", stick.said(), re.M):
                break
        else:
            raise Failed(f"the run isn't over after {BOOTS} more boots")
        kept = stick.kept()
        if no_journal:
            if not options.read_only:
                check_unjournaled(before[0], list(kept.values()))
            return no_journal[1].decode("utf-8", "replace").strip(), len(before[0])
        if len(kept) != 1:
            raise Failed(f"{len(kept)} folders with a results.tap: {', '.join(kept)}")
        return check(stick, before, *kept.values()), len(before[0])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main():
    parser = command.Parser("cut_power.py", __doc__, build="build", cpu="haswell", smp=1,
                            tests="enumeration.*,msr.*,count.i*,pmi.*")
    parser.add_argument("--cuts", type=command.number(1), default=3)
    parser.add_argument("--seed", type=command.number(0), default=1)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--after", default="")
    parser.add_argument("--room", type=command.number(0), default=None)
    parser.add_argument("--read-only", action="store_true")
    options = parser.parse_args()
    if not re.fullmatch(r"(\d{1,4}(,\d{1,4})*)?", options.after):
        parser.error(f"--after takes numbers of test points, not '{options.after}'")
    draw = random.Random(options.seed)
    cuts = [(0, int(word)) for word in options.after.split(",") if word] or \
        [(draw.uniform(0, options.seconds), None) for _ in range(options.cuts)]
    failed = 0
    for number, (delay, after) in enumerate(cuts, 1):
        when = f"after point {after}" if after is not None else f"after {delay:.2f} s"
        try:
            said, points = try_cut(options, delay, after)
            print(f"cut {number} {when}, {points} points printed: {said}", flush=True)
        except Failed as error:
            failed += 1
            print(f"cut {number} {when}: FAILED: {error}", flush=True)
    print(f"{len(cuts)} cuts, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(command.run("cut_power.py", main))
