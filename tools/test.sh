#!/bin/bash
# SPDX-License-Identifier: MIT
#
# make test: every test of the project. test.sh BUILD [NAME...]: all, or the functions named. Each
# function test_* in tools/test/ is one test: it fails if it returns non-zero, and then its output
# is shown. JOBS tests (default: as many as processors) run at a time, the longest first, each in
# its own folder. Tests marked alone() run before these, one after the other. The last line is "N
# passed, N failed"; skipped tests are listed above it and count as neither. With LONG set (make
# test-long) tests that are samples run whole: docs/TESTING.md.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -n "${1-}" ] || {
	echo "usage: test.sh BUILD [NAME...]" >&2
	exit 2
}
build=$1
shift
export BUILD=$build
jobs=${JOBS:-$(nproc)}
[[ $jobs =~ ^[1-9][0-9]{0,2}$ ]] || {
	echo "test.sh: JOBS is a number, not '$jobs'" >&2
	exit 2
}
# make's own -j isn't for the makes in here.
unset MAKEFLAGS MAKELEVEL

# ---------------------------------------------------------------- what tests say
# alone TEST: nothing else runs meanwhile, because it measures time, looks at all processes, or
# keeps each processor busy itself.
declare -A is_alone=()
alone()
{
	is_alone[$1]=yes
}

# takes SECONDS TEST: about as long. Without it: 10.
declare -A seconds_of=()
takes()
{
	seconds_of[$2]=$1
}

# Prints $1, or $2 in a long run.
amount()
{
	if [ -n "${LONG-}" ]; then echo "$2"; else echo "$1"; fi
}

# What samples are drawn from: each commit has another one, the same on each machine.
# shellcheck disable=SC2034 # used by the tests
draw=${DRAW:-$(git rev-list --count HEAD 2> /dev/null || echo 1)}

# shared NAME STATUS COMMAND...: that command's results and output, made by the first test that asks
# and looked at by all: the folder $shared/NAME, which is COMMAND's last argument, $out and $err.
shared=$build/test/shared.$$
shared()
{
	local folder=$shared/$1 wanted=$2

	shift 2
	mkdir -p "$shared"
	exec 5> "$folder.lock"
	flock 5
	if [ ! -e "$folder.status" ]; then
		local status=0

		"$@" "$folder" > "$folder.out" 2> "$folder.err" || status=$?
		echo $status > "$folder.status"
	fi
	exec 5>&-
	expect "$wanted" show_shared "$folder"
}

# The output and the exit status of what shared() ran in folder $1.
show_shared()
{
	cat "$1.out"
	cat "$1.err" >&2
	return "$(cat "$1.status")"
}

# This machine can't do what the test is about: $*.
skip()
{
	echo "# skipped: $*"
	exit 77
}

fail()
{
	echo "FAILED: $*"
	exit 1
}

# Runs "$@" and wants exit status $1; standard output and error in $out and $err.
expect()
{
	local wanted=$1 status=0

	shift
	out=$log/out err=$log/err
	"$@" > "$out" 2> "$err" || status=$?
	if [ "$status" != "$wanted" ]; then
		tail -n 40 "$err"
		# What is red may be far from the end.
		head -n -40 "$out" | grep -E '^(not ok|Bail|  )|^# decided|MISSED|alarm|^FAILED' |
			tail -n 80 || true
		tail -n 40 "$out"
		fail "$* ended with $status, not $wanted"
	fi
}

# A test continues after "! command", whatever its result; it doesn't after "refute command".
refute()
{
	! "$@"
}

# Exit status 2, nothing on standard output, one line of error that contains $1.
expect_bad()
{
	local text=$1

	shift
	expect 2 "$@"
	[ ! -s "$out" ] || fail "$* printed something on standard output"
	[ "$(wc -l < "$err")" = 1 ] || fail "$* printed $(wc -l < "$err") lines of error, not 1"
	grep -qF -- "$text" "$err" || fail "$*: no '$text' in: $(cat "$err")"
}

