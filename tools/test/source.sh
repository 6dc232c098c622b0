# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # sourced by test.sh, which has fail(), $log and $build
# Part of `make test`: the rules of the source, and that the check of each rule detects a breach.

test_includes_obey_the_table()
{
	tools/check_includes.py "$build"
}

test_architecture_names_what_exists()
{
	tools/check_paths.py
}

test_pure_parts_are_pure()
{
	tools/check_pure.py
}

test_style_holds()
{
	tools/check_style.py
}

# As clang-format 19 and shfmt write it; other versions of clang-format write it otherwise.
test_formatters_find_nothing()
{
	expect 0 tools/format/format.sh --check
	[ ! -s "$err" ] || skip "$(sed 's/^# //' "$err" | paste -s -d ';')"
}

# A tree with the rules and nothing else, in $tree. Its files are those that plant() writes.
bare_tree()
{
	local rule

	tree=$log/planted
	rm -rf "$tree"
	mkdir -p "$tree"/{tools,host,docs,boot,kernel,pmu,spec,claims} \
		"$tree"/{tests/frame,build/obj,kernel/output,kernel/interrupt} \
		"$tree"/refpmu/{model,faults,hv,engine,vmm,launch}
	cp tools/check_*.py "$tree/tools"
	cp host/host.mk "$tree/host"
	# No repository around it, so that the rules look at every file.
	export GIT_DIR=$tree/.git
	for rule in style includes; do
		"$tree/tools/check_$rule.py" > /dev/null || fail "check_$rule.py finds something"
	done
}

# sees RULE TEXT FILE CONTENT: with FILE as given, check_RULE.py says TEXT of it. In CONTENT
sees()
{
	local said

	# shellcheck disable=SC2059 # the format is what is written
	printf "$4" > "$tree/$3"
	if said=$("$tree/tools/check_$1.py" 2> /dev/null); then
		fail "check_$1.py doesn't see: $2"
	fi
	grep -qF -- "$3" <<< "$said" || fail "check_$1.py doesn't name $3: $said"
	grep -qF -- "$2" <<< "$said" || fail "check_$1.py doesn't say '$2': $said"
	rm "$tree/$3"
}

test_each_rule_of_style_sees_a_breach()
{
	local licence='/* SPDX-License-Identifier: MIT */\n' long name

	bare_tree
	long=$(printf '%081d' 0)
	for name in docs/a.md kernel/a.c; do
		sees style 'blank at the end of the line' $name "${licence}a \n"
		sees style 'blank at the end of the line' $name "${licence}a\t\n"
		sees style 'carriage return' $name "${licence}a\r\n"
		sees style 'no line feed at the end of the file' $name "${licence}a"
		# In two pieces, or this file would be a finding itself.
		sees style 'leftover' $name "${licence}/* TO""DO: more */\n"
		sees style 'names a person' $name "${licence}/* whoe""ver calls it */\n"
		sees style "path of one machine" $name "$licence see /ho""me/me/a\n"
	done
	for name in kernel/a.c kernel/a.h kernel/a.asm kernel/a.inc tools/a.sh tools/a.py a.ld; do
		# 100 columns are allowed, 101 aren't; a tab counts to the next multiple of 8.
		sees style 'longer than 100 columns' $name "$licence\t\t${long}00000\n"
		printf '/* SPDX-License-Identifier: MIT */\n\t\t%s000\n' "$long" > "$tree/$name"
		"$tree/tools/check_style.py" > /dev/null || fail "100 columns are too many: $name"
		rm "$tree/$name"
		sees style 'no SPDX line' $name 'a\nb\nc\n/* SPDX-License-Identifier: MIT */\n'
		sees style '701 lines, more than 700' $name "$licence$(printf 'a\\n%.0s' {1..700})"
	done
	sees style 'no SPDX line' Makefile 'all:\n'
	for name in kernel/a.c kernel/a.h kernel/a.asm kernel/a.inc; do
		sees style 'blanks instead of tabs' $name "$licence        a\n"
	done
	for name in boot kernel pmu refpmu tests; do
		sees style 'register number' $name/a.c "${licence}x = msr_read(0x38f);\n"
		sees style 'register number' $name/a.c "${licence}x = msr_try_write(&m, 0x38f);\n"
		sees style 'register number' $name/a.c "${licence}wrmsr (0x38f);\n"
	done
	sees style 'not a text in UTF-8' kernel/a.c "$licence\\377\n"
}

