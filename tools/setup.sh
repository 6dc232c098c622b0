#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Prepares this machine: called by ./run-qemu.sh, `make test` and `make setup`. Silent and quick
# when nothing is missing. Otherwise it installs packages of the distribution (as root or through
# sudo). It unpacks the sources of Zydis, the instruction decoder, and of the QR Code generator into
# .cache/, and checks whether QEMU has the features that the reference PMU needs. If it can't
# continue, it prints one line that says what to do, and exits with status 2.
#
# setup.sh --all (make setup-all): also installs packages that only some tests need; README.md lists
# them.
#
# setup.sh --check, called by the other goals of make: changes nothing. If something is missing, it
# prints one line with the missing part and the command that installs it, and exits with status 2.
set -euo pipefail
cd "$(dirname "$0")/.."

# Everything in standard error: callers' standard output is TAP.
exec >&2

fail()
{
	echo "setup: $*"
	exit 2
}

only_check='' all=''
case ${1-} in
'') ;;
--check) only_check=yes ;;
--all) all=yes ;;
*) fail "unknown option '$1'; known: --all --check" ;;
esac

# ---------------------------------------------------------------- packages
# "package:what it must provide", a command or a file; several files: the first that exists.
NEEDED=(
	gcc:gcc
	libc6-dev:/usr/include/stdio.h
	clang:clang
	libclang-rt-dev:'/usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.fuzzer-x86_64.a'
	make:make
	nasm:nasm
	gnu-efi:/usr/include/efi/efi.h
	qemu-system-x86:qemu-system-x86_64
	fonts-spleen:'/usr/share/consolefonts/spleen-8x16.psfu*'
	ovmf:'/usr/share/OVMF/OVMF_CODE*.fd'
	mtools:mcopy
	dosfstools:mkfs.fat
	gdisk:sgdisk
	git:git
	procps:ps
	python3:python3
	python3-hypothesis:/usr/lib/python3/dist-packages/hypothesis/__init__.py
	python3-clang:/usr/lib/python3/dist-packages/clang/cindex.py
	libzycore-dev:/usr/include/Zycore/Types.h
	shellcheck:shellcheck
	cppcheck:cppcheck
)
# Without them a test says that it is skipped, or part of it. Those of the first list come with the
# packages above where the distribution has them, those of the second one with --all.
WISHED=(
	shfmt:shfmt
	clang-format-19:clang-format-19
	grub-common:grub-mkimage
	grub-pc-bin:/usr/lib/grub/i386-pc/boot.img
)
WISHED_FOR_ALL=(
	xorriso:xorriso
	sbsigntool:sbsign
	chromium:chromium
	chromium-driver:chromedriver
	gdb:gdb
	libxml2-utils:xmllint
	python3-jsonschema:/usr/lib/python3/dist-packages/jsonschema/__init__.py
	python3-pexpect:/usr/lib/python3/dist-packages/pexpect/__init__.py
	python3-selenium:/usr/lib/python3/dist-packages/selenium/__init__.py
	python3-yaml:/usr/lib/python3/dist-packages/yaml/__init__.py
)

