#!/bin/sh
# SPDX-License-Identifier: MIT
# run-fuzz.sh OUT SECONDS FUZZER...
# Fuzzes for SECONDS in all, shared evenly between the targets. Inputs that reach something new
# are kept in OUT/corpus/<target> for the next time; an input that breaks a rule is kept in OUT
# and named. Exit status 1 then.
set -u

out=$1 seconds=$2
shift 2
case $seconds in
'' | *[!0-9]*)
	echo "fuzz: SECONDS is '$seconds', want a whole number" >&2
	exit 2
	;;
esac
[ $# -gt 0 ] || {
	echo "fuzz: there are no fuzz targets" >&2
	exit 2
}
each=$((seconds / $#))
[ $each -gt 0 ] || each=1

bad=0
for fuzzer; do
	name=${fuzzer##*/}
	mkdir -p "$out/corpus/$name"
	echo "$name: $each s" >&2
	if ! "$fuzzer" -max_total_time=$each -max_len=4096 -print_final_stats=1 \
		-artifact_prefix="$out/crash-$name-" "$out/corpus/$name" \
		> "$out/$name.log" 2>&1; then
		tail -n 60 "$out/$name.log"
		bad=$((bad + 1))
	fi
	sed -n 's/^stat::number_of_executed_units: */'"$name"': inputs tried: /p' "$out/$name.log"
done
echo "$(($# - bad)) passed, $bad failed"
[ $bad = 0 ]
