# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # sourced by test.sh, whose functions and variables it uses
#
# Tests of `make test`: processors other than the first, and how the harness starts them.

# Each processor runs the functions that it is given. Exceptions, loops and lost interrupts on one
# processor end on that processor.
# on = kinds, with two cores of two threads each: the two threads of the first core.
takes 15 test_processors_are_taken_and_given_back
test_processors_are_taken_and_given_back()
{
	local pmu

	for pmu in none reference; do
		expect 2 ./run-qemu.sh --pmu $pmu --smp 4 --on kinds --tests 'selftest.*' \
			--out "$log/smp"
		refute grep '^not ok' "$out"
		grep -q '^ok [0-9]* - selftest.exception_or_hang_on_a_processor_is_contained ' \
			"$out"
	done
	grep -q '^# tests of one processor run on 0 1: the first of each ' "$out"
	grep -q '^ok .* - selftest.tsc_ticks_during_a_stall@cpu1 ' "$out"
	refute grep '@cpu[23] ' "$out"
	expect 2 ./run-qemu.sh --pmu none --smp 1 --tests 'selftest.*' --out "$log/smp"
	grep -q 'each_processor_runs_a_function_at_both_levels \[-\] # SKIP one processor' "$out"
}

# A package with a P-core and two E-cores (CPUID.1AH), each of two threads: the first core of each
# type is tried, and what needs more counters than an E-core has is skipped there.
takes 12 test_the_first_core_of_each_type_is_tried
test_the_first_core_of_each_type_is_tried()
{
	expect 0 ./run-qemu.sh --profile silicon-hybrid --smp 6 --on kinds \
		--tests 'count.instructions_are*,enumeration.*,tsx.abort_of_nested*' \
		--out "$log/kinds"
	refute grep '^not ok' "$out"
	grep -q '^# tests of one processor run on 0 1 2 3: the first of each package, kind' "$out"
	grep -q '^ok .* - count.instructions_are_counted_exactly@cpu2 \[CNT-01\]$' "$out"
	grep -q '@cpu2 .* # SKIP 2 general-purpose counters' "$out"
	refute grep '@cpu[45] ' "$out"
	python3 - "$log/kinds/machine.json" <<- 'END'
		import json, sys

		kinds = json.load(open(sys.argv[1]))["kinds"]
		types = [leaf["eax"] for kind in kinds for leaf in kind["cpuid"]
		         if leaf["leaf"] == "0x0000001a"]
		assert types == ["0x40000000", "0x20000000"], types
	END
}

# Does this QEMU emulate x2APIC mode? Says why not.
has_x2apic()
{
	local said

	said=$(timeout 20 "${QEMU:-qemu-system-x86_64}" -machine q35 -accel tcg -nodefaults \
		-display none -S -cpu qemu64,+x2apic,enforce -monitor stdio <<< quit 2>&1) ||
		{
			grep -m 1 -oi "tcg.*x2apic.*" <<< "$said" || echo "QEMU has no x2APIC"
			false
		}
}

# A processor with APIC ID 256 can be interrupted in that mode alone.
test_x2apic_mode_works()
{
	local work=$log/x2apic said

	said=$(has_x2apic) || skip "this QEMU can't: $said"
	rm -rf "$work"
	mkdir -p "$work/esp/EFI/BOOT"
	cp "$build/pmutest86.efi" "$work/esp/EFI/BOOT/BOOTX64.EFI"
	printf '%s\n' 'tests = *' 'results = off' 'at_end = shutdown' 'on = all' \
		> "$work/esp/pmutest86.cfg"
	tools/boot.sh --timeout 120 --x2apic "$work"
	# Without a PMU nothing is decided.
	expect 2 tools/conclude.py --serial "$work/serial.log" --out "$work/out" --run pmu=none
	grep -q '^# processor 1: APIC id 0x100,' "$out"
	local test
	for test in self_ipi_arrives_on_the_pmi_vector self_nmi_arrives_once \
		lvtpc_keeps_its_mask_bit; do
		grep -q "^ok .* - selftest.$test " "$out"
		grep -q "^ok .* - selftest.$test@cpu1 " "$out"
	done
	grep -q '^ok .* - selftest.each_processor_runs_a_function_at_both_levels ' "$out"
	refute grep '^not ok' "$out"
}

