#!/bin/bash
# SPDX-License-Identifier: MIT
# usb.sh BUILD [PROGRAM]: makes of PROGRAM (BUILD/pmutest86.efi), or of a signed copy of it,
#
#   BUILD/pmutest86.img	a GPT disk with a FAT32 EFI system partition, to be written to a
#			stick; for a BIOS also BUILD/pmutest86.elf and GRUB, if that file,
#			grub-mkimage and its modules exist and BIOS isn't "no"
#   BUILD/pmutest86.fat	that partition alone: for tools that put several images on one stick
#   BUILD/pmutest86.iso	a CD that UEFI boots (El Torito), and a BIOS as above; by xorriso
#
# with the configuration CFG (boot/pmutest86.cfg); KIND=iso makes the last, else the others
# (docs/HARDWARE.md, docs/BOOTING.md). Needs neither root nor mounts. The same program gives the
# same bytes, with the same GRUB: times are SOURCE_DATE_EPOCH, or the time of the commit.
set -euo pipefail
cd "$(dirname "$0")/../.."
[ -d "${1-}" ] || {
	echo "usage: usb.sh BUILD [PROGRAM]; no folder '${1-}'" >&2
	exit 2
}
build=$1 program=${2:-$1/pmutest86.efi} kind=${KIND:-usb} config=${CFG:-boot/pmutest86.cfg}
for file in "$program" "$config"; do
	[ -f "$file" ] || {
		echo "usb.sh: no file '$file'" >&2
		exit 2
	}
done
if [ "$kind" = iso ] && ! command -v xorriso > /dev/null; then
	echo "usb.sh: an ISO image needs xorriso; run: sudo apt-get install -y xorriso" >&2
	exit 2
fi
image=$build/pmutest86.img
start=2048 # sectors of 512 bytes
size=$((64 * 2048))
# What would be drawn.
volume=50755486 disk=50755486-0000-4000-8000-000000000001
part=50755486-0000-4000-8000-000000000002 bios_part=50755486-0000-4000-8000-000000000003
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2> /dev/null || echo 1700000000)}
export SOURCE_DATE_EPOCH TZ=UTC MTOOLS_SKIP_CHECK=1

work=$(mktemp -d "$build/image.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/esp/EFI/BOOT"
cp "$program" "$work/esp/EFI/BOOT/BOOTX64.EFI"
cp "$config" "$work/esp/pmutest86.cfg"
# Their licences want to be where copies of the program are.
cp LICENSE "$work/esp/LICENSE.TXT"
cp docs/THIRD-PARTY.md "$work/esp/LICENCES.TXT"

# For machines without UEFI: GRUB starts the program by Multiboot2.
grub=/usr/lib/grub/i386-pc bios_start=34 bios='' boot=()
modules=(biosdisk normal test echo sleep halt cpuid multiboot2 vbe)
volume_root=$work/esp
if [ "$kind" = iso ]; then
	volume_root=$work/iso
	mkdir "$volume_root"
fi
if [ "${BIOS-}" != no ] && [ -f "$build/pmutest86.elf" ] && [ -f "$grub/boot.img" ] &&
	command -v grub-mkimage > /dev/null; then
	bios=yes
	mkdir "$volume_root/grub"
	cp tools/images/grub.cfg "$volume_root/grub/"
	cp "$build/pmutest86.elf" "$volume_root/"
fi
[ "$bios" ] || [ "${BIOS-}" = no ] ||
	echo "usb.sh: for UEFI only; for a BIOS: sudo apt-get install -y grub-common grub-pc-bin"
find "$work/esp" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +

# fat FILE SECTORS TYPE: the partition
fat()
{
	truncate -s $(($2 * 512)) "$1"
	mkfs.fat -F "$3" -i $volume -n PMUTEST86 --invariant "$1" > /dev/null
	mmd -i "$1" ::/EFI ::/EFI/BOOT
	mcopy -m -i "$1" "$work/esp/EFI/BOOT/BOOTX64.EFI" ::/EFI/BOOT/BOOTX64.EFI
	mcopy -m -i "$1" "$work/esp/"*.* ::/
	[ ! -d "$work/esp/grub" ] || mcopy -m -s -i "$1" "$work/esp/grub" ::/
}

if [ "$kind" = iso ]; then
	# The part that El Torito names; nothing can be written to it.
	fat "$work/iso/efi.img" 8192 12
	if [ -n "$bios" ]; then
		cp "$work/esp/pmutest86.cfg" "$work/iso/"
		grub-mkimage -O i386-pc-eltorito -p /grub -o "$work/iso/grub/bios.img" iso9660 \
			"${modules[@]}"
		boot=(-b grub/bios.img -no-emul-boot -boot-load-size 4 -boot-info-table
			-eltorito-alt-boot)
	fi
	find "$work/iso" -exec touch -d "@$SOURCE_DATE_EPOCH" {} +
	xorriso -as mkisofs -quiet -V PMUTEST86 --modification-date="$(date -u -d \
		"@$SOURCE_DATE_EPOCH" +%Y%m%d%H%M%S00)" --set_all_file_dates \
		"$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y%m%d%H%M%S00)" "${boot[@]}" -e efi.img \
		-no-emul-boot -o "$work/image.iso" "$work/iso" 2> "$work/log" || {
		cat "$work/log" >&2
		exit 2
	}
	mv "$work/image.iso" "$build/pmutest86.iso"
	echo "$build/pmutest86.iso: a CD${bios:+, for a BIOS too}; results aren't saved on it"
	exit
fi
fat "$work/fat" $size 32
truncate -s $(((start + size + 2048) * 512)) "$work/img"
sgdisk --clear --disk-guid=$disk --new=1:$start:$((start + size - 1)) --typecode=1:ef00 \
	--partition-guid=1:$part --change-name=1:PMUTest86 "$work/img" > /dev/null
if [ -n "$bios" ]; then
	sgdisk --set-alignment=1 --new=2:$bios_start:$((start - 1)) --typecode=2:ef02 \
		--partition-guid=2:$bios_part --change-name=2:BIOS "$work/img" > /dev/null
	grub-mkimage -O i386-pc -p '(,gpt1)/grub' -o "$work/core.img" part_gpt fat "${modules[@]}"
	tools/images/bios_boot.py "$work/img" "$grub/boot.img" "$work/core.img" $bios_start \
		$start
fi
dd if="$work/fat" of="$work/img" bs=1M seek=$((start / 2048)) conv=notrunc,sparse status=none
mv "$work/fat" "$build/pmutest86.fat"
mv "$work/img" "$image"
echo "$image: write it to a stick, for instance: sudo dd if=$image of=/dev/sdX bs=1M conv=fsync"
