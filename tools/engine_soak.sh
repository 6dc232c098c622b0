#!/bin/bash
# SPDX-License-Identifier: MIT
#
# engine_soak.sh BUILD SECONDS [FIRST]: compares the engines, with seeds from FIRST on (default:
# from the clock), for SECONDS or until there is a difference:
#  - random programs in a process, blocks against this processor's trap flag, each stopped at six
#    instruction numbers (host/engine);
#  - random programs and compiled C on all engines of the reference PMU, each interrupted by an
#    overflow at a random instruction, on one processor and on three at once (refpmu/selftest);
#  - the harness itself on all engines, with a random seed: every check of every test.
# All registers, flags, memory and the PMU's state are compared. At a difference it stops and prints
# the command that repeats the failure; the exit status is then 1.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -d "${1-}" ] ||
	{
		echo "usage: engine_soak.sh BUILD SECONDS [FIRST]; no folder '${1-}'" >&2
		exit 2
	}
build=$1 seconds=${2-} seed=${3:-$(($(date +%s) % 1000000 * 1000 + 1))}
for number in "$seconds" "$seed"; do
	[[ $number =~ ^[1-9][0-9]{0,17}$ ]] || {
		echo "engine_soak.sh: SECONDS and FIRST are numbers from 1, not '$number'" >&2
		exit 2
	}
done
log=$(mktemp "$build/soak.XXXXXX")
trap 'rm -f "$log"' EXIT
programs=0 compared=0 suites=0
SECONDS=0 # bash takes it from the environment, where make has put its own

# Runs the command; its output is shown if it fails.
same()
{
	"$@" > "$log" 2>&1 || {
		tail -n 40 "$log"
		echo "engine_soak.sh: different; to repeat: $*"
		exit 1
	}
}

echo "seeds from $seed on"
while [ "$SECONDS" -lt "$seconds" ]; do
	same env FIRST="$seed" PROGRAMS=300 "$build/host/gcc/host/engine/test_blocks"
	programs=$((programs + 300))
	same tools/selftest.sh "$build" "programs=50 first=$seed"
	same env SMP=3 tools/selftest.sh "$build" "programs=24 first=$((seed + 50))"
	compared=$((compared + 98))
	same tools/engines.py --build "$build" --first "$seed" --seeds 2 --no-profiles --sample 0
	suites=$((suites + 2))
	seed=$((seed + 300))
done
echo "$((programs * 6)) stops of $programs programs in a process, $compared programs and" \
	"$suites suites on all engines: no difference"
