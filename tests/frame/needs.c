/* SPDX-License-Identifier: MIT */
/* Preconditions, from the capabilities in pmu/caps.h. */
#include "tests/frame/needs.h"

#include "kernel/processor/cpuid.h"
#include "kernel/interrupt/fault.h"
#include "kernel/output/fmt.h"
#include "kernel/machine/smp.h"
#include "pmu/counter.h"
#include "pmu/event.h"
#include "pmu/uncore.h"
#include "spec/msr.h"
#include "tests/frame/denied.h"

static bool need_counters(unsigned least, char *reason, size_t size)
{
	const struct pmu_caps *c = counter_caps();

	if (c->gp >= least)
		return true;
	if (c->gp_mask >> c->gp) {
		fmt_print(reason, size, "IA32_PMC%u isn't there (CPUID.(23H,1):EAX = %#x)", c->gp,
			  c->gp_mask);
		return false;
	}
	fmt_print(reason, size, "%u general-purpose counters (CPUID.0AH:EAX = %#x)", c->gp,
		  c->leaf_0a_eax);
	return false;
}

bool need_perfmon(char *reason, size_t size)
{
	const struct pmu_caps *c = counter_caps();

	if (c->version >= 2 && c->gp)
		return true;
	if (c->version >= 2)
		return need_counters(1, reason, size);
	if (!c->intel)
		fmt_print(reason, size,
			  "not an Intel processor (CPUID.0H vendor \"%s\", "
			  "CPUID.0AH:EAX = %#x)",
			  c->vendor, c->leaf_0a_eax);
	else if (c->hypervisor)
		fmt_print(reason, size,
			  "hypervisor \"%s\" gives this guest %s (CPUID.0AH:EAX = "
			  "%#x)",
			  c->host.signature,
			  c->version ? "no counters but those of monitoring version 1" : "no PMU",
			  c->leaf_0a_eax);
	else if (c->cpuid_limited)
		fmt_print(reason, size,
			  "the firmware limits CPUID to leaf %u (IA32_MISC_ENABLE[22] = 1): "
			  "\"Limit CPUID Maximum\" or the like in its setup",
			  cpuid_read(0, 0).eax);
	else if (c->version)
		fmt_print(reason, size, "architectural monitoring version %u (CPUID.0AH:EAX = %#x)",
			  c->version, c->leaf_0a_eax);
	else
		fmt_print(reason, size, "no architectural monitoring (CPUID.0AH:EAX = %#x)",
			  c->leaf_0a_eax);
	return false;
}

bool need_monitoring(char *reason, size_t size)
{
	return counter_caps()->operations != &pmu_architectural || need_perfmon(reason, size);
}

bool need_refused_msrs(char *reason, size_t size)
{
	const struct pmu_caps *c = counter_caps();

	if (!c->msrs_ignored)
		return true;
	fmt_print(reason, size, "MSRs that aren't there are answered (hypervisor \"%s\")",
		  c->host.signature);
	return false;
}

bool need_two_counters(char *reason, size_t size)
{
	return need_counters(2, reason, size);
}

bool need_four_counters(char *reason, size_t size)
{
	return need_counters(4, reason, size);
}

bool need_fixed_0_to_2(char *reason, size_t size)
{
	const struct pmu_caps *c = counter_caps();

	if (c->fixed >= 3)
		return true;
	fmt_print(reason, size, "%u fixed counters (CPUID.0AH:EDX = %#x)", c->fixed,
		  c->leaf_0a_edx);
	return false;
}

bool need_full_width(char *reason, size_t size)
{
	const struct pmu_caps *c = counter_caps();

	if (c->full_width)
		return true;
	fmt_print(reason, size, "no full-width writes (IA32_PERF_CAPABILITIES = %#lx)",
		  c->perf_capabilities);
	return false;
}

bool need_legacy_freeze(char *reason, size_t size)
{
	const struct pmu_caps *c = counter_caps();

	/* Others may give the guest its host's IA32_DEBUGCTL, and the host freezes in another way.
	 */
	if (c->hypervisor && c->host.id != HYPERVISOR_KVM) {
		fmt_print(reason, size,
			  "a guest of hypervisor \"%s\" may freeze as its host's version does",
			  c->host.signature);
		return false;
	}
	if (c->pdcm && (c->version == 2 || c->version == 3))
		return true;
	fmt_print(reason, size, "no freeze by IA32_PERF_GLOBAL_CTRL (CPUID.0AH:EAX = %#x, PDCM %u)",
		  c->leaf_0a_eax, c->pdcm);
	return false;
}

