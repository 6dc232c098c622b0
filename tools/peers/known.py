# SPDX-License-Identifier: MIT
"""Known failures of other projects' programs; docs/PEERS.md explains them."""

# Of the programs in --programs. kvm-unit-tests' x86/unittests.cfg: processors; seconds where 60
# aren't enough; what another program says once it is up.
PROGRAMS = {
    "apic": {"processors": 2},
    "ioapic": {"processors": 4},
    "smptest": {"processors": 2},
    "kvmclock_test": {"processors": 2},
    "hyperv_synic": {"processors": 2},
    "hyperv_connections": {"processors": 2},
    "hyperv_stimer": {"processors": 2},
    "hyperv_clock": {"processors": 2},
    "msr": {"seconds": 200},
    "pmu": {"seconds": 120},
    "pmu_pebs": {"seconds": 120},
    "memtest86+": {"processors": 2, "seconds": 120},
    "freebsd-loader": {"until": "Type '?' for a list of commands"},
}

# Name: package of Debian, file of it, arguments, what it says once it is up. The shell is OVMF's.
DEBIAN = {
    "efi-shell": ("", "", "", "Shell>"),
    "grub": ("grub-efi-amd64-unsigned", "usr/lib/grub/x86_64-efi/monolithic/grubx64.efi", "",
             "grub>"),
    # Its fourth test of the memory: by then it has used each processor and its timers.
    "memtest86+": ("memtest86+", "boot/memtest86+x64.efi", "console=ttyS0,115200",
                   "[Moving inversions, 1s & 0s]"),
}

# Program, what the reference PMU presents, a FAIL's text or the machine's end (pattern), why.
DIFFERENCES = (
    ("pmu", "*", r"TSX cycles: gp cntr-2 with a value of 0$",
     "cycles of a transaction that aborted, with IN_TX and IN_TXCP: 0 are left (docs/READINGS.md)"),
    ("idt_test", "*", r"rflags\.rf$", "QEMU sets no RF in a fault's frame; alone it hangs before"),
    ("hypercall", "*", r"VMCALL: #UD|VMCALL on edge",
     "no KVM is underneath: VMCALL raises #UD where the vendor is Intel, and VMMCALL elsewhere"),
    ("vmware_backdoors", "*", r"rdpmc_test: (HOST|REAL|APPARENT)_T|port_test: CMD_\w+ user$",
     "what KVM has with enable_vmware_backdoor; a processor raises #GP. On QEMU it ends before"),
    ("pmu_lbr", "*", r"time limit",
     "200 million rounds with x87 instructions, each of which is stepped"),
)

# Name of a test of `perf test` (pattern), why it may differ from QEMU as it is.
PERF_TESTS = ()


def cpus(name):
    """What the reference PMU presents to it."""
    return ("haswell", "skylake", "icelake-sp") if name.startswith("pmu") else ("haswell",)
