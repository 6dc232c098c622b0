#!/bin/bash
# SPDX-License-Identifier: MIT
# Prints the header that names the version of the sources: the commit, "+" behind it when changed.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$(git rev-parse --short=10 HEAD 2>/dev/null || echo unknown)
if [ "$version" != unknown ] && [ -n "$(git status --porcelain -uno 2>/dev/null)" ]; then
	version+=+
fi
printf '#define PMUTEST86_VERSION "%s"\n' "$version"
