# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # sourced by test.sh, whose functions and variables it uses
#
# Tests of `make test`: a distribution's kernel and perf on the reference PMU.

test_judges_of_perf_judge()
{
	expect 0 tools/linux/check_judge.py
	expect_bad "--steps takes driver" tools/linux/run.py --steps nope
	expect_bad "; see --help" tools/linux/run.py --nope
	expect_bad "holds no" tools/peers/run.py --build "$build" --programs "$log"
	expect_bad "; see --help" tools/peers/kvm.py --build "$build" --nope
}

# What a system says, and how the machine ended: switched off is good, all else isn't.
test_a_system_switches_the_machine_off()
{
	local log_of=$log/serial.log
	local system=(tools/conclude.py --serial "$log_of" --out "$log/results" --efi kernel
		--system)

	printf '%s\r\n' 'launch: hypervisor at 0x1000' 'launch: run 1 cpu=haswell fault=none' \
		'[    0.0] Linux version' > "$log_of"
	expect 0 "${system[@]}" --end 'the machine switched itself off'
	grep -q '^ok 1 - linux.boots_and_switches_off' "$out"
	grep -q '^# | .*Linux version' "$out"
	expect 2 "${system[@]}" --end 'the machine was reset'
	grep -q "message: it didn't switch the machine off: the machine was reset" "$out"
	expect 2 "${system[@]}" --reason 'timeout after 9 s'
	grep -q "it didn't switch the machine off: timeout after 9 s" "$out"
	echo 'refpmu: the guest shut down' >> "$log_of"
	expect 2 "${system[@]}" --end 'the machine switched itself off'
	grep -q 'refpmu: the guest shut down' "$out"
}

# boots_linux OPTION...: run.py with these. Where Debian's packages can't be had, nothing is tried.
boots_linux()
{
	local status=0

	out=$log/out err=$log/err
	tools/linux/run.py --out "$log/results" "$@" > "$out" 2> "$err" || status=$?
	cat "$out"
	if [ "$status" = 2 ] && grep -q '^run.py: ' "$err"; then
		skip "$(grep -m 1 '^run.py: ' "$err")"
	fi
	[ "$status" = 0 ] || fail "run.py $* ended with $status: $(tail -n 3 "$err")"
}

# docs/LINUX.md says how far the others have come.
takes 60 test_perf_says_what_a_program_does
test_perf_says_what_a_program_does()
{
	boots_linux --cpu haswell --timeout 280 \
		--steps driver,stat,record,report,mem,branch,multiplex,system,switches,rdpmc
}

# One boot each: adaptive records; records without baseline; a processor before both.
takes 90 test_perf_says_so_on_newer_processors
test_perf_says_so_on_newer_processors()
{
	[ -n "${LONG-}" ] || skip "make test-long boots them"
	boots_linux --cpu icelake-sp --steps driver,record,report,mem,branch
	boots_linux --cpu icelake-sp --latitude no-baseline:1 --steps driver,refused,record
	boots_linux --cpu skylake --steps driver,stat
}

# Two processors of each type, each type with a PMU of its own; records of the DS area, and of
# architectural PEBS.
takes 120 test_perf_counts_on_cores_of_two_types
test_perf_counts_on_cores_of_two_types()
{
	[ -n "${LONG-}" ] || skip "make test-long boots them"
	boots_linux --cpu alderlake --smp 4 --steps driver,stat,hybrid,rdpmc
	boots_linux --cpu pantherlake --smp 4 --steps driver,hybrid,regs,snapshot,reload
}
