# SPDX-License-Identifier: MIT
"""The script for gdb of `./run-qemu.sh --gdb`: connects, waits for the harness, loads the symbols.

Runs inside gdb. attach() comes from a file of the run, which knows port, log and build folder.
"""
import os
import re
import signal
import threading
import time

import gdb

WAITS = re.compile(rb"image at 0x([0-9a-f]+), waits for a debugger")
STEP = 32 << 20         # the reference PMU's memory is aligned to at least this
TOP = 4 << 30


def code(elf):
    """Where an ELF file's code begins, and its first bytes."""
    with open(elf, "rb") as file:
        data = file.read()
    table, size, count, names = (int.from_bytes(data[at:at + n], "little")
                                 for at, n in ((40, 8), (58, 2), (60, 2), (62, 2)))

    def field(index, at, n):
        return int.from_bytes(data[table + index * size + at:][:n], "little")

    for index in range(count):
        name = data[field(names, 24, 8) + field(index, 0, 4):]
        if name.startswith(b".text\0"):
            offset = field(index, 24, 8)
            return field(index, 16, 8), data[offset:offset + 64]
    raise gdb.GdbError(f"{elf} has no code")


def load(elf, base):
    gdb.execute(f"add-symbol-file {elf} -o {base:#x}", to_string=True)
    print(f"{os.path.basename(elf)} is at {base:#x}")


def find_hypervisor(elf):
    """The copy of itself that the reference PMU runs in, or None."""
    start, want = code(elf)
    for base in range(STEP, TOP, STEP):
        try:
            if bytes(gdb.selected_inferior().read_memory(base + start, len(want))) == want:
                return base
        except gdb.MemoryError:
            continue
    return None


def interrupt_when_it_waits(log, found):
    """In a thread of its own: what Ctrl-C does, once the harness has said where it is."""
    while True:
        try:
            with open(log, "rb") as file:
                line = WAITS.search(file.read())
        except OSError:
            line = None
        if line:
            found.append(int(line[1], 16))
            os.kill(os.getpid(), signal.SIGINT)
            return
        time.sleep(0.2)


def attach(port, log, build, waits):
    """waits: the program is the harness, which waits for us. Otherwise the machine stays as it
    is, before its first instruction."""
    found = []
    for setting in ("pagination off", "confirm off", "architecture i386:x86-64",
                    "disassembly-flavor intel"):
        gdb.execute(f"set {setting}")
    gdb.execute(f"target remote 127.0.0.1:{port}", to_string=True)
    if not waits:
        print("The machine is at its reset; `continue` starts it.")
        return
    threading.Thread(target=interrupt_when_it_waits, args=(log, found), daemon=True).start()
    gdb.execute("continue", to_string=True)
    if not found:
        print("The machine stopped before the harness began.")
        return
    load(os.path.join(build, "pmutest86.so"), found[0])
    refpmu = os.path.join(build, "refpmu.so")
    base = find_hypervisor(refpmu)
    if base:
        load(refpmu, base)
    gdb.execute("set var debugger_is_here = 1")
    print("The harness is about to start: set breakpoints, then `continue`.")
