#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Make a program that loaders take which need no firmware services:

direct_image.py FILE.so FILE.elf ADDRESS

FILE.so is a linked image that begins at 0 (linker.ld) and has the symbol pvh_entry. It becomes an
executable ELF file of one segment, which is loaded to ADDRESS, with what two kinds of loaders look
for: the note that names its entry (Xen, "x86/HVM direct boot ABI"; System V ABI, "Program Header",
"Note Section"), and a header of Multiboot2 ("OS image format"), which asks for a screen with
pixels. Zeros at the end of the image are left to the loader. No symbols: FILE.so has them, at
addresses less ADDRESS.
"""
import struct
import sys

ELF_64, LITTLE, EXECUTABLE, X86_64 = 2, 1, 2, 62
LOAD, NOTE = 1, 4
ALLOCATED, NO_BITS, SYMBOLS = 2, 8, 2       # of sections: flag, and types
READ_WRITE_EXECUTE = 7
PHYS32_ENTRY = 18
MULTIBOOT2, PROTECTED_MODE = 0xe85250d6, 0  # Multiboot2, "Header magic fields"
END_TAG, FRAMEBUFFER_TAG, ALIGN_TAG = 0, 5, 6
OPTIONAL = 1
SCREEN = 1024, 768, 32                      # preferred: pixels, bits of a pixel
HEADER, PROGRAM_HEADER, PAGE = 64, 56, 4096


class Bad(Exception):
    """What is wrong with the input."""


class Section:
    """A section header, and the bytes that it names."""

    def __init__(self, data, at):
        (_, self.kind, self.flags, self.address, self.offset, self.size, self.link, _, _,
         self.entry_size) = struct.unpack_from("<IIQQQQIIQQ", data, at)
        self.bytes = b"" if self.kind == NO_BITS else data[self.offset:self.offset + self.size]


def sections(data):
    if data[:6] != b"\x7fELF" + bytes((ELF_64, LITTLE)):
        raise Bad("not an ELF file of 64 bits")
    table, = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    return [Section(data, table + size * i) for i in range(count)]


def symbol(found, wanted):
    for table in (section for section in found if section.kind == SYMBOLS):
        names = found[table.link].bytes
        for at in range(0, table.size, table.entry_size):
            name, _, _, _, value, _ = struct.unpack_from("<IBBHQQ", table.bytes, at)
            if names[name:names.index(b"\0", name)] == wanted.encode():
                return value
    raise Bad(f"no symbol {wanted}")


def flatten(found):
    """The image's bytes without the zeros at the end, and how long it is in memory."""
    loaded = [section for section in found if section.flags & ALLOCATED]
    memory = max(section.address + section.size for section in loaded)
    image = bytearray(memory)
    for section in loaded:
        image[section.address:section.address + len(section.bytes)] = section.bytes
    return bytes(image).rstrip(b"\0"), -(-memory // PAGE) * PAGE


def note(entry):
    return struct.pack("<III4sQ", 4, 8, PHYS32_ENTRY, b"Xen\0", entry)


def aligned(data):
    return data.ljust(-(-len(data) // 8) * 8, b"\0")


def tag(kind, flags, content=b""):
    return aligned(struct.pack("<HHI", kind, flags, 8 + len(content)) + content)


def multiboot2():
    """The header: modules begin at pages; a screen is taken if there is one; the entry is that of
    the ELF file."""
    tags = tag(ALIGN_TAG, 0) + tag(FRAMEBUFFER_TAG, OPTIONAL, struct.pack("<III", *SCREEN)) + \
        tag(END_TAG, 0)
    length = 16 + len(tags)
    checksum = -(MULTIBOOT2 + PROTECTED_MODE + length) % 2 ** 32
    return struct.pack("<IIII", MULTIBOOT2, PROTECTED_MODE, length, checksum) + tags


def program(data, address):
    found = sections(data)
    entry = address + symbol(found, "pvh_entry")
    image, memory = flatten(found)
    held = note(entry)
    notes = HEADER + 2 * PROGRAM_HEADER
    header = b"\x7fELF" + bytes((ELF_64, LITTLE, 1)) + bytes(9)
    header += struct.pack("<HHIQQQIHHHHHH", EXECUTABLE, X86_64, 1, entry, HEADER, 0, 0, HEADER,
                          PROGRAM_HEADER, 2, 0, 0, 0)
    load = struct.pack("<IIQQQQQQ", LOAD, READ_WRITE_EXECUTE, PAGE, address, address, len(image),
                       memory, PAGE)
    named = struct.pack("<IIQQQQQQ", NOTE, 4, notes, 0, 0, len(held), len(held), 4)
    head = aligned(header + load + named + held) + multiboot2()
    return head.ljust(PAGE, b"\0") + image


def main():
    if len(sys.argv) != 4:
        sys.exit("usage: direct_image.py FILE.so FILE.elf ADDRESS")
    try:
        with open(sys.argv[1], "rb") as file:
            made = program(file.read(), int(sys.argv[3], 0))
        with open(sys.argv[2], "wb") as file:
            file.write(made)
    except OSError as error:
        sys.exit(f"{error.filename}: {error.strerror}")
    except Bad as error:
        sys.exit(f"{sys.argv[1]}: {error}")
    except (struct.error, ValueError, IndexError):
        sys.exit(f"{sys.argv[1]}: not a linked image, or '{sys.argv[3]}' is no address")


if __name__ == "__main__":
    main()
