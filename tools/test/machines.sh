# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # sourced by test.sh, whose functions and variables it uses
#
# Tests of `make test`: machines with faults. Processors that differ, start late or never, registers
# that refuse access, state that firmware has left.

# If a filter refuses a register, the tests that need it are lost, and each is named. If all tests
# need it, all are lost.
takes 15 test_refused_registers_are_named
test_refused_registers_are_named()
{
	local number name

	while read -r number name; do
		expect 2 ./run-qemu.sh --latitude "refused-msr:$number" --out "$log/refused" \
			--tests 'selftest.the_pmu*,count.in*,ds.the_index*,pmi.freeze_c*,msr.d*'
		[ "$(grep -c '^not ok' "$out")" = 1 ]
		grep -A3 '^not ok .* - selftest.pmu_reset_writes_every_register ' "$out" |
			grep -q "message: WRMSR of 0 to $name is refused"
		grep -q "# SKIP WRMSR of 0 to $name is refused" "$out"
		grep -q '^ok .* - count.instructions_are_counted_exactly \[CNT-01\]$' "$out"
	done <<- 'EOF'
		1 IA32_DEBUGCTL (0x1d9)
		2 IA32_DS_AREA (0x600)
		3 IA32_PEBS_ENABLE (0x3f1)
	EOF
	expect 0 ./run-qemu.sh --latitude refused-msr:4 --tests 'selftest.*,count.in*' \
		--out "$log/refused"
	expect 2 ./run-qemu.sh --latitude refused-msr:5 --tests 'selftest.the*,count.in*' \
		--out "$log/refused"
	grep -q 'WRMSR of 0 to IA32_PERF_GLOBAL_CTRL (0x38f) is refused' "$out"
}

# CPUID.0AH may tell of fewer counters, narrower ones, and missing events. What needs them is
# skipped; nothing fails, and nothing ends in an exception.
takes 20 test_fewer_counters_and_events_are_no_errors
test_fewer_counters_and_events_are_no_errors()
{
	expect 0 ./run-qemu.sh --cpu icelake-sp --out "$log/fewer" \
		--latitude gp-counters:5,fixed-counters:3,missing-events:255
	refute grep '^not ok' "$out"
	expect 0 ./run-qemu.sh --profile unnamed --out "$log/fewer" \
		--latitude gp-counters:2,fixed-counters:1,missing-events:1,gp-width:32
	refute grep '^not ok' "$out"
	grep -q '^ok .* - count.instructions_are_counted_exactly \[CNT-01\]$' "$out"
}

# What a file says of a machine is enumerated: machine.json of another run, or registers. What the
# model can't be is one line.
takes 15 test_a_personality_is_enumerated
test_a_personality_is_enumerated()
{
	local words='0a 0x00: eax=0x07300404 ebx=0x00000018 ecx=0x00000000 edx=0x00000603'

	mkdir -p "$log/there"
	expect 0 ./run-qemu.sh --cpu skylake --tests 'selftest.*,count.in*' --out "$log/there" \
		--latitude gp-counters:3,fixed-counters:2,fixed-width:40
	expect 0 ./run-qemu.sh --personality "$log/there/machine.json" --out "$log/here" \
		--tests 'selftest.*,count.in*'
	[ ! -s "$log/here/differences.txt" ] || fail "$(cat "$log/here/differences.txt")"
	grep -q '^# perfmon: version 4, 3 general-purpose counters of 48 bits, 2 fixed of 40' "$out"
	{
		printf "   0x%08x 0x00: eax=0x%08x ebx=0x%08x ecx=0x%08x edx=0x%08x\n" \
			0 0x16 0x756e6547 0x6c65746e 0x49656e69 1 0x506e3 0 0x8014 0x200000
		echo "   0x000000$words" && echo '0x345 0x33c5' && echo '1a0 = 0x880'
	} > "$log/cpuid.txt"
	tools/personality/file.py knobs "$log/cpuid.txt" |
		grep -q '^skylake.*gp-counters:4,.*perf-capabilities:13253,pebs-unavailable:0'
	sed s/07300404/07300b04/ "$log/cpuid.txt" > "$log/eleven.txt"
	expect_bad 'gp-counters is 11 (CPUID.0AH:EAX[15:8]), the model has 0 to 10' \
		./run-qemu.sh --personality "$log/eleven.txt"
	grep -v 0x345 "$log/cpuid.txt" > "$log/no.txt"
	expect_bad 'IA32_PERF_CAPABILITIES (MSR 345H)' ./run-qemu.sh --personality "$log/no.txt"
	expect 2 ./run-qemu.sh --cpu haswell --latitude gp-counters:0 --out "$log/refused"
	grep -q 'PEBS needs version 2, a counter and the record format' "$out"
}

