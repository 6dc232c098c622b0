# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # sourced by test.sh, whose functions and variables it uses
#
# Tests of `make test`: the options of run-qemu.sh and of the tools, and the output of a run.

test_bad_options_get_one_line()
{
	expect_bad "unknown option '--nope'" ./run-qemu.sh --nope
	expect_bad "unknown option 'haswell'" ./run-qemu.sh haswell
	expect_bad "--cpu needs a value" ./run-qemu.sh --cpu
	expect_bad "known: nehalem" ./run-qemu.sh --cpu i386
	expect_bad "--list faults" ./run-qemu.sh --fault nope
	expect_bad "--list tests" ./run-qemu.sh --tests 'no.such*'
	expect_bad "--seed takes a number" ./run-qemu.sh --seed x
	expect_bad "--timeout takes seconds" ./run-qemu.sh --timeout 0
	expect_bad "--smp takes 1 to 16" ./run-qemu.sh --smp 0
	expect_bad "--on takes first, kinds, all" ./run-qemu.sh --on second
	expect_bad "with --smp 2 the last one is 1" ./run-qemu.sh --smp 2 --on 2
	expect_bad "unknown --engine" ./run-qemu.sh --engine=warp
	expect_bad "unknown --profile" ./run-qemu.sh --profile nope
	expect_bad "--fault takes a name" ./run-qemu.sh --fault 'inert@ seed=1'
	expect_bad "--list faults" ./run-qemu.sh --fault nope@pmc3
	expect_bad "--latitude takes KNOB:VALUE" ./run-qemu.sh --latitude pmi-skid
	expect_bad "unknown knob 'nope'" ./run-qemu.sh --latitude pmi-skid:0,nope:1
	expect_bad "--latitude pmi-skid takes 0 to" ./run-qemu.sh --latitude pmi-skid:999999
	expect_bad "unknown --pmu" ./run-qemu.sh --pmu maybe
	expect_bad "no such file" ./run-qemu.sh --efi /nonexistent.efi
	expect_bad "need --efi" ./run-qemu.sh -- hello
	expect_bad "no such file" ./run-qemu.sh --linux /nonexistent
	expect_bad "no such file" ./run-qemu.sh --linux Makefile --initrd /nonexistent
	expect_bad "needs --linux FILE" ./run-qemu.sh --append quiet
	expect_bad "can't be combined with --efi" ./run-qemu.sh --linux Makefile --efi Makefile
	expect_bad "--memory takes MiB" ./run-qemu.sh --memory 1G
	expect_bad "unknown group 'NOPE'" ./run-qemu.sh --require PMI,NOPE
	expect_bad "--require takes groups" ./run-qemu.sh --require ,
	expect_bad "isn't a folder to write to" ./run-qemu.sh --out Makefile
	expect_bad "takes groups with commas" ./run-qemu.sh --require 'PMI CNT'
	expect_bad "BUILD can't hold a blank" env BUILD="$log/a b" ./run-qemu.sh
	expect_bad "--list takes" ./run-qemu.sh --list everything
	expect_bad "can't be combined with --cpu" ./run-qemu.sh --all --cpu haswell
	local option
	for option in '--cpu haswell' '--fault inert' '--seed 1' '--profile x' \
		'--latitude pmi-skid:1' '--engine fast' '--efi Makefile' '--linux Makefile'; do
		# shellcheck disable=SC2086 # two words
		expect_bad "can't be combined" ./run-qemu.sh --pmu host $option
	done
	[ -e /dev/kvm ] || expect_bad "/dev/kvm" ./run-qemu.sh --pmu host
}

test_bad_options_of_tools_get_one_line()
{
	local tool

	for tool in mutants seeds repeat engines coverage conclude; do
		expect_bad "; see --help" tools/$tool.py --nope
		expect 0 tools/$tool.py --help
		grep -q "^$tool.py " "$out" || fail "$tool.py --help doesn't say how"
	done
	for tool in mutants seeds repeat engines; do
		expect_bad "run make" tools/$tool.py --build /nonexistent
		expect_bad "--jobs takes a number" tools/$tool.py --jobs 0
	done
	expect_bad "--list faults" tools/mutants.py --faults nope
	expect_bad "not 'i386'" tools/mutants.py --only i386
	expect_bad "no fault is left" tools/mutants.py --faults inert --only netburst
	expect_bad "matches no test" tools/seeds.py --tests 'no.such*'
	expect_bad "--smp takes a number from 1 to 16" tools/repeat.py --smp 17
	expect_bad "--after takes numbers of test points" tools/cut_power.py --after x
	expect_bad "usage: wdat_table.py FILE" tools/wdat_table.py
	expect_bad "no file 'nowhere.cfg'" env CFG=nowhere.cfg tools/images/usb.sh "$build"
	for tool in boot images/usb bench icount selftest engine_soak; do
		expect_bad "${tool#*/}.sh" tools/$tool.sh
	done
}

