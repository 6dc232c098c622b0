#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs other projects' EFI programs on plain QEMU and on the reference PMU, and compares.

run.py [--programs FOLDER] [--only NAME,...] [--cpu NAME] [--timeout S] [--build FOLDER]

Runs each *.efi of FOLDER, which kvm-unit-tests' own README says how to build for UEFI, and programs
of Debian's packages (--only debian: these alone). Each has a test point: its result on the
reference PMU must not be worse than on QEMU, unless known.py says why. What the programs wrote is
in build/results/peers/. Packages come into .cache/peers/; nothing of theirs is committed.

--only    these programs; a pattern takes * and ?
--cpu     what the reference PMU presents; without it haswell, and for tests of the PMU skylake and
          icelake-sp as well
--timeout seconds for each program on each machine, unless known.py gives it longer

Exit status: 0 all is known; 1 something isn't; 2 it couldn't be tried, a bad option.
"""
import fnmatch
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path[1:1] = [os.path.dirname(HERE), os.path.join(os.path.dirname(HERE), "linux")]
import command      # noqa: E402
import known        # noqa: E402
import packages     # noqa: E402
import plan         # noqa: E402

SUITE = "trixie"
CACHE = os.path.join(TOP, ".cache", "peers")
FIRMWARE = ("/usr/share/OVMF/OVMF_CODE_4M.fd", "/usr/share/OVMF/OVMF_CODE.fd")
# What kvm-unit-tests' x86/run has beside the processor.
DEVICES = ("pc-testdev", "isa-debug-exit,iobase=0xf4,iosize=0x4")
# kvm-unit-tests' lib/report.c
VERDICT = re.compile(r"^(PASS|FAIL|SKIP|XFAIL): (.*)$", re.M)
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Said:
    """What a program said on one machine."""

    def __init__(self, text, status, until=""):
        self.text = ESCAPE.sub("", text.replace("\r", ""))
        self.verdicts = VERDICT.findall(self.text)
        self.failed = [name for verdict, name in self.verdicts if verdict == "FAIL"]
        # isa-debug-exit makes odd statuses
        if status == 124:
            self.end = "time limit"
        elif until:
            self.end = "came up" if until in self.text else f"no '{until}'"
        else:
            self.end = "ended" if status % 2 or "--- DONE" in self.text else "machine ended"

    def count(self, verdict):
        return sum(one == verdict for one, _ in self.verdicts)

    def __str__(self):
        counts = "/".join(str(self.count(verdict)) for verdict in ("PASS", "FAIL", "SKIP"))
        return f"{counts}, {self.end}" if self.verdicts else self.end


class Program:
    """An EFI program of another project."""

    def __init__(self, name, path, arguments="", until=""):
        self.name, self.path, self.arguments = name, path, arguments
        row = known.PROGRAMS.get(name, {})
        self.until = until or row.get("until", "")
        self.processors, self.seconds = row.get("processors", 1), row.get("seconds", 0)

    def run(self, build, cpu, timeout, out):
        """On the reference PMU as cpu, or on plain QEMU if that is ''."""
        folder = tempfile.mkdtemp(prefix="peer.", dir=build)
        try:
            esp = os.path.join(folder, "esp")
            boot = os.path.join(esp, "EFI", "BOOT", "BOOTX64.EFI")
            os.makedirs(os.path.dirname(boot))
            if cpu:
                shutil.copy(self.path, os.path.join(esp, "program.efi"))
                shutil.copy(os.path.join(build, "launch.efi"), boot)
                shutil.copy(os.path.join(build, "refpmu.efi"), esp)
                with open(os.path.join(esp, "refpmu-plan.txt"), "w", encoding="utf-8") as file:
                    file.write(f"run cpu={cpu} fault=none seed=0 engine=fast "
                               "latitude=tsc-by-reference:1 efi=\\program.efi "
                               f"args={self.arguments}\n")
            elif self.arguments:
                # The firmware gives none to what it boots; its shell does.
                shell(boot)
                shutil.copy(self.path, os.path.join(esp, "program.efi"))
                with open(os.path.join(esp, "startup.nsh"), "w", encoding="utf-8") as file:
                    file.write(f"fs0:\\program.efi {self.arguments}\n")
            else:
                shutil.copy(self.path, boot)
            words = [os.path.join(TOP, "tools", "boot.sh"), "--smp", str(self.processors),
                     "--timeout", str(max(timeout, self.seconds)), "--screen", "VGA"]
            for device in DEVICES:
                words += ["--device", device]
            if self.until:
                words += ["--until", self.until]
            status = call(words + [folder])
            with open(os.path.join(folder, "serial.log"), encoding="utf-8",
                      errors="replace") as file:
                text = file.read()
        finally:
            shutil.rmtree(folder)
        with open(os.path.join(out, f"{self.name}.{cpu or 'qemu'}"), "w",
                  encoding="utf-8") as file:
            file.write(text)
        return Said(text, status, self.until)


def call(words):
    """Exit status of boot.sh, which ends its machine when it is ended."""
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as child:
        try:
            return child.wait()
        finally:
            child.terminate()


def shell(path):
    """OVMF's EFI shell, written to path."""
    firmware = next(name for name in FIRMWARE if os.path.exists(name))
    packages.run([os.path.join(TOP, "tools", "ovmf_shell.py"), firmware, path])
    return path


