# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # sourced by test.sh, whose functions and variables it uses
#
# Tests of `make test`: the rules by which runs on each platform are judged, and the result of a run
# that tests nothing.

run_without_pmu()
{
	shared none "$1" ./run-qemu.sh --pmu none --out
}

# A breach that claims/known.def lists.
known_breach()
{
	shared known "$1" ./run-qemu.sh --profile kvm-6.1 --tests 'pmi.*' --out
}

# Self tests alone decide nothing: for every reader.
test_without_pmu_nothing_is_tested()
{
	local why='NOT TESTED: not an Intel processor (CPUID.0H vendor "AuthenticAMD"'

	run_without_pmu 2
	refute grep -P '^ok \d+ - (?!selftest\.)(?!.*# SKIP)' "$out"
	refute grep 'a requirement of other generations' "$out"
	tail -n 1 "$out" | grep -qF "# $why"
	grep -q '^# requirements decided 0 of 0 decidable here' "$out"
	grep -aqF "# $why" "$shared/none/serial.log"
	grep -q 'name="decides_something"' "$shared/none/junit.xml"
	python3 - "$shared/none/results.json" <<- 'EOF'
		import json, sys
		run = json.load(open(sys.argv[1], encoding="utf-8"))["runs"][0]
		assert run["exit"] == 2 and run["decided"] == 0, run["exit"]
		assert run["not_tested"].startswith("not an Intel processor"), run["not_tested"]
	EOF
	expect 0 "$build/pmutest86-report" --html - "$shared/none"
	grep -qF 'NOT TESTED: not an Intel processor' "$out"
	expect 2 ./run-qemu.sh --tests 'selftest.time*' --out "$log/self"
	tail -n 1 "$out" | grep -q '^# NOT TESTED: no selected test is about a requirement$'
}

# A check that can't be red is neither green nor decided; what a test decides is counted by its
# checks, once for the log and the tools.
test_what_is_not_judged_is_not_decided()
{
	local test

	expect 0 ./run-qemu.sh --profile silicon-hsw --out "$log/judged"
	for test in enumeration.global_status_refuses_writes \
		enumeration.rdpmc_with_ecx_bit_31_raises_gp \
		msr.fixed_counters_refuse_bits_above_their_width; do
		grep -P "^ok \d+ - $test " "$out" | grep -q '# SKIP nothing here is judged: ' ||
			fail "$test is more than skipped"
	done
	python3 - "$log/judged/results.json" "$out" <<- 'EOF'
		import json, re, sys
		run = json.load(open(sys.argv[1], encoding="utf-8"))["runs"][0]
		text = open(sys.argv[2], encoding="utf-8").read()
		said = re.search(r"^# requirements decided (\d+) of (\d+) ", text, re.M)
		assert run["decided"] == int(said[1]) <= int(said[2]), (run["decided"], said[0])
		assert run["requirements"]["CNT-20"] == "SKIP"
		assert run["requirements"]["CNT-14"] == "PASS"
	EOF
}

# Without latitude each precondition is reached; a fault that spoils one doesn't stay green.
test_an_inconclusive_is_an_error_without_latitude()
{
	expect 2 ./run-qemu.sh --fault exerciser-idle --tests 'll.*' --out "$log/open"
	grep -q '^# required: no INCONCLUSIVE, there are [1-9]' "$out"
	expect 0 ./run-qemu.sh --fault exerciser-idle --tests 'll.*' --latitude tag-gap:3 \
		--out "$log/open"
}

# A breach that claims/known.def lists is shown and counted, and is no failure.
test_a_known_breach_is_counted()
{
	known_breach 0
	grep -q '^not ok .*pmi.delivery_of_a_pmi_masks_lvtpc .*# TODO KNOWN kvm-lvtpc-mask' \
		"$out"
	refute grep -P '^not ok (?!.*# TODO KNOWN)' "$out"
	tail -n 1 "$out" | grep -q 'known [1-9][0-9]*, failed 0, errors 0'
}

