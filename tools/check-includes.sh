#!/bin/bash
# SPDX-License-Identifier: MIT
# Checks who includes whom: the table of docs/ARCHITECTURE.md, "Who may include whom". The harness
# (pmu/, tests/) and the reference PMU (refpmu/) share facts, spec/, and never logic. Pure parts
# see pure headers only, hold no assembly and no data that can change.
# Prints one line a breach; exit status 1 if there is one. Needs gcc and nm.
set -u
export LC_ALL=C
cd "$(dirname "$0")/.." || exit 2

# Folder by folder: what may stand before the first slash of an include in quotes.
declare -A may=(
	[spec]="spec"
	[kernel]="spec kernel"
	[pmu]="spec kernel pmu"
	[tests]="spec kernel pmu tests"
	[boot]="spec kernel tests boot"
	[refpmu]="spec refpmu"
	[host]="spec kernel pmu tests boot refpmu host"
)
# Includes in angle brackets, as patterns. Only boot/ and refpmu/ know of UEFI.
freestanding="stdarg.h stdbool.h stddef.h stdint.h"
declare -A may_system=(
	[spec]="stdbool.h stddef.h stdint.h"
	[kernel]="$freestanding"
	[pmu]="$freestanding"
	[tests]="$freestanding"
	[boot]="$freestanding efi.h efi*.h"
	[refpmu]="$freestanding efi.h efi*.h Zydis/*.h"
	[host]="*"
)
# Made by the build, known to everybody.
generated="version.h"
# Compiled for the development machine too, see host/host.mk; and all that these may include.
pure_sources=(refpmu/model*.c refpmu/launch_plan.c pmu/record.c boot/config.c kernel/fmt.c
	kernel/tap.c tests/glob.c tests/verdict.c)
pure_headers='spec/*|kernel/fmt.h|kernel/tap.h|pmu/record.h|boot/config.h|tests/glob.h'
pure_headers+='|tests/verdict.h|tests/test.h|refpmu/model*.h|refpmu/launch_plan.h'

bad=0
breach() { echo "$1"; bad=$((bad + 1)); }

# matches WORD "PATTERN PATTERN ...": does the word match one of the patterns?
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

files=0
while IFS= read -r file; do
	folder=${file%%/*}
	files=$((files + 1))
	while IFS=: read -r number what; do
		name=${what#*[<\"]}
		name=${name%%[>\"]*}
		case $what in
		*\<*)
			matches "$name" "${may_system[$folder]}" ||
				breach "$file:$number: $folder/ may not include <$name>" ;;
		*)
			matches "$name" "$generated" && continue
			if [[ $name != */* ]] || ! matches "${name%%/*}" "${may[$folder]}"; then
				breach "$file:$number: $folder/ may not include \"$name\""
			fi ;;
		esac
	done < <(grep -nE '^[[:space:]]*[#%][[:space:]]*include[[:space:]]*[<"]' "$file" |
		 sed -E 's/^([0-9]+):[[:space:]]*[#%][[:space:]]*include[[:space:]]*/\1:/')
done < <(find spec kernel pmu tests boot refpmu host -type f \
	 \( -name '*.[ch]' -o -name '*.asm' -o -name '*.inc' -o -name '*.def' \) | sort)

object=$(mktemp) || exit 2
trap 'rm -f "$object"' EXIT
for source in "${pure_sources[@]}"; do
	[ -e "$source" ] || continue
	if ! includes=$(gcc -std=gnu11 -I. -MM "$source" 2>/dev/null); then
		breach "$source: doesn't compile for this machine"
		continue
	fi
	for header in ${includes#*:}; do
		[ "$header" = "\\" ] && continue
		[ "$header" = "$source" ] && continue
		matches "$header" "${pure_headers//|/ }" ||
			breach "$source: pure, and includes $header"
	done
	grep -nE '\b(asm|__asm__)\b' "$source" | grep -vE ':[[:space:]]*(/?\*|//)' |
		grep -q . && breach "$source: pure, and holds assembly"
	if gcc -std=gnu11 -I. -O1 -fno-pic -w -c "$source" -o "$object" 2>/dev/null; then
		while read -r _ _ symbol; do
			breach "$source: pure, and has data that can change: $symbol"
		done < <(nm "$object" | grep -E '^[0-9a-f]+ [bBdDC] ')
	else
		breach "$source: doesn't compile for this machine"
	fi
done

if [ $bad != 0 ]; then
	echo "check-includes: $bad breaches of the table in docs/ARCHITECTURE.md" >&2
	exit 1
fi
echo "check-includes: $files files, no breach"
