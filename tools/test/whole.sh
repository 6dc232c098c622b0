# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # sourced by test.sh, whose functions and variables it uses
#
# Tests of `make test` with many runs each: engines, seeds, faults, counts. And the stick.

# Every retired instruction is reported exactly once, also beside exceptions and interrupts. The
# guest sees no sign of AMD-V.
takes 90 test_reference_pmu_is_exact
test_reference_pmu_is_exact()
{
	expect 0 env TIMEOUT=300 tools/selftest.sh "$build" "$(amount programs=8 programs=24)"
}

# Processors that change each other's code, send INIT to each other, and run programs at once.
# The test above covers everything that needs only one processor.
takes 70 test_reference_pmu_is_exact_on_four_processors
test_reference_pmu_is_exact_on_four_processors()
{
	expect 0 env SMP=4 TIMEOUT=600 tools/selftest.sh "$build" \
		"$(amount 'others=1 programs=2 storm=200 duels=10' programs=4)"
}

# Two threads of a core, and the clocks that they share.
takes 35 test_reference_pmu_is_exact_on_two_threads
test_reference_pmu_is_exact_on_two_threads()
{
	expect 0 env SMP=2 TIMEOUT=300 tools/selftest.sh "$build" \
		"$(amount 'others=1 programs=0 storm=300 duels=20' programs=0)"
}

test_reference_pmu_keeps_the_clock_of_reference_cycles()
{
	expect 0 env SMP=2 LATITUDE=tsc-by-reference:1 TIMEOUT=300 tools/selftest.sh "$build" \
		clock=1
}

# One machine each, as other tests run beside; alone these tools use two.
# `make engine-soak SECONDS=n` goes on.
takes 80 test_engines_say_the_same
test_engines_say_the_same()
{
	expect 0 tools/engines.py --build "$build" --seeds "$(amount 0 1)" --no-profiles --step 0 \
		--sample "$(amount 1 2)" --draw "$draw" --jobs 1
	tail -n 1 "$out" | grep -q "^$(amount 2 4) settings, 0 differ$"
	# The stepping engine takes ten times as long.
	expect 0 tools/engines.py --build "$build" --seeds 0 --no-profiles --sample 0 --jobs 1 \
		--tests "$(amount '@every-fault' '*')"
	tail -n 1 "$out" | grep -q '^1 settings, 0 differ$'
}

takes 34 test_counts_are_those_of_qemu
test_counts_are_those_of_qemu()
{
	expect 0 tools/icount.sh "$build"
	tail -n 1 "$out" | grep -q '^[1-9][0-9]* counts on the engine fast, 0 differ$'
}

# What two processors do at once never happens in the same order twice; tools/repeat.py goes on.
alone test_verdicts_repeat
test_verdicts_repeat()
{
	expect 0 tools/repeat.py --build "$build" --times 4 --load 1 \
		--tests 'msr.each_proc*,pmi.a*_own_processor*,ds.each_proc*,count.proc*'
	tail -n 1 "$out" | grep -q ' 4 times, 0 differ, 0 failed$'
}

test_each_processor_passes()
{
	expect 0 ./run-qemu.sh --smp 2 --on all --tests 'msr.*,count.*,pmi.*,ds.*' \
		--out "$log/on"
	grep -q '^ok .* - ds.pebs_index_advances_by_one_record_size@cpu1 ' "$out"
	refute grep '^not ok' "$out"
	# There the other thread is the first processor, which sleeps as well.
	expect 0 ./run-qemu.sh --cpu netburst --on 1 --out "$log/on_netburst" --tests \
		'netburst.active_thread_field_t*,netburst.table_18_66_holds_on_th*,netburst.bit_0*'
	refute grep '^not ok' "$out"
	# All of a later processor's tests, after the self tests on the first processor.
	expect 0 ./run-qemu.sh --boot direct --cpu sapphirerapids --on 1 --draw 1 \
		--out "$log/on_later"
	refute grep '^not ok' "$out"
	expect_bad "--on takes first" ./run-qemu.sh --on each
	expect_bad "the last one is 1" ./run-qemu.sh --smp 2 --on 2
}

test_stick_boots_and_keeps_results()
{
	local work=$log/stick

	rm -rf "$work"
	mkdir -p "$work"
	make -s usb
	grep -q 'No problems found' <<< "$(sgdisk --verify "$build/pmutest86.img")"
	cp "$build/pmutest86.img" "$work/esp.img"
	sed 's/^at_end = .*/at_end = shutdown/' boot/pmutest86.cfg > "$work/cfg"
	mcopy -o -i "$work/esp.img@@1M" "$work/cfg" ::/pmutest86.cfg
	tools/boot.sh --image --timeout 60 "$work"
	mcopy -s -i "$work/esp.img@@1M" ::/results "$work/"
	find "$work/results" -name results.tap | grep -q . || fail "no results on the stick"
	"$build/pmutest86-report" --json - "$work"/results/* > /dev/null
}

takes 80 test_seeds_and_profiles_stay_green
test_seeds_and_profiles_stay_green()
{
	local few=(--sample 5 --draw "$draw")

	[ -z "${LONG-}" ] || few=()
	expect 0 tools/seeds.py --build "$build" --seeds 3 --profile-seeds 1 --no-extremes \
		--jobs 1 "${few[@]}"
	tail -n 1 "$out" | grep -qP '^[1-9]\d* runs, 0 failed$'
}

# Processors drawn from what CPUID can tell; 1000 of them in the long run.
takes 60 test_drawn_personalities_stay_green
test_drawn_personalities_stay_green()
{
	expect 0 tools/personality/sweep.py --build "$build" --count "$(amount 6 1000)" \
		--draw "$(amount "$draw" 0)" --jobs 1
	tail -n 1 "$out" | grep -qP '^[1-9]\d* runs, 0 failed$'
}

# Faults from all over the table, others for each commit; `make mutants` runs them all.
takes 90 test_mutants_are_caught
test_mutants_are_caught()
{
	expect 0 tools/mutants.py --build "$build" --sample "$(amount 10 24)" --draw "$draw" \
		--jobs 1
	tail -n 1 "$out" | grep -qP '^(\d+) of \1 faults caught, 0 false alarms$'
}
