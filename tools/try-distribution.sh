#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Tries the project in a fresh system of a distribution. As root, with debootstrap:
#
#   try-distribution.sh [--backports] [--mirror URL] [--only NAME,...] [--quick] [--timeout S]
#                       [--keep FOLDER] SUITE...
#
# For each SUITE (bookworm, trixie, noble, ...): makes the smallest system of that release in a
# folder of its own below TMPDIR, clones the last commit into it, and there runs set-up,
# ./run-qemu.sh with gcc and make test, all as in a fresh clone of the project.
# --backports  with QEMU and its firmware from SUITE-backports
# --mirror     address of the packages; without it this machine's own package source is used,
#              which has only the suites of its own distribution
# --only       run these functions of tools/test.sh instead of make test
# --quick      don't run make test
# --timeout    seconds for make test (default 7200)
# --keep       make the system in FOLDER, or use the one that is there, and don't remove it
# All commands run in their own name spaces, so mounts and processes end with it in any case.
# The last line of each suite is "SUITE: versions; result". Exit status: 0 all of them
# passed; 1 otherwise; 2 bad option or no such system.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)

bad()
{
	echo "try-distribution.sh: $*" >&2
	exit 2
}

backports='' mirror='' only='' quick='' keep='' bound=7200 suites=()
while [ $# -gt 0 ]; do
	case $1 in
	--backports) backports=-backports ;;
	--quick) quick=yes ;;
	--mirror | --only | --timeout | --keep)
		[ $# -gt 1 ] || bad "$1 needs a value"
		case $1 in
		--mirror) mirror=$2 ;;
		--only) only=${2//,/ } ;;
		--timeout) bound=$2 ;;
		--keep) keep=$2 ;;
		esac
		shift
		;;
	-h | --help)
		sed -n '3,/^set /{/^set /!s/^# \{0,1\}//p}' "$0"
		exit 0
		;;
	-*) bad "unknown option '$1', see --help" ;;
	*) suites+=("$1") ;;
	esac
	shift
