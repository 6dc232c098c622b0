# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # sourced by test.sh, whose functions and variables it uses
#
# Tests of `make test`: results on a stick, and the part of them that survives a reset.

# The files that the harness writes to the stick equal those of tools/report for the same lines.
same_reports()
{
	local program=$build/host/gcc/host/unit/test_reports

	LONG='' make -s "$program" > /dev/null
	"$program" json "$1" > "$log/c.json"
	"$program" junit "$1" > "$log/c.xml"
	"$program" machine "$1" > "$log/machine.json"
	python3 - "$1" "$log/c.json" "$log/c.xml" "$log/machine.json" <<- 'EOF'
		import json, sys
		import xml.etree.ElementTree as tree
		sys.path.insert(0, "tools/report")
		import junit, machine, results
		runs = results.parse(open(sys.argv[1], encoding="utf-8").read())[0]
		want, got = runs[0].as_dict(), json.load(open(sys.argv[2], encoding="utf-8"))
		assert (got["format"], got["version"]) == ("pmutest86-results", 1)
		got = got["runs"][0]
		for key in want:
		    assert want[key] == got[key], (key, want[key], got[key])
		assert want.keys() == got.keys(), got.keys()
		# What the harness leaves out: only Ant's schema asks for it.
		document = tree.fromstring(junit.junit_xml(runs))
		for one in document.iter():
		    for key in ("id", "package", "timestamp", "hostname", "time", "type"):
		        one.attrib.pop(key, None)
		    for name in ("properties", "system-out", "system-err"):
		        for child in one.findall(name):
		            one.remove(child)
		want = tree.canonicalize(tree.tostring(document), strip_text=True)
		got = tree.canonicalize(open(sys.argv[3], encoding="utf-8").read(), strip_text=True)
		assert want == got, [pair for pair in zip(want.split("<"), got.split("<"))
		                     if pair[0] != pair[1]][:3]
		want, got = machine.machine(runs[0]), json.load(open(sys.argv[4], encoding="utf-8"))
		for key in want:
		    assert want[key] == got[key], (key, want[key], got[key])
		assert want.keys() == got.keys(), got.keys()
	EOF
}

test_the_stick_has_what_the_tools_would_make()
{
	failing_run 1
	known_breach 0
	run_without_pmu 2
	expect 2 ./run-qemu.sh --tests 'deadly.loop*,count.i*' --out "$log/deadly"
	for run in "$shared"/{fail,known,none} "$log/deadly"; do
		# As the harness itself wrote it.
		sed -n '/^TAP version 14/,/^# end of PMUTest86/p' "$run/serial.log" |
			tr -d '\r' > "$log/${run##*/}.tap"
		same_reports "$log/${run##*/}.tap"
	done
	head -n 30 "$log/fail.tap" > "$log/cut.tap"
	same_reports "$log/cut.tap"
}

# Killed in the middle, the next boot names the test, goes on after it, and loses nothing.
takes 30 test_a_run_survives_a_cut
test_a_run_survives_a_cut()
{
	expect 0 tools/cut_power.py --build "$build" --after 12,47
	tail -n 1 "$out" | grep -qx '2 cuts, 0 failed'
	# Which one is cut_power.py's to judge: tests that are skipped may be printed after it.
	grep -q '^cut 1 .*: enumeration\.[a-z0-9_]* ([0-9]*)$' "$out"
}

# A stick that takes nothing says so in one line, and the run is as whole as without one.
takes 25 test_a_full_or_read_only_stick_is_said_once
test_a_full_or_read_only_stick_is_said_once()
{
	expect 0 tools/cut_power.py --build "$build" --after 12 --room 100
	grep -q '^cut 1 .*: no journal: \\results\\[0-9a-f]*\.jnl: firmware status 0x80' "$out"
	expect 0 tools/cut_power.py --build "$build" --after 12 --read-only
	grep -q '^cut 1 .*: results are not saved: no folder \\results: firmware status 0x80' "$out"
}

# A stick with the harness alone, these tests and these lines of configuration: $log/stick.
make_stick()
{
	local work=$log/stick tests=$1

	shift
	rm -rf "$work"
	mkdir -p "$work/esp/EFI/BOOT"
	cp "$build/pmutest86.efi" "$work/esp/EFI/BOOT/BOOTX64.EFI"
	printf '%s\n' "tests = $tests" 'at_end = shutdown' "$@" > "$work/esp/pmutest86.cfg"
	truncate -s 64M "$work/esp.img"
	mkfs.fat -F 32 "$work/esp.img" > /dev/null
	mcopy -s -i "$work/esp.img" "$work/esp/"* ::/
}

# Boots the harness alone with these tests until its run is over; its log is $log/stick/serial.log.
# boot_until_over PROCESSORS TESTS OPTION...
boot_until_over()
{
	local work=$log/stick boot processors=$1

	make_stick "$2" 'watchdog = 5'
	shift 2
	for boot in 1 2 3; do
		tools/boot.sh --image --watchdog --smp "$processors" --timeout 60 "$@" "$work"
		! grep -aq '^# end of PMUTest86' "$work/serial.log" || break
	done
	[ "$boot" = 2 ] || fail "the run took $boot boots, not 2"
}

