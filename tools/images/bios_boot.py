#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Make a GPT disk bootable by a BIOS, with GRUB:

bios_boot.py IMAGE BOOT_IMG CORE_IMG SECTOR END

BOOT_IMG (GRUB's boot.img) becomes the code of the master boot record. CORE_IMG, which grub-mkimage
has made, is written to a partition of its own, which begins at SECTOR and ends before END. Each of
the two must know where the next one lies; the offsets are in GRUB's include/grub/i386/pc/boot.h.
As with grub-bios-setup on a hard disk, a number of the drive below 80H, which some BIOSes pass, is
taken for 80H. The entry of the protective partition becomes active, because some BIOSes start no
other disk; for UEFI that is without meaning (UEFI Specification, "Protective MBR").
"""
import struct
import sys

SECTOR = 512
CODE = 440                  # bytes of the record that are code; after them: the disk's number
CORE_SECTOR = 0x5c          # in boot.img
DRIVE_CHECK = 0x66          # in boot.img: a jump past the check of the drive's number
NOPS = b"\x90\x90"
NEXT_SECTOR = 0x1f4         # in the first sector of core.img: where the others lie, and how many
SECTORS = 0x1fc
ACTIVE, FLAG = 0x80, 446
SIGNATURE = b"\x55\xaa"


class Bad(Exception):
    """What is wrong with the input."""


def boot_code(boot, sector):
    if len(boot) != SECTOR or boot[-2:] != SIGNATURE:
        raise Bad("no boot.img of GRUB")
    return boot[:CORE_SECTOR] + struct.pack("<Q", sector) + boot[CORE_SECTOR + 8:DRIVE_CHECK] + \
        NOPS + boot[DRIVE_CHECK + len(NOPS):CODE]


def core_image(core, sector, end):
    sectors, = struct.unpack_from("<H", core, SECTORS)
    if (sectors + 1) * SECTOR < len(core):
        raise Bad("no core.img of GRUB for a BIOS")
    if sector + sectors + 1 > end:
        raise Bad(f"core.img doesn't fit before sector {end}")
    return core[:NEXT_SECTOR] + struct.pack("<Q", sector + 1) + core[SECTORS:]


def main():
    if len(sys.argv) != 6:
        sys.exit("usage: bios_boot.py IMAGE BOOT_IMG CORE_IMG SECTOR END")
    image, boot, core = sys.argv[1:4]
    try:
        sector, end = int(sys.argv[4]), int(sys.argv[5])
        with open(boot, "rb") as file:
            code = boot_code(file.read(), sector)
        with open(core, "rb") as file:
            rest = core_image(file.read(), sector, end)
        with open(image, "r+b") as file:
            file.write(code)
            file.seek(FLAG)
            file.write(bytes((ACTIVE,)))
            file.seek(sector * SECTOR)
            file.write(rest)
    except OSError as error:
        sys.exit(f"bios_boot.py: {error.filename}: {error.strerror}")
    except (ValueError, Bad, struct.error) as error:
        sys.exit(f"bios_boot.py: {error}")


if __name__ == "__main__":
    main()
