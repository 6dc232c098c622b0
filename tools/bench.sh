#!/bin/bash
# SPDX-License-Identifier: MIT
#
# bench.sh BUILD: measures durations on this machine and compares them with targets: the speed of
# the engine `fast`, compared with the plain machine in the same boot; the duration of a boot, of
# the suite, and of ten suites in one boot. A target that isn't met is printed but is no failure,
# because the machine may be busy.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -d "${1-}" ] || {
	echo "usage: bench.sh BUILD; no folder '${1-}'" >&2
	exit 2
}
build=$1
work=$(mktemp -d "$build/bench.XXXXXX")
trap 'rm -rf "$work"' EXIT

# Boots $work with these options: seconds from the start of QEMU to its end.
boot_seconds()
{
	local start end

	start=$(date +%s%N)
	tools/boot.sh --timeout 300 "$@" "$work"
	end=$(date +%s%N)
	grep -aq '^launch: done' "$work/serial.log" || {
		echo "the run didn't end: boot.sh $*" >&2
		exit 2
	}
	awk "BEGIN { printf \"%.1f\", ($end - $start) / 1e9 }"
}

# $1 runs of the tests $2 in one boot: seconds from the start of QEMU to its end.
seconds()
{
	local i

	rm -rf "$work/esp"
	mkdir -p "$work/esp/EFI/BOOT"
	cp "$build/launch.efi" "$work/esp/EFI/BOOT/BOOTX64.EFI"
	cp "$build/refpmu.efi" "$build/pmutest86.efi" "$work/esp/"
	for ((i = 0; i < $1; i++)); do
		echo "run cpu=haswell fault=none seed=0 efi=\\pmutest86.efi" \
			"args=tests=$2 results=off serial=0x3f8 at_end=return on=first"
	done > "$work/esp/refpmu-plan.txt"
	boot_seconds
}

# The same once, without a firmware.
direct_seconds()
{
	cp "$build/refpmu.elf" "$work/kernel"
	cp "$build/pmutest86.elf" "$work/module"
	echo "run cpu=haswell efi=x args=tests=$1 results=off at_end=exit on=first" \
		> "$work/append"
	boot_seconds --direct
}

# What $1 seconds are of $2.
share()
{
	awk "BEGIN { printf \"%.2f\", $1 / $2 }"
}

# The rates of refpmu-bench.efi, in thousand instructions a second, and what they should be.
rates()
{
	rm -rf "$work/esp"
	mkdir -p "$work/esp/EFI/BOOT"
	cp "$build/refpmu-bench.efi" "$work/esp/EFI/BOOT/BOOTX64.EFI"
	cp "$build/refpmu.efi" "$work/esp/"
	tools/boot.sh --timeout 300 "$work"
	tr -d '\r' < "$work/serial.log" | awk -F ': ' '
		BEGIN {
			wanted["compiled C"] = 100; wanted["loop of 2"] = 40
		}
		function met(good) { return good ? "met" : "MISSED" }
		/^bench: done/ { done = 1 }
		/^bench: .*: / {
			split($3, rate, " ")
			printf "%-12s plain %.1f M/s, counted %.1f M/s", $2, \
				rate[1] / 1e3, rate[3] / 1e3
			if ($2 in wanted)
				printf " (target %d: %s)", wanted[$2], \
					met(rate[3] >= 1e3 * wanted[$2])
			if ($2 == "compiled C")
				printf ", 1/%.1f of plain (target 1/5: %s)", \
					rate[1] / rate[3], met(rate[1] <= 5 * rate[3])
			printf "\n%-12s unwatched %.2f of plain (target 0.95: %s)\n", "", \
				rate[2] / rate[1], met(rate[2] >= 0.95 * rate[1])
		}
		END { exit !done }'
}

rates
boot=$(seconds 1 selftest.tsc_ticks_during_a_stall)
one=$(seconds 1 '*')
ten=$(seconds 10 '*')
direct_boot=$(direct_seconds selftest.tsc_ticks_during_a_stall)
direct_one=$(direct_seconds '*')
echo "boot and one test:      $boot s"
echo "boot and every test:    $one s (target: $(awk "BEGIN { print $boot + 3 }"))"
echo "each further whole run: $(awk "BEGIN { printf \"%.1f\", ($ten - $one) / 9 }") s"
echo "without firmware, one test:   $direct_boot s, $(share "$direct_boot" "$boot") of that by UEFI"
echo "without firmware, every test: $direct_one s, $(share "$direct_one" "$one") of that by UEFI"
