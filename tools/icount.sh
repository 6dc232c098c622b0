#!/bin/bash
# SPDX-License-Identifier: MIT
#
# icount.sh BUILD: compares the counts of the reference PMU with those of QEMU. Runs
# refpmu-count.efi on engines of the reference PMU, and on plain QEMU with -icount shift=0, where
# the TSC counts instructions. A program must take the same number of instructions everywhere. Long
# programs don't run on the engine `step`. The last line is "N counts on the engine NAME, N differ".
# Exit status 1 if one does, 2 if there are none.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -d "${1-}" ] || {
	echo "usage: icount.sh BUILD; no folder '${1-}'" >&2
	exit 2
}
build=$1
work=$(mktemp -d "$build/icount.XXXXXX")
trap 'rm -rf "$work"' EXIT

# The counts in the log of machine $1, of its run $2 if it has the launcher.
counts()
{
	awk -v run="${2:-0}" '{ sub(/\r$/, "") } /^launch: run / { n++ }
			      /^count: .*: / && n == run + 0' "$work/$1/serial.log"
}

mkdir -p "$work"/{plain,reference}/esp/EFI/BOOT
cp "$build/refpmu-count.efi" "$work/plain/esp/EFI/BOOT/BOOTX64.EFI"
cp "$build/launch.efi" "$work/reference/esp/EFI/BOOT/BOOTX64.EFI"
cp "$build/refpmu.efi" "$build/refpmu-count.efi" "$work/reference/esp/"
printf '%s\n' 'run engine=step efi=\refpmu-count.efi args=size=1' \
	'run engine=fast efi=\refpmu-count.efi' > "$work/reference/esp/refpmu-plan.txt"
for machine in plain reference; do
	option=--icount
	[ $machine = plain ] || option=
	# shellcheck disable=SC2086 # no option is no word
	if ! tools/boot.sh --timeout 300 $option "$work/$machine"; then
		tail -n 5 "$work/$machine/serial.log" >&2
		echo "icount.sh: the $machine machine didn't come to its end" >&2
		exit 2
	fi
done

counts plain > "$work/qemu"
status=0 run=0
for engine in step fast; do
	run=$((run + 1))
	counts reference $run > "$work/$engine"
	number=$(wc -l < "$work/$engine")
	if [ "$number" = 0 ] || [ ! -s "$work/qemu" ]; then
		echo "icount.sh: no count on the engine $engine, or none on QEMU's" >&2
		exit 2
	fi
	# What QEMU hasn't counted so, as "name: count (QEMU: count)".
	differ=$(awk -F ': ' 'NR == FNR { qemu[$2] = $3; next }
			      qemu[$2] != $3 { print $2 ": " $3 " (QEMU: " qemu[$2] ")" }' \
		"$work/qemu" "$work/$engine")
	lines=0
	if [ -n "$differ" ]; then
		status=1
		lines=$(wc -l <<< "$differ")
		awk -v engine="$engine" '{ print engine ", " $0 }' <<< "$differ"
	fi
	echo "$number counts on the engine $engine, $lines differ"
done
exit $status
