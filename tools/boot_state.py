#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The state of a machine whose firmware is about to read its disk for the first time.

boot_state.py --size BYTES [--read-only on] --variables FILE -- QEMU ARGUMENT...

Everything before that moment is the same for every disk of this size, and takes most of a boot's
time. So the machine is started with a disk on which each read fails and stops the machine; then
QEMU writes the machine's state to a file. A machine that continues from this state, with a real
disk, repeats the read and boots.

Prints the file's name, and writes the file if it doesn't exist. It is in .cache/boot/; its name
depends on QEMU, its arguments, the firmware and its variables, and the disk's size. Files that
haven't been used for a week are removed. Exit status 1, and no output: no state can be made, and
the firmware must boot from reset. An empty file remembers this, so that it isn't tried each time;
the reason is in a second file (.lock).
"""
import argparse
import fcntl
import hashlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".cache", "boot")
LONGEST = 60                # seconds of the boot, on a busy machine
WEEK = 7 * 24 * 3600
UNLIMITED = 10 ** 11        # bytes a second of QEMU's migration


class NoState(Exception):
    """This machine's state can't be kept."""


def name_of(options):
    """Of the file: what its content depends on."""
    words = [str(options.size), options.read_only, options.variables, *options.command]
    for word in options.command + [options.variables]:
        path = shutil.which(word) or word.rpartition("file=")[2]
        if os.path.isfile(path):
            about = os.stat(path)
            words += [path, str(about.st_size), str(about.st_mtime_ns)]
    return hashlib.sha256("\0".join(words).encode()).hexdigest()[:16]


def until(machine, event, text=""):
    """Reads what the machine says until that event, with this text in its data."""
    for line in machine.stdout:
        said = json.loads(line)
        if said.get("event") == event and text in json.dumps(said.get("data")):
            return
        if "error" in said:
            raise NoState(said["error"])
    raise NoState("QEMU has ended")


def save(options, path, work):
    """The state, to this path, by way of the folder work."""
    variables = os.path.join(work, "variables")
    shutil.copy(options.variables, variables)
    disk = "file.driver=blkdebug,file.inject-error.0.event=read_aio,file.inject-error.0.errno=5," \
        f"file.image.driver=null-co,file.image.size={options.size}"
    drives = [f"if=pflash,format=raw,unit=1,file={variables}",
              f"if=none,id=esp,driver=raw,readonly={options.read_only},{disk},rerror=stop,"
              "werror=stop"]
    command = options.command + [word for drive in drives for word in ("-drive", drive)] + \
        ["-serial", "null", "-monitor", "none", "-qmp", "stdio"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.DEVNULL) as machine:
        def say(what, **arguments):
            print(json.dumps({"execute": what, "arguments": arguments}), file=machine.stdin,
                  flush=True)
        try:
            say("qmp_capabilities")
            until(machine, "STOP")
            say("migrate-set-parameters", **{"max-bandwidth": UNLIMITED})
            say("migrate-set-capabilities", capabilities=[{"capability": "events", "state": True}])
            say("migrate", uri=f"exec:cat > {shlex.quote(path)}")
            until(machine, "MIGRATION", "completed")
        finally:
            machine.kill()


def forget_old():
    for entry in os.scandir(FOLDER):
        if entry.is_file() and time.time() - entry.stat().st_mtime > WEEK:
            os.unlink(entry.path)


def state_file(options):
    """Its path; written if there is none. Raises NoState, OSError."""
    os.makedirs(FOLDER, exist_ok=True)
    path = os.path.join(FOLDER, name_of(options))
    with open(f"{path}.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(path):
            forget_old()
            signal.alarm(LONGEST)
            with tempfile.TemporaryDirectory(dir=FOLDER) as work:
                part = os.path.join(work, "state")
                try:
                    save(options, part, work)
                except (NoState, TimeoutError, ValueError) as error:
                    lock.write(f"{error}\n")
                    with open(part, "wb"):
                        pass
                os.replace(part, path)
            signal.alarm(0)
    os.utime(path)
    if not os.path.getsize(path):
        raise NoState
    return os.path.relpath(path)


def too_long(_number, _frame):
    raise TimeoutError(f"no disk was read for {LONGEST} s")


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--size", type=int, required=True)
    options.add_argument("--read-only", default="off")
    options.add_argument("--variables", required=True)
    options.add_argument("command", nargs="+")
    signal.signal(signal.SIGALRM, too_long)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(130))
    try:
        print(state_file(options.parse_args()))
    except (NoState, OSError):
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
