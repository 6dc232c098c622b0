#!/bin/bash
# SPDX-License-Identifier: MIT
#
# selftest.sh BUILD [OPTIONS...]: runs refpmu-selftest.efi on the reference PMU, once for each
# OPTIONS, all in one boot ("programs=100 first=1000"; once without options if there are none).
# Environment: SMP=N: on N processors; LATITUDE=K:V,...: with these knobs; TIMEOUT=S: S seconds for
# each (120). Prints failures and the comments of the self test. Exit status 1 if anything failed or
# is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -d "${1-}" ] || {
	echo "usage: selftest.sh BUILD [OPTIONS...]; no folder '${1-}'" >&2
	exit 2
}
build=$1
shift
[ $# -gt 0 ] || set -- ''
work=$(mktemp -d "$build/selftest.XXXXXX")
trap 'rm -rf "$work"' EXIT

mkdir -p "$work/esp/EFI/BOOT"
cp "$build/launch.efi" "$work/esp/EFI/BOOT/BOOTX64.EFI"
cp "$build/refpmu.efi" "$build/refpmu-selftest.efi" "$work/esp/"
for options; do
	printf '%s\n' "run${LATITUDE:+ latitude=$LATITUDE} efi=\\refpmu-selftest.efi args=$options"
done > "$work/esp/refpmu-plan.txt"
status=0
tools/boot.sh --smp "${SMP:-1}" --timeout $((${TIMEOUT:-120} * $#)) "$work" || status=$?
grep -aE '^(not ok|#|refpmu:)' "$work/serial.log" || true
good=$(grep -ac '^# failures: 0' "$work/serial.log" || true)
[ $status = 0 ] && [ "$good" = $# ]