# A guest of KVM: green, and what no guest can see isn't counted as decidable. Its signature is
# found wherever it is. Whole suites on these platforms: test_seeds_and_profiles_stay_green.
takes 25 test_guests_are_judged_as_guests
test_guests_are_judged_as_guests()
{
	expect 0 ./run-qemu.sh --profile kvm --out "$log/kvm"
	refute grep '^not ok' "$out"
	grep -qP '^# requirements decided \d+ of 1\d\d decidable here' "$out"
	expect 0 ./run-qemu.sh --profile kvm --tests 'count.i*,pmi.*' --out "$log/hidden" \
		--latitude hypervisor-leaf:1,hypervisor-hidden:1
	grep -qF 'hypervisor "KVMKVMKVM" (CPUID.01H:ECX[31] = 0, signature in' "$out"
	grep -qF 'CPUID.40000100H after that of Microsoft Hv)' "$out"
	grep -q '^# judged: every requirement .* guest of KVM' "$out"
	expect 0 ./run-qemu.sh --profile vmware --tests 'count.i*,pmi.*' --out "$log/vmware"
	grep -q '^# judged: what the manual says of every processor' "$out"
	expect 0 ./run-qemu.sh --profile hyper-v --tests 'count.i*,pmi.*' --out "$log/hyper-v"
	grep -q '^# judged: what the manual says of every processor' "$out"
	expect 0 ./run-qemu.sh --cpu nehalem --profile kvm-ignoring --tests 'count.i*,unc.*' \
		--out "$log/ignoring"
	refute grep -P '^(not )?ok \d+ - unc\.\S* (?!.*# SKIP )' "$out"
	expect 2 ./run-qemu.sh --profile vmware-without-counters --tests 'enum*,count.i*,pmi.*' \
		--out "$log/vmware"
	tail -n 1 "$out" | grep -q '^# NOT TESTED: hypervisor "VMwareVMware" gives this guest no c'
	expect 2 ./run-qemu.sh --profile hyper-v-without-pmu --tests 'enum*,count.i*,pmi.*' \
		--out "$log/hyper-v"
	tail -n 1 "$out" | grep -q '^# NOT TESTED: hypervisor "Microsoft Hv" gives this guest no P'
}

# What a hypervisor keeps from its guest makes no test red, nor an error, and the reason names it.
takes 25 test_what_a_hypervisor_denies_is_inconclusive
test_what_a_hypervisor_denies_is_inconclusive()
{
	local knob

	expect 0 ./run-qemu.sh --profile kvm-filtered --tests 'count.*,random.drawn_programs*' \
		--out "$log/denied"
	refute grep '^not ok' "$out"
	grep -qP '^ok \d+ - count\.loads_are.* INCONCLUSIVE: event 0x81d0 is never count' "$out"
	grep -qP '^ok \d+ - count\.instructions_are_counted_exactly \[CNT-01\]$' "$out"
	grep -qP '^ok \d+ - random\.drawn_programs_are_counted_as_the_oracle_counts.*\]$' "$out"
	for knob in uncounted-events:3 refused-events:1; do
		expect 0 ./run-qemu.sh --profile kvm --latitude "$knob" --tests 'count.*,fixed.*' \
			--out "$log/denied"
		refute grep '^not ok' "$out"
	done
	expect 0 ./run-qemu.sh --profile xen-ipc --tests 'count.*,msr.*' --out "$log/denied"
	refute grep '^not ok' "$out"
	grep -qP '^ok .* SKIP hypervisor "XenVMMXenVMM" refuses to select event 0xc4 ' "$out"
	grep -qP '^ok .* INCONCLUSIVE: hypervisor "XenVMMXenVMM" refuses to select event' "$out"
	expect 0 ./run-qemu.sh --profile kvm-no-apic --tests 'count.i*,pmi.*' --out "$log/denied"
	refute grep '^not ok' "$out"
	grep -qP '^ok .* INCONCLUSIVE: no overflow interrupts here: hypervisor "KVMK' "$out"
	# One counter of several is no denial.
	expect 1 ./run-qemu.sh --profile kvm --fault kvm-counter-dead --tests '@KVM-02' \
		--out "$log/denied"
}

