#!/bin/bash
# SPDX-License-Identifier: MIT
# Who may include whom (docs/ARCHITECTURE.md): prints each breach, exit status 1 if there is one.
set -euo pipefail
cd "$(dirname "$0")/.."

# folder or files : what their includes in quotes may begin with : what those in <> may be
std='stdarg.h stddef.h stdint.h stdbool.h'
RULES=(
	'spec:spec/:stddef.h stdint.h stdbool.h'
	'claims:claims/ spec/:stddef.h stdint.h stdbool.h'
	"kernel:kernel/ spec/:$std"
	"pmu:pmu/ kernel/ spec/ claims/known.def:$std"
	"tests:tests/ pmu/ kernel/ spec/ claims/:$std"
	"boot:boot/ tests/frame/suite.h kernel/ spec/ version.h:$std efi.h efilib.h"
	"refpmu:refpmu/ spec/ version.h:$std efi.h efilib.h Zydis/"
	'refpmu/model:refpmu/model/ refpmu/faults/ spec/:stddef.h stdint.h stdbool.h'
)

# $1 begins with one of the other words.
allowed()
{
	local name=$1 prefix

	shift
	for prefix; do
		[[ $name != "$prefix"* ]] || return 0
	done
	return 1
}

status=0
for rule in "${RULES[@]}"; do
	IFS=: read -r where quoted angled <<< "$rule"
	case $where in
	*'*')	mapfile -t files < <(compgen -G "$where.[ch]" || true) ;;
	*)	mapfile -t files < <(find "$where" -name '*.[ch]' -o -name '*.asm' -o \
				     -name '*.def' -o -name '*.inc' | sort) ;;
	esac
	[ ${#files[@]} -gt 0 ] || continue
	while IFS=: read -r file line text; do
		[[ $text =~ [\<\"]([^\>\"]+)[\>\"] ]] || continue
		name=${BASH_REMATCH[1]}
		case $text in
		*\<*)	read -ra list <<< "$angled" ;;
		*)	read -ra list <<< "$quoted" ;;
		esac
		if ! allowed "$name" "${list[@]}"; then
			echo "$file:$line: $where may not include $name"
			status=1
		fi
	done < <(grep -nHE '^[[:space:]]*[#%][[:space:]]*include' "${files[@]}" || true)
done
exit $status
