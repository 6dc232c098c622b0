#!/bin/bash
# SPDX-License-Identifier: MIT
#
# host-pmu.sh [FORCE]: checks whether a guest of KVM can have a PMU on this host. Prints on standard
# error which parts of the PMU the host can give. If there are none, the exit status is 2, and the
# last line says NOT TESTED and why. If FORCE isn't empty, it continues even if the host's NMI
# watchdog holds a counter. For tests, the variables CPUINFO, KVM_ROOT, DEVICES and WATCHDOG name
# other files than those of this machine.
#
# Sources: Linux, Documentation/admin-guide/kernel-parameters.txt (kvm.enable_pmu,
# kvm-intel.enable_mediated_pmu, nmi_watchdog) and arch/x86/kvm/pmu.h, kvm_init_pmu_capability():
# none on a host with hybrid processors, version 2 at most without a mediated PMU.
set -euo pipefail

cpuinfo=${CPUINFO:-/proc/cpuinfo}
root=${KVM_ROOT:-/sys/module}
devices=${DEVICES:-/sys/devices}
watchdog=${WATCHDOG:-/proc/sys/kernel/nmi_watchdog}

say()
{
	echo "run-qemu.sh: $*" >&2
}

none()
{
	say "NOT TESTED: $*"
	exit 2
}

# The first processor's line of that name in cpuinfo.
cpuinfo_line()
{
	sed -n "s/^$1[[:space:]]*: //p" "$cpuinfo" 2> /dev/null | head -n 1 || true
}

# Is that module's parameter on? Absent: $3.
on()
{
	case $(cat "$root/$1/parameters/$2" 2> /dev/null || echo "$3") in
	[Yy1]*) true ;;
	*) false ;;
	esac
}

vendor=$(cpuinfo_line vendor_id)
model=$(cpuinfo_line 'model name')
flags=" $(cpuinfo_line flags) "
guest=''
[[ $flags != *' hypervisor '* ]] || guest=yes

# ---------------------------------------------------------------- what rules it out
[ "$vendor" = GenuineIntel ] ||
	none "the host's processor is ${vendor:-unknown}, and this suite is about Intel's PMU"
if [ -n "$guest" ] && [[ $flags != *' arch_perfmon '* ]]; then
	none "this host is a guest itself, and its own hypervisor gives it no PMU (no" \
		"arch_perfmon in $cpuinfo)"
fi
if [[ $flags != *' vmx '* ]]; then
	why='the firmware has switched it off'
	[ -z "$guest" ] || why="this host is a guest itself, and its own hypervisor doesn't nest"
	none "the host's processor shows no VMX (no vmx in $cpuinfo): $why"
fi
if [ -d "$root/kvm" ] && ! [ -d "$root/kvm_intel" ]; then
	none "the module kvm_intel isn't loaded; run: sudo modprobe kvm_intel"
fi
on kvm enable_pmu Y ||
	none "KVM gives guests no PMU here; run: sudo modprobe -r kvm_intel kvm;" \
		"sudo modprobe kvm enable_pmu=1; sudo modprobe kvm_intel"
if [ -d "$devices/cpu_core" ] && [ -d "$devices/cpu_atom" ]; then
	none "this host has processors of two kinds (P and E), and KVM gives guests no PMU there"
fi
if [ -d "$devices" ] && ! [ -d "$devices/cpu" ] && ! [ -d "$devices/cpu_core" ]; then
	none "the host's own kernel drives no PMU (no $devices/cpu), so KVM has none to give"
fi
if [ "$(cat "$watchdog" 2> /dev/null || echo 0)" != 0 ] && [ -z "${1-}" ]; then
	say "the host's NMI watchdog holds a counter;" \
		"run: sudo sysctl kernel.nmi_watchdog=0, or go on without it: --force"
	exit 2
fi

# ---------------------------------------------------------------- what there is
name=$(cat "$devices/cpu/caps/pmu_name" 2> /dev/null || true)
say "the host: ${model:-an Intel processor}${name:+ (Linux calls its PMU $name)}"
[ -z "$guest" ] ||
	say "the host is a guest itself: its PMU is what its own hypervisor gives," \
		"and it may lose counts"
if on kvm_intel enable_mediated_pmu N; then
	say "KVM gives a guest the counters themselves (enable_mediated_pmu)"
else
	say "KVM counts for a guest by events of its own: they may be taken from it" \
		"while the host counts"
fi
say "the host can give version 2 of architectural monitoring, no load latency," \
	"no off-core responses, no uncore, and no records that this suite decodes"
