#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a distribution's kernel and its perf on the reference PMU, and checks perf's results.

run.py [--cpu NAME] [--profile NAME] [--latitude K:V,...] [--smp N] [--engine NAME]
       [--suite SUITE] [--mirror URL] [--fresh] [--steps NAME,...] [--timeout S] [--out FOLDER]
       [--append TEXT] [--soak S] [--plain] [--shell COMMAND]...

Fetches kernel, perf and busybox of a Debian suite (default trixie-backports) into .cache/linux/,
makes an initial file system of them with a small program (hot.asm), and boots it by ./run-qemu.sh
--linux. Each step runs perf there; its output is judged here (judge.py) by the addresses in the
program's symbol table. TAP on standard output, a point for each step.

--suite   a Debian release, or its -backports
--mirror  where its packages are; without it this machine's own source of packages is asked
--fresh   fetch again
--latitude  no-rtm:1 is added unless it names no-rtm
--steps   only these (--steps list names them)
--soak    seconds of the step soak (default 60), which is only run where it is named
--shell   runs this command there after the steps; what it prints is shown
--append  more on the kernel's command line
--plain   on QEMU as it is, which has no PMU: what --shell prints can be compared with it
--out     where the log goes (default build/results/linux-<cpu>)

Exit status: 0 all is as it should be; 1 a step isn't; 2 it couldn't be tried, a bad option.
"""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(1, os.path.dirname(HERE))
import command      # noqa: E402
import initramfs    # noqa: E402
import judge        # noqa: E402
import packages     # noqa: E402
import steps        # noqa: E402

# No address is drawn; the NMI watchdog would take a counter and keep it counting.
# The TSC may advance with reference cycles, which no other clock does. Without mitigations the
# kernel needs fewer instructions. On a busy machine its early check of the timer fails.
COMMAND_LINE = ("console=ttyS0 nokaslr nmi_watchdog=0 panic=-1 tsc=reliable mitigations=off "
                "no_timer_check")
BUILD = os.environ.get("BUILD", "build")
BOOTS = 3


def program():
    """hot, and what nm says of it."""
    folder = os.path.join(packages.TOP, BUILD, "linux")
    os.makedirs(folder, exist_ok=True)
    hot = os.path.join(folder, "hot")
    packages.run(["nasm", "-f", "elf64", os.path.join(HERE, "hot.asm"), "-o", hot + ".o"])
    packages.run(["ld", "-static", "-o", hot, hot + ".o"])
    return hot, judge.Symbols(packages.run(["nm", hot]))


def initial_files(root, hot, todo):
    """Writes the initial file system; its name."""
    files = {"init": (os.path.join(HERE, "init.sh"), 0o755), "bin/hot": (hot, 0o755),
             "bin/refpmu-fault": (os.path.join(packages.TOP, BUILD, "refpmu-fault"), 0o755)}
    read = {}
    for name, (path, mode) in files.items():
        with open(path, "rb") as file:
            read[name] = (file.read(), mode)
    script = "".join(f"{name} {command}\n" for name, command in todo.items())
    read["steps"] = (script.encode(), 0o644)
    path = os.path.join(os.path.dirname(hot), f"initrd.{os.getpid()}")
    with open(path, "wb") as file:
        file.write(initramfs.build(packages.program_in(root, "busybox"),
                                   {"bin/perf": (packages.program_in(root, "perf"), root)}, read))
    return path


def boot_plain(options, kernel, initrd, folder):
    """QEMU alone, with what it prints where run-qemu.sh leaves it."""
    os.makedirs(folder, exist_ok=True)
    command = [os.environ.get("QEMU", "qemu-system-x86_64"), "-machine", "q35", "-cpu", "max",
               "-m", "1024", "-smp", str(options.smp), "-display", "none", "-no-reboot",
               "-kernel", kernel, "-initrd", initrd,
               "-append", f"{COMMAND_LINE} {options.append}".strip(),
               "-serial", "file:" + os.path.join(folder, "serial.log")]
    try:
        subprocess.run(command, timeout=options.timeout, check=False)
    except subprocess.TimeoutExpired:
        print(f"run.py: the machine was stopped after {options.timeout} s", file=sys.stderr)


def log_of(out):
    """What the machine wrote on its serial line."""
    try:
        with open(os.path.join(packages.TOP, out, "serial.log"), encoding="utf-8",
                  errors="replace") as file:
            return file.read().replace("\r", "")
    except OSError as error:
        raise packages.Missing(error) from error


def boot(options, kernel, initrd):
    """run-qemu.sh; the folder of its results."""
    out = options.out or os.path.join(BUILD, "results", f"linux-{options.cpu}")
    if options.plain:
        boot_plain(options, kernel, initrd, os.path.join(packages.TOP, out))
        return os.path.join(packages.TOP, out)
    command = ["./run-qemu.sh", "--linux", kernel, "--initrd", initrd, "--cpu", options.cpu,
               "--append", f"{COMMAND_LINE} {options.append}".strip(), "--out", out,
               "--timeout", str(options.timeout), "--smp", str(options.smp)]
    # Transactions make the engine watch each page's code (docs/ENGINE.md): with them a boot takes
    # ten times as long.
    knobs = [knob for knob in options.latitude.split(",") if knob]
    if not any(knob.startswith("no-rtm:") for knob in knobs):
        knobs.append("no-rtm:1")
    command += ["--latitude", ",".join(knobs)]
    for name in ("profile", "engine"):
        if getattr(options, name):
            command += ["--" + name, getattr(options, name)]
    # On QEMU 7.2 a processor may execute an INT3 that another one has replaced (docs/LINUX.md).
    for _ in range(BOOTS):
        with subprocess.Popen(command, cwd=packages.TOP, stdout=subprocess.DEVNULL) as child:
            child.wait()
        if "Oops: int3" not in log_of(out):
            break
        print("# booted again after Oops: int3")
    return os.path.join(packages.TOP, out)


def said_by_steps(text):
    """Name: (exit status, what it printed) of the steps that ended. The kernel may have written a
    line of its own into the first name."""
    return {name: (int(status), said) for said, name, status in re.findall(
        r"^== begin [^\n]*\n(.*?)^== end ([\w-]+) status (\d+) at [\d.]+$", text, re.M | re.S)}


def point(number, name, said, judged, symbols):
    """Prints a step's test point; was it good?"""
    problem = seen = None
    if name not in said:
        problem = "it didn't end"
    else:
        try:
            seen = judged(said[name][1], symbols)
        except judge.Wrong as wrong:
            problem = str(wrong)
    print(f"{'not ok' if problem else 'ok'} {number} - linux.{name}")
    print(f"# {problem or seen}")
    if problem and name in said:
        print("".join(f"# | {line}\n" for line in said[name][1].splitlines()[:40]), end="")
    return problem is None


