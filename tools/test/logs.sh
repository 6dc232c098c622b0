# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # sourced by test.sh, whose functions and variables it uses
#
# Tests of `make test`: the handling of a run's log, for every content of the log and every
# failure during the run. QEMU is a fake here, so these tests are quick.

# The inputs are the same every time; `make fuzz` continues with other inputs.
takes 15 test_any_log_becomes_results
test_any_log_becomes_results()
{
	expect 0 host/fuzz/fuzz_results.py
	grep -qP '^fuzz_results.py: [1-9]\d* passed, 0 failed$' "$out"
}

# A QEMU that writes standard input's text as its serial log, and then runs the commands given.
# shellcheck disable=SC2016 # the dollars are its own
fake_qemu()
{
	{
		echo '#!/bin/bash'
		echo 'while [ "$1" != -serial ]; do shift; done'
		printf 'cat > "${2#file:}" <<"END"\n%s\nEND\n' "$(cat)"
		printf '%s\n' "$@"
	} > "$log/fake-qemu"
	chmod 755 "$log/fake-qemu"
}

test_a_garbled_line_is_one_bad_line()
{
	local line

	# shellcheck disable=SC1003 # a backslash is meant
	for line in 'ok 2 - group.claim two [MSR-24] BdsDxe: loading' 'ok 2 - group.claim \' \
		"ok $(printf '%05000d' 2) - group.claim [MSR-24]" 'ok 2 - a b c'; do
		fake_qemu <<- END
			launch: run 1 cpu=haswell fault=none seed=0
			TAP version 14
			1..2
			not ok 1 - group.first [CNT-01]
			  ---
			  requirement: CNT-01
			  ...
			$line
			# decided 2, skipped 0, inconclusive 0, known 0, failed 1, errors 0
			# end of PMUTest86: exit 1
			launch: end 1 status=0x0
		END
		expect 1 env QEMU="$log/fake-qemu" ./run-qemu.sh --out "$log/garbled"
		[ -s "$log/garbled/serial.log" ]
		[ "$(grep -c '^not ok' "$out")" = 2 ]
		grep -q '^not ok 2 - garbled_line ' "$out"
		grep -q '^not ok 1 - group.first ' "$out"
		refute grep -q Traceback "$err"
		expect 0 "$build/pmutest86-report" --markdown - "$log/garbled"
		grep -q '^## ERROR garbled_line' "$out"
		expect 0 "$build/pmutest86-report" --markdown - "$log/garbled/serial.log"
		grep -q '^## ERROR garbled_line' "$out"
	done
}

# One "not " that the line lost would make the run green.
test_a_lost_word_is_noticed()
{
	printf '%s\n' 'TAP version 14' 1..1 'ok 1 - group.claim [CNT-01]' \
		'# decided 1, skipped 0, inconclusive 0, known 0, failed 1, errors 0' \
		'# end of PMUTest86: exit 0' > "$log/lost"
	expect 2 tools/conclude.py --serial "$log/lost" --out "$log/lost-out" --run pmu=none
	grep -q '^Bail out! the harness counted 0 known, 1 failed' "$out"
}

test_long_logs_are_read_quickly()
{
	local start=$SECONDS

	{
		printf '%s\n' 'TAP version 14' 1..1 'ok 1 - group.claim [CNT-01]'
		head -c 20000000 /dev/zero | tr '\0' x
		printf '\nok 2 - %s\n' "$(head -c 100000 /dev/zero | tr '\0' ' ')x y"
	} > "$log/long"
	expect 0 "$build/pmutest86-report" --html - "$log/long"
	[ $((SECONDS - start)) -le 20 ] || fail "it took $((SECONDS - start)) s"
}

