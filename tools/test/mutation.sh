# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # sourced by test.sh, whose functions and variables it uses
#
# Tests of `make test`: mutation of the model.

needs_clang()
{
	[ -e /usr/lib/python3/dist-packages/clang/cindex.py ] ||
		skip "python3-clang isn't installed"
}

# What mutants a source has, and that each does in the one build what it does alone.
test_mutants_are_made_as_the_rules_say()
{
	needs_clang
	expect 0 host/unit/mutate.py
	grep -qP '^mutate.py: [1-9]\d* passed, 0 failed$' "$out"
}

# A few mutants of the groups that matter most, the same ones until the model changes: what survives
# all tests has its row in claims/mutants-legal.tsv. `make mutation` runs all of them.
takes 150 test_mutants_of_the_model_are_killed
test_mutants_of_the_model_are_killed()
{
	needs_clang
	expect 0 tools/mutation.py --build "$build" --jobs 1 --group PRIO,ARM,REC,DS,PMI \
		--sample 12 --seed 1
	tail -n 1 "$out" | grep -q '^12 mutants, 0 survived without a reason$'
}