test_each_row_of_the_includes_sees_a_breach()
{
	local name

	bare_tree
	sees includes 'spec/ may not include kernel/a.h' spec/a.def '#include "kernel/a.h"\n'
	sees includes 'spec/ may not include stdarg.h' spec/a.h '#include <stdarg.h>\n'
	sees includes 'claims/ may not include tests/a.h' claims/a.def '#include "tests/a.h"\n'
	sees includes 'kernel/ may not include pmu/a.h' kernel/a.c '\n #  include "pmu/a.h"\n'
	sees includes 'kernel/ may not include efi.h' kernel/a.c '#include <efi.h>\n'
	sees includes 'kernel/ may not include tests/a.inc' kernel/a.asm '%%include "tests/a.inc"\n'
	sees includes 'pmu/ may not include tests/a.h' pmu/a.h '#include "tests/a.h"\n'
	sees includes 'pmu/ may not include claims/a.h' pmu/a.c '#include "claims/a.h"\n'
	sees includes 'nothing else may include pmu/netburst/a.h' pmu/pmi.c \
		'#include "pmu/netburst/a.h"\n'
	sees includes 'nothing else may include tests/tsx/a.h' tests/frame/needs.c \
		'#include "tests/tsx/a.h"\n'
	sees includes 'pmu/ may not include refpmu/a.h' pmu/a.c '#include "refpmu/a.h"\n'
	sees includes 'tests/ may not include boot/a.h' tests/a.c '#include "boot/a.h"\n'
	sees includes 'tests/ may not include refpmu/a.h' tests/a.inc '%%include "refpmu/a.h"\n'
	sees includes 'boot/ may not include pmu/a.h' boot/a.c '#include "pmu/a.h"\n'
	sees includes 'boot/ may not include tests/a.h' boot/a.c '#include "tests/a.h"\n'
	sees includes 'boot/ may not include tests/frame/a.h' boot/a.c \
		'#include "tests/frame/a.h"\n'
	sees includes 'boot/ may not include stdio.h' boot/a.c '#include <stdio.h>\n'
	sees includes 'refpmu/ may not include pmu/a.h' refpmu/a.c '#include "pmu/a.h"\n'
	sees includes 'refpmu/ may not include claims/a.h' refpmu/a.c '#include "claims/a.h"\n'
	sees includes 'refpmu/ may not include tests/a.h' refpmu/a.h '#include "tests/a.h"\n'
	sees includes 'may not include refpmu/host.h' refpmu/model/a.c '#include "refpmu/host.h"\n'
	for name in 'model faults' 'model hv' 'model engine' 'faults hv' 'hv faults' 'hv engine' \
		'hv vmm' 'engine vmm' 'vmm launch' 'launch selftest'; do
		sees includes "refpmu/${name% *}/ may not include refpmu/${name#* }/a.h" \
			"refpmu/${name% *}/a.c" "#include \"refpmu/${name#* }/a.h\"\n"
	done
	sees includes 'may not include efi.h' refpmu/model/a.h '#include <efi.h>\n'
}

# The kernel calls a function of tests/ that it declares itself.
test_linked_symbols_are_held_against_the_table()
{
	local name status=0

	bare_tree
	printf 'void upper(void);\nvoid lower(void);\nvoid lower(void) { upper(); }\n' \
		> "$tree/kernel/a.c"
	printf 'void upper(void);\nvoid upper(void) { }\n' > "$tree/tests/a.c"
	for name in kernel tests; do
		mkdir -p "$tree/build/obj/$name"
		gcc -c "$tree/$name/a.c" -o "$tree/build/obj/$name/a.c.o"
	done
	"$tree/tools/check_includes.py"
	out=$("$tree/tools/check_includes.py" "$tree/build") || status=$?
	[ $status = 1 ]
	grep -qF 'kernel/a.c: kernel/ may not use upper of tests/a.c' <<< "$out"
}