def options_of():
    parser = command.Parser("run.py", __doc__, cpu="icelake-sp", smp=1, engine=None)
    for name in ("profile", "latitude", "mirror", "out", "append", "steps"):
        parser.add_argument("--" + name, default="")
    parser.add_argument("--suite", default="trixie-backports")
    parser.add_argument("--timeout", type=command.number(1), default=900)
    parser.add_argument("--soak", type=command.number(1), default=60)
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--shell", action="append", default=[])
    return parser.parse_args()


def main():
    options = options_of()
    known = steps.known(options)
    if options.steps == "list":
        print("\n".join(known))
        return 0
    chosen = options.steps.split(",") if options.steps else \
        [name for name in known if name not in steps.NOT_OF_ALL]
    if not set(chosen) <= set(known):
        print(f"run.py: --steps takes {','.join(known)}", file=sys.stderr)
        return 2
    try:
        root = packages.fetch(options.mirror, options.suite, options.fresh)
        hot, symbols = program()
        todo = {name: known[name][0] for name in chosen}
        todo.update((f"shell{i}", command) for i, command in enumerate(options.shell))
        initrd = initial_files(root, hot, todo)
    except (packages.Missing, FileNotFoundError) as missing:
        print(f"run.py: {missing}", file=sys.stderr)
        return 2
    try:
        text = log_of(boot(options, packages.kernel_in(root), initrd))
    except packages.Missing as missing:
        print(f"run.py: {missing}", file=sys.stderr)
        return 2
    finally:
        os.unlink(initrd)
    said = said_by_steps(text)
    print(f"TAP version 14\n1..{len(chosen)}")
    print(f"# {', '.join(packages.versions(options.suite))}; cpu={options.cpu} "
          f"profile={options.profile or 'none'} latitude={options.latitude or 'none'}")
    good = [point(number, name, said, known[name][1], symbols)
            for number, name in enumerate(chosen, 1)]
    for name in todo:
        if name not in known and name in said:
            print(f"# {name}:\n" + "".join(f"# | {line}\n" for line in said[name][1].splitlines()),
                  end="")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
