#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Read the text of the harness's screen: screen.py [OPTION]... FILE.ppm | FOLDER

Of FILE.ppm, or of a machine that tools/boot.sh --screen runs in FOLDER, whose monitor is asked for
a picture. Prints the text; what stands in large letters follows, as "large: TEXT". Cells that hold
no glyph of the font show as a replacement character.

  --until TEXT      ask again until the text holds TEXT, for --timeout seconds (default 30)
  --press KEY       press a key first, by QEMU's name of it
  --png FILE        keep the picture
  --font FILE       the font (default: that of the build)

Exit status: 0; 1 the text never came, and what is there is printed; 2 no picture.
"""
import argparse
import glob
import os
import re
import struct
import sys
import time
import zlib

import font

COLUMNS, ROWS = 200, 80			# GRID_COLUMNS and GRID_ROWS, boot/screen/grid.h
LEAST_COLUMNS, LEAST_ROWS = 80, 33	# as boot/screen/grid.c has them
COLOURS = "boot/screen/grid.c"
QUARTERS = " ▘▝▀▖▌▞▛▗▚▐▜▄▙▟█"
LINE = "─"
UNKNOWN = "\ufffd"
UNCHANGED = 0.3         # seconds until the next look at a picture that was the same
LARGE_WIDTH, LARGE_HEIGHT, LARGE_SKIP = 4, 6, 2


def read_ppm(path):
    """(width, height, pixels of three bytes)"""
    with open(path, "rb") as file:
        data = file.read()
    head = data[:64].split(maxsplit=4)
    if len(head) < 5 or head[0] != b"P6" or head[3] != b"255":
        raise ValueError("not a picture of QEMU's")
    width, height = int(head[1]), int(head[2])
    pixels = data[len(data) - 3 * width * height:]
    if width <= 0 or height <= 0 or len(pixels) != 3 * width * height:
        raise ValueError("a picture that isn't whole")
    return width, height, pixels


def write_png(path, picture):
    width, height, pixels = picture
    lines = b"".join(b"\0" + pixels[3 * width * y:3 * width * (y + 1)] for y in range(height))

    def chunk(kind, body):
        return (struct.pack(">I", len(body)) + kind + body +
                struct.pack(">I", zlib.crc32(kind + body)))

    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" +
                   chunk(b"IHDR", struct.pack(">2I5B", width, height, 8, 2, 0, 0, 0)) +
                   chunk(b"IDAT", zlib.compress(lines, 9)) + chunk(b"IEND", b""))


def quarters(bits):
    upper = (0xf0 if bits & 1 else 0) | (0x0f if bits & 2 else 0)
    lower = (0xf0 if bits & 4 else 0) | (0x0f if bits & 8 else 0)
    return bytes([upper] * (font.HEIGHT // 2) + [lower] * (font.HEIGHT // 2))


def patterns(path):
    """The rows of a cell to its character."""
    known = {quarters(bits): QUARTERS[bits] for bits in range(1, 16)}
    known[bytes(0xff if y == 7 else 0 for y in range(font.HEIGHT))] = LINE
    for code, rows in enumerate(font.glyphs(path), font.FIRST):
        known.setdefault(bytes(rows), chr(code))
    known["pairs"] = colours_of_cells()
    for on, off in known["pairs"]:
        known[on] = QUARTERS[15]
    for on, off in known["pairs"]:
        known[off] = " "
    return known


def colours_of_cells():
    """Pairs of colours, three bytes each: of the letters, and behind them."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", COLOURS)
    with open(path, encoding="utf-8") as file:
        return {(bytes.fromhex(on), bytes.fromhex(off))
                for on, off in re.findall(r"= \{ 0x(\w{6}), 0x(\w{6}) \}", file.read())}


def cell(picture, x, y, scale, known):
    """The character of one cell. What is letter and what is behind it, its colours say."""
    width, _, pixels = picture
    colours, bits = [], []
    for row in range(font.HEIGHT):
        value, at = 0, 3 * ((y + row * scale) * width + x)
        for _ in range(font.WIDTH):
            colour = pixels[at:at + 3]
            if colour not in colours:
                colours.append(colour)
            value = value << 1 | (colours.index(colour) & 1)
            at += 3 * scale
        bits.append(value)
    if len(colours) == 1:
        return known.get(colours[0], UNKNOWN)
    if len(colours) > 2 or not {tuple(colours), tuple(colours[::-1])} & known["pairs"]:
        return UNKNOWN
    if tuple(colours) in known["pairs"]:
        bits = [value ^ 0xff for value in bits]
    return known.get(bytes(bits), UNKNOWN)


