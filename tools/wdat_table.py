#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An ACPI Watchdog Action Table for QEMU's machine q35, which has none: wdat_table.py FILE

It describes the TCO timer of the chipset, where OVMF puts it, as the firmware of a real machine
does ("Hardware Watchdog Timers Design Specification", Microsoft). For tools/boot.sh --acpi FILE.
Exit status: 0; 2 bad option.
"""
import struct
import sys

TCO = 0x660             # PMBASE + 60H
RELOAD, STATUS1, STATUS2, CONTROL, TIMER = (TCO + at for at in (0x00, 0x04, 0x06, 0x08, 0x12))
HALT, TIMEOUT, SECOND_TIMEOUT = 11, 3, 1        # bits of CONTROL, STATUS1, STATUS2
GENERAL_CONTROL, NO_REBOOT = 0xfed1c000 + 0x3410, 5     # in memory, RCBA + 3410H; its bit
PERIOD_MS, LONGEST, SHORTEST = 1200, 0x3ff, 4   # it counts down twice, by 0.6 s each time
READ, WRITE, WRITE_COUNTDOWN, PRESERVE = 0, 2, 3, 0x80
ENABLED = 1
PORT_WORD = (1, 16, 2)          # a register: space, width in bits, size of an access
MEMORY_DWORD = (0, 32, 3)
# action, instruction, port or address, bit, value, mask
ACTIONS = (
    (0x01, WRITE, RELOAD, 0, 1, LONGEST),                       # count anew
    (0x06, WRITE_COUNTDOWN | PRESERVE, TIMER, 0, 0, LONGEST),
    (0x08, READ, CONTROL, HALT, 0, 1),                          # does it run?
    (0x09, WRITE | PRESERVE, CONTROL, HALT, 0, 1),
    (0x0b, WRITE | PRESERVE, CONTROL, HALT, 1, 1),              # stop it
    (0x11, WRITE | PRESERVE, GENERAL_CONTROL, NO_REBOOT, 0, 1),  # its end is a reset
    (0x20, READ, STATUS2, SECOND_TIMEOUT, 1, 1),                # has it reset the machine?
    (0x21, WRITE, STATUS1, TIMEOUT, 1, 1),
    (0x21, WRITE, STATUS2, SECOND_TIMEOUT, 1, 1),
)


def entry(action, instruction, address, bit, value, mask):
    space, width, access = PORT_WORD if address < 0x10000 else MEMORY_DWORD
    return struct.pack("<BBHBBBBQII", action, instruction, 0, space, width, bit, access, address,
                       value, mask)


def table():
    entries = b"".join(entry(*action) for action in ACTIONS)
    # No PCI device: FFH and FFFFH.
    own = struct.pack("<IHBBBB2xIIIB3xI", 32, 0xffff, 0xff, 0xff, 0xff, 0, PERIOD_MS, LONGEST,
                      SHORTEST, ENABLED, len(ACTIONS))
    head = struct.pack("<4sIBB6s8sI4sI", b"WDAT", 36 + len(own) + len(entries), 1, 0, b"PMUT86",
                       b"TCOTIMER", 1, b"PMUT", 1)
    whole = bytearray(head + own + entries)
    whole[9] = -sum(whole) & 0xff
    return bytes(whole)


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print("usage: wdat_table.py FILE", file=sys.stderr)
        return 2
    with open(sys.argv[1], "wb") as file:
        file.write(table())
    return 0


if __name__ == "__main__":
    sys.exit(main())