# What ends a machine, and the next boot's words: a hang that nothing reaches, a triple fault, and
# a hang of every processor. The watchdog of the chipset ends the first and the last, once as the
# harness finds it there, once as ACPI describes it.
takes 50 test_the_next_boot_names_what_ended_the_machine
test_the_next_boot_names_what_ended_the_machine()
{
	local processors name watchdog options

	tools/wdat_table.py "$log/wdat"
	while read -r processors name watchdog; do
		options=()
		[[ $watchdog != *ACPI ]] || options=(--acpi "$log/wdat")
		boot_until_over "$processors" "selftest.tsc*,deadly.$name,enumeration.enumerated*" \
			"${options[@]}"
		grep -aq "^# watchdog: $watchdog, 5 s after" "$log/stick/serial.log"
		grep -aqF "not ok 2 - deadly.$name " "$log/stick/serial.log"
		grep -aqF 'message: "CRASHED: ' "$log/stick/serial.log"
		grep -aq '^ok 3 - enumeration' "$log/stick/serial.log"
	done <<- 'END'
		1 hang_inside_an_nmi_handler_is_an_error the TCO timer of an ICH9
		1 triple_fault_is_an_error the TCO timer of an ICH9
		2 hang_of_every_processor_is_a_crash described by ACPI
	END
}

# Switched on all the time, the chipset still knows what has reset it.
takes 20 test_a_reset_by_the_watchdog_is_named
test_a_reset_by_the_watchdog_is_named()
{
	make_stick "selftest.tsc*,deadly.hang_inside_an_nmi*,enumeration.enumerated*" 'watchdog = 5'
	tools/boot.sh --image --watchdog --reboot --timeout 60 "$log/stick"
	grep -aq 'message: "CRASHED: the watchdog reset the machine in this test' \
		"$log/stick/serial.log"
	grep -aq '^ok 3 - enumeration' "$log/stick/serial.log"
}

# One stick, and two machines that differ only in their UUIDs. A run that was interrupted on one of
# them isn't continued on the other. It is continued when the stick comes back to the first.
takes 35 test_another_machine_does_not_continue_a_run
test_another_machine_does_not_continue_a_run()
{
	local work=$log/stick machine

	make_stick 'selftest.tsc*,deadly.triple*,enumeration.enumerated*'
	for machine in 1 2 1; do
		printf '#!/bin/sh\nexec qemu-system-x86_64 "$@" -uuid %s\n' \
			"0000000$machine-1234-5678-9abc-def012345678" \
			> "$log/qemu"
		chmod +x "$log/qemu"
		QEMU=$PWD/$log/qemu tools/boot.sh --image --timeout 60 "$work"
		cat "$work/serial.log" >> "$log/all"
		echo "# that was machine $machine" >> "$log/all"
	done
	sed '/^# that was machine 2/,$d' "$log/all" > "$log/first_two"
	refute grep -a 'boot 2 of this run' "$log/first_two"
	grep -aq '^# boot 2 of this run: .* in deadly.triple_fault_is_an_error' "$work/serial.log"
	grep -aq '^ok 3 - enumeration' "$work/serial.log"
}

# The watchdog doesn't reset a machine that shows its results, or runs another program afterwards.
# Here the timer was running before the run, and only GCS.NR prevented a reset.
takes 30 test_the_watchdog_ends_with_the_run
test_the_watchdog_ends_with_the_run()
{
	local work=$log/stick

	make_stick 'selftest.tsc*,enumeration.enumerated*' 'watchdog = 5'
	sed -i 's/^at_end = .*/at_end = wait/' "$work/esp/pmutest86.cfg"
	mcopy -o -i "$work/esp.img" "$work/esp/pmutest86.cfg" ::/
	tools/boot.sh --image --watchdog --timeout 120 "$work" &
	for _ in {1..600}; do
		! grep -aqs '^# end of PMUTest86' "$work/serial.log" || break
		sleep 0.1
	done
	grep -aq '^# watchdog: the TCO timer of an ICH9, 5 s after' "$work/serial.log"
	sleep 12
	[ ! -e "$work/end" ] || fail "the machine ended: $(cat "$work/end")"
	echo 'quit' > "$work/monitor"
	wait
}

# Where no file can be written, a UEFI variable has a short result, until a run saves it.
takes 18 test_a_short_result_waits_in_a_uefi_variable
test_a_short_result_waits_in_a_uefi_variable()
{
	local work=$log/stick boot number=0 said=' from a UEFI variable, a run without a file: '

	make_stick 'selftest.tsc*,enumeration.enumerated*'
	for boot in --read-only --image --image; do
		tools/boot.sh --image $boot --keep-variables --timeout 60 "$work"
		cp "$work/serial.log" "$work/log.$((++number))"
	done
	grep -aq '^# results are not saved: ' "$work/log.1"
	refute grep -aq "$said" "$work/log.1"
	grep -aq "^#${said}exit 2, requirements decided 0, points PASS 1 SKIP 1 " "$work/log.2"
	mcopy -s -i "$work/esp.img" ::/results "$work/"
	grep -rq "^#$said" "$work/results"
	refute grep -aq "$said" "$work/log.3"
}

# The lines of 12 processors fill more than half of the log. Although no file keeps the first lines,
# the short result counts them all.
takes 60 test_a_short_result_counts_the_whole_run
test_a_short_result_counts_the_whole_run()
{
	local work=$log/long points

	mkdir -p "$work/esp/EFI/BOOT"
	cp "$build/pmutest86.efi" "$work/esp/EFI/BOOT/BOOTX64.EFI"
	printf '%s\n' 'on = all' 'at_end = shutdown' > "$work/esp/pmutest86.cfg"
	tools/boot.sh --read-only --smp 12 --keep-variables --timeout 200 "$work"
	cp "$work/serial.log" "$log/first"
	points=$(grep -ac '^ok .* # SKIP ' "$log/first")
	[ "$points" -gt 10000 ]
	echo 'tests = selftest.tsc*' >> "$work/esp/pmutest86.cfg"
	tools/boot.sh --keep-variables --timeout 60 "$work"
	grep -aq "a run without a file: exit 2, .* SKIP $points INCONCLUSIVE 0 KNOWN 0 FAIL 0 " \
		"$work/serial.log"
}