test_names_that_are_gone_are_seen()
{
	local status=0

	bare_tree
	printf 'int stays(void)\n{\n\treturn 0;\n}\nint gone(void);\n' > "$tree/kernel/a.c"
	# shellcheck disable=SC2016 # quoted names, as in a page
	printf '`stays()`, `a.c: stays()`, `kernel/a.c`\n\n`a.c: gone()`\n\n`kernel/b.c`\n' \
		> "$tree/docs/ARCHITECTURE.md"
	out=$("$tree/tools/check_paths.py") || status=$?
	[ $status = 1 ]
	[ "$out" = "docs/ARCHITECTURE.md:3: gone() isn't in a.c
docs/ARCHITECTURE.md:5: there is no kernel/b.c" ]
}

# What the model declares as a hook is its own; a function of faults/ that isn't one is a cycle.
test_cycles_between_folders_are_found()
{
	local name status=0

	bare_tree
	mkdir -p "$tree/refpmu/model" "$tree/refpmu/faults"
	printf 'HOOK(changes, int)\nHOOK_VALUE(u64, alters, value, int)\n' \
		> "$tree/refpmu/model/hooks.h"
	printf 'void %s(void);\n' changes alters asks > "$tree/refpmu/model/a.c"
	printf 'void rule(void);\nvoid rule(void) { changes(); alters(); }\n' \
		>> "$tree/refpmu/model/a.c"
	printf 'void %s(void);\n' changes alters asks rule > "$tree/refpmu/faults/a.c"
	printf 'void changes(void) { rule(); }\nvoid alters(void) { }\nvoid asks(void) { }\n' \
		>> "$tree/refpmu/faults/a.c"
	for name in model faults; do
		mkdir -p "$tree/build/obj/refpmu/$name"
		gcc -c "$tree/refpmu/$name/a.c" -o "$tree/build/obj/refpmu/$name/a.c.o"
	done
	out=$("$tree/tools/check_includes.py" "$tree/build")
	[ "$out" = 'cycles between folders: none' ]
	sed -i 's/alters();/asks();/' "$tree/refpmu/model/a.c"
	gcc -c "$tree/refpmu/model/a.c" -o "$tree/build/obj/refpmu/model/a.c.o"
	out=$("$tree/tools/check_includes.py" "$tree/build") || status=$?
	[ $status = 1 ]
	grep -qF 'cycle between folders: refpmu/model/ -> refpmu/faults/ -> refpmu/model/' \
		<<< "$out"
}

test_each_rule_of_purity_sees_a_breach()
{
	bare_tree
	printf 'int harmless(void) { static const int x[] = { 1 }; return x[0]; }\n' \
		> "$tree/kernel/output/tap.c"
	: > "$tree/kernel/interrupt/hpet.h"
	: > "$tree/pmu/record.h"
	sees pure 'and includes kernel/interrupt/hpet.h' kernel/output/fmt.c \
		'#include "kernel/interrupt/hpet.h"\n'
	sees pure 'and includes pmu/record.h' refpmu/model/a.c '#include "pmu/record.h"\n'
	sees pure "and doesn't compile for this machine" pmu/record.c 'this is no C\n'
	sees pure 'and holds assembly' pmu/leaves.c 'void f(void) { __asm__("nop"); }\n'
	local text

	for text in 'int a = 1;' 'static int a; int f(void) { return a++; }' '__thread int a = 1;' \
		'int a[2] __attribute__((section(".data.x")));' 'int a;' \
		'int f(void) { static int a; return a++; }' \
		'int *f(void) { static int a = 3; return &a; }'; do
		sees pure 'data that can change: a' tests/frame/glob.c "$text\n"
	done
}

test_analysis_finds_nothing()
{
	make -s analyse
}

# The skeleton of a test is in its group's file, builds, and keeps the rules of the style.
test_new_test_writes_a_skeleton()
{
	local tree=$log/new-test name=pmi.status_bit_rises_with_the_interrupt file

	rm -rf "$tree"
	mkdir -p "$tree"
	command -v git > /dev/null || skip "no git"
	git ls-files -z | tar -c --null -T - | tar -x -C "$tree"
	expect_bad "group.claim_in_words, lower case" "$tree/tools/new_test.py" Pmi.Status
	expect_bad "known: adaptive archpebs arm" "$tree/tools/new_test.py" nope.a_claim_of_words
	expect_bad "no claim with a subject" "$tree/tools/new_test.py" pmi.status
	expect_bad "there is a test" "$tree/tools/new_test.py" selftest.self_nmi_arrives_once
	expect_bad "no requirement 'PMI-99'" "$tree/tools/new_test.py" $name PMI-99
	expect 0 "$tree/tools/new_test.py" $name PMI-01,PMI-02
	file=$(cut -d: -f1 "$out")
	grep -qF 'TEST(pmi, status_bit_rises_with_the_interrupt, REQS(PMI_01, PMI_02)' "$tree/$file"
	"$tree/tools/check_style.py" "$file" > /dev/null
	gcc -std=gnu11 -ffreestanding -mgeneral-regs-only -Wall -Wextra -Werror -fsyntax-only \
		-I "$tree" "$tree/$file"
}