bool need_version_4(char *reason, size_t size)
{
	const struct pmu_caps *c = counter_caps();

	if (c->version >= 4)
		return true;
	fmt_print(reason, size, "architectural monitoring version %u (CPUID.0AH:EAX = %#x)",
		  c->version, c->leaf_0a_eax);
	return false;
}

bool need_version_below_4(char *reason, size_t size)
{
	const struct pmu_caps *c = counter_caps();

	if (c->version < 4)
		return true;
	fmt_print(reason, size, "architectural monitoring version %u (CPUID.0AH:EAX = %#x)",
		  c->version, c->leaf_0a_eax);
	return false;
}

/* true: this processor refuses the value that has to be written; `reason` says why. */
static bool refuses(enum reset_item item, char *reason, size_t size)
{
	struct reset_refusal refusal;

	if (!reset_leaves_alone(item, &refusal))
		return false;
	reset_format(&refusal, reason, size);
	return true;
}

bool need_debug_control_write(char *reason, size_t size)
{
	return !refuses(RESET_DEBUGCTL, reason, size);
}

bool need_ds_write(char *reason, size_t size)
{
	return !refuses(RESET_DS_AREA, reason, size) && !refuses(RESET_PEBS_ENABLE, reason, size);
}

/* The revision of microcode that IA32_DEBUGCTL[12] needs here, if there is an older one; 0: none.
 */
static u32 freeze_microcode(void)
{
	const struct pmu_caps *c = counter_caps();

	if (c->hypervisor)	/* it shows its own revision */
		return 0;
#define FREEZE_MICROCODE(family_, model_, stepping_, least_, source) \
	if (c->family == (family_) && c->model == (model_) && c->stepping == (stepping_) && \
	    c->microcode < (least_)) \
		return (least_);
#include "claims/known.def"
	return 0;
}

bool need_freeze(char *reason, size_t size)
{
	const u32 microcode = freeze_microcode();
	u64 value = 0;

	if (microcode) {
		fmt_print(reason, size,
			  "microcode %#x, with which Linux doesn't use freezes: %#x and later will "
			  "do",
			  counter_caps()->microcode, microcode);
		return false;
	}
	if (counter_caps()->version < 4 && !need_legacy_freeze(reason, size))
		return false;
	if (refuses(RESET_DEBUGCTL, reason, size))
		return false;
	if (!msr_try_write(MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI).raised) {
		value = msr_read(MSR_IA32_DEBUGCTL);
		msr_write(MSR_IA32_DEBUGCTL, 0);
	}
	if (value & IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI)
		return true;
	fmt_print(reason, size, "IA32_DEBUGCTL[12] can't be set (reads %#lx)", value);
	return false;
}

bool need_debug_control(char *reason, size_t size)
{
	const struct pmu_caps *c = counter_caps();

	if (refuses(RESET_DEBUGCTL, reason, size))
		return false;

	if (!c->hypervisor)
		return true;
	fmt_print(reason, size, "what a guest has of IA32_DEBUGCTL is up to hypervisor \"%s\"",
		  c->host.signature);
	return false;
}

/* Requirement MSR-28 judges whether the bit must exist; here a hypervisor may leave it out. */
bool need_any_thread(char *reason, size_t size)
{
	const struct pmu_caps *caps = counter_caps();

	if (!caps->any_thread || caps->version > 4) {
		fmt_print(reason, size, "no AnyThread bit (CPUID.0AH:EAX = %#x EDX = %#x)",
			  caps->leaf_0a_eax, caps->leaf_0a_edx);
		return false;
	}
	if (!msr_try_write(MSR_IA32_PERFEVTSEL0, IA32_PERFEVTSEL_ANY).raised) {
		msr_write(MSR_IA32_PERFEVTSEL0, 0);
		return true;
	}
	fmt_print(reason, size, "IA32_PERFEVTSEL0[21] is refused (hypervisor \"%s\")",
		  caps->host.signature);
	return false;
}

