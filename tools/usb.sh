#!/bin/bash
# SPDX-License-Identifier: MIT
# usb.sh BUILD: makes BUILD/pmutest86.img, a GPT disk with one FAT32 EFI system partition, to be
# written to a USB stick (see docs/HARDWARE.md). Needs neither root nor mounts.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -d "${1-}" ] || {
	echo "usage: usb.sh BUILD; no folder '${1-}'" >&2
	exit 2
}
build=$1
image=$build/pmutest86.img
start=2048 # sectors of 512 bytes
size=$((64 * 2048))

rm -f "$image"
trap 'rm -f "$image.new" "$image.part"' EXIT
truncate -s $(((start + size + 2048) * 512)) "$image.new"
sgdisk --clear --new=1:$start:$((start + size - 1)) --typecode=1:ef00 \
	--change-name=1:PMUTest86 "$image.new" > /dev/null
partition=$image.part
truncate -s $((size * 512)) "$partition"
mkfs.fat -F 32 -n PMUTEST86 "$partition" > /dev/null
export MTOOLS_SKIP_CHECK=1
mmd -i "$partition" ::/EFI ::/EFI/BOOT
mcopy -i "$partition" "$build/pmutest86.efi" ::/EFI/BOOT/BOOTX64.EFI
mcopy -i "$partition" boot/pmutest86.cfg ::/pmutest86.cfg
dd if="$partition" of="$image.new" bs=1M seek=$((start / 2048)) conv=notrunc,sparse status=none
mv "$image.new" "$image"
echo "$image: write it to a stick, for instance: sudo dd if=$image of=/dev/sdX bs=1M conv=fsync"
