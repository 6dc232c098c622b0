#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A distribution's kernel and its perf on the reference PMU: are samples where the program ran?

run.py [--cpu NAME] [--profile NAME] [--latitude K:V,...] [--smp N] [--engine NAME]
       [--suite SUITE] [--mirror URL] [--fresh] [--steps NAME,...] [--timeout S] [--out FOLDER]
       [--append TEXT] [--shell COMMAND]...

Fetches kernel, perf and busybox of a Debian suite (default trixie-backports) into .cache/linux/,
makes an initial file system of them with a small program (hot.asm), and boots it by ./run-qemu.sh
--linux. Each step runs perf there; what it prints is judged here (judge.py) by the addresses of the
program's symbol table. TAP on standard output: a point a step.

--suite   a Debian release, or its -backports
--mirror  where its packages are; without it this machine's own source of packages is asked
--fresh   fetch again
--latitude  no-rtm:1 is added unless it names no-rtm
--steps   only these (--steps list names them)
--shell   runs this command there after the steps; what it prints is shown
--append  more on the kernel's command line
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

# No address is drawn; the NMI watchdog would take a counter and keep it counting.
# The TSC may advance with reference cycles, which no other clock does. Without mitigations the
# kernel needs fewer instructions.
COMMAND_LINE = "console=ttyS0 nokaslr nmi_watchdog=0 panic=-1 tsc=reliable mitigations=off"
BUILD = os.environ.get("BUILD", "build")
SPIN, JUMP, TOUCH = 3_000_000, 20_000, 20_000
LINES = 400     # of perf script's, at most: serial lines are slow

# What the driver says of each processor, in one line of the kernel's log (intel_pmu_init() of
# Linux 7.3).
DRIVER = {
    "nehalem": ("PEBS fmt1+,", "Nehalem events,", "16-deep LBR,"),
    "westmere": ("PEBS fmt1+,", "Westmere events,", "16-deep LBR,"),
    "sandybridge": ("PEBS fmt1+,", "SandyBridge events,", "16-deep LBR,"),
    "ivybridge": ("PEBS fmt1+,", "IvyBridge events,", "16-deep LBR,"),
    "haswell": ("PEBS fmt2+,", "Haswell events,", "16-deep LBR,", "full-width counters,"),
    "broadwell": ("PEBS fmt2+,", "Broadwell events,", "16-deep LBR,", "full-width counters,"),
    "skylake": ("PEBS fmt3+,", "Skylake events,", "32-deep LBR,", "full-width counters,"),
    "icelake": ("PEBS fmt4+-baseline,", "Icelake events,", "AnyThread deprecated,",
                "32-deep LBR,", "full-width counters,"),
}
DRIVER["icelake-sp"] = DRIVER["icelake"]
# Without a program's event of its own: MEM_INST_RETIRED.ALL_LOADS.
LOADS = "cpu/event=0xd0,umask=0x81/upp"


def has_no_baseline(options):
    """Format 4 without PEBS_BASELINE, as KVM shows it."""
    return options.profile == "kvm-7.3-pebs" or "no-baseline:1" in options.latitude.split(",")


def record(name, options, program, fields):
    """The commands that sample a program and show the samples."""
    return (f"perf {options} -o /tmp/{name} {program} > /tmp/said 2>&1 || cat /tmp/said; "
            f"perf script -i /tmp/{name} -F {fields} 2>/dev/null | head -n {LINES}")


def steps(options):
    """name: (what is done in the machine, who judges it)."""
    lines = ["Performance Events:", *DRIVER.get(options.cpu, ())]
    known = {
        "driver": "dmesg | grep -i -E 'perf|pebs|pmu|tsc:|smp:'",
        "stat": f"perf stat -x, -e instructions:u,branches:u,cycles:u -o /tmp/stat "
                f"hot spin {SPIN}; cat /tmp/stat",
        "record": record("record", "record -e cycles:pp -c 50000", f"hot spin {SPIN}", "ip"),
        "report": "perf report -i /tmp/record --stdio -q 2>/dev/null | head -n 20",
        "mem": record("mem", "mem record -U -t load --ldlat 3 -- -c 100", f"hot touch {TOUCH}",
                      "ip,addr"),
        "branch": record("branch", "record -b -e cycles:u -c 2000", f"hot jump {JUMP}",
                         "ip,brstack"),
    }
    judges = {
        "stat": judge.counts(SPIN, 4, 1), "record": judge.samples_in("spin"),
        "report": judge.report_names("spin"), "mem": judge.accesses_by("touch"),
        "branch": judge.branches_of("jump", "left", "right"),
    }
    if has_no_baseline(options):
        # Linux asks no processor without baseline for records of other events than those of its
        # list (intel_icl_pebs_event_constraints), and its basic records hold no data address.
        lines[1] = "PEBS fmt4+,"
        known["refused"] = known["record"]
        judges["refused"] = judge.refused("cycles:pp")
        known["record"] = record("record", f"record -e {LOADS} -c 100", f"hot touch {TOUCH}", "ip")
        judges["record"] = judge.samples_in("touch")
        judges["report"] = judge.report_names("touch")
        judges["mem"] = judge.accesses_by("touch", addresses=False)
    judges["driver"] = judge.driver(lines)
    return {name: (command, judges[name]) for name, command in known.items()}


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
    files = {"init": (os.path.join(HERE, "init.sh"), 0o755), "bin/hot": (hot, 0o755)}
    read = {}
    for name, (path, mode) in files.items():
        with open(path, "rb") as file:
            read[name] = (file.read(), mode)
    script = "".join(f"{name} {command}\n" for name, command in todo.items())
    read["steps"] = (script.encode(), 0o644)
    path = os.path.join(os.path.dirname(hot), f"initrd.{os.getpid()}")
    with open(path, "wb") as file:
        file.write(initramfs.build(root, read))
    return path


def boot(options, kernel, initrd):
    """run-qemu.sh; the folder of its results."""
    out = options.out or os.path.join(BUILD, "results", f"linux-{options.cpu}")
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
    with subprocess.Popen(command, cwd=packages.TOP, stdout=subprocess.DEVNULL) as child:
        child.wait()
    return os.path.join(packages.TOP, out)


def said_by_steps(text):
    """Name: (exit status, what it printed) of the steps that ended."""
    return {name: (int(status), said) for name, said, status in re.findall(
        r"^== begin (\S+)\n(.*?)^== end \1 status (\d+)$", text, re.M | re.S)}


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
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--shell", action="append", default=[])
    return parser.parse_args()


def main():
    options = options_of()
    known = steps(options)
    if options.steps == "list":
        print("\n".join(known))
        return 0
    chosen = options.steps.split(",") if options.steps else list(known)
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
        folder = boot(options, packages.kernel_in(root), initrd)
    finally:
        os.unlink(initrd)
    try:
        with open(os.path.join(folder, "serial.log"), encoding="utf-8", errors="replace") as file:
            text = file.read().replace("\r", "")
    except OSError as error:
        print(f"run.py: {error}", file=sys.stderr)
        return 2
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
