#!/bin/bash
# SPDX-License-Identifier: MIT
# Checks what a reader shouldn't have to: white space, lengths, licence lines, leftovers, register
# numbers outside spec/, paths of somebody's machine. Looks at the files that git knows, or at
# those named on the command line. Prints one line a finding; exit status 1 if there is one.
set -u
export LC_ALL=C.UTF-8
cd "$(dirname "$0")/.." || exit 2

max_line=100
max_file=700

if [ $# -gt 0 ]; then
	files=("$@")
else
	mapfile -t files < <(git ls-files 2>/dev/null)
	[ ${#files[@]} -gt 0 ] || mapfile -t files < <(find . -path './build*' -prune -o \
		-path './.*' -prune -o -type f -printf '%P\n' | sort)
fi

bad=0
# report MESSAGE: each "file:line" on standard input becomes one finding.
report()
{
	local place
	while IFS= read -r place; do
		echo "$place: $1"
		bad=$((bad + 1))
	done
}
# numbers FILE PATTERN: "file:line" of each line that matches.
numbers() { grep -nE -- "$2" "$1" | sed -E "s|^([0-9]+):.*|${1//|/\\|}:\1|"; }

for file in "${files[@]}"; do
	[ -f "$file" ] || continue
	grep -qI . "$file" || continue		# empty, or not text
	kind=other
	case $file in
	*.c|*.h) kind=c ;;
	*.asm|*.inc) kind=asm ;;
	*.def) kind=table ;;
	*.sh|*.py|*.mk|Makefile|*.ld|.ci/*) kind=script ;;
	*.md) kind=text ;;
	esac

	report "blank at the end of the line" < <(numbers "$file" '[[:blank:]]+$')
	report "carriage return" < <(numbers "$file" $'\r')
	[ -z "$(tail -c 1 "$file")" ] || report "no line feed at the end of the file" <<< "$file"
	# Tables hold sentences, text has tables, make's recipes don't wrap: no line length there.
	case $file in
	*.c|*.h|*.asm|*.inc|*.sh|*.py|*.ld)
		report "longer than $max_line columns" < <(expand "$file" |
			awk -v max=$max_line -v file="$file" \
				'length($0) > max { print file ":" NR }') ;;
	esac
	case $kind in
	c|asm|script)
		head -n 3 "$file" | grep -q 'SPDX-License-Identifier: MIT' ||
			report "no SPDX line among the first three" <<< "$file"
		lines=$(wc -l < "$file")
		[ "$lines" -le $max_file ] ||
			report "$lines lines, more than $max_file" <<< "$file" ;;
	esac
	case $kind in
	c|asm)
		report "indented with blanks instead of tabs" < <(numbers "$file" '^ {8}') ;;
	esac
	# TAP's own directive "# TODO" is no leftover.
	report "leftover" < <(grep -nE '\b(TODO|FIXME|XXX|HACK)\b' "$file" |
		grep -vE '# TODO|"TODO|TODO KNOWN|`TODO' | grep -vE 'TODO\|FIXME' |
		sed -E "s|^([0-9]+):.*|${file//|/\\|}:\1|")
	case $file in
	boot/*|kernel/*|pmu/*|refpmu/*|tests/*)
		report "register number: name it in spec/msr.def" < <(numbers "$file" \
			'(rdmsr|wrmsr|msr_(try_)?(read|write)) ?\((&?m, ?)?0x') ;;
	esac
	# An absolute path that isn't one of every machine's, nor \EFI\... of a stick.
	report "path of somebody's machine" < <(grep -noE \
		"(^|[[:blank:]\"'=(:])/[a-z][a-z0-9_-]*/[A-Za-z0-9._-]+" "$file" |
		grep -vE ":.?/(usr|dev|etc|bin|sbin|sys|proc|run|tmp|var|lib|opt|boot|mnt|efi)/" |
		sed -E "s|^([0-9]+):.*|${file//|/\\|}:\1|")
done

if [ $bad != 0 ]; then
	echo "check-style: $bad findings" >&2
	exit 1
fi
echo "check-style: ${#files[@]} files, no finding"