static bool need_facility(u32 facility, const char *name, char *reason, size_t size)
{
	const struct pmu_caps *c = counter_caps();

	if (c->facilities & facility)
		return true;
	fmt_print(reason, size, "no %s known for family %02x model %02x", name, c->family,
		  c->model);
	return false;
}

bool need_offcore(char *reason, size_t size)
{
	u64 value;

	if (!msr_try_read(MSR_OFFCORE_RSP_0, &value).raised) {
		if (!counter_caps()->msrs_ignored)
			return need_facility(FAC_OFFCORE, "off-core response", reason, size);
		msr_try_write(MSR_OFFCORE_RSP_0, 1);
		value = msr_read(MSR_OFFCORE_RSP_0);
		msr_try_write(MSR_OFFCORE_RSP_0, 0);
		if (value == 1)
			return need_facility(FAC_OFFCORE, "off-core response", reason, size);
	}
	fmt_print(reason, size, "no MSR_OFFCORE_RSP_0");
	return false;
}

bool need_offcore_2(char *reason, size_t size)
{
	return need_facility(FAC_OFFCORE_2, "second off-core response register", reason, size);
}

bool need_four_counters_only(char *reason, size_t size)
{
	const struct pmu_caps *c = counter_caps();

	if (c->gp_mask == BITS(0, 3))
		return true;
	fmt_print(reason, size, "%u general-purpose counters (CPUID.0AH:EAX = %#x)", c->gp,
		  c->leaf_0a_eax);
	return false;
}

/* A hypervisor may refuse selects of an event that CPUID promises (Xen, vpmu=ipc). */
static bool is_taken(u16 event, char *reason, size_t size)
{
	if (!denied_select(event))
		return true;
	fmt_print(reason, size, "hypervisor \"%s\" refuses to select event %#x (#GP)",
		  counter_caps()->host.signature, event);
	return false;
}

/* Bits of CPUID.0AH:EBX, of Table 18-1. */
static bool need_event(unsigned bit, u16 event, const char *name, char *reason, size_t size)
{
	const struct pmu_caps *c = counter_caps();

	if (!(c->events_absent & BIT(bit)))
		return is_taken(event, reason, size);
	fmt_print(reason, size, "event \"%s\" isn't available (CPUID.0AH:EAX = %#x EBX = %#x)",
		  name, c->leaf_0a_eax, c->leaf_0a_ebx);
	return false;
}

bool need_cycles(char *reason, size_t size)
{
	return need_event(0, EVENT_UNHALTED_CORE_CYCLES, "unhalted core cycles", reason, size);
}

bool need_instructions(char *reason, size_t size)
{
	return need_event(1, EVENT_INST_RETIRED_ANY_P, "instructions retired", reason, size);
}

bool need_branches(char *reason, size_t size)
{
	return need_event(5, EVENT_BR_INST_RETIRED_ALL_BRANCHES, "branch instructions retired",
			  reason, size);
}

bool need_mispredicts(char *reason, size_t size)
{
	return need_event(6, EVENT_BR_MISP_RETIRED_ALL_BRANCHES, "branch misses retired", reason,
			  size);
}

bool need_slots(char *reason, size_t size)
{
	return need_event(7, EVENT_TOPDOWN_SLOTS_P, "top-down slots", reason, size);
}

bool need_events(char *reason, size_t size)
{
	const struct pmu_caps *c = counter_caps();
	struct event loads;

	if (event_get(EK_LOADS, 0, &loads))
		return is_taken(loads.code, reason, size);
	if (c->generation)
		return true;
	if (c->shown) {
		fmt_print(reason, size,
			  "the events are those of the host, and \"%s\" is the brand of a model "
			  "of hypervisor \"%s\"",
			  c->brand, c->host.signature);
		return false;
	}
	fmt_print(reason, size, "no event table for family %02x model %02x", c->family, c->model);
	return false;
}

bool need_loads_or_branches(char *reason, size_t size)
{
	const struct pmu_caps *c = counter_caps();
	struct event loads;

	if (event_get(EK_LOADS, EV_PEBS, &loads))
		return need_events(reason, size);
	/* Latitude no-baseline-events. */
	if (c->record_format == RECORD_ADAPTIVE_BASIC) {
		fmt_print(reason, size,
			  "no table has its loads, and without baseline other events may make no "
			  "records (family %02x model %02x)",
			  c->family, c->model);
		return false;
	}
	return need_branches(reason, size);
}

