#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Finish and check an EFI program: efi_image.py FILE.efi SECTION...

Sets NX_COMPAT, so that firmware which protects memory may map the image as its sections say, and
refuses an image with a section that is writable and executable, that isn't on a page boundary, or
that lacks one of the sections named. Deterministic: the time stamp is set to 0.
"""
import struct
import sys

NX_COMPAT = 0x100
EXECUTE, WRITE = 0x20000000, 0x80000000


def finish(path, wanted):
    with open(path, "rb") as file:
        image = bytearray(file.read())
    pe = struct.unpack_from("<I", image, 0x3C)[0]
    if image[pe:pe + 4] != b"PE\0\0":
        return "not a PE image"
    n_sections, = struct.unpack_from("<H", image, pe + 6)
    optional_size, = struct.unpack_from("<H", image, pe + 20)
    optional = pe + 24
    if struct.unpack_from("<H", image, optional)[0] != 0x20B:
        return "not PE32+"
    if struct.unpack_from("<H", image, optional + 68)[0] != 10:
        return "not an EFI application"
    struct.pack_into("<I", image, pe + 8, 0)
    struct.pack_into("<I", image, optional + 64, 0)
    flags, = struct.unpack_from("<H", image, optional + 70)
    struct.pack_into("<H", image, optional + 70, flags | NX_COMPAT)
    relocations, size = struct.unpack_from("<II", image, optional + 112 + 5 * 8)
    if size == 0:
        return "no base relocations: firmware could not load it anywhere"

    found = {}
    for i in range(n_sections):
        at = optional + optional_size + 40 * i
        name = image[at:at + 8].rstrip(b"\0").decode()
        size, address = struct.unpack_from("<II", image, at + 8)
        traits, = struct.unpack_from("<I", image, at + 36)
        if traits & EXECUTE and traits & WRITE:
            return f"section {name} is writable and executable"
        if address % 4096:
            return f"section {name} at {address:#x} isn't on a page boundary"
        found[name] = size
        if address == relocations:
            page, = struct.unpack_from("<I", image, *struct.unpack_from("<I", image, at + 20))
            if page >= struct.unpack_from("<I", image, optional + 56)[0]:
                return f"base relocation of page {page:#x}, outside the image"
    missing = [name for name in wanted if not found.get(name)]
    if missing:
        return f"section {missing[0]} is missing or empty"
    with open(path, "wb") as file:
        file.write(image)
    return None


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: efi_image.py FILE.efi SECTION...")
    try:
        error = finish(sys.argv[1], sys.argv[2:])
    except OSError as failure:
        error = failure.strerror
    if error:
        sys.exit(f"{sys.argv[1]}: {error}")


if __name__ == "__main__":
    main()
