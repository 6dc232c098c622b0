#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Take the EFI shell out of OVMF: ovmf_shell.py OVMF_CODE.fd OUT.efi

The shell is an EFI program of another project, and is part of every OVMF. It is a file of a
firmware volume (UEFI PI specification, volume 3, "Firmware Storage Code Definitions") inside an
LZMA compressed section. `make test` runs it on the reference PMU.
"""
import lzma
import struct
import sys
import uuid

SHELL = uuid.UUID("7c04a583-9e3e-4f1c-ad65-e05268d0b4d1").bytes_le
LZMA = uuid.UUID("ee4e5898-3914-4259-9d6e-dc7bd79403cf").bytes_le
SECTION_GUIDED, SECTION_PE32 = 0x02, 0x10


def sections(data):
    """(type, header size, whole section) of each section of a file."""
    at = 0
    while at + 4 <= len(data):
        size = int.from_bytes(data[at:at + 3], "little")
        kind, header = data[at + 3], 4
        if size == 0xFFFFFF:
            size, header = struct.unpack_from("<I", data, at + 4)[0], 8
        if size < header:
            return
        yield kind, header, data[at:at + size]
        at += (size + 3) & ~3


def compressed_parts(image):
    """What the LZMA sections of all files of an image hold."""
    at = image.find(LZMA)
    while at >= 0:
        for header in (4, 8):       # the GUID follows the section's header
            start = at - header
            if start >= 0 and image[start + 3] == SECTION_GUIDED:
                offset, = struct.unpack_from("<H", image, at + 16)
                try:
                    yield lzma.LZMADecompressor().decompress(image[start + offset:])
                except lzma.LZMAError:
                    continue
        at = image.find(LZMA, at + 1)


def find_shell(image):
    """The PE image of the shell, or None."""
    for part in compressed_parts(image):
        at = part.find(SHELL)
        while at >= 0:
            size = int.from_bytes(part[at + 20:at + 23], "little")
            header = 24
            if size == 0xFFFFFF:
                size, header = struct.unpack_from("<Q", part, at + 24)[0], 32
            for kind, skip, section in sections(part[at + header:at + size]):
                if kind == SECTION_PE32 and section[skip:skip + 2] == b"MZ":
                    return section[skip:]
            at = part.find(SHELL, at + 1)
    return None


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: ovmf_shell.py OVMF_CODE.fd OUT.efi")
    try:
        with open(sys.argv[1], "rb") as file:
            shell = find_shell(file.read())
        if shell is None:
            sys.exit(f"{sys.argv[1]}: no EFI shell in it")
        with open(sys.argv[2], "wb") as file:
            file.write(shell)
    except OSError as error:
        sys.exit(f"{error.filename}: {error.strerror}")


if __name__ == "__main__":
    main()
