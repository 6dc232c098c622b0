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