# All say the same: run-qemu.sh, the report tool, each EFI program, the harness in its log.
test_version_is_said_everywhere()
{
	local version program work=$log/version

	version="PMUTest86 $(tools/version.sh)"
	[[ $version =~ ^PMUTest86\ [0-9]+\.[0-9]+\.[0-9]+ ]] || fail "'$version'"
	[ "$(./run-qemu.sh --version)" = "$version" ]
	make -s all
	[ "$("$build/pmutest86-report" --version)" = "$version" ]
	rm -rf "$work"
	mkdir -p "$work/esp/EFI/BOOT"
	cp "$build/launch.efi" "$work/esp/EFI/BOOT/BOOTX64.EFI"
	cp "$build/refpmu.efi" "$build/pmutest86.efi" "$work/esp/"
	cp "$build/launch.efi" "$work/esp/"
	for program in pmutest86 refpmu launch; do
		printf 'run cpu=haswell fault=none seed=0 efi=\\%s.efi args=%s\n' $program --version
	done > "$work/esp/refpmu-plan.txt"
	printf 'run cpu=haswell fault=none seed=0 efi=\\pmutest86.efi args=%s\n' \
		'tests=selftest.tsc_ticks_during_a_stall results=off serial=0x3f8' \
		>> "$work/esp/refpmu-plan.txt"
	tools/boot.sh --timeout 60 "$work"
	tr -d '\r' < "$work/serial.log" | grep -avF '# version' > "$work/said"
	[ "$(grep -acF "$version" "$work/said")" = 3 ] || fail "not three programs say $version"
	grep -aqFx "# version: $version" <<< "$(tr -d '\r\0' < "$work/serial.log")"
}

test_lists_are_tables()
{
	local what

	for what in tests faults cpus requirements profiles latitude; do
		expect 0 ./run-qemu.sh --list $what
		[ -s "$out" ] || fail "no $what"
		refute grep -vP '^[^\t]+\t[^\t]+$' "$out"
	done
	expect 0 ./run-qemu.sh --list faults
	grep -q '^inert	' "$out"
	expect 0 ./run-qemu.sh --help
	grep -q -- '--require' "$out"
}

# Several tests look at this run.
clean_run()
{
	shared clean "$1" ./run-qemu.sh --require PRIO,REC,DS,PMI,CNT --out
}

# One that fails three tests, of CNT-03, CNT-49 and MSR-27.
failing_run()
{
	shared fail "$1" ./run-qemu.sh --fault loads-count-stores \
		--tests 'selftest.*,count.*,pmi.o*' --out
}

alone test_clean_run_passes
test_clean_run_passes()
{
	local folder=$shared/clean start end

	start=$(date +%s)
	clean_run 0
	end=$(date +%s)
	[ "$(head -n 1 "$out")" = "TAP version 14" ] || fail "it doesn't begin with the version"
	tail -n 1 "$out" | grep -q '^# decided [1-9]' || fail "it doesn't end with the totals"
	refute grep -vE '^(TAP version 14|1\.\.[0-9]+|ok |not ok |#|  )' "$out"
	[ $((end - start)) -le 60 ] || fail "it took $((end - start)) s"
	cmp "$out" "$folder/results.tap"
	python3 -m json.tool "$folder/results.json" > /dev/null
	python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' "$folder/junit.xml"
	[ -s "$folder/serial.log" ]
}