test_results_outlive_standard_output()
{
	local status tool

	fake_qemu <<- 'END'
		launch: run 1 cpu=haswell fault=none seed=0
		TAP version 14
		1..1
		ok 1 - group.claim [CNT-01]
		# decided 1, skipped 0, inconclusive 0, known 0, failed 0, errors 0
		# end of PMUTest86: exit 0
		launch: end 1 status=0x0
	END
	export QEMU=$log/fake-qemu
	for tool in './run-qemu.sh' './run-qemu.sh --all' './run-qemu.sh --list faults' \
		'./run-qemu.sh --help' "$build/pmutest86-report $log/full/haswell"; do
		case $tool in
		./run-qemu.sh | *--all)
			rm -rf "$log/full"
			tool+=" --out $log/full"
			;;
		esac
		status=0
		$tool > /dev/full 2> "$log/full.err" || status=$?
		[ $status = 2 ] || fail "$tool on a full device ended with $status"
		refute grep -q Traceback "$log/full.err"
		[ "$(wc -l < "$log/full.err")" = 1 ] || fail "$tool: $(cat "$log/full.err")"
		case $tool in
		*--all*) [ -s "$log/full/haswell/results.json" ] ;;
		*--out*) [ -s "$log/full/results.json" ] ;;
		esac
	done
	rm -rf "$log/full"
	# The reader is gone before anything is written.
	status=0
	{
		sleep 1
		./run-qemu.sh --out "$log/full" 2> "$log/full.err" || echo $? > "$log/full.status"
	} | true
	[ "$(cat "$log/full.status")" = 2 ]
	[ -s "$log/full/results.json" ] && [ -s "$log/full/serial.log" ]
	refute grep -q Traceback "$log/full.err"
}

# Processes of session $1, or process $1 with -p, that run or wait. A zombie is gone: whether it is
# reaped is up to process 1, which in a container may be a program that never does.
alive()
{
	local which=-s
	if [ "$1" = -p ]; then
		which=-p
		shift
	fi
	ps -o stat=,pid=,args= $which "$1" |
		awk '$1 !~ /^Z/ { print; found = 1 } END { exit !found }'
}

# The terminal is closed, the process ended, or Ctrl-C pressed.
alone test_nothing_is_left_after_a_signal
test_nothing_is_left_after_a_signal()
{
	local signal command leader begin
	# A job of a script ignores INT, one under nohup HUP, and what they start as well.
	begin='import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
open(sys.argv[1], "w").write(str(os.getpid()))
os.execvp(sys.argv[2], sys.argv[2:])'

	# Its process outlives no signal either, in whichever session it is.
	fake_qemu "echo \$\$ > '$log/machine'" 'exec sleep 300' <<< 'TAP version 14'
	for signal in HUP TERM INT; do
		for command in ./run-qemu.sh './run-qemu.sh --all' \
			"tools/seeds.py --build $build --seeds 2" \
			"tools/test.sh $build test_glob_selects test_one_processor_passes"; do
			# shellcheck disable=SC2086 # words
			QEMU=$log/fake-qemu setsid -f python3 -c "$begin" "$log/leader" $command \
				> /dev/null 2>&1
			for _ in {1..200}; do
				sleep 0.1
				[ ! -s "$log/machine" ] || break
			done
			[ -s "$log/machine" ] || fail "$command started no machine"
			leader=$(cat "$log/leader")
			alive "$leader" > /dev/null || fail "$command didn't begin"
			kill -$signal -- "-$leader" 2> /dev/null || true
			for _ in {1..100}; do
				sleep 0.1
				alive "$leader" > /dev/null || break
			done
			if alive "$leader" || alive -p "$(cat "$log/machine")"; then
				fail "$command leaves processes after $signal"
			fi 2> /dev/null
			rm -f "$log/leader" "$log/machine"
			refute compgen -G "$build/plan.*"
			refute compgen -G "$build/run.*"
		done
	done
}

# The fake writes $1 and then does $2: the error names $3.
ends_with()
{
	fake_qemu "$2" <<< "$1"
	expect 2 env QEMU="$log/fake-qemu" ./run-qemu.sh --out "$log/killed"
	grep -qF -- "$3;" "$err" || fail "no '$3' in: $(cat "$err")"
}

