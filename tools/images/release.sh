#!/bin/bash
# SPDX-License-Identifier: MIT
# release.sh BUILD: makes BUILD/pmutest86-VERSION.tar.gz with the files that users need, and
# checksums in the archive and next to it. The same commit gives the same bytes, with the same GRUB.
set -euo pipefail
cd "$(dirname "$0")/../.."
if [ ! -f "${1-}/pmutest86.img" ] || [ ! -f "$1/pmutest86.iso" ]; then
	echo "usage: release.sh BUILD, after make usb iso" >&2
	exit 2
fi
build=$1 version=$(tools/version.sh | grep -oE '[0-9]+\.[0-9]+\.[0-9]+' | head -n 1)
name=pmutest86-$version
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2> /dev/null || echo 1700000000)}
work=$(mktemp -d "$build/release.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/$name"
cp "$build"/pmutest86.{efi,elf,img,fat,iso} "$build"/{refpmu.efi,launch.efi,refpmu-fault} \
	"$build/pmutest86-report" boot/pmutest86.cfg {README,CHANGELOG,CONTRIBUTING}.md LICENSE \
	"$work/$name/"
# Whole: they link to each other.
tar --exclude=__pycache__ -cf - docs | tar -C "$work/$name" -xf -
chmod -R u=rwX,go=rX "$work/$name"
(cd "$work/$name" && find . -type f -printf '%P\n' | LC_ALL=C sort |
	xargs sha256sum) > "$work/sums"
mv "$work/sums" "$work/$name/SHA256SUMS"
tar -C "$work" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
	-cf - "$name" | gzip -n9 > "$work/tar"
mv "$work/tar" "$build/$name.tar.gz"
(cd "$build" && sha256sum "$name.tar.gz" > "$name.tar.gz.sha256")
echo "$build/$name.tar.gz"
