#!/bin/sh
# SPDX-License-Identifier: MIT
# run-tests.sh OUT RUNS TEST... -- FUZZER...
# Runs every test program and RUNS inputs of every fuzz target (same seed each time, so that the
# outcome is the same), several side by side. Prints what a failed one said; the last line is
# "N passed, N failed", the sum over all. A program that crashes or says nothing counts as failed.
set -u

out=$1 runs=$2
shift 2
logs=$out/logs.$$
mkdir -p "$logs"
trap 'rm -rf "$logs"' EXIT

# Jobs as "log<TAB>seconds<TAB>command", one line each.
fuzz=0
jobs=$logs/jobs
: > "$jobs"
for program; do
	if [ "$program" = -- ]; then
		fuzz=1
		continue
	fi
	name=$(printf '%s' "${program#"$out"/}" | tr / _)
	if [ $fuzz = 1 ]; then
		printf '%s\0%s\0' "$name" "$program -runs=$runs -seed=1 -max_len=4096 \
			-artifact_prefix=$out/crash-${program##*/}-" >> "$jobs"
	else
		printf '%s\0%s\0' "$name" "$program" >> "$jobs"
	fi
done

export logs
# shellcheck disable=SC2016  # expanded by the inner shell
xargs -0 -n 2 -P "$(nproc)" sh -c '
	timeout 600 $2 > "$logs/$1.log" 2>&1
	echo $? > "$logs/$1.status"
' run < "$jobs"

passed=0 failed=0
for status in "$logs"/*.status; do
	[ -e "$status" ] || continue
	log=${status%.status}.log
	code=$(cat "$status")
	sum=$(sed -n 's/^.*: \([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$log" | tail -n 1)
	case $log in
	*_host_fuzz_*)
		if [ "$code" = 0 ]; then sum="1 0"; else sum="0 1"; fi
		;;
	esac
	# No closing line, or a crash after it: the program itself failed.
	[ -n "$sum" ] || sum="0 1"
	if [ "$code" != 0 ] && [ "${sum#* }" = 0 ]; then sum="${sum% *} 1"; fi
	passed=$((passed + ${sum% *}))
	failed=$((failed + ${sum#* }))
	if [ "${sum#* }" != 0 ]; then
		name=${status##*/}
		echo "--- ${name%.status} (exit status $code)"
		tail -n 60 "$log"
	fi
done
echo "$passed passed, $failed failed"
[ $failed = 0 ] && [ $passed != 0 ]