bool need_store_sample(char *reason, size_t size)
{
	struct event event;

	if (event_get(EK_STORE_SAMPLE, 0, &event))
		return true;
	fmt_print(reason, size, "no MEM_TRANS_RETIRED.STORE_SAMPLE (family %02x model %02x)",
		  counter_caps()->family, counter_caps()->model);
	return false;
}

bool need_pdist(char *reason, size_t size)
{
	if (counter_caps()->facilities & FAC_PDIST)
		return true;
	fmt_print(reason, size, "no PDist known for family %02x model %02x", counter_caps()->family,
		  counter_caps()->model);
	return false;
}

bool need_pdist_of_pmc1(char *reason, size_t size)
{
	if (counter_caps()->facilities & FAC_PDIST_1)
		return true;
	fmt_print(reason, size, "no PDist on IA32_PMC1 known for family %02x model %02x",
		  counter_caps()->family, counter_caps()->model);
	return false;
}

bool need_pebs_available(char *reason, size_t size)
{
	const struct pmu_caps *c = counter_caps();

	if (c->ds && !(c->misc_enable & IA32_MISC_ENABLE_PEBS_UNAVAILABLE))
		return true;
	fmt_print(reason, size, "no PEBS (CPUID.01H:EDX[21] = %u, IA32_MISC_ENABLE = %#lx)", c->ds,
		  c->misc_enable);
	return false;
}

bool need_any_pebs(char *reason, size_t size)
{
	const struct pmu_caps *c = counter_caps();

	if (!need_ds_write(reason, size))
		return false;
	/* Every processor with PEBS has four counters; a hypervisor may give a guest fewer. */
	if (c->pebs && !need_four_counters(reason, size))
		return false;
	if (c->pebs && c->dtes64 && c->record_known && c->pebs_mask)
		return true;
	if (c->pebs_microcode) {
		fmt_print(reason, size,
			  "microcode %#x, with which PEBS is broken: %#x and later "
			  "will do",
			  c->microcode, c->pebs_microcode);
		return false;
	}
	fmt_print(reason, size,
		  "no PEBS that is known here (IA32_MISC_ENABLE = %#lx, "
		  "IA32_PERF_CAPABILITIES = %#lx, DS %u, DTES64 %u)",
		  c->misc_enable, c->perf_capabilities, c->ds, c->dtes64);
	return false;
}

bool need_pebs(char *reason, size_t size)
{
	if (!need_any_pebs(reason, size))
		return false;
	if (record_has(counter_caps()->record_format, RECORD_rip))
		return true;
	fmt_print(reason, size, "records have no registers (IA32_PERF_CAPABILITIES = %#lx)",
		  counter_caps()->perf_capabilities);
	return false;
}

bool need_format4(char *reason, size_t size)
{
	const struct pmu_caps *c = counter_caps();

	if (!need_any_pebs(reason, size))
		return false;
	if (c->record_format == RECORD_ADAPTIVE || c->record_format == RECORD_ADAPTIVE_BASIC)
		return true;
	fmt_print(reason, size, "another record format (IA32_PERF_CAPABILITIES = %#lx)",
		  c->perf_capabilities);
	return false;
}

bool need_baseline(char *reason, size_t size)
{
	if (!need_format4(reason, size))
		return false;
	if (counter_caps()->baseline)
		return true;
	fmt_print(reason, size, "PEBS without baseline (IA32_PERF_CAPABILITIES = %#lx)",
		  counter_caps()->perf_capabilities);
	return false;
}

bool need_no_baseline(char *reason, size_t size)
{
	if (!counter_caps()->baseline)
		return true;
	fmt_print(reason, size, "PEBS with baseline (IA32_PERF_CAPABILITIES = %#lx)",
		  counter_caps()->perf_capabilities);
	return false;
}

bool need_metrics(char *reason, size_t size)
{
	if (counter_caps()->metrics)
		return true;
	fmt_print(reason, size, "no PERF_METRICS (IA32_PERF_CAPABILITIES = %#lx)",
		  counter_caps()->perf_capabilities);
	return false;
}

bool need_fixed_3(char *reason, size_t size)
{
	const struct pmu_caps *c = counter_caps();

	if (c->fixed_mask & BIT(3))
		return true;
	fmt_print(reason, size, "no fixed counter 3 (CPUID.0AH:ECX = %#x EDX = %#x)",
		  c->leaf_0a_ecx, c->leaf_0a_edx);
	return false;
}