provided()
{
	case $1 in
	/*) compgen -G "$1" > /dev/null ;;
	*) command -v "$1" > /dev/null ;;
	esac
}

# Of the items "$@".
missing_packages()
{
	local item

	for item; do
		provided "${item#*:}" || echo "${item%%:*}"
	done
}

install_packages()
{
	local missing wished=() as_root package

	mapfile -t missing < <(missing_packages "${NEEDED[@]}")
	mapfile -t wished < <(missing_packages "${WISHED[@]}" ${all:+"${WISHED_FOR_ALL[@]}"})
	[ ${#missing[@]} -gt 0 ] || {
		[ -n "$all" ] && [ ${#wished[@]} -gt 0 ]
	} || return 0
	[ -z "$only_check" ] || fail "packages are missing: ${missing[*]}; run: make setup"
	as_root=()
	if [ "$(id -u)" != 0 ]; then
		as_root=(sudo)
		sudo -n true 2> /dev/null || fail "packages are missing; run:" \
			"sudo apt-get update && sudo apt-get install -y ${missing[*]} ${wished[*]}"
	fi
	command -v apt-get > /dev/null ||
		fail "this isn't Debian or Ubuntu; install what provides: ${missing[*]}"
	echo "setup: installing ${missing[*]}${wished[*]:+ ${wished[*]}}"
	"${as_root[@]}" apt-get -qq update || fail "apt-get update failed"
	for package in "${wished[@]}"; do
		if [ -n "$(apt-cache show "$package" 2> /dev/null)" ]; then
			missing+=("$package")
		else
			echo "setup: this distribution has no $package"
		fi
	done
	[ ${#missing[@]} -gt 0 ] || return 0
	if ! {
		"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
			apt-get -qq install -y --no-install-recommends "${missing[@]}"
	}; then
		fail "apt-get failed; run: ${as_root[*]:+sudo }apt-get install -y ${missing[*]}"
	fi
	mapfile -t missing < <(missing_packages "${NEEDED[@]}")
	[ ${#missing[@]} -eq 0 ] || fail "still missing after installation: ${missing[*]}"
}

# ---------------------------------------------------------------- sources of libraries
# distribution release, version, SHA-256 of PACKAGE_VERSION.orig.tar.gz. Debian's and Ubuntu's
# archives carry the same file for the same version. Built and run: bookworm; the others' sources
# were fetched, compared and compiled only.
ZYDIS_PINS=(
	"bookworm 4.0.0 e990107f80c62afc1deb51de230023a1098db801b8ea6bf483e296d45459e234"
	"noble    4.0.0 e990107f80c62afc1deb51de230023a1098db801b8ea6bf483e296d45459e234"
	"trixie   4.1.1 dcc31180a31e7f568d79d55f8181bd961981559a5666bf6fac43a69ad8b406bf"
	"questing 4.1.1 dcc31180a31e7f568d79d55f8181bd961981559a5666bf6fac43a69ad8b406bf"
)
# The same version everywhere.
QR_SUM=2ec0a4d33d6f521c942eeaf473d42d5fe139abcfa57d2beffe10c5cf7d34ae60
QR_PINS=("bookworm 1.8.0 $QR_SUM" "noble 1.8.0 $QR_SUM" "trixie 1.8.0 $QR_SUM"
	"questing 1.8.0 $QR_SUM")

# Turns the machine's own package sources into source-package sources, in folder $1.
private_sources()
{
	local file

	for file in /etc/apt/sources.list.d/*.sources; do
		[ -r "$file" ] || continue
		sed 's/^Types:.*/Types: deb-src/' "$file" > "$1/${file##*/}"
	done
	for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
		[ -r "$file" ] || continue
		sed -nE 's/^[[:space:]]*deb[[:space:]]/deb-src /p' "$file" > "$1/src-${file##*/}"
	done
}