def from_debian(package, path):
    """A file of a package, fetched if it isn't there yet."""
    folder = os.path.join(CACHE, package)
    if not os.path.exists(os.path.join(folder, path)):
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        apt = packages.Apt(os.path.join(CACHE, "apt"), packages.own_mirror(), SUITE, SUITE)
        apt.call("apt-get", "-qq", "update")
        apt.call("apt-get", "-qq", "download", package, cwd=folder)
        packages.run(["dpkg-deb", "-x", *glob.glob(os.path.join(folder, "*.deb")), folder])
    return os.path.join(folder, path)


def programs(options, folder):
    """All that are asked for."""
    names = sorted(glob.glob(os.path.join(options.programs, "*.efi"))) if options.programs else []
    found = [Program(os.path.basename(name)[:-4], name) for name in names]
    patterns = [pattern for pattern in options.only.split(",") if pattern]
    for name, (package, path, arguments, until) in known.DEBIAN.items():
        if not patterns or "debian" in patterns or any(fnmatch.fnmatch(name, one)
                                                       for one in patterns):
            path = (from_debian(package, path) if package
                    else shell(os.path.join(folder, "shell.efi")))
            found.append(Program(name, path, arguments, until))
    return [program for program in found if not patterns
            or "debian" in patterns and program.name in known.DEBIAN
            or any(fnmatch.fnmatch(program.name, one) for one in patterns)]


def worse(name, cpu, plain, said):
    """What is worse than on plain QEMU: (unexplained, explanations)."""
    lines = [line for line in said.failed if line not in plain.failed]
    if said.end != plain.end and said.end not in ("ended", "came up"):
        lines.append(said.end)
    unknown, reasons = [], []
    for line in lines:
        reason = next((why for program, machine, pattern, why in known.DIFFERENCES
                       if fnmatch.fnmatch(name, program) and fnmatch.fnmatch(cpu, machine)
                       and re.search(pattern, line)), None)
        if reason is None:
            unknown.append(line)
        elif reason not in reasons:
            reasons.append(reason)
    return unknown, reasons


def options_of():
    parser = command.Parser("run.py", __doc__, cpu="", build=os.environ.get("BUILD", "build"))
    for name in ("programs", "only"):
        parser.add_argument("--" + name, default="")
    parser.add_argument("--timeout", type=command.number(1), default=60)
    options = parser.parse_args()
    if options.programs and not glob.glob(os.path.join(options.programs, "*.efi")):
        parser.error(f"--programs: {options.programs} holds no *.efi")
    return options


def main():
    options = options_of()
    build = os.path.abspath(options.build)
    out = os.path.join(build, "results", "peers")
    os.makedirs(out, exist_ok=True)
    folder = tempfile.mkdtemp(prefix="peers.", dir=build)
    good, number = True, 0
    try:
        print("TAP version 14", flush=True)
        for program in programs(options, folder):
            plain = program.run(build, "", options.timeout, out)
            cpus = [options.cpu] if options.cpu else known.cpus(program.name)
            for cpu in cpus:
                number += 1
                said = program.run(build, cpu, options.timeout, out)
                unknown, reasons = worse(program.name, cpu, plain, said)
                good = good and not unknown
                print(f"{'not ok' if unknown else 'ok'} {number} - peers.{program.name} {cpu}")
                print(f"# QEMU: {plain}; reference PMU: {said}")
                print("".join(f"# worse: {line}\n" for line in unknown)
                      + "".join(f"# known: {why}\n" for why in reasons), end="", flush=True)
        if not number:
            raise plan.PlanError(f"--only {options.only} matches no program")
        print(f"1..{number}")
    except packages.Missing as missing:
        raise plan.PlanError(missing) from missing
    finally:
        shutil.rmtree(folder)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(command.run("run.py", main))
