#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Finish and check an EFI program: efi_image.py FILE.efi SECTION...

Leaves the zeros at the end of each section out of the file (VirtualSize > SizeOfRawData: a loader
fills the rest with zeros; "Microsoft Portable Executable Format", "Section Table"). Sets NX_COMPAT,
so that firmware which protects memory may map the image as its sections say. Refuses an image with
a section that is writable and executable or isn't on a page boundary, one that lacks a section
named, and one that carries symbols. Deterministic: the time stamp is set to 0.
"""
import struct
import sys

NX_COMPAT = 0x100
EXECUTE, WRITE = 0x20000000, 0x80000000
SECTION_HEADER = 40


class Bad(Exception):
    """What is wrong with the image."""


class Image:
    """The headers of a PE32+ file, and where things are in it."""

    def __init__(self, data):
        self.data = data
        self.pe = self.number("I", 0x3C)
        if data[self.pe:self.pe + 4] != b"PE\0\0":
            raise Bad("not a PE image")
        self.optional = self.pe + 24
        self.sections = [self.optional + self.number("H", self.pe + 20) + SECTION_HEADER * i
                         for i in range(self.number("H", self.pe + 6))]
        if self.number("H", self.optional) != 0x20B:
            raise Bad("not PE32+")
        if self.number("H", self.optional + 68) != 10:
            raise Bad("not an EFI application")
        self.alignment = self.number("I", self.optional + 36)

    def number(self, kind, at):
        return struct.unpack_from("<" + kind, self.data, at)[0]

    def set(self, kind, at, value):
        struct.pack_into("<" + kind, self.data, at, value)

    def name(self, at):
        return self.data[at:at + 8].rstrip(b"\0").decode()

    def check(self, wanted):
        if self.number("I", self.pe + 8 + 4) or self.number("I", self.pe + 8 + 8):
            raise Bad("it carries symbols, which belong into the ELF file")
        relocations, size = struct.unpack_from("<II", self.data, self.optional + 112 + 5 * 8)
        if size == 0:
            raise Bad("no base relocations: firmware could not load it anywhere")
        found = {}
        for at in self.sections:
            name, size, address = self.name(at), self.number("I", at + 8), self.number("I", at + 12)
            traits = self.number("I", at + 36)
            if name.startswith(".debug"):
                raise Bad(f"section {name} belongs into the ELF file")
            if traits & EXECUTE and traits & WRITE:
                raise Bad(f"section {name} is writable and executable")
            if address % 4096:
                raise Bad(f"section {name} at {address:#x} isn't on a page boundary")
            found[name] = size
            if address == relocations:
                page = self.number("I", self.number("I", at + 20))
                if page >= self.number("I", self.optional + 56):
                    raise Bad(f"base relocation of page {page:#x}, outside the image")
        missing = [name for name in wanted if not found.get(name)]
        if missing:
            raise Bad(f"section {missing[0]} is missing or empty")

    def shrink(self):
        """The same image with no zeros at the end of a section: at least one unit stays."""
        headers = self.number("I", self.optional + 60)
        out, initialised = bytearray(self.data[:headers]), 0
        for at in self.sections:
            size, raw = self.number("I", at + 16), self.number("I", at + 20)
            held = bytes(self.data[raw:raw + min(size, self.number("I", at + 8))]).rstrip(b"\0")
            size = -(-max(len(held), 1) // self.alignment) * self.alignment
            struct.pack_into("<II", out, at + 16, size, len(out))
            out += held.ljust(size, b"\0")
            initialised += 0 if self.number("I", at + 36) & EXECUTE else size
        self.data = out
        self.set("I", self.optional + 8, initialised)

    def mark(self):
        self.set("I", self.pe + 8, 0)               # time stamp
        self.set("I", self.optional + 64, 0)        # check sum
        self.set("H", self.optional + 70, self.number("H", self.optional + 70) | NX_COMPAT)


def finish(path, wanted):
    with open(path, "rb") as file:
        image = Image(bytearray(file.read()))
    image.check(wanted)
    image.shrink()
    image.mark()
    with open(path, "wb") as file:
        file.write(image.data)


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: efi_image.py FILE.efi SECTION...")
    try:
        finish(sys.argv[1], sys.argv[2:])
    except (OSError, Bad) as error:
        sys.exit(f"{sys.argv[1]}: {getattr(error, 'strerror', None) or error}")
    except struct.error:
        sys.exit(f"{sys.argv[1]}: not a PE image")


if __name__ == "__main__":
    main()