# More than can be taken at once: each is named, and on = all has all of them, in batches, of which
# each is a run. The second one has no test of several processors.
takes 20 test_more_processors_than_can_be_taken
test_more_processors_than_can_be_taken()
{
	local work=$log/many number

	rm -rf "$work"
	mkdir -p "$work/esp/EFI/BOOT"
	cp "$build/pmutest86.efi" "$work/esp/EFI/BOOT/BOOTX64.EFI"
	printf '%s\n' 'tests = selftest.each*,selftest.tsc_ticks*' 'on = all' 'at_end = shutdown' \
		> "$work/esp/pmutest86.cfg"
	tools/boot.sh --timeout 200 --smp 18 "$work"
	tr -d '\r' < "$work/serial.log" > "$log/said"
	sed '/^# end of PMUTest86/q' "$log/said" > "$log/first"
	sed '1,/^# end of PMUTest86/d' "$log/said" > "$log/second"
	grep -q '^# processors: 16 of 18 processors, batch 1 of 2$' "$log/first"
	grep -q '^# left out: 2 more than can be taken at once; other batches have them$' \
		"$log/first"
	grep -q '^# left out: processor 17, APIC id 0x11, .*: in another batch$' "$log/first"
	grep -q '^ok .* - selftest.each_processor_runs_a_function_at_both_levels ' "$log/first"
	grep -q '^# processors: 3 of 18 processors, batch 2 of 2$' "$log/second"
	grep -q '^# processor 17: APIC id 0x11,' "$log/second"
	refute grep selftest.each_processor "$log/second"
	for number in {1..17}; do
		[ "$(cat "$log/first" "$log/second" |
			grep -c "^ok .* - selftest.tsc_ticks.*@cpu$number ")" = 1 ] ||
			fail "processor $number isn't tested once"
	done
	grep -q '^ok .* - selftest.tsc_ticks[a-z_]* ' "$log/first"
	refute grep '^not ok' "$log/first" "$log/second"
	mcopy -s -i "$work/esp.img" ::/results "$work/"
	[ "$(grep -l '"number": 17' "$work"/results/*/machine.json | wc -l)" = 1 ]
	[ "$(find "$work/results" -name results.json | wc -l)" = 2 ]
}

# What kills a processor costs that test; where the platform can't go on the run ends at once, with
# what was finished.
takes 25 test_a_dead_processor_costs_its_test
test_a_dead_processor_costs_its_test()
{
	expect 2 ./run-qemu.sh --smp 2 --on 1 --tests 'deadly.a_*,selftest.*,calibration.*' \
		--out "$log/dead"
	[ "$(grep -c '^not ok .* - deadly\..*@cpu1 ' "$out")" = 3 ]
	refute grep -P '^not ok (?!.* - deadly\.)' "$out"
	grep -q '^ok .* - calibration.calibration_sees_an_overflow_interrupt@cpu1 ' "$out"
	grep -q '^# decided .* failed 0, errors 3$' "$out"
	# Without the reference PMU QEMU's machine resets.
	expect 2 ./run-qemu.sh --pmu none --smp 2 --on 1 --tests 'deadly.a_triple*,selftest.*' \
		--out "$log/reset"
	grep -q '^ok .* - selftest.tsc_ticks_during_a_stall@cpu1 ' "$out"
	grep -q 'without its end line: the machine was reset without a word;' "$err"
	expect 2 ./run-qemu.sh --smp 2 --tests 'deadly.a_hang*,selftest.*' --out "$log/first"
	grep -q '^ok .* - selftest.tsc_ticks_during_a_stall ' "$out"
	grep -q '^Bail out! the first processor hangs' "$out"
}

# A processor that waits for one that an exception has ended learns of it, and says it.
test_an_exception_beside_a_barrier_is_told()
{
	expect 2 ./run-qemu.sh --smp 2 --tests 'deadly.an_exception*,selftest.nobody_waits*' \
		--out "$log/barrier"
	grep -q '^ok .* - selftest.processor_at_a_barrier_is_freed_when_a_test_ends ' "$out"
	grep -q 'message: "an unexpected exception, on processor 1"' "$out"
	grep -q 'state_1: "exception: vector 6 ' "$out"
}
