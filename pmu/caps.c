/* SPDX-License-Identifier: MIT */
/*
 * Capabilities: SDM "Architectural Performance Monitoring", "IA32_PERF_CAPABILITIES MSR
 * Enumeration" and the CPUID instruction. For a processor without a row in spec/generation.def all
 * architectural features are still found. If CPUID leaf 23H exists, it lists the counters, because
 * leaf 0AH may list only what all cores of a hybrid processor have in common.
 */
#include "pmu/caps.h"

#include "kernel/processor/cpuid.h"
#include "kernel/interrupt/fault.h"
#include "kernel/memory/string.h"
#include "kernel/output/fmt.h"
#include "pmu/netburst/caps.h"
#include "spec/msr.h"

static const struct generation generations[] = {
#define GENERATION(id, code, name, title, family, model, stepping, brand, perfmon, gp, gp_no_ht, \
		   fixed, width, max_leaf, lbr_fmt, pebs_format, pebs_mask, ll_mask, facilities, \
		   source) \
	[GEN_##id] = { code, name, title, pebs_mask, ll_mask, facilities, gp, gp_no_ht, fixed, \
		       width, pebs_format, GENS_##id },
#include "spec/generation.def"
};

static void find_generation(struct pmu_caps *caps)
{
#define GENERATION_MODEL(id, family_, model_, without) \
	if (caps->family == (family_) && caps->model == (model_)) { \
		caps->generation = &generations[GEN_##id]; \
		caps->facilities = caps->generation->facilities & ~(u32)(without); \
	}
#include "spec/generation.def"
}

/* Find the type of this core in a package whose row is known. For an E-core of a hybrid without its
 * own row, the package's row doesn't apply. */
static void find_core(struct pmu_caps *caps)
{
	const struct generation *package = caps->generation;
	bool known = caps->core_type != CORE_TYPE_ATOM;

	if (!package || (!caps->hybrid && !caps->core_type))
		return;
#define GENERATION_CORE(package_, type, native, id) \
	if (package == &generations[GEN_##package_] && caps->core_type == (type) && \
	    caps->native_model == (native)) { \
		known = true; \
		caps->generation = &generations[GEN_##id]; \
		caps->facilities = caps->generation->facilities; \
	}
#include "spec/generation.def"
	if (known || !caps->hybrid)
		return;
	caps->generation = NULL;
	caps->facilities = 0;
}

/*
 * The brand of each processor with a row has Intel's mark. QEMU's named models have brands without
 * it ("Intel Xeon Processor (Cascadelake)"), and may run on later processors, to which KVM passes
 * events as they are.
 */
static bool is_processors_brand(const char *brand)
{
	for (const char *c = brand; c[0] && c[1] && c[2]; c++)
		if (c[0] == '(' && c[1] == 'R' && c[2] == ')')
			return true;
	return false;
}

static void doubt_model(struct pmu_caps *caps)
{
	caps->shown = caps->generation;
	if (!caps->hypervisor || is_processors_brand(caps->brand))
		return;
	caps->generation = NULL;
	caps->facilities = 0;
}

/* Does CPUID report less than the processor has? The first processors with version 2 (06_0FH,
 * 06_16H) report no fixed counters, and have three: Linux intel_pmu_init(). If leaf 0AH of a hybrid
 * has the counters of the row, it is trusted; also on an E-core. */
static bool is_told_less(const struct pmu_caps *caps)
{
	const struct generation *g = caps->generation;

	if (caps->version == 2 && !caps->fixed && !caps->hypervisor)
		return true;
	if (!caps->hybrid || caps->core_type == CORE_TYPE_ATOM)
		return false;
	return !g || caps->gp < g->gp || caps->fixed < g->fixed;
}

/* CPUID returns four characters in a register, the first one in the lowest byte. */
static void put_text(char *text, u32 value)
{
	for (unsigned i = 0; i < 4; i++)
		text[i] = (char)(value >> 8 * i);
}

static void read_vendor(struct pmu_caps *caps)
{
	struct cpuid r = cpuid_read(0, 0);

	put_text(caps->vendor, r.ebx);
	put_text(caps->vendor + 4, r.edx);
	put_text(caps->vendor + 8, r.ecx);
	caps->intel = !strcmp(caps->vendor, "GenuineIntel");
}

static void read_brand(struct pmu_caps *caps)
{
	char text[49] = "";
	unsigned from = 0, to = 0;

	if (cpuid_read(0x80000000, 0).eax >= 0x80000004) {
		for (unsigned i = 0; i < 3; i++) {
			struct cpuid r = cpuid_read(0x80000002 + i, 0);

			put_text(text + 16 * i, r.eax);
			put_text(text + 16 * i + 4, r.ebx);
			put_text(text + 16 * i + 8, r.ecx);
			put_text(text + 16 * i + 12, r.edx);
		}
	}
	while (text[from] == ' ')	/* some brand strings are right-justified */
		from++;
	while ((caps->brand[to++] = text[from++]))
		;
}

/* "Version Information": the extended fields count for the families that the manual names. */
static void read_model(struct pmu_caps *caps)
{
	caps->family = cpuid_get(CPUID_FAMILY);
	caps->model = cpuid_get(CPUID_MODEL);
	caps->stepping = cpuid_get(CPUID_STEPPING);
	if (caps->family == 0xf || caps->family == 0x6)
		caps->model |= cpuid_get(CPUID_EXT_MODEL) << 4;
	if (caps->family == 0xf)
		caps->family += cpuid_get(CPUID_EXT_FAMILY);
}

/* "Native Model ID Enumeration"; without the leaf the values are 0. */
static void read_core(struct pmu_caps *caps)
{
	caps->hybrid = cpuid_get(CPUID_HYBRID);
	caps->core_type = cpuid_get(CPUID_CORE_TYPE);
	caps->native_model = cpuid_get(CPUID_NATIVE_MODEL);
}

static void leaf_of(u32 leaf, u32 subleaf, u32 regs[4])
{
	struct cpuid r = cpuid_read(leaf, subleaf);

	regs[0] = r.eax;
	regs[1] = r.ebx;
	regs[2] = r.ecx;
	regs[3] = r.edx;
}

static void hypervisor_leaf(u32 leaf, u32 regs[4])
{
	leaf_of(leaf, 0, regs);
}

/* Bits that have no row in spec/msr.def. */
enum {
#define MSR_NAME(msr, field, lo, hi, source) msr##_##field = lo,
#include "spec/msr_name.def"
};

static bool expected_guest;

void caps_expect_guest(bool is_guest)
{
	expected_guest = is_guest;
}

static void read_hypervisor(struct pmu_caps *caps)
{
	caps->hypervisor_bit = cpuid_get(CPUID_HYPERVISOR);
	caps->host = hypervisor_find(caps->hypervisor_bit, hypervisor_leaf);
	if (caps->host.id == HYPERVISOR_NONE && expected_guest)
		caps->host = (struct hypervisor){ HYPERVISOR_OTHER, 0, "hidden", "" };
	caps->hypervisor = caps->host.id != HYPERVISOR_NONE;
}

static unsigned without_a_gap(u32 mask)
{
	return (unsigned)__builtin_ctzll(~(u64)mask);
}

static void read_perfmon(struct pmu_caps *caps)
{
	unsigned length;

	if (cpuid_read(0, 0).eax < 0xa)
		return;
	caps->leaf_0a_eax = cpuid_read(0xa, 0).eax;
	caps->leaf_0a_ebx = cpuid_read(0xa, 0).ebx;
	caps->leaf_0a_ecx = cpuid_read(0xa, 0).ecx;
	caps->leaf_0a_edx = cpuid_read(0xa, 0).edx;
	if (!caps->intel)	/* other vendors may use the leaf differently */
		return;
	caps->version = cpuid_get(CPUID_PERFMON_VERSION);
	if (!caps->version)
		return;
	caps->gp = cpuid_get(CPUID_GP_COUNTERS);
	caps->gp_enumerated = caps->gp;
	caps->gp_width = cpuid_get(CPUID_GP_WIDTH);
	length = cpuid_get(CPUID_EVENTS_LENGTH);
	/* A bit beyond the vector's length has no meaning: the event isn't enumerated. */
	caps->events_absent = caps->leaf_0a_ebx;
	if (length < 32)
		caps->events_absent |= ~0u << length;
	if (caps->version >= 2) {
		caps->fixed = cpuid_get(CPUID_FIXED_COUNTERS);
		caps->fixed_width = cpuid_get(CPUID_FIXED_WIDTH);
		caps->fixed_mask = (u32)(BIT(caps->fixed) - 1);
	}
	if (caps->version >= 5)
		caps->fixed_mask |= cpuid_get(CPUID_FIXED_MASK);
	caps->fixed = without_a_gap(caps->fixed_mask);
	caps->gp_mask = (u32)(BIT(caps->gp) - 1);
	caps->gp_mask_enumerated = caps->gp_mask;
	caps->any_thread = caps->version >= 3 && !cpuid_get(CPUID_ANYTHREAD_DEPRECATED);
}

static void read_version6(struct pmu_caps *caps)
{
	if (!caps->version)
		return;
	caps->v6 = version6_read(leaf_of);
	caps->arch_pebs = version6_has_arch_pebs(&caps->v6);
	if (caps->v6.events)
		caps->events_absent = ~caps->v6.events;
	if (!caps->v6.counters)
		return;
	caps->told_less = false;
	caps->gp_mask = (u32)caps->v6.counters;
	caps->gp_mask_enumerated = caps->gp_mask;
	caps->fixed_mask = (u32)(caps->v6.counters >> 32);
	caps->gp = without_a_gap(caps->gp_mask);
	caps->gp_enumerated = caps->gp;
	caps->fixed = without_a_gap(caps->fixed_mask);
}

/* Table 35-2: IA32_BIOS_SIGN_ID holds the revision once CPUID has run after a write of 0. */
static void read_microcode(struct pmu_caps *caps)
{
	u64 value = 0;

	if (msr_try_write(MSR_IA32_BIOS_SIGN_ID, 0).raised)
		return;
	cpuid_read(1, 0);
	if (msr_try_read(MSR_IA32_BIOS_SIGN_ID, &value).raised)
		return;
	caps->microcode = (u32)(value >> 32);
	if (caps->hypervisor)	/* a hypervisor shows its own revision */
		return;
#define PEBS_MICROCODE(family_, model_, stepping_, least_, source) \
	if (caps->family == (family_) && caps->model == (model_) && \
	    caps->stepping == (stepping_) && caps->microcode < (least_)) \
		caps->pebs_microcode = (least_);
#include "claims/known.def"
}

/* IA32_PERF_CAPABILITIES[14] is defined from format 4 on. With it each counter supports PEBS. */
static void read_baseline(struct pmu_caps *caps)
{
	if (!caps->pebs || !caps->record_known || caps->record_format != RECORD_ADAPTIVE_BASIC)
		return;
	caps->pebs_mask = caps->gp_mask;
	caps->baseline = caps->perf_capabilities & IA32_PERF_CAPABILITIES_PEBS_BASELINE;
	if (!caps->baseline)
		return;
	caps->pebs_fixed_mask = caps->fixed_mask;
	caps->record_format = RECORD_ADAPTIVE;
}

static void read_pebs(struct pmu_caps *caps)
{
	u64 value = 0;

	caps->pdcm = cpuid_get(CPUID_PDCM);
	caps->ds = cpuid_get(CPUID_DS);
	caps->dtes64 = cpuid_get(CPUID_DTES64);
	caps->tsx = cpuid_get(CPUID_RTM) || cpuid_get(CPUID_HLE);
	caps->rtm_always_abort = cpuid_get(CPUID_RTM_ALWAYS_ABORT);
	caps->tsx_force_abort = cpuid_get(CPUID_TSX_FORCE_ABORT);
	caps->arch_lbr = cpuid_get(CPUID_ARCH_LBR);
	if (caps->pdcm && !msr_try_read(MSR_IA32_PERF_CAPABILITIES, &value).raised)
		caps->perf_capabilities = value;
	if (!msr_try_read(MSR_IA32_MISC_ENABLE, &value).raised)
		caps->misc_enable = value;
	caps->full_width = caps->perf_capabilities & IA32_PERF_CAPABILITIES_FW_WRITE;
	caps->pebs = caps->version && caps->ds && !caps->arch_pebs &&
		     (caps->misc_enable & IA32_MISC_ENABLE_PERFMON_AVAILABLE) &&
		     !(caps->misc_enable & IA32_MISC_ENABLE_PEBS_UNAVAILABLE) &&
		     !caps->pebs_microcode;
	value = caps->perf_capabilities & IA32_PERF_CAPABILITIES_PEBS_FMT;
	caps->pebs_format = (unsigned)(value >> IA32_PERF_CAPABILITIES_PEBS_FMT_SHIFT);
	caps->record_known = record_format_from_caps(caps->pebs_format, &caps->record_format);
	if (caps->pebs && caps->generation)
		caps->pebs_mask = caps->generation->pebs_mask & caps->gp_mask;
	caps->metrics = caps->perf_capabilities & IA32_PERF_CAPABILITIES_PERF_METRICS;
	caps->metrics_open = !caps->metrics && caps->hybrid && caps->core_type == CORE_TYPE_CORE;
	read_baseline(caps);
}

/* No processor and no hypervisor has an MSR of this number. */
#define MSR_NOWHERE	0x0fffffffu

/*
 * Linux intel_rdpmc_ecx_to_pmc: up to 6.8 KVM ignored ECX[31], as processors without architectural
 * performance monitoring do; later versions raise #GP.
 */
static void read_kvm_version(struct pmu_caps *caps)
{
	u64 value;

	caps->old_kvm = caps->host.id == HYPERVISOR_KVM && caps->version &&
			!rdpmc_try((u32)BIT(31), &value).raised;
}

struct pmu_caps caps_read(void)
{
	struct pmu_caps caps = { .operations = &pmu_architectural };
	u64 value;

	read_vendor(&caps);
	read_brand(&caps);
	read_model(&caps);
	read_hypervisor(&caps);
	caps.msrs_ignored = !msr_try_read(MSR_NOWHERE, &value).raised;
	if (caps.intel) {
		read_core(&caps);
		find_generation(&caps);
		find_core(&caps);
		doubt_model(&caps);
	}
	read_perfmon(&caps);
	caps.cpuid_limited = caps.intel && cpuid_read(0, 0).eax < 0xa &&
			     !msr_try_read(MSR_IA32_MISC_ENABLE, &value).raised &&
			     (value & BIT(IA32_MISC_ENABLE_LIMIT_CPUID_MAXVAL));
	caps.told_less = is_told_less(&caps);
	if (caps.intel) {
		read_version6(&caps);
		read_kvm_version(&caps);
		read_microcode(&caps);
		read_pebs(&caps);
		netburst_take(&caps);
	}
	return caps;
}

const char *caps_cpu_name(const struct pmu_caps *caps, char *text, size_t size)
{
	const char *name = "other";

	if (caps->generation)
		name = caps->generation->name;
	else if (caps->intel)
		name = "intel";
	else if (!strcmp(caps->vendor, "AuthenticAMD"))
		name = "amd";
	fmt_print(text, size, "%s-%02x_%02x", name, caps->family, caps->model);
	return text;
}

const char *caps_generation(const struct pmu_caps *caps)
{
	if (caps->generation)
		return caps->generation->title;
	return caps->shown ? "the host's, which isn't told: the brand is a hypervisor's" :
			     "no row for this processor";
}

const char *caps_core_name(u32 type)
{
	if (type == CORE_TYPE_CORE)
		return ", of a P-core";
	return type == CORE_TYPE_ATOM ? ", an E-core" : "";
}

/* Architectural events have bits 0 to 12 in CPUID.0AH:EBX, of which the lowest EAX[31:24] are
 * valid, and in CPUID.(23H,3):EAX. */
#define EVENTS_KNOWN	0x1fffu

u32 caps_absent_events(const struct pmu_caps *caps)
{
	return caps->v6.events ? ~caps->v6.events & EVENTS_KNOWN :
				 caps->leaf_0a_ebx & (u32)(BIT(caps->leaf_0a_eax >> 24) - 1);
}