def cell_met(picture, x, y, scale, known, met):
    """The same, looked up once for all cells of the same bytes."""
    width, _, pixels = picture
    begin, step, length = 3 * (y * width + x), 3 * scale * width, 3 * font.WIDTH * scale
    look = b"".join(pixels[at:at + length]
                    for at in range(begin, begin + font.HEIGHT * step, step))
    if look not in met:
        met[look] = cell(picture, x, y, scale, known)
    return met[look]


def decode(picture, known):
    """The lines of the screen."""
    width, height, _ = picture
    scale = max(1, min(width // (font.WIDTH * LEAST_COLUMNS), height // (font.HEIGHT * LEAST_ROWS)))
    columns = min(width // (font.WIDTH * scale), COLUMNS)
    rows = min(height // (font.HEIGHT * scale), ROWS)
    met = {}                # most cells look like others
    return ["".join(cell_met(picture, x * font.WIDTH * scale, y * font.HEIGHT * scale, scale,
                             known, met)
                    for x in range(columns)) for y in range(rows)]


def large(lines, glyphs):
    """What is written in large letters, from the first row that has some."""
    shapes = {bytes(rows[LARGE_SKIP:LARGE_SKIP + 2 * LARGE_HEIGHT]): chr(code)
              for code, rows in reversed(list(enumerate(glyphs, font.FIRST)))}
    best = ""
    for top in range(len(lines) - LARGE_HEIGHT + 1):
        band = lines[top:top + LARGE_HEIGHT]
        if not any(c in QUARTERS[1:15] for c in "".join(band)):
            continue
        for start in range(LARGE_WIDTH):
            text = ""
            for x in range(start, len(band[0]) - LARGE_WIDTH + 1, LARGE_WIDTH):
                rows = []
                for line in band:
                    cells = [QUARTERS.find(c) for c in line[x:x + LARGE_WIDTH]]
                    for shift in (0, 2):
                        value = 0
                        for bits in cells:
                            pair = max(bits, 0) >> shift & 3
                            value = value << 2 | (pair & 1) << 1 | pair >> 1
                        rows.append(value)
                text += shapes.get(bytes(rows), UNKNOWN)
            if UNKNOWN not in text and len(text.strip()) > len(best):
                best = text.strip()
    return best


def ask(folder, command):
    with open(os.path.join(folder, "monitor"), "w", encoding="ascii") as monitor:
        monitor.write(command + "\n")


def picture_of(folder):
    """What the machine shows now; None: it doesn't say."""
    path = os.path.abspath(os.path.join(folder, "screen.ppm"))
    if os.path.exists(path):
        os.remove(path)
    ask(folder, f"screendump {path}")
    for _ in range(50):
        time.sleep(0.1)
        try:
            return read_ppm(path)
        except (OSError, ValueError):
            continue
    return None


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--until", metavar="TEXT")
    parser.add_argument("--timeout", metavar="S", type=float, default=30)
    parser.add_argument("--press", metavar="KEY")
    parser.add_argument("--png", metavar="FILE")
    parser.add_argument("--font", metavar="FILE",
                        default=next(iter(sorted(glob.glob(
                            "/usr/share/consolefonts/spleen-8x16.psfu*"))), ""))
    parser.add_argument("source", metavar="FILE.ppm|FOLDER")
    return parser.parse_args()


def text_of(picture, known, glyphs):
    lines = decode(picture, known)
    letters = large(lines, glyphs)
    return ("\n".join(line.rstrip() for line in lines) + "\n" +
            (f"large: {letters}\n" if letters else ""))


def main():
    given = options()
    try:
        known, glyphs = patterns(given.font), font.glyphs(given.font)
    except (OSError, font.BadFont) as error:
        print(f"screen.py: {given.font}: {error}", file=sys.stderr)
        return 2
    if given.press:
        ask(given.source, f"sendkey {given.press}")
        time.sleep(0.3)
    deadline, text, picture = time.monotonic() + given.timeout, "", None
    whole = False
    while not whole and time.monotonic() <= deadline:
        before, found = picture, given.until and given.until in text
        try:
            picture = (picture_of(given.source) if os.path.isdir(given.source)
                       else read_ppm(given.source)) or picture
        except (OSError, ValueError) as error:
            print(f"screen.py: {given.source}: {error}", file=sys.stderr)
            return 2
        if picture and picture != before:
            later = text_of(picture, known, glyphs)
            if not found or given.until in later:
                text = later
        # It may have been taken while it was drawn: of what has the text, the next one is read.
        whole = found or not given.until or not os.path.isdir(given.source)
        if picture == before or given.until and given.until in text and not whole:
            # What is read is known; the machine has use for the time.
            time.sleep(UNCHANGED)
    if not picture:
        print(f"screen.py: {given.source}: no picture", file=sys.stderr)
        return 2
    if given.png:
        write_png(given.png, picture)
    sys.stdout.write(text)
    return 0 if not given.until or given.until in text else 1


if __name__ == "__main__":
    sys.exit(main())
