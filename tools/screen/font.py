#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turn a console font of 8 x 16 pixels into C: font.py FONT.psfu[.gz]

Prints a header with the rows of each glyph from ' ' to '~'. Reads both formats of Linux console
fonts, PC Screen Font 1 and 2, with their tables of Unicode characters. Exit status 2, and a line
that says why, where the font is of another size or lacks a character.
"""
import gzip
import struct
import sys

WIDTH, HEIGHT = 8, 16
FIRST, LAST = ord(" "), ord("~")
MAGIC_1, MAGIC_2 = b"\x36\x04", b"\x72\xb5\x4a\x86"
MODE_512, MODE_TABLE = 1, 2		# of format 1
FLAG_TABLE = 1				# of format 2


class BadFont(Exception):
    """One line that says what is wrong."""


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data


def table_1(data):
    """Characters of each glyph: 16 bits each, FFFEH begins a sequence, FFFFH ends the glyph."""
    glyph, single = 0, True
    for (code,) in struct.iter_unpack("<H", data[:len(data) & ~1]):
        if code == 0xffff:
            glyph, single = glyph + 1, True
        elif code == 0xfffe:
            single = False
        elif single:
            yield chr(code), glyph


def table_2(data):
    """UTF-8; FEH begins a sequence, FFH ends the glyph."""
    for glyph, part in enumerate(data.split(b"\xff")[:-1]):
        for character in part.split(b"\xfe")[0].decode("utf-8", "replace"):
            yield character, glyph


def load(path):
    """Character to the bytes of its rows, bit 7 at the left."""
    data = read(path)
    if data.startswith(MAGIC_1) and len(data) >= 4:
        mode, size = data[2], data[3]
        begin, count = 4, 512 if mode & MODE_512 else 256
        shape, table = (WIDTH, size), table_1 if mode & MODE_TABLE else None
    elif data.startswith(MAGIC_2) and len(data) >= 32:
        begin, flags, count, size, height, width = struct.unpack_from("<6I", data, 8)
        shape, table = (width, height), table_2 if flags & FLAG_TABLE else None
    else:
        raise BadFont("not a PC Screen Font")
    if shape != (WIDTH, HEIGHT):
        raise BadFont(f"{shape[0]} x {shape[1]} pixels, not {WIDTH} x {HEIGHT}")
    end = begin + count * size
    if len(data) < end:
        raise BadFont("it ends within its glyphs")
    pairs = table(data[end:]) if table else ((chr(n), n) for n in range(count))
    return {character: data[begin + n * size:begin + (n + 1) * size]
            for character, n in pairs if n < count}


def glyphs(path):
    """The rows from ' ' to '~'."""
    font = load(path)
    missing = [code for code in range(FIRST, LAST + 1) if chr(code) not in font]
    if missing:
        raise BadFont("no glyph for " + " ".join(chr(code) for code in missing))
    return [font[chr(code)] for code in range(FIRST, LAST + 1)]


def main():
    if len(sys.argv) != 2:
        print(__doc__.splitlines()[0], file=sys.stderr)
        return 2
    try:
        rows = glyphs(sys.argv[1])
    except (OSError, EOFError, BadFont) as error:
        print(f"font.py: {sys.argv[1]}: {error}", file=sys.stderr)
        return 2
    print("/* Made by tools/screen/font.py of the font Spleen, BSD-2-Clause:")
    print(" * Copyright (c) 2018-2020 Frederic Cambus. */")
    for code, glyph in enumerate(rows, FIRST):
        name = {"\\": "backslash", " ": "blank"}.get(chr(code), chr(code))
        print("\t{ " + ", ".join(f"0x{row:02x}" for row in glyph) + f" }},\t/* {name} */")
    return 0


if __name__ == "__main__":
    sys.exit(main())
