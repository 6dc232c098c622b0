# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # sourced by test.sh, whose functions and variables it uses
#
# Tests of `make test`: the screen and its keys. Pictures of the screen are converted back to text.

# Boots folder $1 with the graphics adapter $2 in the background; more options may follow.
begin_with_screen()
{
	tools/boot.sh --screen "$2" --smp 2 --timeout 150 "${@:3}" "$1" &
	for _ in {1..600}; do
		[ ! -p "$1/monitor" ] || return 0
		sleep 0.1
	done
	fail "QEMU didn't start"
}

# The screen in folder $1 comes to show text $2, perhaps after key $3. What it shows is in $out.
shows()
{
	out=$log/out
	tools/screen/screen.py --until "$2" --timeout 90 ${3:+--press "$3"} "$1" > "$out" ||
		fail "the screen doesn't show '$2' but: $(cat "$out")"
}

# Folder $1 becomes a machine with the reference PMU, which breaks rule $2, and runs tests $3.
plan_with_screen()
{
	rm -rf "$1"
	mkdir -p "$1/esp/EFI/BOOT"
	cp "$build/launch.efi" "$1/esp/EFI/BOOT/BOOTX64.EFI"
	cp "$build/refpmu.efi" "$build/pmutest86.efi" "$1/esp/"
	echo "run cpu=haswell fault=$2 seed=0 engine=fast efi=\\pmutest86.efi args=tests=$3" \
		"results=off at_end=wait on=first strict=on" > "$1/esp/refpmu-plan.txt"
}