# --pmu host says in words what the host can't give, before anything is booted. The host is a folder
# here: a server that can do it all, from which each way to have no PMU differs in one thing.
test_the_host_is_asked_first()
{
	local host=$log/host word

	export CPUINFO=$host/cpuinfo KVM_ROOT=$host WATCHDOG=$host/watchdog DEVICES=$host/devices
	# a_host [FLAGS [VENDOR]]
	a_host()
	{
		rm -rf "$host"
		mkdir -p "$host"/{kvm,kvm_intel}/parameters "$host/devices/cpu/caps"
		echo Y > "$host/kvm/parameters/enable_pmu"
		echo skylake > "$host/devices/cpu/caps/pmu_name"
		echo 0 > "$host/watchdog"
		printf 'vendor_id\t: %s\nmodel name\t: Intel(R) Xeon(R)\nflags\t\t: %s\n\n%s\n' \
			"${2-GenuineIntel}" "${1-sse vmx arch_perfmon}" 'vendor_id : second' \
			> "$host/cpuinfo"
	}

	a_host
	expect 0 tools/host-pmu.sh
	[ ! -s "$out" ]
	grep -qF 'the host: Intel(R) Xeon(R) (Linux calls its PMU skylake)' "$err"
	grep -q 'version 2 of architectural monitoring' "$err"
	grep -q 'KVM counts for a guest by events of its own' "$err"
	refute grep -q 'a guest itself' "$err"
	echo Y > "$host/kvm_intel/parameters/enable_mediated_pmu"
	expect 0 tools/host-pmu.sh
	grep -q 'gives a guest the counters themselves' "$err"

	echo 1 > "$host/watchdog"
	expect_bad "--force" tools/host-pmu.sh
	expect 0 tools/host-pmu.sh yes
	for word in N n 0; do
		a_host
		echo $word > "$host/kvm/parameters/enable_pmu"
		expect_bad "NOT TESTED: KVM gives guests no PMU here" tools/host-pmu.sh yes
	done
	a_host
	rmdir "$host"/kvm_intel/{parameters,}
	expect_bad "NOT TESTED: the module kvm_intel isn't loaded" tools/host-pmu.sh yes
	a_host
	mv "$host/devices/cpu" "$host/devices/cpu_core"
	expect 0 tools/host-pmu.sh
	mkdir "$host/devices/cpu_atom"
	expect_bad "NOT TESTED: this host has processors of two kinds" tools/host-pmu.sh yes
	a_host
	rm -r "$host/devices/cpu"
	expect_bad "NOT TESTED: the host's own kernel drives no PMU" tools/host-pmu.sh yes

	a_host 'sse vmx hypervisor arch_perfmon'
	expect 0 tools/host-pmu.sh
	grep -q 'the host is a guest itself: its PMU is what its own hypervisor gives' "$err"
	a_host 'sse vmx hypervisor'
	expect_bad "NOT TESTED: this host is a guest itself, and its own hypervisor gives it no" \
		tools/host-pmu.sh yes
	a_host 'sse hypervisor arch_perfmon'
	expect_bad "its own hypervisor doesn't nest" tools/host-pmu.sh yes
	a_host 'sse arch_perfmon'
	expect_bad "the firmware has switched it off" tools/host-pmu.sh yes
	a_host 'sse' AuthenticAMD
	expect_bad "NOT TESTED: the host's processor is AuthenticAMD" tools/host-pmu.sh yes
	rm "$host/cpuinfo"
	expect_bad "NOT TESTED: the host's processor is unknown" tools/host-pmu.sh yes
}

# Sandy Bridge with a microcode whose PEBS is broken: told, and nothing of PEBS is judged.
test_old_microcode_skips_pebs()
{
	expect 0 ./run-qemu.sh --cpu sandybridge --latitude old-microcode:1 --out "$log/old" \
		--tests 'enum*,count.i*,record.*,ds.*'
	grep -q '^# microcode: 0x10, with which PEBS is broken' "$out"
	grep -q '# SKIP microcode 0x10, with which PEBS is broken: 0x28 and later will do' "$out"
	refute grep -P '^(not )?ok \d+ - (record|ds)\.\S* (?!.*# SKIP )' "$out"
}

# The uncore's MSRs read 0 there, as any MSR that QEMU doesn't know.
test_plain_qemu_has_no_uncore()
{
	local model work=$log/plain

	for model in Nehalem Westmere; do
		rm -rf "$work"
		mkdir -p "$work/esp/EFI/BOOT"
		cp "$build/pmutest86.efi" "$work/esp/EFI/BOOT/BOOTX64.EFI"
		printf '%s\n' 'tests = unc.*,msr.*' 'results = off' 'at_end = shutdown' \
			> "$work/esp/pmutest86.cfg"
		tools/boot.sh --cpu $model,vendor=GenuineIntel --timeout 100 "$work"
		expect 2 tools/conclude.py --serial "$work/serial.log" --out "$work/out" \
			--run pmu=none
		grep -q '^# processor: GenuineIntel 06_' "$out"
		refute grep -P '^(not )?ok (?!.*# SKIP )' "$out"
	done
}

# CPUID hides the hypervisor, but SMBIOS says that the machine is virtual.
test_a_hidden_hypervisor_is_told_by_smbios()
{
	local work=$log/hidden

	mkdir -p "$work/esp/EFI/BOOT"
	cp "$build/pmutest86.efi" "$work/esp/EFI/BOOT/BOOTX64.EFI"
	printf '%s\n' 'tests = count.i*' 'results = off' 'at_end = shutdown' \
		> "$work/esp/pmutest86.cfg"
	tools/boot.sh --cpu Nehalem,vendor=GenuineIntel,hypervisor=off,tcg-cpuid=off --timeout 100 \
		"$work"
	expect 2 tools/conclude.py --serial "$work/serial.log" --out "$work/out" --run pmu=none
	grep -q '^# platform: a guest, by SMBIOS; CPUID hides its hypervisor$' "$out"
	grep -q '^# judged: what the manual says of every processor' "$out"
	grep -q '^# NOT TESTED: hypervisor "hidden" gives this guest no PMU' "$out"
}
