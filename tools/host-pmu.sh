#!/bin/bash
# SPDX-License-Identifier: MIT
#
# host-pmu.sh [FORCE]: can a guest of KVM have a PMU on this host? Says in words on standard error
# what the host can give. Exit status 2 if nothing: the last line says NOT TESTED and why. FORCE,
# not empty: go on although the host's NMI watchdog holds a counter. Environment: CPUINFO, KVM_ROOT
# and WATCHDOG name other files than those of this machine, for tests.
set -euo pipefail

cpuinfo=${CPUINFO:-/proc/cpuinfo}
root=${KVM_ROOT:-/sys/module}
watchdog=${WATCHDOG:-/proc/sys/kernel/nmi_watchdog}

none()
{
	echo "run-qemu.sh: NOT TESTED: $*" >&2
	exit 2
}

vendor=$(sed -n 's/^vendor_id[[:space:]]*: //p' "$cpuinfo" | head -n 1)
[ "$vendor" = GenuineIntel ] ||
	none "the host's processor is ${vendor:-unknown}, and this suite is about Intel's PMU"
[ "$(cat "$root/kvm/parameters/enable_pmu" 2> /dev/null || echo Y)" != N ] ||
	none "KVM gives guests no PMU here; run: sudo modprobe -r kvm_intel kvm;" \
		"sudo modprobe kvm enable_pmu=1; sudo modprobe kvm_intel"
if grep -qw hypervisor "$cpuinfo" && ! grep -qw arch_perfmon "$cpuinfo"; then
	none "this host is a guest itself, and its own hypervisor gives it no PMU (no" \
		"arch_perfmon in $cpuinfo)"
fi
if [ "$(cat "$watchdog" 2> /dev/null || echo 0)" != 0 ] && [ -z "${1-}" ]; then
	echo "run-qemu.sh: the host's NMI watchdog holds a counter;" \
		"run: sudo sysctl kernel.nmi_watchdog=0, or go on without it: --force" >&2
	exit 2
fi
echo "run-qemu.sh: the host can give version 2 of architectural monitoring, no load latency," \
	"no off-core responses, no uncore, and no records that this suite decodes" >&2