# At the start, in the middle and at the end; each key of the summary but those that leave it; and
# the log is that of a machine without a screen.
takes 45 test_the_screen_shows_the_run
test_the_screen_shows_the_run()
{
	local work=$log/run tests='selftest.*,count.*,pmi.o*'

	plan_with_screen "$work" loads-count-stores "$tests"
	begin_with_screen "$work" VGA
	shows "$work" 'Processor   Intel(R) Core(TM) i7-4770 CPU @ 3.40GHz'
	grep -q '^ *GenuineIntel 06_3c stepping 3, microcode 0xff, .*Haswell' "$out"
	grep -q '^ Firmware *[[:alnum:]].* UEFI 2' "$out"
	grep -q '^ Platform *no hypervisor' "$out"
	grep -q '^ Perfmon *version 3, 4 general-purpose counters of 48 bits, 3 fixed' "$out"
	grep -q '^ PEBS *record format 2, available' "$out"
	shows "$work" ' FAILED  count.loads_are_counted_exactly'
	grep -qP '^ \d+ of \d+ points, group \d of 3' "$out"
	grep -q '^ Running *[a-z]' "$out"
	grep -qF 'must differ in retired loads by exactly the declared difference.' "$out"
	grep -qF 'wanted 0x0 (0), got 0x50 (80)' "$out"
	shows "$work" 'large: FAILED'
	grep -qP '^ decided \d+, skipped \d+, inconclusive 0, known 0, failed 3, errors 0' "$out"
	grep -qP '^ FAILED +count.loads_are_counted_exactly CNT-03' "$out"
	cp "$work/serial.log" "$log/first"
	shows "$work" ' wanted      0x0 (0)' ret
	grep -q '^ section     SDM chapter 19' "$out"
	grep -q '^ got         0x50 (80)' "$out"
	shows "$work" 'large: FAILED' esc
	shows "$work" ' points, 3 failed or in error' g
	grep -qP '^ count: \d+ points, 3 failed' "$out"
	shows "$work" 'Run one test' t
	grep -qP '^ passed +selftest' "$out"
	shows "$work" ' cpuid       0000000a.0 07300403 00000000 00000000 00000603' m
	shows "$work" 'large: FAILED' esc
	# One group again: the last of three.
	shows "$work" ' points, 3 failed or in error' g
	for _ in 1 2; do
		echo 'sendkey down' > "$work/monitor"
	done
	shows "$work" 'large: PASSED' ret
	[ "$(grep -ac '^# end of PMUTest86' "$work/serial.log")" = 2 ]
	sed '1,/^# end of PMUTest86/d' "$work/serial.log" | grep -a '^ok ' > "$log/again"
	grep -q ' pmi.overflow_interrupts_with_os_or_usr_alone ' "$log/again"
	refute grep -v ' pmi\.' "$log/again"
	# That group again, which is the only one: Esc ends a run between two tests of a group. Both
	# keys at once, because the group may take less time than a look at the screen.
	printf 'sendkey a\nsendkey esc\n' > "$work/monitor"
	shows "$work" 'large: NOT TRUSTWORTHY'
	grep -qP '^ error: \d+ of \d+ tests ran' "$out"
	# Although results = off: because a key asks for it.
	shows "$work" 'The results are in \results' s
	echo 'sendkey r' > "$work/monitor"
	wait
	mcopy -s -i "$work/esp.img" ::/results "$work/"
	grep -q '"pmutest86-results"' "$work"/results/*/results.json
	failing_run 1
	diff <(grep -aE '^(not )?ok |^  |^# decided' "$log/first" | tr -d '\r') \
		<(grep -E '^(not )?ok |^  |^# decided' "$shared/fail/serial.log" | tr -d '\r')
}

# The bytes of the newest record are in a failing test's block, for the report, and on the screen
# field by field.
test_a_failure_shows_its_record()
{
	local work=$log/record

	plan_with_screen "$work" gpr-stale 'record.r*'
	begin_with_screen "$work" VGA
	shows "$work" 'large: FAILED'
	shows "$work" ' eventing_ip         0x0' ret
	grep -q '^ record_1 .*record 0 of 1 in the buffer of processor 0:' "$out"
	grep -q ' rip                 0x0' "$out"
	echo 'sendkey r' > "$work/monitor"
	wait
	grep -aqP '^  record_1: "record 0 of 1 in the buffer of processor 0: [0-9a-f]{384}"' \
		"$work/serial.log"
}

# On a stick that can't be written to: the result in short as a QR Code and as text.
test_the_screen_says_not_tested()
{
	local work=$log/none

	mkdir -p "$work/esp/EFI/BOOT"
	cp "$build/pmutest86.efi" "$work/esp/EFI/BOOT/BOOTX64.EFI"
	printf '%s\n' 'at_end = wait' > "$work/esp/pmutest86.cfg"
	begin_with_screen "$work" VGA --read-only
	shows "$work" 'large: NOT TESTED: no PMU'
	grep -qF ' not an Intel processor (CPUID.0H vendor "AuthenticAMD"' "$out"
	grep -qF ' The results are not saved: S tries again, Q shows them in short' "$out"
	shows "$work" ' exit 2, requirements decided 0, points PASS ' q
	if command -v zbarimg > /dev/null; then
		tools/screen/screen.py --png "$log/code.png" "$work" > /dev/null
		zbarimg -q --raw "$log/code.png" > "$log/decoded" 2> /dev/null
		grep -q '^PMUTest86 [0-9]' "$log/decoded"
		grep -q '^exit 2, requirements decided 0, points PASS ' "$log/decoded"
	else
		echo "# no zbarimg: the QR Code wasn't decoded"
	fi
	echo 'sendkey p' > "$work/monitor"
	wait
	grep -q guest-shutdown "$work/end"
}

# A screen without a linear framebuffer: the firmware draws, between groups.
test_the_firmware_draws_where_it_must()
{
	local work=$log/blt

	plan_with_screen "$work" none 'selftest.t*,count.i*'
	begin_with_screen "$work" virtio-gpu-pci
	shows "$work" 'large: PASSED'
	grep -q '^# screen: none that is a linear framebuffer' "$work/serial.log"
	shows "$work" 'Run one test' t
	grep -q '^ passed *count.instructions_are_counted_exactly' "$out"
	echo 'sendkey r' > "$work/monitor"
	wait
}

# With two graphics adapters, each with a linear framebuffer, both show the run. It doesn't matter
# which adapter is the first.
test_two_adapters_show_the_same()
{
	local work=$log/two

	plan_with_screen "$work" none 'selftest.t*,count.i*'
	begin_with_screen "$work" VGA --device bochs-display,id=second
	shows "$work" 'large: PASSED'
	grep -q '^# screen: none that is a linear framebuffer' "$work/serial.log"
	echo "screendump $work/second.ppm second" > "$work/monitor"
	echo 'sendkey r' > "$work/monitor"
	wait
	tools/screen/screen.py "$work/second.ppm" | grep -q '^large: PASSED'
}

# A soak: each run is a whole one, in an order of its own. The worst counts.
test_runs_are_repeated()
{
	local work=$log/soak

	plan_with_screen "$work" none 'selftest.t*,count.i*'
	sed -i 's/at_end=wait/at_end=return repeat=3 order=5/' "$work/esp/refpmu-plan.txt"
	tools/boot.sh --smp 2 --timeout 150 "$work"
	[ "$(grep -ac '^TAP version 14' "$work/serial.log")" = 3 ]
	[ "$(grep -ac '^# end of PMUTest86: exit 0' "$work/serial.log")" = 3 ]
	grep -aq '^# soak: run 3 of 3' "$work/serial.log"
	grep -aq '^# order: within groups drawn from 7' "$work/serial.log"
	python3 - "$work/serial.log" <<- 'PYTHON'
		import re, sys
		text = open(sys.argv[1], encoding="utf-8", errors="replace").read()
		runs = [re.findall(r"^ok \d+ - (\S+)", part, re.M)
		        for part in text.split("TAP version 14")[1:]]
		assert len(runs) == 3 and len(set(map(frozenset, runs))) == 1, runs
		assert len(set(map(tuple, runs))) > 1, "always the same order"
	PYTHON
}

# Each wrong line of a configuration is told, by its number, on the screen, on the serial line and
# in the results; and nothing is run.
test_each_wrong_line_is_told()
{
	local work=$log/wrong line

	rm -rf "$work"
	mkdir -p "$work/esp/EFI/BOOT"
	cp "$build/pmutest86.efi" "$work/esp/EFI/BOOT/BOOTX64.EFI"
	printf '%s\n' 'at_end = wait' 'colour = red' 'repeat = 0' '' 'on = 1024' \
		> "$work/esp/pmutest86.cfg"
	begin_with_screen "$work" VGA
	shows "$work" 'large: NOT TRUSTWORTHY'
	tr -d '\r' < "$work/serial.log" > "$log/said"
	for line in "Bail out! \\pmutest86.cfg: line 2: 'colour' is not a key; the keys are tests" \
		"# error: \\pmutest86.cfg: line 3: '0' is not a value of repeat: how many" \
		"# error: \\pmutest86.cfg: line 5: '1024' is not a value of on: first, kinds"; do
		grep -qF "$line" "$log/said" || fail "no line: $line"
	done
	refute grep -E '^(not )?ok ' "$log/said"
	grep -qF "line 2: 'colour' is not a key" "$out"
	grep -qF "line 3: '0' is not a value of repeat" "$out"
	grep -qF "line 5: '1024' is not a value of on" "$out"
	echo 'sendkey p' > "$work/monitor"
	wait
	mcopy -s -i "$work/esp.img" ::/results "$work/"
	[ "$(cat "$work"/results/*/results.tap | grep -c "pmutest86.cfg: line")" = 3 ]
}