# Leaves 1CH and 23H likewise, with holes between the counters.
takes 15 test_a_personality_has_leaves_1ch_and_23h
test_a_personality_has_leaves_1ch_and_23h()
{
	local told=gp-mask:213,ext-features:2,rdpmc-user-disable:1,reloaded:65684,reloading:65680

	told+=,pebs-groups:1610743832,pebs-counters:65745,pdist-counters:65537
	told+=,lbr-depths:1,lbr-missing:20,lbr-unlogged:5,fixed-mask:87,missing-events:64
	mkdir -p "$log/there"
	expect 0 ./run-qemu.sh --boot direct --cpu clearwaterforest --latitude "$told" \
		--tests 'selftest.*,enumeration.*,count.reading*' --out "$log/there"
	refute grep '^not ok' "$out"
	expect 0 ./run-qemu.sh --boot direct --personality "$log/there/machine.json" \
		--tests 'selftest.*,enumeration.*,count.reading*' --out "$log/here"
	[ ! -s "$log/here/differences.txt" ] || fail "$(cat "$log/here/differences.txt")"
	grep -q '^# perfmon: version 6, 5 general-purpose .*0AH:EAX = 0xd300106' "$out"
	grep -q "# SKIP IA32_PMC1 isn't there (CPUID.(23H,1):EAX = 0xd5)" "$out"
	sed s/0x000000d5/0x000000d1/ "$log/there/machine.json" > "$log/other.json"
	tools/personality/file.py knobs "$log/other.json" | grep -q 'gp-mask:209,.*reloaded:65680,'
	expect 2 ./run-qemu.sh --boot direct --cpu haswell --latitude gp-mask:5 --out "$log/refused"
	grep -q 'leaf 23H needs version 5 and a generation that has it' "$out"
}

# Leaf 0AH of a hybrid tells what all its cores have, leaf 23H what each has: the numbers here are a
# Meteor Lake's. Counters of the larger core that leaf 0AH doesn't tell of are there.
test_a_personality_of_a_hybrid_has_the_counters_of_its_own_core()
{
	printf "   0x%08x 0x00: eax=0x%08x ebx=0x%08x ecx=0x%08x edx=0x%08x\n" \
		0 0x23 0x756e6547 0x6c65746e 0x49656e69 1 0xa06a4 0 0x8014 0x200000 \
		7 2 0 0 0x8000 0xa 0x07300805 0 7 0x8603 0x1a 0x40000002 0 0 0 > "$log/cpuid.txt"
	printf '%s\n' '345 = 2f4ff' '1a0 = 880' >> "$log/cpuid.txt"
	sed s/0x40000002/0x20000002/ "$log/cpuid.txt" > "$log/smaller.txt"
	expect_bad 'CPUID.1AH:EAX is 0x20000002' ./run-qemu.sh --personality "$log/smaller.txt"
	expect 0 ./run-qemu.sh --boot direct --personality "$log/cpuid.txt" --out "$log/larger" \
		--tests 'enumeration.*'
	grep -q '^# perfmon: .* 8 general-purpose .* 4 fixed .*0AH:EAX = 0x7300805 .*EDX = 0x8603' \
		"$out"
	grep -q '^ok .* - enumeration.rdpmc_of_an_absent_counter_raises_gp \[CNT-14\]$' "$out"
}

# From version 4 on: a freeze that firmware has left in the status is ended before anything counts.
test_frozen_status_is_cleared()
{
	expect 0 ./run-qemu.sh --cpu skylake --latitude frozen-status:1 \
		--tests 'selftest.*,count.in*,msr.o*' \
		--out "$log/frozen"
	grep -q '^ok .* - count.instructions_are_counted_exactly \[CNT-01\]$' "$out"
}

# What firmware has set shows in the log, and is there again at the end.
test_the_pmu_goes_back_as_it_was()
{
	expect 0 ./run-qemu.sh --latitude dirty-msrs:1 --tests 'selftest.*,count.in*' \
		--out "$log/dirty"
	grep -q '^# pmu as found on processor 0: .*IA32_FIXED_CTR_CTRL = 0x33b' "$out"
	grep -q '^ok .* - selftest.pmu_is_put_back_as_it_was_found ' "$out"
}

# Firmware that counts in SMM: a test that it disturbs each time says by what, and none fails.
test_firmware_may_count_in_smm()
{
	expect 0 ./run-qemu.sh --latitude smi-rate:5,smm-arms:2 --out "$log/smm" \
		--tests 'selftest.*,msr.*,count.f*,count.a*,count.loads_of*,arm.pebs_counter*,pmi.*'
	grep -q 'INCONCLUSIVE: disturbed .*: after an SMI IA32_FIXED_CTR_CTRL (0x38d) is 0x' "$out"
}

# Without an HPET another processor's NMI ends what hangs on the first one with interrupts off.
takes 15 test_a_hang_without_hpet_costs_its_test
test_a_hang_without_hpet_costs_its_test()
{
	cat > "$log/qemu-no-hpet" <<- 'EOF'
		#!/bin/sh
		exec qemu-system-x86_64 "$@" -machine hpet=off
	EOF
	chmod +x "$log/qemu-no-hpet"
	QEMU=$PWD/$log/qemu-no-hpet expect 2 ./run-qemu.sh --smp 2 \
		--tests 'deadly.a_loop*,selftest.*,calibration.*' --out "$log/no-hpet"
	grep -q '^# hpet: none' "$out"
	grep -q '^not ok .* - deadly.loop_with_interrupts_off_is_an_error ' "$out"
	grep -q '^ok .* - calibration.calibration_sees_an_overflow_interrupt ' "$out"
	# Where it hung, by name.
	grep -qP '^  rip_is: "hang \(tests/self/deadly\.c:\d+\)"$' "$out"
	grep -q '^# decided .* failed 0, errors 1$' "$out"
}