# Code of the harness whose bytes may be an XBEGIN runs in blocks for ever: ten times the usual
# number of instructions (Makefile, HARNESS_FIRST). Not the tests of transactions: their code has
# XBEGIN, and those of two processors wait for each other in it, in blocks.
test_harness_runs_natively_where_nothing_counts()
{
	local instructions

	expect 0 ./run-qemu.sh --smp 1 --tests 'count.*,record.*,lbr.*' --out "$log/native"
	instructions=$(sed -n 's/^# engine: fast, \([0-9]*\) instructions in .*/\1/p' "$out")
	[ "$instructions" -lt 10000000 ] || fail "$instructions instructions ran in blocks"
}

test_report_reads_results()
{
	local format

	clean_run 0
	for format in html junit json markdown; do
		expect 0 "$build/pmutest86-report" --$format - "$shared/clean" \
			"$shared/clean/serial.log"
		grep -q selftest "$out" || [ $format = markdown ] || fail "--$format shows no test"
	done
	[ "$(stat -c %a "$build/pmutest86-report")" = 755 ]
	expect_bad "No such file" "$build/pmutest86-report" --html - /nonexistent
	expect_bad "no TAP output" "$build/pmutest86-report" Makefile
}

test_glob_selects()
{
	expect 0 ./run-qemu.sh --tests 'count.i*' --out "$log/glob"
	refute grep -P '^(not )?ok \d+ - (?!count\.i)' "$out"
}

test_require_refuses_a_skip()
{
	# Without a PMU everything that isn't a self test is skipped.
	expect 2 ./run-qemu.sh --pmu none --require CNT --tests 'count.*' --out "$log/require"
	grep -q '^# required: CNT' "$out"
}

test_require_names_what_only_the_reference_pmu_decides()
{
	clean_run 0
	grep -q '^# decidable on the reference PMU only: ' "$out"
	grep -qP '^# requirements decided \d{3} of \d{3} decidable here ' "$out"
	tail -n 1 "$out" | grep -q '^# decided [1-9]'
	expect 0 "$build/pmutest86-report" --markdown - "$shared/clean"
	grep -qE '(of the|All) [0-9]+ requirements that can be decided here were decided' "$out"
}

# Time that only the TSC shows is evidence: windows are repeated, and stay right.
alone test_lost_time_repeats_windows
test_lost_time_repeats_windows()
{
	expect 0 ./run-qemu.sh --profile kvm --tests 'count.*,pmi.*' --out "$log/preempted" \
		--latitude preemption-rate:200,stolen-ticks:100000000
	refute grep -P '^not ok (?!.*# TODO KNOWN)' "$out"
	grep -qP '^# disturbed by SMIs or lost time, and repeated: [1-9]' "$out"
}

# What the PMU did, in the order in which it did it: overflows, their interrupts, records.
test_trace_shows_overflows_before_their_interrupts()
{
	expect 0 ./run-qemu.sh --tests \
		'pmi.general_purpose_overflow_*,pmi.fixed_*,arm.next_event*' \
		--trace "$log/trace.json" --out "$log/trace"
	python3 - "$log/trace.json" <<- 'END'
		import json, sys

		events = [e for e in json.load(open(sys.argv[1]))["traceEvents"]
		          if e["ph"] == "i" and e["tid"] == 0]
		names = [e["name"].split()[0] for e in events]
		first = {name: names.index(name)
		         for name in ("wrmsr", "overflow", "PMI", "arm", "record")}
		assert first["wrmsr"] < first["overflow"] < first["PMI"], first
		assert first["arm"] < first["record"], first
		times = [e["ts"] for e in events]
		assert times == sorted(times)
		# A register of a series has its name.
		assert "wrmsr IA32_PERFEVTSEL3" in [e["name"] for e in events]
		overflows = {e["name"] for e in events if e["name"].startswith("overflow")}
		assert {"overflow fixed0", "overflow pmc0"} <= overflows, overflows
		assert not overflows & {"overflow fixed3", "overflow pmc8"}, overflows
		assert not [e for e in events if e["name"].startswith("wrmsr 0x")]
	END
	# The same as a picture: a column each, on the tracks of what there is.
	expect 0 tools/trace/picture.py "$log/trace.json" "$log/trace.svg" --events 30
	python3 - "$log/trace.svg" <<- 'END'
		import collections, sys, xml.etree.ElementTree as xml

		svg = xml.parse(sys.argv[1]).getroot()
		marks = svg.findall("{*}circle")
		assert len(marks) == 30, len(marks)
		columns = [int(mark.get("cx")) for mark in marks]
		assert columns == sorted(set(columns))
		tracks = collections.defaultdict(set)
		words = [e for e in svg.findall("{*}text") if e.get("transform")]
		for mark, word in zip(marks, words):
		    tracks[mark.get("cy")].add(word.text.split()[0])
		assert len(tracks) >= 5, tracks
		assert all(len(kinds) == 1 or kinds <= {"rdmsr", "wrmsr", "rdpmc"}
		           for kinds in tracks.values()), tracks
	END
	echo '{"traceEvents": []}' > "$log/empty.json"
	expect 2 tools/trace/picture.py "$log/empty.json" "$log/trace.svg"
	grep -qx "picture.py: $log/empty.json: no event of the PMU in it" "$err"
}

