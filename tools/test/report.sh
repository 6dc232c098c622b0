# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # sourced by test.sh, whose functions and variables it uses
#
# Tests of `make test`: the output of pmutest86-report, and the recipes for labs and CI.

takes 20 test_report_says_what_logs_say
test_report_says_what_logs_say()
{
	make -s "$build/pmutest86-report"
	expect 0 host/report/test_report.py "$build/pmutest86-report" -v
	sed -n "s/^.*skipped [\"']\(.*\)[\"']$/# not checked: \1/p" "$err"
}

takes 20 test_report_page_in_a_browser
test_report_page_in_a_browser()
{
	local status=0

	make -s "$build/pmutest86-report"
	host/report/test_page.py "$build/pmutest86-report" > "$log/out" 2> "$log/err" || status=$?
	[ "$status" != 77 ] || skip "$(cat "$log/out")"
	cat "$log/out" "$log/err"
	return "$status"
}

# One real failure, from the reference PMU to each format.
test_report_of_a_real_failure()
{
	local format

	failing_run 1
	cp -r "$shared/fail" "$log/fail"
	expect 0 ./run-qemu.sh --tests 'selftest.*,count.*,pmi.o*' --out "$log/hold"
	expect 2 ./run-qemu.sh --pmu none --tests 'count.l*' --out "$log/none"
	for format in html junit json markdown; do
		expect 0 "$build/pmutest86-report" --$format - "$log"/{hold,fail,none}
		grep -q 'CNT-03' "$out"
		grep -q 'loads in 80 more rounds of store' "$out"
	done
	python3 - "$build/pmutest86-report" "$log"/{hold,fail,none} <<- 'END'
		import json, subprocess, sys
		said = json.loads(subprocess.run([sys.argv[1], "--json", "-", *sys.argv[2:]],
		                                 capture_output=True, check=True).stdout)
		outcomes = [one["outcome"] for one in said["machines"]]
		assert outcomes == ["FAILED", "NOT TESTED"], outcomes
		kinds = {one["requirement"]: one["kind"]
		         for one in said["changes"][0]["requirements"]}
		# Its loads are wrong in each form of an access, and beside another thread, too.
		broken = ("CNT-03", "CNT-49", "MSR-27")
		assert kinds == dict.fromkeys(broken, "broken"), kinds
	END
	expect 0 "$build/pmutest86-report" --bug CNT-03 "$log/bug" "$log"/{hold,fail,none}
	grep -q '^# CNT-03 is broken on' "$log/bug/report.md"
	grep -q -- '--fault loads-count-stores --tests count.loads_are_counted_exactly$' \
		"$log/bug/report.md"
	grep -q '^not ok ' "$log/bug/points.tap"
}

# The bytes of the record that a failing test looked at are in the log, and hold what it got.
test_report_decodes_the_record_of_a_failure()
{
	expect 1 ./run-qemu.sh --fault gpr-stale --tests 'record.registers_of_a_record_are*' \
		--out "$log/stale"
	expect 0 "$build/pmutest86-report" --bug REC-04 "$log/bug" "$log/stale"
	[ "$(stat -c %s "$log/bug/record-1.bin")" = 192 ]
	got=$(sed -n '0,/^  got: *0x/s/^  got: *\(0x[0-9a-f]*\).*/\1/p' "$log/bug/report.md")
	grep -q "^10H .* $got  R/EAX$" "$log/bug/record-1.txt"
	grep -q '^B0H .* EventingIP$' "$log/bug/record-1.txt"
}

# Each part for which this machine has the tool; host/report/test_recipes.py says what it wants.
test_recipes_for_labs_are_what_their_tools_take()
{
	expect 0 host/report/test_recipes.py -v
	sed -n "s/^.*skipped [\"']\(.*\)[\"']$/# not checked: \1/p" "$err" | sort -u
}
