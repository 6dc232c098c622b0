# SPDX-License-Identifier: MIT
"""Many runs of the harness on the reference PMU: many runs in each boot, and a given number of
boots at a time. Used by mutants.py and seeds.py.

A boot takes seconds, and a run not much longer. So a worker takes a share of the remaining runs as
one plan for the launcher. If a run hangs, the worker stops that machine and continues with the next
run. All results are taken from the serial logs.
"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

TOOLS = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(TOOLS, "report"))
import results      # noqa: E402

SILENCE = 60            # seconds without a byte on the serial line: hung
START = 300             # the same, before the first byte
LONGEST_PATTERN = 767   # of the launcher's plan
MOST = 96               # runs a boot
LEAST = 8               # unless fewer for each worker keep all of them busy to the end
ENGINES = ("step", "direct", "fast")
DRAWN = 150             # cases of each drawn test: by time a busy machine would draw fewer
LINE_EVERY = 30         # seconds between lines of progress that don't go to a terminal


class PlanError(Exception):
    """No machine ran the plan; the text is for the user."""


class Job:
    """One run of the harness in a plan. Afterwards: run is what its log says."""

    def __init__(self, fault="none", seed=0, profile="", latitude="", engine="", cpu="haswell",
                 tests="", name="", processors=1, weight=1, ht=""):
        self.weight = weight        # how long it takes, in runs of all tests on the fast engine
        self.name, self.processors = name or fault, processors  # what the results call it
        self.fault, self.seed, self.profile, self.latitude = fault, seed, profile, latitude
        self.engine, self.cpu, self.tests, self.ht = engine, cpu, tests, ht
        self.run, self.seconds = None, 0.0

    def machine(self):
        """What it runs on, but for the fault and the seed."""
        return self.cpu, self.processors, self.profile, self.latitude, self.ht

    def plan_line(self):
        words = [f"run cpu={self.cpu}", f"fault={self.fault}", f"seed={self.seed}"]
        words += [f"{key}={getattr(self, key)}" for key in ("engine", "profile", "latitude", "ht")
                  if getattr(self, key)]
        words += ["keep=1 efi=\\pmutest86.efi",
                  f"args=results=off serial=0x3f8 at_end=return on=first checks=on draw={DRAWN}"]
        if self.tests:
            words.append(f"tests={self.tests}")
        if not self.profile:    # one is judged as the platform that it stands for
            words.append("strict=on")
        return " ".join(words) + "\n"

    def __str__(self):
        words = [self.name] if self.fault != "none" else []
        words += [self.cpu] if self.cpu != "haswell" and not words else []
        words += [f"{self.processors} processors"] if self.processors > 1 and not words else []
        words += [f"profile {self.profile}"] if self.profile else []
        words += [f"latitude {self.latitude}"] if self.latitude else []
        words += ["without Hyper-Threading"] if self.ht == "0" else []
        words += [f"seed {self.seed}"] if self.seed or not words else []
        return ", ".join(words)


class Pool:
    """Works through jobs, on several machines at a time."""

    def __init__(self, build, workers=2):
        self.build, self.workers = build, workers
        self.lock, self.left, self.total, self.ended = threading.Lock(), [], 0, 0
        self.stop, self.error, self.start = threading.Event(), None, 0.0
        self.idle = 0
        self.running = {}           # thread to the weight of what its boot has yet to end
        self.silence, self.longest = SILENCE, None     # longest: seconds of a run, if bounded

    def work_through(self, jobs):
        """Every job has its run afterwards. Raises PlanError, KeyboardInterrupt."""
        self.left, self.total, self.ended = list(jobs), len(jobs), 0
        self.start = shown = time.monotonic()
        self.idle, self.running = 0, {}
        threads = [threading.Thread(target=self.work) for _ in range(self.workers)]
        for thread in threads:
            thread.start()
        # No join() here: a signal that interrupts it makes Python (to 3.12) take the thread for
        # ended, and leave it alone with its files (bpo-45274).
        try:
            while self.idle < self.workers:
                time.sleep(0.2)
                shown = self.show(shown)
        except KeyboardInterrupt:
            self.stop.set()
            raise
        finally:
            for thread in threads:
                thread.join()
            if sys.stderr.isatty():
                print(file=sys.stderr)
        if self.error:
            raise PlanError(self.error)

    def show(self, shown):
        now = time.monotonic()
        text = f"{now - self.start:.0f} s, {self.ended} of {self.total} runs"
        if sys.stderr.isatty():
            print(f"\r{text} ", end="", file=sys.stderr, flush=True)
        elif now - shown > LINE_EVERY:
            print(text, file=sys.stderr, flush=True)
            return now
        return shown

    def share(self):
        """Jobs for one boot, which has as many processors for all of them."""
        with self.lock:
            left = sum(job.weight for job in self.left)
            # With this much now, and all the rest for the others, all end at the same time.
            even = -(-(left + sum(self.running.values())) // self.workers)
            most = max(min(LEAST, even), min(MOST, left // (self.workers + 1)))
            jobs, weight = [], 0
            for job in self.left:
                if job.processors == self.left[0].processors and \
                        (not jobs or weight + job.weight <= most):
                    jobs.append(job)
                    weight += job.weight
            self.left = [job for job in self.left if job not in jobs]
            self.running[threading.get_ident()] = weight
        return jobs

    def work(self):
        try:
            self.worker()
        finally:
            with self.lock:
                self.idle += 1

    def worker(self):
        empty_boots = 0
        while not self.stop.is_set():
            jobs = self.share()
            if not jobs:
                return
            try:
                runs, why = self.boot(jobs)
            except OSError as error:
                runs, why, empty_boots = [], str(error), 1
            done = self.take(jobs, runs)
            if self.stop.is_set():
                return
            empty_boots = 0 if done else empty_boots + 1
            if empty_boots > 1:
                self.error = why or "the launcher started no run, twice in a row"
                self.stop.set()
            with self.lock:
                self.left = jobs[done:] + self.left
                del self.running[threading.get_ident()]

    @staticmethod
    def take(jobs, runs):
        """Hand out the runs; how many jobs are done. One that was begun is done with."""
        by_number = {run.number: run for run in runs}
        for number, job in enumerate(jobs, 1):
            job.run = by_number.get(number)
            if job.run is None:
                return number - 1
        return len(jobs)

    def boot(self, jobs):
        """One boot with jobs as its plan: the runs that its log shows, and why there are none."""
        with tempfile.TemporaryDirectory(dir=self.build, prefix="plan.") as work:
            esp = os.path.join(work, "esp")
            os.makedirs(os.path.join(esp, "EFI", "BOOT"))
            shutil.copy(os.path.join(self.build, "launch.efi"),
                        os.path.join(esp, "EFI/BOOT/BOOTX64.EFI"))
            for name in ("refpmu.efi", "pmutest86.efi"):
                shutil.copy(os.path.join(self.build, name), esp)
            with open(os.path.join(esp, "refpmu-plan.txt"), "w", encoding="ascii") as file:
                file.writelines(job.plan_line() for job in jobs)
            log = os.path.join(work, "serial.log")
            with subprocess.Popen([os.path.join(TOOLS, "boot.sh"), "--timeout", "3600",
                                   "--smp", str(jobs[0].processors), work],
                                  stderr=subprocess.DEVNULL, start_new_session=True) as machine:
                try:
                    self.watch(machine, log, jobs)
                finally:
                    if machine.poll() is None:
                        machine.send_signal(signal.SIGTERM)
            text = read(log).decode("utf-8", "replace")
            self.read_log(jobs, text)
            runs, complaints = results.parse(text)
            said = read(os.path.join(work, "qemu.log")).decode("utf-8", "replace").split("\n")
            why = complaints + [line for line in said if line.startswith("qemu")]
            if not runs and complaints:     # a bad plan: no other boot would do better
                self.error = f"the launcher refused: {complaints[0]}"
                self.stop.set()
            return runs, why[0] if why else ""

    def read_log(self, jobs, text):
        """For a pool that looks for more in the log of a boot than the runs of the harness."""

    def watch(self, machine, log, jobs):
        """Until the machine ends, or says nothing for too long."""
        ended, size, since, began = 0, 0, time.monotonic(), time.monotonic()
        started = False
        while machine.poll() is None and not self.stop.is_set():
            time.sleep(0.5)
            data = read(log)
            now = time.monotonic()
            count = min(data.count(b"launch: end "), len(jobs))
            if not started and b"launch: run " in data:
                started, began = True, now
            if count > ended:
                for job in jobs[ended:count]:
                    job.seconds = (now - began) / (count - ended)
                began = now
                with self.lock:
                    self.ended += count - ended
                    self.running[threading.get_ident()] = sum(job.weight for job in jobs[count:])
                ended = count
            if len(data) != size:
                since, size = now, len(data)
            if now - since > (self.silence if size else START) or \
                    (self.longest and started and now - began > self.longest):
                return


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def spread(jobs, known):
    """The order to run them in: the slow ones of an earlier run first, so that none of them is
    begun when the others are done. Else neighbours apart, as they tend to be slow together."""
    apart = [job for i in range(16) for job in jobs[i::16]]
    return sorted(apart, key=lambda job: -round(known.get(str(job), 0) / 5))