for part in tools/test/*.sh; do
	# shellcheck source=/dev/null
	. "$part"
done

# ---------------------------------------------------------------- running them
mapfile -t known < <(sed -n 's/^\(test_[a-z0-9_]*\)()$/\1/p' tools/test/*.sh)
tests=("$@")
[ ${#tests[@]} -gt 0 ] || tests=("${known[@]}")
for name in "${tests[@]}" "${!is_alone[@]}" "${!seconds_of[@]}"; do
	declare -F "$name" > /dev/null || {
		echo "test.sh: no test '$name'" >&2
		exit 2
	}
done
one_by_one=() beside=()
for name in "${tests[@]}"; do
	if [ -n "${is_alone[$name]-}" ]; then
		one_by_one+=("$name")
	else
		beside+=("$name")
	fi
done
mapfile -t beside < <(for name in "${beside[@]}"; do
	echo "${seconds_of[$name]:-10} $name"
done | sort -s -k1,1nr | cut -d' ' -f2)

declare -A running=() # process, which leads a group: its test
passed=0 failed=0 skipped=()

# All that the tests have begun ends, whatever signal it is: a group for each, which TERM reaches.
# shellcheck disable=SC2317,SC2329 # called by traps
stop()
{
	local leader

	trap '' INT TERM HUP
	for leader in "${!running[@]}"; do
		kill -TERM -- "-$leader" 2> /dev/null || true
	done
	for _ in {1..100}; do
		for leader in "${!running[@]}"; do
			kill -0 -- "-$leader" 2> /dev/null || unset "running[$leader]"
		done
		[ ${#running[@]} -gt 0 ] || break
		sleep 0.1
	done
	for leader in "${!running[@]}"; do
		kill -KILL -- "-$leader" 2> /dev/null || true
	done
	rm -rf "$shared"
	exit 130
}
trap stop INT TERM HUP

begin()
{
	name=$1 log=$build/test/$1
	rm -rf "$log"
	mkdir -p "$log"
	# A subshell of its own, so that set -e holds inside.
	(
		set +em
		trap - INT TERM HUP
		began=$SECONDS
		(
			set -eE
			# What a test ends at need not print a word.
			trap 'echo "exit status $? at ${BASH_SOURCE[0]}:$LINENO: $BASH_COMMAND"' ERR
			"$name"
		) > "$log/log" 2>&1 < /dev/null
		status=$?
		echo "$((SECONDS - began))" > "$log/seconds"
		times >> "$log/seconds"
		exit $status
	) &
	running[$!]=$name
}

# Waits until one ends, and says how.
end_one()
{
	local leader='' status=0 wall=0 busy=0 name log time

	wait -n -p leader || status=$?
	name=${running[$leader]}
	log=$build/test/$name
	unset "running[$leader]"
	# Nothing that it began is left; a killed test has no such file.
	kill -TERM -- "-$leader" 2> /dev/null || true
	# Wall time, then that of the processor: the shell's own, and its children's.
	[ ! -s "$log/seconds" ] || read -r wall busy < <(awk -F '[ms ]+' 'NR == 1 { print $1 }
		NR > 1 { sum += 60 * $1 + $2 + 60 * $3 + $4 } END { print int(sum + 0.5) }' \
		"$log/seconds" | paste -s -d ' ')
	processor=$((processor + busy))
	time="$wall s, $busy s of processor time"
	case $status in
	0)
		passed=$((passed + 1))
		echo "passed  $name ($time)"
		sed -n 's/^# /        /p' "$log/log"
		;;
	77)
		skipped+=("$name")
		echo "skipped $name ($time)"
		sed -n 's/^# /        /p' "$log/log"
		;;
	*)
		failed=$((failed + 1))
		echo "FAILED  $name ($time)"
		tail -n 200 "$log/log" | sed 's/^/        /'
		;;
	esac
}

set -m
processor=0
for name in "${one_by_one[@]}"; do
	begin "$name"
	end_one
done
for name in "${beside[@]}"; do
	[ ${#running[@]} -lt "$jobs" ] || end_one
	begin "$name"
done
while [ ${#running[@]} -gt 0 ]; do
	end_one
done
rm -rf "$shared"
echo "$SECONDS s, $processor s of processor time, $jobs at a time"
[ ${#skipped[@]} = 0 ] || echo "${#skipped[@]} skipped: ${skipped[*]}"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