done
[ ${#suites[@]} -gt 0 ] || bad "no SUITE given, see --help"
[[ $bound =~ ^[1-9][0-9]{0,5}$ ]] || bad "--timeout takes seconds, not '$bound'"
[[ $only =~ ^[a-z0-9_\ ]*$ ]] || bad "--only takes functions of tools/test.sh, not '$only'"
[ -z "$keep" ] || [ ${#suites[@]} = 1 ] || bad "--keep takes one SUITE"
for suite in "${suites[@]}"; do
	[[ $suite =~ ^[a-z]+$ ]] || bad "a SUITE is a word like trixie, not '$suite'"
done
[ "$(id -u)" = 0 ] || bad "it makes a system of its own: that needs root"
command -v debootstrap > /dev/null || bad "debootstrap is missing; run: apt-get install debootstrap"

# The first source of packages that has this machine's own release.
own_mirror()
{
	local codename

	codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release | tr -d '"')
	# shellcheck disable=SC2016 # apt's own
	apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' |
		awk -v release="$codename" '$2 == release { print $1; exit }'
}
[ -n "$mirror" ] || mirror=$(own_mirror)
[ -n "$mirror" ] || bad "this machine has no source of packages of its own: give --mirror"

# Runs "$@" with a view of mounts and processes that ends with it.
apart()
{
	unshare --mount --pid --fork --kill-child "$@"
}

# A system of release $1 in folder $2.
make_system()
{
	local components=main script=()

	# Ubuntu's releases are all made the same way; debootstrap may not know the newest by name.
	if [[ $mirror == *ubuntu* ]]; then
		components=main,universe
		[ -e "/usr/share/debootstrap/scripts/$1" ] ||
			script=(/usr/share/debootstrap/scripts/gutsy)
	fi
	[ -e /usr/share/keyrings/ubuntu-archive-keyring.gpg ] || [[ $mirror != *ubuntu* ]] ||
		bad "to check Ubuntu's packages: apt-get install ubuntu-keyring"
	apart timeout 1200 debootstrap --variant=minbase "--components=$components" "$1" "$2" \
		"$mirror" "${script[@]}" || return 1
	{
		echo "deb $mirror $1 ${components//,/ }"
		echo "deb $mirror $1-updates ${components//,/ }"
		[ -z "$backports" ] || echo "deb $mirror $1-backports ${components//,/ }"
	} > "$2/etc/apt/sources.list"
	if [ -n "$backports" ]; then
		printf 'Package: %s\nPin: release n=%s\nPin-Priority: 900\n' \
			'qemu-* ovmf seabios' "$1-backports" > "$2/etc/apt/preferences.d/qemu"
	fi
	touch "$2/.pmutest86"
}

# Runs a command line within the system in folder $1, for at most $2 seconds.
within()
{
	# shellcheck disable=SC2016 # for the shell inside
	apart bash -c 'mount -t proc proc "$1/proc" && mount --bind /dev "$1/dev" &&
		exec timeout --kill-after=10 "$2" chroot "$1" env -i \
			PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/opt LANG=C.UTF-8 TERM=dumb \
			bash -c "cd /opt/pmutest86 && $3"' bash "$@"
}

# What the system in folder $1 builds and runs with, in one line.
versions()
{
	within "$1" 60 "qemu-system-x86_64 --version; gcc -dumpfullversion; clang --version;
		dpkg-query -W gnu-efi ovmf; cat .cache/zydis/.ready" 2> /dev/null |
		awk '/^QEMU emulator/ { qemu = $4 }
	     /clang version/ { sub(/.*version /, ""); clang = $1; next }
	     /^gnu-efi/ { efi = $2 }
	     /^ovmf/ { ovmf = $2 }
	     /^[0-9.]+$/ { gcc = $1 }
	     /^[0-9.]+ [0-9a-f]+$/ { zydis = $1 }
	     END { printf "QEMU %s, ovmf %s, gcc %s, clang %s, gnu-efi %s, zydis %s", qemu, ovmf,
			gcc, clang, efi, zydis }'
}

# Everything for release $1; says what it saw in one line.
try_suite()
{
	local suite=$1 root=$work/$1 status=0 seen test totals

	[ -z "$keep" ] || root=$keep
	if [ ! -e "$root/.pmutest86" ]; then
		mkdir -p "$root"
		make_system "$suite" "$root" > "$work/$suite.log" 2>&1 || {
			tail -n 5 "$work/$suite.log" >&2
			echo "$suite: no system could be made from $mirror"
			return 1
		}
	fi
	cp --dereference /etc/resolv.conf "$root/etc/resolv.conf"
	# A --keep'd one has its packages, sources and build already: only the tree is new.
	[ -e "$root/opt/pmutest86/.git" ] ||
		git clone -q --no-hardlinks --no-checkout "$here" "$root/opt/pmutest86"
	git -C "$root/opt/pmutest86" fetch -q "$here" HEAD
	git -C "$root/opt/pmutest86" reset -q --hard FETCH_HEAD

	seen='set-up failed'
	if within "$root" 1800 'tools/setup.sh' >&2; then
		seen='set-up passed'
		within "$root" 1800 './run-qemu.sh' > "$work/$suite.tap" || status=$?
		seen+="; run: exit $status, $(tail -n 1 "$work/$suite.tap" | sed 's/^# //')"
		[ "$status" = 0 ] || grep -A12 '^not ok' "$work/$suite.tap" >&2 || true
	else
		status=1
	fi
	if [ "$status" = 0 ] && [ -z "$quick" ]; then
		test='make -s test'
		[ -z "$only" ] || test="make -s all && tools/test.sh build $only"
		within "$root" "$bound" "$test" > "$work/$suite.test" 2>&1 || status=1
		cat "$work/$suite.test" >&2
		totals=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$work/$suite.test" | tail -n 1)
		seen+="; tests${only:+ ($only)}: ${totals:-no end within $bound s}"
	fi
	echo "$suite$backports: $(versions "$root"); $seen"
	return "$((status != 0))"
}

work=$(mktemp -d -t pmutest86.XXXXXX)
trap 'rm -rf --one-file-system "$work"' EXIT
trap 'exit 130' INT TERM HUP
failed=0
for suite in "${suites[@]}"; do
	try_suite "$suite" || failed=1
	[ -n "$keep" ] || rm -rf --one-file-system "${work:?}/$suite"
done
exit "$failed"