# Clocks that differ, a processor that is slow, a wake-up that gets lost: nothing is lost by it.
takes 35 test_processors_need_not_agree
test_processors_need_not_agree()
{
	local latitude

	for latitude in tsc-apart:1 tsc-apart:2 late-processor:4000 lost-wake-up:1 \
		lost-wake-up:6; do
		expect 0 ./run-qemu.sh --smp 3 --tests 'selftest.*,count.loads*' \
			--latitude "$latitude" --out "$log/apart"
		grep -q '^# processors: 3 of 3 processors$' "$out"
		grep -q 'skipped 0, inconclusive 0, known 0, failed 0, errors 0$' "$out"
	done
	# Ticks that the others are ahead: 2^38.
	expect 0 ./run-qemu.sh --smp 2 --tests 'selftest.*,count.loads*' --latitude tsc-apart:1 \
		--out "$log/apart"
	grep -q '^# processor 0: IA32_TSC_ADJUST = 0$' "$out"
	grep -q '^# processor 1: IA32_TSC_ADJUST = 274877906944$' "$out"
}

# One that never comes is left out, and the machine not given back under it. One that comes while
# the tests run goes back to the firmware.
takes 35 test_a_processor_that_never_comes_is_left_out
test_a_processor_that_never_comes_is_left_out()
{
	local ticks

	expect 2 ./run-qemu.sh --smp 3 --tests 'selftest.*' --latitude lost-processor:1000000 \
		--out "$log/late"
	grep -q '^# processors: 2 of 3 processors$' "$out"
	grep -q "^# left out: processor 2, APIC id 0x2: it hasn't come in time$" "$out"
	grep -q '^ok .* - selftest.each_processor_runs_a_function_at_both_levels ' "$out"
	grep -q "^Bail out! a processor doesn't return to the firmware$" "$out"
	refute grep '^not ok' "$out"
	# How long it is waited for is a time, how late it comes a number of ticks.
	for ticks in 17000 22000 30000; do
		expect 0 ./run-qemu.sh --smp 3 --latitude "lost-processor:$ticks" \
			--out "$log/later" --tests 'selftest.*,count.*,pmi.*,arm.*,ds.*,record.*'
		refute grep -E '^(Bail|not ok)' "$out"
		! grep -q "^# left out: processor 2, APIC id 0x2: it hasn't come in time$" \
			"$out" || return 0
	done
	fail "it came in time each time"
}

# A log alone says what machine it is from: firmware, board, CPUID once a kind of processor,
# and microcode of each that hasn't the first one's.
test_the_log_says_what_the_machine_is()
{
	expect 2 ./run-qemu.sh --tests 'selftest.time*' --out "$log/identity"
	grep -qP '^# firmware: \S.* revision 0x[0-9a-f]+, UEFI 2\.\d+' "$out"
	grep -qP '^# bios: \S.*, \d\d/\d\d/\d{4}$' "$out"
	grep -qP '^# system: QEMU, .*Q35' "$out"
	[ "$(grep -c '^# cpuid of processor' "$out")" = 1 ]
	grep -q '^# cpuid: 00000000.0 0000000d 756e6547 6c65746e 49656e69$' "$out"
	grep -q '^# cpuid: 0000000a.0 07300403 00000000 00000000 00000603$' "$out"
	grep -q '^# cpuid: 80000008.0 ' "$out"
	grep -q '^# msr: IA32_PERF_CAPABILITIES = 0x32c4: .* PEBS_FMT=2 SMM_FREEZE FW_WRITE$' "$out"
	[ "$(grep -cP '^# (cpuid|msr|firmware|bios|system|board)' "$out")" -le 60 ]
	refute grep '^# microcode of processor' "$out"
	python3 - "$log/identity/results.json" <<- 'PYTHON'
		import json, sys
		said = json.load(open(sys.argv[1], encoding="utf-8"))["runs"][0]["comments"]
		keys = {text.split(": ")[0] for text in said}
		assert keys >= {"firmware", "bios", "system", "microcode", "cpuid", "msr"}, keys
	PYTHON
	"$build/pmutest86-report" --html - "$log/identity" > "$out"
	grep -q '^cpuid: 80000008.0 ' "$out"
	expect 2 ./run-qemu.sh --smp 3 --latitude old-microcode:2 --tests 'selftest.time*' \
		--out "$log/identity"
	grep -q '^# microcode: 0xff$' "$out"
	grep -q '^# microcode of processor 1: 0x10$' "$out"
	grep -q '^# microcode of processor 2: 0x10$' "$out"
}
