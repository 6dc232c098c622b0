#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The harness as a guest of a real KVM: kvm-amd of a Debian suite, inside QEMU's emulated SVM.

kvm.py [--smp N] [--tests GLOB] [--suite SUITE] [--timeout S] [--build FOLDER]

Boots the suite's newest kernel on plain QEMU, loads kvm-amd there, and starts this machine's QEMU
in it with the harness as its guest, by the PVH entry: once with the processor's vendor as it is,
once as GenuineIntel. Such a guest has no PMU, but it has KVM's own local APIC, x2APIC and clock:
each run must end as NOT TESTED, without an error and without a hang. What the guests wrote is in
build/results/peers/kvm.

--smp     the guest's processors (default 1)
--suite   default trixie-backports, as tools/linux/run.py has it
--timeout seconds for all of it (default 900)

Exit status: 0 both ended NOT TESTED; 1 one ended otherwise; 2 it couldn't be tried, a bad option.
"""
import glob
import lzma
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
import initramfs    # noqa: E402
import packages     # noqa: E402
import plan         # noqa: E402

MODULES = ("irqbypass", "ccp", "kvm", "kvm-amd")    # in the order of their dependencies
QEMU = "/usr/bin/qemu-system-x86_64"
# What that QEMU loads for a machine without a display and without a network.
FIRMWARE = ("/usr/share/seabios/bios-256k.bin", "/usr/share/qemu/pvh.bin",
            "/usr/share/qemu/linuxboot_dma.bin", "/usr/share/qemu/kvmvapic.bin")
MEMORY = 2048           # MiB; the guest has 256 of them, and 64 for each processor
GUESTS = {"amd": "host,pmu=on", "intel": "host,pmu=on,vendor=GenuineIntel"}
GUEST = ("timeout {seconds} qemu -L /firmware -nodefaults -no-user-config -no-reboot "
         "-machine q35,accel=kvm -cpu {cpu} -smp {smp} -m {memory} -nic none -display none "
         "-serial stdio -monitor none -kernel /pmutest86.elf -append "
         "'tests={tests} results=off on=first draw=20 at_end=shutdown'")


def modules(suite):
    """Name to bytes of the kernel's modules, out of its package."""
    folder = os.path.join(packages.CACHE, suite, "modules")
    if not os.path.exists(os.path.join(folder, "whole")):
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        apt = packages.Apt(os.path.join(packages.CACHE, suite, "apt"), packages.own_mirror(),
                           suite.removesuffix("-backports"), suite)
        package = apt.kernel().replace("linux-binary-", "linux-modules-")
        apt.call("apt-get", "-qq", "download", package, cwd=folder)
        packages.run(["dpkg-deb", "-x", *glob.glob(os.path.join(folder, "*.deb")), folder])
        with open(os.path.join(folder, "whole"), "w", encoding="utf-8"):
            pass
    found = {}
    for name in MODULES:
        path, = glob.glob(os.path.join(folder, "**", name + ".ko.xz"), recursive=True)
        with lzma.open(path) as file:
            found[f"modules/{name}.ko"] = (file.read(), 0o644)
    return found


def initial_files(options, root):
    """The initial file system's content."""
    steps = (f"modules for m in {' '.join(MODULES)}; do insmod /modules/$m.ko; done; "
             "ls -l /dev/kvm; dmesg | grep -i kvm\n")
    for name, cpu in GUESTS.items():
        guest = GUEST.format(seconds=options.timeout, smp=options.smp, cpu=cpu,
                             tests=options.tests or "*", memory=256 + 64 * options.smp)
        steps += f"{name} {guest}\n"
    files = dict(modules(options.suite), steps=(steps.encode(), 0o644))
    for name, path in [("init", os.path.join(HERE, "..", "linux", "init.sh")),
                       ("pmutest86.elf", os.path.join(options.build, "pmutest86.elf"))] + [
                           ("firmware/" + os.path.basename(path), path) for path in FIRMWARE]:
        with open(path, "rb") as file:
            files[name] = (file.read(), 0o755)
    return initramfs.build(os.path.join(root, "usr/bin/busybox"), {"bin/qemu": (QEMU, "/")}, files)


def boot(options, root):
    """The serial log."""
    folder = tempfile.mkdtemp(prefix="kvm.", dir=options.build)
    try:
        shutil.copy(packages.kernel_in(root), os.path.join(folder, "kernel"))
        with open(os.path.join(folder, "module"), "wb") as file:
            file.write(initial_files(options, root))
        with open(os.path.join(folder, "append"), "w", encoding="utf-8") as file:
            file.write("console=ttyS0 panic=-1 mitigations=off nmi_watchdog=0 no_timer_check "
                       "tsc=reliable")
        words = [os.path.join(TOP, "tools", "boot.sh"), "--direct", "--memory", str(MEMORY),
                 "--timeout", str(options.timeout), folder]
        with subprocess.Popen(words, stdout=subprocess.DEVNULL) as child:
            try:
                child.wait()
            finally:
                child.terminate()
        with open(os.path.join(folder, "serial.log"), encoding="utf-8",
                  errors="replace") as file:
            return file.read().replace("\r", "")
    finally:
        shutil.rmtree(folder)


def judge(name, text):
    """Was this guest as it should be, and why (not)?"""
    if not re.search(r"^== end modules .*", text, re.M) or "10, 232" not in text:
        return False, "there was no KVM"
    found = re.search(rf"^== begin {name}\n(.*)== end {name} status (\d+)", text, re.M | re.S)
    if not found:
        return False, "the guest didn't end"
    said = found[1]
    wrong = re.search(r"^(not ok.*|Bail out!.*)", said, re.M)
    if wrong:
        return False, wrong[1]
    end = re.search(r"^# (NOT TESTED: .*)$", said, re.M)
    return bool(end), end[1] if end else f"not NOT TESTED; QEMU's exit status: {found[2]}"


def main():
    parser = command.Parser("kvm.py", __doc__, smp=1, build=os.environ.get("BUILD", "build"))
    parser.add_argument("--tests", default="")
    parser.add_argument("--suite", default="trixie-backports")
    parser.add_argument("--timeout", type=command.number(1), default=900)
    options = parser.parse_args()
    options.build = os.path.abspath(options.build)
    try:
        root = packages.fetch("", options.suite, False)
        text = boot(options, root)
    except (packages.Missing, OSError) as error:
        raise plan.PlanError(error) from error
    out = os.path.join(options.build, "results", "peers")
    os.makedirs(out, exist_ok=True)
    with open(os.path.join(out, "kvm"), "w", encoding="utf-8") as file:
        file.write(text)
    results = [judge(name, text) for name in GUESTS]
    print(f"TAP version 14\n1..{len(GUESTS)}")
    for number, (name, (good, why)) in enumerate(zip(GUESTS, results), 1):
        print(f"{'ok' if good else 'not ok'} {number} - peers.kvm_{name}\n# {why}")
    return 0 if all(good for good, _ in results) else 1


if __name__ == "__main__":
    sys.exit(command.run("kvm.py", main))
