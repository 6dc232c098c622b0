# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # sourced by test.sh, whose functions and variables it uses
#
# Tests of `make test`: set-up, the builds, the host tests and the files that the builds make.

alone test_setup_is_quick_and_silent
test_setup_is_quick_and_silent()
{
	local start end

	tools/setup.sh
	start=$(date +%s%N)
	expect 0 tools/setup.sh
	end=$(date +%s%N)
	[ ! -s "$out" ]
	[ ! -s "$err" ]
	[ $((end - start)) -lt 1000000000 ] || fail "it took more than a second"
}

# In a tree without the fetched source make changes nothing and names the command.
test_make_says_what_sets_up()
{
	local tree=$log/fresh

	rm -rf "$tree"
	mkdir -p "$tree"
	command -v git > /dev/null || skip "no git"
	git ls-files -z | tar -c --null -T - | tar -x -C "$tree"
	expect 2 env -u MAKELEVEL -u MAKEFLAGS make --no-print-directory -C "$tree"
	[ ! -s "$out" ]
	grep -qx "setup: the source of zydis isn't in .cache/zydis; run: make setup" "$err"
	[ ! -e "$tree/.cache" ]
	[ ! -e "$tree/build" ]
	expect 0 make -C "$tree" help
	expect_bad "known: --all --check" tools/setup.sh --now
	expect 0 tools/setup.sh --check
	[ ! -s "$out" ] && [ ! -s "$err" ]
}

alone test_gcc_builds
test_gcc_builds()
{
	make -s -j"$jobs" CC=gcc all
}

# builds_and_runs COMPILER NAME [SEPARATE]: that compiler's build decides what any other does.
builds_and_runs()
{
	export SEPARATE=${3-} BUILD=$build/$2

	make -s -j"$jobs" CC="$1" all
	expect 0 ./run-qemu.sh --tests 'count.*,record.*' --out "$log/$2"
	refute grep '^not ok' "$out"
}

# The other compiler, whose objects of the reference PMU are always separate.
takes 45 test_clang_builds_separate_objects
test_clang_builds_separate_objects()
{
	builds_and_runs clang clang-separate
}

# gcc with separate objects, as a developer builds the reference PMU.
takes "$(amount 1 45)" test_other_builds_run
test_other_builds_run()
{
	[ -n "${LONG-}" ] || skip "only in make test-long"
	builds_and_runs gcc gcc-separate 1
}

alone test_host_tests_pass
test_host_tests_pass()
{
	make -s -j"$jobs" LONG="${LONG-}" check
}

test_shell_scripts_are_clean()
{
	shellcheck -x run-qemu.sh .ci/run tools/*.sh tools/*/*.sh host/*.sh
}

test_python_compiles()
{
	python3 - tools/*.py tools/report/*.py tools/screen/*.py <<- 'EOF'
		import ast, sys
		for path in sys.argv[1:]:
		    ast.parse(open(path, encoding="utf-8").read(), path)
	EOF
}

# What the firmware reads from a stick. Much of it is what the tests say when they fail.
test_harness_stays_small()
{
	local most=1675000 size

	size=$(stat -c %s "$build/pmutest86.efi")
	[ "$size" -le $most ] || fail "pmutest86.efi has $size bytes, more than $most"
}

test_images_are_checked()
{
	cp "$build/pmutest86.efi" "$log/bad.efi"
	expect 1 tools/efi_image.py "$log/bad.efi" .text .nowhere
	grep -q 'section .nowhere is missing' "$err"
	# The second section (flags at 0x24 of its 40 bytes) made writable and executable.
	python3 - "$log/bad.efi" <<- 'EOF'
		import struct, sys
		image = bytearray(open(sys.argv[1], "rb").read())
		pe, = struct.unpack_from("<I", image, 0x3c)
		at = pe + 24 + struct.unpack_from("<H", image, pe + 20)[0] + 40 + 36
		struct.pack_into("<I", image, at, 0xe0000020)
		open(sys.argv[1], "wb").write(image)
	EOF
	expect 1 tools/efi_image.py "$log/bad.efi" .text
	grep -q 'writable and executable' "$err"
}

test_every_requirement_has_a_test_or_a_reason()
{
	tools/coverage.py --build "$build" --check
}
