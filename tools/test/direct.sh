# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # sourced by test.sh, whose functions and variables it uses
#
# Tests of `make test`: without a firmware, by the PVH entry.

# start FILE COMMAND-LINE [MODULE [OPTION...]]: the serial line is $log/machine/serial.log.
start()
{
	rm -rf "$log/machine"
	mkdir -p "$log/machine"
	cp "$1" "$log/machine/kernel"
	echo "$2" > "$log/machine/append"
	[ -z "${3-}" ] || cp "$3" "$log/machine/module"
	shift 2
	[ $# = 0 ] || shift
	tools/boot.sh --direct --timeout 60 "$@" "$log/machine"
}

said()
{
	tr -d '\r' < "$log/machine/serial.log" | grep -aqF -- "$1" ||
		fail "no '$1' in: $(tail -n 5 "$log/machine/serial.log")"
}

# What is said of each point. How many cases are drawn in a second, and so what they decide, differs
# from run to run.
points()
{
	grep -E "^(not )?ok |^# (requirements )?decided |NOT TESTED" "$1" |
		sed -E 's/^((not )?ok [0-9]+ - random\.[a-z0-9_]+) \[[^]]*\]/\1/'
}

# Each point of a whole run is as by UEFI.
takes 20 test_direct_boot_gives_the_verdicts_of_uefi
test_direct_boot_gives_the_verdicts_of_uefi()
{
	clean_run 0
	points "$out" > "$log/uefi"
	expect 0 ./run-qemu.sh --boot direct --require PRIO,REC,DS,PMI,CNT --out "$log/direct"
	points "$out" | diff "$log/uefi" -
	grep -q '^# firmware: none, entered by PVH; ' "$out"
	run_without_pmu 2
	points "$out" > "$log/uefi"
	expect 2 ./run-qemu.sh --boot direct --pmu none --out "$log/direct"
	points "$out" | diff "$log/uefi" -
}

# Faults, parameters, seeds and profiles go the same way.
takes 15 test_direct_boot_takes_a_plan
test_direct_boot_takes_a_plan()
{
	expect 1 ./run-qemu.sh --boot direct --fault loads-count-stores --smp 1 \
		--tests 'count.*' --out "$log/direct"
	grep -q '^not ok .* - count.load' "$out"
	grep -q '^# fault: acted [1-9]' "$out"
	expect 0 ./run-qemu.sh --boot direct --cpu skylake --seed 3 --profile silicon-hsw \
		--engine direct --smp 3 --tests 'selftest.*,count.in*' --out "$log/direct"
	grep -q '^# engine: direct' "$out"
	grep -q '^# processors: 3 of 3 processors' "$out"
	grep -q '^ok .* - count.instructions_are_counted_exactly ' "$out"
}

# The first module is the configuration; ways to end the machine; files can't be written.
test_direct_boot_ends_as_configured()
{
	local status=0

	printf '%s\n' 'tests = selftest.tsc*' 'at_end = exit' > "$log/cfg"
	start "$build/pmutest86.elf" '' "$log/cfg" --exit || status=$?
	[ $status = 5 ] || fail "QEMU ended with $status, not 5"
	said 'ok 1 - selftest.tsc_ticks_during_a_stall'
	said '# results are not saved: '
	start "$build/pmutest86.elf" 'tests=selftest.tsc* repeat=2 at_end=reset'
	[ "$(grep -ac '^TAP version 14' "$log/machine/serial.log")" = 2 ]
	[ "$(< "$log/machine/end")" = guest-reset ]
	start "$build/pmutest86.elf" 'tests=selftest.tsc* at_end=return'
	said '# end of PMUTest86: exit 2'
	[ "$(< "$log/machine/end")" = guest-shutdown ]
	start "$build/pmutest86.elf" 'tests=selftest.tsc* colour=red'
	said "Bail out! load options: 'colour' is not a key; "
}

# Each in one line, and the machine is switched off.
test_direct_boot_refuses_what_is_wrong()
{
	local text line

	while IFS='|' read -r text line; do
		start "$build/refpmu.elf" "$line" "$build/pmutest86.elf"
		said "launch: $text"
		[ "$(< "$log/machine/end")" = guest-shutdown ]
	done <<- 'END'
		the command line is no line of a plan: |
		a line begins with run|cpu=haswell
		no such cpu|run cpu=i386 efi=x
		no such fault|run fault=nothing efi=x
		efi is missing|run cpu=haswell
	END
	start "$build/refpmu.elf" 'run efi=x'
	said 'launch: there is no module: the program to run'
	start "$build/refpmu.elf" 'run efi=x' README.md
	said "launch: it isn't an ELF file for x86-64"
	start "$build/refpmu.elf" 'run efi=x' "$build/refpmu.elf" --cpu qemu64,svm=off
	said 'launch: this processor has no AMD-V (SVM)'
	start "$build/refpmu.elf" 'run efi=x' "$build/refpmu.elf"
	said 'launch: a segment lies where no memory is free'
	start "$build/refpmu.elf" 'run efi=x' "$build/pmutest86.elf" --memory 60
	said "launch: there isn't enough memory below 4 GiB"
	expect_bad "unknown --boot 'bios'; known: uefi direct" ./run-qemu.sh --boot bios
	expect_bad "--boot direct can't be combined with --efi" ./run-qemu.sh --boot direct \
		--efi "$build/pmutest86.efi"
}
