#!/bin/bash
# SPDX-License-Identifier: MIT
#
# format.sh [--check] [FILE...]: formats C with clang-format 19 (.clang-format) and shell scripts
# with shfmt, all that git knows or those named. Columns within a line stay as they are
# (keep_columns.py). --check changes nothing, prints the name of each file that isn't formatted, and
# exits with status 1 if there is one. It skips files that were formatted in an earlier check (their
# checksums are in .cache/formatted, by version of the tools). Versions of clang-format format
# differently, so C is skipped, with a message, if version 19 is missing; shell scripts are skipped
# without shfmt.
set -euo pipefail
cd "$(dirname "$0")/../.."
check=''
case ${1-} in
--check)
	check=yes
	shift
	;;
-*)
	echo "usage: format.sh [--check] [FILE...]" >&2
	exit 2
	;;
esac
if [ $# -gt 0 ]; then
	files=("$@")
else
	mapfile -t files < <(git ls-files)
fi

c_files=() scripts=()
for file in "${files[@]}"; do
	[ -f "$file" ] || continue
	case $file in
	*.c | *.h) c_files+=("$file") ;;
	*.sh | .ci/run) scripts+=("$file") ;;
	esac
done

clang_format=''
for program in clang-format-19 clang-format; do
	if "$program" --version 2> /dev/null | grep -q 'version 19\.'; then
		clang_format=$program
		break
	fi
done

# Prints, of the files "$@", those whose checksums $seen lacks.
unseen()
{
	sha256sum -- "$@" | grep -vxFf "$seen" | cut -c67-
}

status=0
if [ ${#c_files[@]} -eq 0 ]; then
	:
elif [ -z "$clang_format" ]; then
	echo "# C isn't checked: no clang-format 19; run: apt-get install clang-format-19" >&2
elif [ -n "$check" ] && mkdir -p .cache/formatted; then
	seen=.cache/formatted/$({
		"$clang_format" --version
		cat .clang-format tools/format/keep_columns.py
	} | sha256sum | cut -c1-16)
	: >> "$seen"
	mapfile -t left < <(unseen "${c_files[@]}" || true)
	[ ${#left[@]} -eq 0 ] || {
		printf '%s\0' "${left[@]}" | xargs -0 -P "$(nproc)" -n 40 \
			tools/format/keep_columns.py --check "$clang_format" || status=1
		[ $status != 0 ] || sha256sum -- "${left[@]}" >> "$seen"
	}
else
	printf '%s\0' "${c_files[@]}" | xargs -0 -P "$(nproc)" -n 40 \
		tools/format/keep_columns.py ${check:+--check} "$clang_format" || status=1
fi

if [ ${#scripts[@]} -eq 0 ]; then
	:
elif ! command -v shfmt > /dev/null; then
	echo "# shell scripts aren't checked: no shfmt; run: apt-get install shfmt" >&2
elif [ -n "$check" ]; then
	shfmt -i 0 -fn -sr -l "${scripts[@]}" | grep . && status=1
else
	shfmt -i 0 -fn -sr -w "${scripts[@]}"
fi
exit $status