static bool need_format(enum record_format format, char *reason, size_t size)
{
	const struct pmu_caps *c = counter_caps();

	if (!need_pebs(reason, size))
		return false;
	if (c->record_format == format)
		return true;
	fmt_print(reason, size, "another record format (IA32_PERF_CAPABILITIES = %#lx)",
		  c->perf_capabilities);
	return false;
}

bool need_format1(char *reason, size_t size)
{
	return need_format(RECORD_FMT1, reason, size);
}

bool need_format2(char *reason, size_t size)
{
	return need_format(RECORD_FMT2, reason, size);
}

bool need_format3(char *reason, size_t size)
{
	return need_format(RECORD_FMT3, reason, size);
}

bool need_eventing_ip(char *reason, size_t size)
{
	return need_pebs(reason, size) &&
	       need_format(record_has(counter_caps()->record_format, RECORD_eventing_ip) ?
				   counter_caps()->record_format :
				   RECORD_FMT2,
			   reason, size);
}

bool need_status_image(char *reason, size_t size)
{
	return need_pebs(reason, size) &&
	       need_format(record_has(counter_caps()->record_format, RECORD_status) ?
				   counter_caps()->record_format :
				   RECORD_FMT2,
			   reason, size);
}

bool need_data_address(char *reason, size_t size)
{
	return need_facility(FAC_DATALA, "data address profiling", reason, size);
}

bool need_pdir(char *reason, size_t size)
{
	return need_facility(FAC_PDIR, "precise distribution", reason, size);
}

bool need_load_latency(char *reason, size_t size)
{
	return need_facility(FAC_LOAD_LATENCY, "load latency", reason, size);
}

bool need_stlb_lock(char *reason, size_t size)
{
	return need_facility(FAC_STLB_LOCK, "STLB and lock bits in the data source", reason, size);
}

bool need_precise_store(char *reason, size_t size)
{
	return need_facility(FAC_PRECISE_STORE, "precise store", reason, size);
}

bool need_uncore(char *reason, size_t size)
{
	if (!need_perfmon(reason, size) ||
	    !need_facility(FAC_UNCORE, "uncore of Nehalem's kind", reason, size))
		return false;
	if (uncore_present())
		return true;
	fmt_print(reason, size, "no register of the uncore holds what is written");
	return false;
}

bool need_second_processor(char *reason, size_t size)
{
	if (smp_second())
		return true;
	fmt_print(reason, size, "one processor (of %u that came)", smp_count());
	return false;
}

bool need_partner(char *reason, size_t size)
{
	if (smp_sibling() || smp_other_core())
		return true;
	fmt_print(reason, size, "no other processor of the same type of core among %u processors",
		  smp_count());
	return false;
}

bool need_sibling_thread(char *reason, size_t size)
{
	struct topology first = smp_topology(CPU_BOOT);

	if (smp_sibling())
		return true;
	fmt_print(reason, size, "no other thread of core %#x among %u processors (CPUID.0BH, 04H)",
		  first.core, smp_count());
	return false;
}

bool need_other_core(char *reason, size_t size)
{
	struct topology first = smp_topology(CPU_BOOT);

	if (smp_other_core())
		return true;
	fmt_print(reason, size,
		  "no other core than %#x of its kind among %u processors (CPUID.0BH, 04H)",
		  first.core, smp_count());
	return false;
}

bool need_other_kind(char *reason, size_t size)
{
	if (smp_other_kind())
		return true;
	fmt_print(reason, size, "no core of another type than %#x among %u processors (CPUID.1AH)",
		  counter_caps()->core_type, smp_count());
	return false;
}

bool needs_others(const struct test_case *c)
{
	for (unsigned i = 0; c->needs[i]; i++)
		if (c->needs[i] == need_second_processor || c->needs[i] == need_partner ||
		    c->needs[i] == need_sibling_thread || c->needs[i] == need_other_core ||
		    c->needs[i] == need_other_kind)
			return true;
	return false;
}

bool need_not_hybrid(char *reason, size_t size)
{
	if (!counter_caps()->told_less)
		return true;
	fmt_print(reason, size, "the processor may have more counters than it reports");
	return false;
}
