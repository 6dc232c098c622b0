# SPDX-License-Identifier: MIT
"""Names of addresses in a log: registers of a dump, and the hypervisor's crash messages.

The harness's log says where its image was loaded. The hypervisor's addresses are relative to its
own image.
"""
import os
import re
import subprocess

IMAGE = re.compile(r"^# image at (0x[0-9a-f]+)", re.M)
REGISTER = re.compile(r"\b(r[a-z0-9]{1,2}) +([0-9a-f]{16})\b")
WORD = re.compile(r"\b[0-9a-f]{16}\b")


def code_of(elf):
    """Where the code of an ELF file lies: (first, after the last); nothing lies in (0, 0)."""
    out = subprocess.run(["readelf", "-SW", elf], stdout=subprocess.PIPE, check=False,
                         stderr=subprocess.DEVNULL, text=True).stdout
    found = re.search(r" \.text +PROGBITS +([0-9a-f]+) +[0-9a-f]+ ([0-9a-f]+)", out)
    if not found:
        return 0, 0
    first, size = (int(word, 16) for word in found.groups())
    return first, first + size


def names(elf, addresses):
    """Address to "function (file:line)", of those that lie in the code of the ELF file."""
    first, after = code_of(elf) if addresses and os.path.exists(elf) else (0, 0)
    inside = sorted({address for address in addresses if first <= address < after})
    if not inside:
        return {}
    out = subprocess.run(["addr2line", "-f", "-e", elf, *map(hex, inside)], check=False,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    lines = out.splitlines()
    return {address: f"{name} ({os.path.normpath(place.split(' (')[0])})"
            for address, name, place in zip(inside, lines[::2], lines[1::2])}


def of_dumps(lines, elf):
    """The lines of a harness's TAP, with a line "REGISTER_is: function" for each register of a dump
    that points into the code."""
    image = IMAGE.search("\n".join(lines))
    if not image:
        return lines
    base = int(image[1], 16)
    dumps = [dict(REGISTER.findall(line)) if line.startswith("  state_") else {} for line in lines]
    known = names(elf, {int(value, 16) - base for dump in dumps for value in dump.values()})
    out, pending = [], []
    for line, dump in zip(lines, dumps):
        if pending and not line.startswith("  state_"):
            out += pending
            pending = []
        out.append(line)
        pending += [f'  {register}_is: "{known[int(value, 16) - base]}"'
                    for register, value in dump.items() if int(value, 16) - base in known]
    return out + pending


def of_hypervisor(words, elf):
    """Comments that name the code that the hypervisor's last words speak of."""
    values = [int(word, 16) for word in WORD.findall("\n".join(words))]
    known = names(elf, set(values))
    return [f"# refpmu: {value:#x} is {known[value]}" for value in dict.fromkeys(values)
            if value in known]
