# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # sourced by test.sh, whose functions and variables it uses
#
# Tests of `make test`: mutation of the model.

needs_clang()
{
	[ -e /usr/lib/python3/dist-packages/clang/cindex.py ] ||
		skip "python3-clang isn't installed"
}

# Which mutants a source has; and that each mutant behaves in the common build as in a build of its
# own.
test_mutants_are_made_as_the_rules_say()
{
	needs_clang
	expect 0 host/unit/mutate.py
	grep -qP '^mutate.py: [1-9]\d* passed, 0 failed$' "$out"
}

# A few of the mutants that a test has killed, under that test: the way from a row of a table by the
# one build to a run and its verdict. The whole of it is `make mutation`.
takes 60 test_known_mutants_are_killed
test_known_mutants_are_killed()
{
	needs_clang
	expect 0 tools/mutation.py --build "$build" --known --sample 12 --jobs 1
	tail -n 1 "$out" | grep -qP '^[1-9]\d* known mutants, \d+ of the table .*, 0 survived$'
}