# fetch_source FOLDER PACKAGE VERSION SUM
fetch_source()
{
	local folder=$1 package=$2 version=$3 sum=$4 work tarball options

	mkdir -p .cache
	work=$(mktemp -d "$PWD/.cache/$folder-fetch.XXXXXX")
	# shellcheck disable=SC2064 # the folder of now
	trap "rm -rf '$work'" EXIT
	mkdir -p "$work"/{parts,lists/partial,cache,get}
	private_sources "$work/parts"
	options=(-o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$work/parts"
		-o "Dir::State::lists=$work/lists" -o "Dir::Cache=$work/cache"
		-o "APT::Sandbox::User=$(id -un)" -o Acquire::Languages=none)
	echo "setup: fetching the source package $package $version"
	# A third party's source without source packages makes update fail: it isn't needed.
	apt-get "${options[@]}" -qq update > "$work/log" 2>&1 || true
	if ! (cd "$work/get" && apt-get "${options[@]}" -qq source --download-only --tar-only \
		"$package") >> "$work/log" 2>&1; then
		grep '^E:' "$work/log" | tail -n 3 || true
		fail "can't fetch it: apt-get source $package failed (network? mirror?)"
	fi
	tarball=$work/get/${package}_$version.orig.tar.gz
	[ -e "$tarball" ] || fail "the archive has another version of $package than $version"
	echo "$sum  $tarball" | sha256sum --status -c - ||
		fail "${tarball##*/} hasn't the known checksum: not used"
	mkdir "$work/$folder"
	tar -xzf "$tarball" -C "$work/$folder" --strip-components=1
	echo "$version $sum" > "$work/$folder/.ready"
	rm -rf ".cache/$folder"
	mv "$work/$folder" ".cache/$folder"
	rm -rf "$work"
	trap - EXIT
}

# provide_source FOLDER PACKAGE PIN...
provide_source()
{
	local folder=$1 package=$2 release='' key value pin known=()

	shift 2

	while IFS='=' read -r key value; do
		[ "$key" != VERSION_CODENAME ] || release=${value//\"/}
	done < /etc/os-release
	for pin; do
		read -r key version sum <<< "$pin"
		known+=("$key")
		[ "$key" = "$release" ] || continue
		[ "$(cat ".cache/$folder/.ready" 2> /dev/null)" != "$version $sum" ] || return 0
		[ -z "$only_check" ] ||
			fail "the source of $package isn't in .cache/$folder; run: make setup"
		fetch_source "$folder" "$package" "$version" "$sum"
		return 0
	done
	fail "distribution release '$release' isn't known here; known: ${known[*]}"
}

provide_sources()
{
	provide_source zydis zydis "${ZYDIS_PINS[@]}"
	provide_source qr qr-code-generator "${QR_PINS[@]}"
}

# ---------------------------------------------------------------- QEMU
# Asked once for each QEMU binary, told apart by path, size and time of change.
probe_qemu()
{
	local qemu key answer version

	qemu=$(command -v qemu-system-x86_64)
	key=$(stat -Lc '%n %s %Y' "$qemu")
	if [ "$(head -n 1 .cache/qemu 2> /dev/null)" != "$key" ]; then
		version=$("$qemu" --version | sed -n '1s/.*version \([0-9.]*\).*/\1/p')
		answer=ok
		if [ "${version%%.*}" -lt 7 ]; then
			answer="QEMU $version is too old: 7.0 or later is needed"
		elif ! grep -q '^q35 ' <<< "$("$qemu" -machine help)"; then
			answer="QEMU $version has no machine q35"
		elif ! timeout 20 "$qemu" -machine q35 -accel tcg -nodefaults -display none -S \
			-cpu qemu64,+svm,+npt,enforce -monitor stdio <<< quit \
			> /dev/null 2>&1; then
			answer="QEMU $version can't emulate AMD-V with nested paging (svm, npt)"
		fi
		mkdir -p .cache
		printf '%s\n%s\n' "$key" "$answer" > ".cache/qemu.$$"
		mv ".cache/qemu.$$" .cache/qemu
	fi
	answer=$(tail -n 1 .cache/qemu)
	[ "$answer" = ok ] || fail "$answer"
}

if [ -n "$only_check" ]; then
	install_packages
	provide_sources
	exit 0
fi

# Only one set-up at a time; those that wait find everything done.
if ! mkdir -p .cache 2> /dev/null || [ ! -w .cache ]; then
	fail "$PWD/.cache: user $(id -un) can't make files there; run as a user that can, or in" \
		"a copy of the tree that belongs to $(id -un)"
fi
exec 9> .cache/lock
flock -w 600 9 || fail "another set-up has been running for ten minutes"
install_packages
provide_sources
probe_qemu