# Without a row in spec/generation.def all that is architectural is judged, records too.
test_an_unknown_processor_is_judged()
{
	local test

	expect 0 ./run-qemu.sh --profile unnamed --out "$log/unnamed"
	grep -q '^# generation: no row for this processor' "$out"
	refute grep '^not ok' "$out"
	for test in count.instructions_are_counted_exactly \
		count.counter_counts_only_with_local_and_global_enable \
		pmi.general_purpose_overflow_interrupts_once pmi.freeze_on_pmi_clears_global_ctrl \
		msr.event_selects_and_counter_controls_hold_every_bit \
		record.pebs_record_has_the_size_that_perf_capabilities_name; do
		grep -P "^ok \d+ - $test " "$out" | grep -v SKIP || fail "$test isn't decided"
	done
	grep -P '^ok \d+ - count.loads_are_counted_exactly ' "$out" |
		grep 'SKIP no event table for family 06 model ff'
}

# More seeds, and all tests: test_seeds_and_profiles_stay_green.
test_seed_stays_green()
{
	expect 0 ./run-qemu.sh --seed 7 --tests 'count.*,pmi.*' --out "$log/seed"
	refute grep '^not ok' "$out"
}

# No other generation has them; and these may have lost them to their firmware.
takes 18 test_transactions_are_decided
test_transactions_are_decided()
{
	local cpu

	for cpu in haswell broadwell; do
		expect 0 ./run-qemu.sh --cpu "$cpu" --tests 'tsx.*' \
			--require TSX --out "$log/rtm"
		# Microcode that takes a counter for transactions is Skylake's, and no fixed counter
		# makes records here.
		tail -n 1 "$out" | grep -q 'skipped 2, inconclusive 0'
		grep -q '^ok .* - tsx.force_abort.* # SKIP ' "$out"
		grep -q '^ok .* - tsx.pebs_record_of_fixed_counter_0.* # SKIP ' "$out"
	done
	expect 0 ./run-qemu.sh --tests 'tsx.*,count.inst*' --latitude no-rtm:1 --out "$log/no-rtm"
	grep -q '^ok [0-9]* - tsx.* SKIP .*RTM' "$out"
}

# The Hyper-Threading page needs both threads; without the second those tests say so.
takes 28 test_netburst_is_decided
test_netburst_is_decided()
{
	local smp

	for smp in 2 1; do
		expect 0 ./run-qemu.sh --cpu netburst --smp $smp --out "$log/netburst"
		refute grep '^not ok' "$out"
	done
	grep -q 'netburst.table_18_66_holds_on_the_other_thread .*# SKIP ' "$out"
}

test_one_processor_passes()
{
	expect 0 ./run-qemu.sh --smp 1 --out "$log/one"
	refute grep '^not ok' "$out"
	tail -n 1 "$out" | grep -q 'inconclusive 0, known 0, failed 0, errors 0'
}

test_fault_turns_red()
{
	failing_run 1
	grep -A9 '^not ok' "$out" | grep -q 'requirement: CNT-03'
	grep -A9 '^not ok' "$out" | grep -q 'sentence: '
	grep -A9 '^not ok' "$out" | grep -q 'wanted: '
	grep -A9 '^not ok' "$out" | grep -q 'got: '
}

takes 15 test_all_prints_subtests
test_all_prints_subtests()
{
	expect 0 ./run-qemu.sh --all --out "$log/all" --tests \
		'selftest.time*,enumeration.enumerated*,netburst.table_18_66_holds_on_this*'
	grep -q '^# Subtest: haswell$' "$out"
	grep -q "^1\.\.$(./run-qemu.sh --list cpus | wc -l)$" "$out"
	grep -q '^ok 5 - haswell$' "$out"
	grep -q '^    ok 1 - selftest' "$out"
}