# shellcheck disable=SC2016 # the dollars are the fake's own
test_a_killed_qemu_is_told()
{
	ends_with 'TAP version 14' 'kill -9 $$' 'QEMU: killed by signal 9'
	ends_with 'TAP version 14' 'exit 3' 'QEMU: ended with status 3'
	ends_with 'TAP version 14' 'echo "no such machine" >&2; exit 1' 'QEMU: no such machine'
	ends_with 'TAP version 14' 'echo "(qemu) ERROR:x.c:1: wrong" >&2; kill -6 $$' \
		'QEMU: ERROR:x.c:1: wrong'
	ends_with 'TAP version 14' 'exit 0' \
		'without its end line: the machine ended without a word'
	ends_with $'TAP version 14\nrefpmu: unexpected exit 0' 'exit 0' \
		'without its end line: refpmu: unexpected exit 0: the machine ended'
}

# The fake says other words of the hypervisor's memory from the fourth time on that it is asked.
# shellcheck disable=SC2016 # the dollars are its own
test_a_hypervisor_that_a_device_has_overwritten_is_told()
{
	local start=$SECONDS

	fake_qemu 'while [ "$1" != -chardev ]; do shift; done' 'pipe=${2##*path=} asked=0' \
		'exec 3< "$pipe.in" 4> "$pipe.out"' 'while ! read -r -t 0.1; do' \
		'	read -r -t 0.1 -u 3 line || continue' \
		'	[[ $line == *"xp /2gx 0xbe000000"* ]] || continue' \
		'	asked=$((asked + 1))' \
		'	echo "{\"return\": \"00000000be000000: 0x$((asked / 4)) 0x0\\r\\n\"}" >&4' \
		'done' <<< $'launch: hypervisor at 0xbe000000\r\nTAP version 14'
	expect 2 env QEMU="$log/fake-qemu" ./run-qemu.sh --timeout 60 --out "$log/killed"
	[ $((SECONDS - start)) -lt 30 ]
	grep -q "a device has written over the hypervisor's memory: the machine was stopped;" "$err"
}

# The line that says where the hypervisor is comes in two parts, and the boot script looks at the
# log in between. Memory at the address of the first part isn't the hypervisor's.
# shellcheck disable=SC2016 # the dollars are the fake's own
test_a_part_of_a_line_is_no_address()
{
	fake_qemu 'serial=${2#file:}' 'while [ "$1" != -chardev ]; do shift; done' \
		'pipe=${2##*path=} asked=0' 'exec 3< "$pipe.in" 4> "$pipe.out"' \
		'printf "launch: hypervisor at 0xb" > "$serial"' 'sleep 1' \
		'printf "e000000\r\nTAP version 14\r\n" >> "$serial"' \
		'while [ "$asked" -lt 3 ]; do' \
		'	read -r -t 0.1 -u 3 line || continue' \
		'	[[ $line == *"xp /2gx 0x"* ]] || continue' '	words="0x0 0x0"' \
		'	if [[ $line == *"xp /2gx 0xbe000000"* ]]; then' \
		'		words="0x905a4d 0x3" asked=$((asked + 1))' '	fi' \
		'	echo "{\"return\": \"00000000be000000: $words\\r\\n\"}" >&4' \
		'done' <<< ''
	expect 2 env QEMU="$log/fake-qemu" ./run-qemu.sh --timeout 60 --out "$log/part"
	grep -q 'without its end line: the machine ended without a word;' "$err" ||
		fail "not the end that was made: $(cat "$err")"
}

# A program that ends the machine: it is told at once, and why, by the hypervisor if it lives.
takes 15 test_a_dead_machine_has_last_words
test_a_dead_machine_has_last_words()
{
	local way words start

	while read -r way words; do
		start=$SECONDS
		expect 2 ./run-qemu.sh --timeout 300 --efi "$build/refpmu-selftest.efi" \
			--out "$log/death" -- "die=$way"
		[ $((SECONDS - start)) -lt 250 ] || fail "die=$way: not noticed"
		grep -q "^# | # dying $way$" "$out"
		refute grep -q '# alive' "$out"
		grep -qE "message: it didn't return: $words\$" "$out" ||
			fail "die=$way: $(grep message: "$out")"
	done <<- 'EOF'
		1 refpmu: the guest shut down .*: the machine was reset
		2 refpmu: the guest shut down .*: the machine was reset
		3 refpmu: an INIT for the boot processor .*: the machine was reset
		4 the machine was reset without a word
		5 (refpmu: .*: )?(the machine was (stopped|reset)|QEMU hadn't .*)( without a word)?
	EOF
}