# The image as it is written to a stick, at an xHCI controller: what the screen says, and the
# results that are on the stick afterwards.
test_the_stick_shows_what_it_does()
{
	local work=$log/stick

	rm -rf "$work"
	mkdir -p "$work"
	make -s usb > /dev/null
	cp "$build/pmutest86.img" "$work/esp.img"
	begin_with_screen "$work" VGA --image --usb
	shows "$work" 'PMUTest86 '
	shows "$work" ' Running     '
	shows "$work" 'large: NOT TESTED: no PMU'
	grep -qF ' The results are in \results' "$out"
	echo 'sendkey p' > "$work/monitor"
	wait
	mcopy -s -i "$work/esp.img@@1M" ::/results "$work/"
	find "$work/results" -name machine.json | grep -q . || fail "no machine.json"
	cat "$work"/results/*/results.tap | tail -n 2 | grep -q '^# NOT TESTED: not an Intel'
}

# A machine without UEFI: GRUB on the stick, Multiboot2, the loader's screen, and the 8042's keys. A
# processor without 64-bit mode is told what is missing.
takes 20 test_a_bios_boots_the_stick
test_a_bios_boots_the_stick()
{
	local work=$log/bios

	has_bios_grub || skip "no GRUB for a BIOS (grub-common, grub-pc-bin)"
	rm -rf "$work"
	mkdir -p "$work"
	cp "$build/pmutest86.elf" "$work/"
	sed 's/^tests = .*/tests = selftest.tsc*,enumeration.enumerated*/' boot/pmutest86.cfg \
		> "$work/cfg"
	CFG=$work/cfg tools/images/usb.sh "$work" "$build/pmutest86.efi" > /dev/null
	mv "$work/pmutest86.img" "$work/esp.img"
	begin_with_screen "$work" VGA --bios --image
	shows "$work" 'large: NOT TESTED: no PMU'
	shows "$work" ' firmware    none, entered by Multiboot2; ' m
	shows "$work" 'large: NOT TESTED: no PMU' esc
	echo 'sendkey p' > "$work/monitor"
	wait
	grep -q guest-shutdown "$work/end" || fail "the machine isn't off"
	grep -aq '^# end of PMUTest86: exit 2' "$work/serial.log"
	cp "$build/pmutest86.elf" "$work/kernel"
	: > "$work/append"
	tools/boot.sh --direct --cpu pentium3 --timeout 60 \
		--until 'This program needs a processor with 64-bit mode.' "$work"
}