test_truncated_log_is_an_error()
{
	expect 2 ./run-qemu.sh --timeout 2 --out "$log/truncated"
	[ "$(wc -l < "$err")" = 1 ] || fail "not one line: $(cat "$err")"
	grep -q 'timeout after 2 s' "$err"
}

# The EFI shell, a foreign program: into file $1.
foreign_shell()
{
	local firmware

	for firmware in /usr/share/OVMF/OVMF_CODE_4M.fd /usr/share/OVMF/OVMF_CODE.fd; do
		[ ! -e $firmware ] || break
	done
	tools/ovmf_shell.py $firmware "$1"
}

test_foreign_program_runs()
{
	local shell=$log/shell.efi

	foreign_shell "$shell"
	expect 0 ./run-qemu.sh --efi "$shell" --out "$log/efi" -- -exit -nomap ver
	grep -q '^# | .*UEFI' "$out"
	grep -q '^ok 1 - efi.runs_and_returns' "$out"
}

# It asks for commands and is answered at a terminal; it reads and writes a disk that is given to
# it, and sees a network card.
takes 25 test_foreign_program_is_used_at_the_terminal
test_foreign_program_is_used_at_the_terminal()
{
	local shell=$log/shell.efi disk=$log/disk,1.img

	foreign_shell "$shell"
	truncate -s 8M "$disk"
	mkfs.fat "$disk" > /dev/null
	echo 'read by the guest' | mcopy -i "$disk" - ::/here.txt
	printf 'Shell> \t%s\n' 'connect -r' 'map -r' 'type fs1:\here.txt' \
		'echo written by it > fs1:\there.txt' 'ifconfig -l' 'exit 0' > "$log/dialogue"
	expect 0 tools/test/terminal.py 100 ./run-qemu.sh --efi "$shell" --interactive \
		--disk "$disk" --network --out "$log/terminal" -- -nostartup < "$log/dialogue"
	grep -q '^read by the guest' "$out"
	grep -q '^name *: eth0' "$out"
	grep -q '^run-qemu.sh: the machine switched itself off; what was said is in ' "$out"
	grep -q '^ok 1 - efi.runs_and_returns' "$log/terminal/results.tap"
	mtype -i "$disk" ::/there.txt | tr -d '\0' | grep -q 'written by it'
	expect_bad '--interactive needs --efi FILE or --linux FILE' ./run-qemu.sh --interactive
	expect_bad '--disk needs --efi FILE or --linux FILE' ./run-qemu.sh --disk "$disk"
	expect_bad '--network needs --efi FILE or --linux FILE' ./run-qemu.sh --network
	expect_bad "--disk: no file '$log/nowhere' that can be read and written" \
		./run-qemu.sh --efi "$shell" --disk "$log/nowhere"
}

takes 18 test_machine_is_given_back_50_times
test_machine_is_given_back_50_times()
{
	local work=$log/borrow

	rm -rf "$work"
	mkdir -p "$work/esp/EFI/BOOT"
	cp "$build/launch.efi" "$work/esp/EFI/BOOT/BOOTX64.EFI"
	cp "$build/refpmu.efi" "$build/pmutest86.efi" "$work/esp/"
	echo 'run cpu=haswell fault=none seed=0 efi=\pmutest86.efi args=borrow_cycles=50' \
		> "$work/esp/refpmu-plan.txt"
	tools/boot.sh --timeout 100 --key-after '# press a key' "$work"
	expect 0 tools/conclude.py --serial "$work/serial.log" --out "$work/out" \
		--run pmu=reference
	grep -q ' - borrow.n_cycles_leave_a_working_firmware' "$out"
}

test_bad_plan_gets_one_line()
{
	expect 2 tools/mutants.py --build "$build" --faults 'gp-pmi-lost@nowhere'
	[ ! -s "$out" ]
	grep -q '^mutants.py: the launcher refused: bad plan line' "$err"
	expect 2 ./run-qemu.sh --fault gp-pmi-lost@nowhere --out "$log/bad-plan"
	[ "$(wc -l < "$err")" = 1 ] || fail "not one line: $(cat "$err")"
	grep -q 'bad plan line' "$err"
}
