#!/bin/bash
# SPDX-License-Identifier: MIT
# bench.sh BUILD: how long things take on this machine: the boot, the suite, ten suites a boot.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
work=$(mktemp -d "$build/bench.XXXXXX")
trap 'rm -rf "$work"' EXIT

# $1 runs of the tests $2 in one boot: seconds from the start of QEMU to its end.
seconds()
{
	local start end i

	rm -rf "$work/esp"
	mkdir -p "$work/esp/EFI/BOOT"
	cp "$build/launch.efi" "$work/esp/EFI/BOOT/BOOTX64.EFI"
	cp "$build/refpmu.efi" "$build/pmutest86.efi" "$work/esp/"
	for ((i = 0; i < $1; i++)); do
		echo "run cpu=haswell fault=none seed=0 efi=\\pmutest86.efi" \
			"args=tests=$2 results=off serial=0x3f8 at_end=return"
	done > "$work/esp/refpmu-plan.txt"
	start=$(date +%s%N)
	tools/boot.sh --timeout 300 "$work"
	end=$(date +%s%N)
	grep -aq '^launch: done' "$work/serial.log" || { echo "the run didn't end" >&2; exit 2; }
	awk "BEGIN { printf \"%.1f\", ($end - $start) / 1e9 }"
}

boot=$(seconds 1 selftest.time_passes)
one=$(seconds 1 '*')
ten=$(seconds 10 '*')
echo "boot and one test:      $boot s"
echo "boot and every test:    $one s"
echo "each further whole run: $(awk "BEGIN { printf \"%.1f\", ($ten - $one) / 9 }") s"
