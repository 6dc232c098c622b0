#!/bin/bash
# SPDX-License-Identifier: MIT
# Pure parts are compiled for the development machine too (HOST_PURE in host/host.mk): they see pure
# headers only, directly or not, hold no assembly and no data that can change. Prints one line a
# breach; exit status 1 if there is one. Needs make, gcc and nm.
set -u
export LC_ALL=C
cd "$(dirname "$0")/.." || exit 2

read -ra sources < <(make -s -f host/host.mk pure-sources)
# What each side's pure sources may see. The harness's and the model's share spec/ only.
harness='spec/* claims/* kernel/confidential.h kernel/fmt.h kernel/tap.h kernel/topology.h'
harness+=' pmu/hypervisor.h pmu/leaves.h pmu/record.h boot/config.h boot/smbios.h'
harness+=' boot/spread.h tests/*.h'
model='spec/* refpmu/model/* refpmu/faults/* refpmu/vmm/configure.h'
model+=' refpmu/launch/plan.h refpmu/launch/fault.h refpmu/launch/span.h refpmu/launch/pe.h'

status=0
[ ${#sources[@]} -gt 0 ] || { echo "check-pure: host/host.mk names no pure source"; exit 2; }
breach() { echo "$1: pure, $2"; status=1; }

# matches WORD "PATTERN PATTERN ..."
matches()
{
	local pattern
	set -f
	for pattern in $2; do
		# shellcheck disable=SC2053  # the right side is a pattern
		if [[ $1 == $pattern ]]; then set +f; return 0; fi
	done
	set +f
	return 1
}

object=$(mktemp) || exit 2
trap 'rm -f "$object"' EXIT
for source in "${sources[@]}"; do
	source=${source#./}
	case $source in
	refpmu/*) may=$model ;;
	*) may=$harness ;;
	esac
	if ! includes=$(gcc -std=gnu11 -I. -MM "$source" 2>/dev/null) ||
	   ! gcc -std=gnu11 -I. -O1 -fno-pic -w -c "$source" -o "$object" 2>/dev/null; then
		breach "$source" "and doesn't compile for this machine"
		continue
	fi
	for header in ${includes#*:}; do
		case $header in
		"\\"|"$source") ;;
		*) matches "$header" "$may" || breach "$source" "and includes $header" ;;
		esac
	done
	if grep -vE '^[[:space:]]*(/?\*|//)' "$source" | grep -qE '\b(asm|__asm__)\b'; then
		breach "$source" "and holds assembly"
	fi
	while read -r _ _ symbol; do
		breach "$source" "and has data that can change: $symbol"
	done < <(nm "$object" | grep -E '^[0-9a-f]+ [bBdDC] ')
done
exit $status
