#!/bin/bash
# SPDX-License-Identifier: MIT
# version.sh [header]: prints the version of these sources: the number in the file VERSION, and the
# commit, with "+" if the tree differs from the commit. header: as a C header.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$(< VERSION)
commit=$(git rev-parse --short=10 HEAD 2> /dev/null || true)
if [ -n "$commit" ] && [ -n "$(git status --porcelain -uno 2> /dev/null)" ]; then
	commit+=+
fi
version+=${commit:+ ($commit)}
case ${1-} in
'') echo "$version" ;;
header) printf '#define PMUTEST86_VERSION "%s"\n' "$version" ;;
*)
	echo "usage: version.sh [header]" >&2
	exit 2
	;;
esac
