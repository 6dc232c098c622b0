/* SPDX-License-Identifier: MIT */
/*
 * CPUID: changes the result of the machine below to that of the presented processor: "CPUID - CPU
 * Identification". Vendor, signature, brand, caches and the PMU's enumeration are replaced. A
 * feature stays only if the generation has it and the machine below supports it. No hypervisor is
 * visible, except with profiles that have one.
 *
 * Not changed are the APIC ID, the sizes of addresses (which must fit the machine's memory),
 * MONITOR's line sizes and the data about XSAVE.
 *
 * Not handled: frequencies, power management.
 */
#include "refpmu/model/archpebs/archpebs.h"
#include "refpmu/model/enumeration/leaf_0a.h"
#include "refpmu/model/lbr.h"
#include "refpmu/model/memory/memory.h"
#include "spec/hypervisor.h"

enum { EAX, EBX, ECX, EDX };

enum {
#define CPUID_FIELD(name, leaf, subleaf, reg, lo, hi, source) CPUID_LEAF_##name = (int)(leaf),
#include "spec/cpuid.def"
};

#define LEAF_DESCRIPTORS	0x2u
#define LEAF_CACHES		0x4u
#define LEAF_MONITOR		0x5u
#define LEAF_POWER		0x6u
#define LEAF_TOPOLOGY		0xbu
#define LEAF_XSAVE		0xdu
#define LEAF_EXTENDED		0x80000000u
#define LEAF_EXTENDED_LAST	0x80000008u

/* The feature bits that the generation has in each register of a leaf. */
static const struct {
	u32 leaf;
	u32 gens;
	u8 subleaf, reg, lo, hi;
} features[] = {
#define FEATURE(leaf, subleaf, reg, lo, hi, gens, names) { leaf, gens, subleaf, reg, lo, hi },
#include "spec/feature.def"
};

/* The bits that remain of a register with only feature bits. */
static u32 features_of(const struct model *m, u32 leaf, u32 subleaf, unsigned reg)
{
	u64 bits = 0;

	for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); i++)
		if (features[i].leaf == leaf && features[i].subleaf == subleaf &&
		    features[i].reg == reg && features[i].gens & BIT(m->config.generation))
			bits |= BITS(features[i].lo, features[i].hi);
	return (u32)bits;
}

/* Put value into the field's bits of its register. */
static void set_field(u32 regs[4], unsigned reg, unsigned lo, unsigned hi, u64 value)
{
	regs[reg] = (u32)((regs[reg] & ~BITS(lo, hi)) | (value << lo & BITS(lo, hi)));
}

static void cpuid_set(u32 regs[4], const u32 values[4])
{
	for (unsigned i = 0; i < 4; i++)
		regs[i] = values[i];
}

static void clear(u32 regs[4])
{
	cpuid_set(regs, (const u32[4]){ 0 });
}

static u32 four_bytes(const char *text)
{
	u32 value;

	__builtin_memcpy(&value, text, sizeof(value));
	return value;
}

/* Every field of spec/cpuid.def by its name: FIELD(PDCM) is its register and its bits. */
enum {
#define CPUID_FIELD(name, leaf, subleaf, reg, lo, hi, source) \
	FIELD_##name##_REG = (reg), FIELD_##name##_LO = (lo), FIELD_##name##_HI = (hi),
#include "spec/cpuid.def"
};
#define SET(name, value) \
	set_field(regs, FIELD_##name##_REG, FIELD_##name##_LO, FIELD_##name##_HI, (value))

/* ---- topology: one package, whose APIC ids begin at 0 ---- */

static unsigned processors(const struct model *m)
{
	return m->host->processors ? m->host->processors : 1;
}

/* The bits of the APIC ID that number the threads of a core, */
static unsigned thread_bits(const struct model *m)
{
	return m->config.hyper_threading && processors(m) > 1;
}

/* and those that number the processors of the package. */
static unsigned package_bits(const struct model *m)
{
	unsigned bits = 0;

	while (1u << bits < processors(m))
		bits++;
	return bits;
}

/* Threads of this core: the last core may have only one. */
static unsigned threads(const struct model *m)
{
	return thread_bits(m) && (m->host->processor | 1) < processors(m) ? CORE_THREADS : 1;
}

static const char hyper_v[] = "Microsoft Hv";

/* No row of spec/generation.def has this model of family 06H. */
#define UNKNOWN_MODEL	0xff
#define GENERATION_MODEL(id, family, model, ...) \
	_Static_assert((family) != 0x6 || (model) != UNKNOWN_MODEL, #id);
#include "spec/generation.def"
/* The brand string of a part without a name. */
static const char unknown_brand[48] = "Genuine Intel(R) CPU 0000";

/* As QEMU's models have it: -cpu Haswell,pmu=on. */
static const char named_brand[48] = "Intel Core Processor (Named)";

/* CPUID.40000000H:EBX, ECX, EDX: spec/hypervisor.def. NULL: a processor without a hypervisor. */
static const char *hypervisor_signature(const struct model *m)
{
	if (m->facts & FACT_KVM_SIGNATURE)
		return "KVMKVMKVM\0\0";
	if (m->facts & FACT_HYPERV_SIGNATURE)
		return hyper_v;
	if (m->facts & FACT_XEN_SIGNATURE)
		return "XenVMMXenVMM";
	return m->facts & FACT_VMWARE_SIGNATURE ? "VMwareVMware" : NULL;
}

/* A real processor doesn't have the leaves of hypervisors. */
static void hypervisor(struct model *m, u32 leaf, u32 regs[4])
{
	const char *signature = hypervisor_signature(m);
	u32 own = HYPERVISOR_LEAF + m->latitude[LAT_HYPERVISOR_LEAF] * HYPERVISOR_LEAF_STEP;

	clear(regs);
	fault_cpuid_absent(m, leaf, regs);
	if (!signature || (leaf != own && leaf != HYPERVISOR_LEAF))
		return;
	signature = leaf == own ? signature : hyper_v;
	cpuid_set(regs, (const u32[4]){ leaf + 1, four_bytes(signature), four_bytes(signature + 4),
					four_bytes(signature + 8) });
}

#define HYPERVISOR_RANGE_SHIFT	28	/* 40000000H to 4FFFFFFFH */
#define LEAF_CORE_TYPE		0x1au

/* CPUID.00H:EAX, "Basic CPUID Information". */
static u32 max_leaf(const struct model *m)
{
	u32 least = m->facts & FACT_ARCH_LBR ? CPUID_LEAF_LBR_DEPTHS :
		    m->facts & FACT_HYBRID   ? LEAF_CORE_TYPE :
					       0;
	u32 own = model_told_or(m, LAT_MAX_LEAF, model_generation(m)->max_leaf);

	return own > least ? own : least;
}

/* CPUID.1CH, "Last Branch Records Information". */
static void branch_records(const struct model *m, u32 regs[4])
{
	const struct arch_lbr_leaf leaf = model_arch_lbr_leaf(m);

	clear(regs);
	if (!model_has_arch_lbr(m))
		return;
	SET(LBR_DEPTHS, leaf.depths);
	SET(LBR_DEEP_C_RESET, leaf.deep_c_reset);
	SET(LBR_IP_IS_LIP, leaf.lip);
	SET(LBR_CPL_FILTERING, leaf.cpl_filter);
	SET(LBR_BRANCH_FILTERING, leaf.branch_filter);
	SET(LBR_CALL_STACK, leaf.call_stack);
	SET(LBR_MISPREDICT, leaf.mispredict);
	SET(LBR_TIMED, leaf.cycles);
	SET(LBR_BRANCH_TYPE, leaf.type);
	SET(LBR_EVENT_LOGGING, leaf.logs);
}

/* CPUID.01H: "Version Information", "Additional Information", "Feature Information". */
static void version(const struct model *m, u32 regs[4])
{
	const struct generation *g = model_generation(m);
	u32 model = m->facts & FACT_UNKNOWN_MODEL ? UNKNOWN_MODEL : g->model;
	bool ds = model_told_or(m, LAT_DS, !(m->facts & FACT_WITHOUT_PEBS));

	regs[EAX] = 0;
	/* The brand is in leaves 80000002H on; CLFLUSH takes lines of 64 bytes. */
	regs[EBX] = (regs[EBX] & 0xff000000) | MEMORY_LINE / 8 << 8;
	regs[ECX] &= features_of(m, CPUID_LEAF_STEPPING, 0, ECX);
	regs[EDX] &= features_of(m, CPUID_LEAF_STEPPING, 0, EDX);
	SET(STEPPING, g->stepping);
	SET(MODEL, model);
	SET(FAMILY, g->family);
	SET(EXT_MODEL, model >> 4);
	regs[EAX] = model_told_or(m, LAT_SIGNATURE, regs[EAX]);
	SET(LOGICAL_PROCESSORS, 1u << package_bits(m));
	SET(DTES64, model_told_or(m, LAT_DTES64,
				  ds && !(g->facilities & FAC_NETBURST &&
					  m->latitude[LAT_DS_FOLLOWS_MODE])));
	SET(DS_CPL, model_told_or(m, LAT_DS_CPL, ds));
	SET(PDCM, model_told_or(m, LAT_PDCM, g->perfmon && !(m->facts & FACT_NO_PMU)));
	SET(HYPERVISOR, hypervisor_signature(m) && !m->latitude[LAT_HYPERVISOR_HIDDEN] ? 1 : 0);
	SET(DS, ds);
	SET(HTT, processors(m) > 1);
}

/* CPUID.0AH, "Architectural Performance Monitoring". ECX exists from version 5 on, fixed
 * counters from version 2 on. KVM shows a guest version 2 at most. */
static void performance_monitoring(struct model *m, u32 regs[4])
{
	const struct leaf_0a leaf = model_leaf_0a(m);

	clear(regs);
	if (m->facts & FACT_PERFMON_1)
		SET(PERFMON_VERSION, 1);
	if (m->facts & FACT_NO_PMU)
		return;
	SET(PERFMON_VERSION, m->facts & FACT_PERFMON_2 && leaf.version > 2 ? 2 : leaf.version);
	SET(ANYTHREAD_DEPRECATED, model_shows_no_anythread(m));
	SET(GP_COUNTERS, leaf.gp);
	SET(GP_WIDTH, model_width(m, 0));
	SET(EVENTS_LENGTH, leaf.events);
	SET(FIXED_COUNTERS, leaf.fixed);
	SET(FIXED_WIDTH, leaf.version >= 2 ? model_width(m, FIRST_FIXED) : 0);
	if (leaf.version >= 5 && !(m->facts & FACT_PERFMON_2)) {
		SET(FIXED_MASK, leaf.fixed_mask);
		SET(SLOTS_PER_CYCLE, m->latitude[LAT_SLOTS_SHOWN] ? model_slots(m) : 0);
	}
	regs[EBX] = leaf.absent;
}

/* CPUID.0BH, "Extended Topology Enumeration". The x2APIC ID in EDX isn't changed. */
static void topology(const struct model *m, u32 subleaf, u32 regs[4])
{
	enum { LEVEL_SMT = 1, LEVEL_CORE = 2 };
	const struct {
		u32 type, bits, processors;
	} level[] = {
		{ LEVEL_SMT, thread_bits(m), threads(m) },
		{ LEVEL_CORE, package_bits(m), processors(m) },
	};
	bool is_one = subleaf < sizeof(level) / sizeof(level[0]);

	regs[EAX] = is_one ? level[subleaf].bits : 0;
	regs[EBX] = is_one ? level[subleaf].processors : 0;
	regs[ECX] = (is_one ? level[subleaf].type << 8 : 0) | (subleaf & 0xff);
}

enum cache_type { CACHE_DATA = 1, CACHE_INSTRUCTIONS, CACHE_UNIFIED };

/* CPUID.04H, "Deterministic Cache Parameters": the sizes of the memory hierarchy. The threads of
 * a core share the first two levels; all processors share the third. */
static void caches(const struct model *m, u32 subleaf, u32 regs[4])
{
	const struct memory_shape shape = model_memory_shape(m);
	const struct {
		u32 type, level, ways, sets;
	} cache[] = {
		{ CACHE_DATA, 1, MEMORY_L1_WAYS, shape.l1_sets },
		{ CACHE_INSTRUCTIONS, 1, MEMORY_L1_WAYS, shape.l1_sets },
		{ CACHE_UNIFIED, 2, MEMORY_L2_WAYS, shape.l2_sets },
		{ CACHE_UNIFIED, 3, MEMORY_L3_WAYS, shape.l3_sets },
	};

	const u32 cores = 1u << (package_bits(m) - thread_bits(m));
	u32 sharing;

	clear(regs);
	if (subleaf >= sizeof(cache) / sizeof(cache[0]))
		return;
	sharing = 1u << (cache[subleaf].level == 3 ? package_bits(m) : thread_bits(m));
	regs[EAX] = cache[subleaf].type | cache[subleaf].level << 5 | 1u << 8 |
		    (sharing - 1) << 14 | (cores - 1) << 26;
	regs[EBX] = (MEMORY_LINE - 1) | (cache[subleaf].ways - 1) << 22;
	regs[ECX] = cache[subleaf].sets - 1;
	/* The L3 is inclusive. */
	regs[EDX] = cache[subleaf].level == 3 ? 1u << 1 : 0;
}

/* CPUID.80000006H:ECX, the second-level cache: size in KiB, eight ways, line size. */
static u32 second_level(const struct model *m)
{
	enum { EIGHT_WAYS = 6 };
	const struct memory_shape shape = model_memory_shape(m);

	return shape.l2_sets * MEMORY_L2_WAYS * MEMORY_LINE / 1024 << 16 | EIGHT_WAYS << 12 |
	       MEMORY_LINE;
}

/* CPUID.0DH, "Processor Extended State Enumeration". State components: x87, SSE and, with AVX,
 * the upper halves. */
static void xsave(const struct model *m, u32 subleaf, u32 regs[4])
{
	enum { COMPONENTS = 7, AVX_COMPONENT = 2, BYTES = 576 + 256 };

	switch (subleaf) {
	case 0:
		cpuid_set(regs, (const u32[4]){ regs[EAX] & COMPONENTS,
						regs[EBX] < BYTES ? regs[EBX] : BYTES, BYTES, 0 });
		return;
	case 1:
		cpuid_set(regs, (const u32[4]){ regs[EAX] & features_of(m, LEAF_XSAVE, 1, EAX) });
		return;
	case AVX_COMPONENT:
		return;
	}
	clear(regs);
}

/* CPUID.80000000H to 80000008H, "Extended Function CPUID Information". */
static void extended(const struct model *m, u32 leaf, u32 regs[4])
{
	const char *brand = m->facts & FACT_UNKNOWN_MODEL ? unknown_brand :
			    m->facts & FACT_NAMED_MODEL	  ? named_brand :
							    model_generation(m)->brand;

	switch (leaf) {
	case LEAF_EXTENDED:
		cpuid_set(regs, (const u32[4]){ LEAF_EXTENDED_LAST });
		return;
	case LEAF_EXTENDED + 1:
		cpuid_set(regs, (const u32[4]){ 0, 0, regs[ECX] & features_of(m, leaf, 0, ECX),
						regs[EDX] & features_of(m, leaf, 0, EDX) });
		return;
	case LEAF_EXTENDED + 2:
	case LEAF_EXTENDED + 3:
	case LEAF_EXTENDED + 4:
		for (u32 i = 0; i < 4; i++)
			regs[i] = four_bytes(brand + 16 * (leaf - LEAF_EXTENDED - 2) + 4 * i);
		return;
	case LEAF_EXTENDED + 6:
		cpuid_set(regs, (const u32[4]){ 0, 0, second_level(m), 0 });
		return;
	case LEAF_EXTENDED + 7:
		cpuid_set(regs,
			  (const u32[4]){ 0, 0, 0, regs[EDX] & features_of(m, leaf, 0, EDX) });
		return;
	case LEAF_EXTENDED_LAST:	/* sizes of physical and linear addresses */
		cpuid_set(regs, (const u32[4]){ regs[EAX] & 0xffff });
		return;
	}
	clear(regs);
}

/* IA32_TSX_FORCE_ABORT[1], TSX_CPUID_CLEAR, hides transactions: SDM volume 4, Table 2-2. */
static bool shows_tx(const struct model *m)
{
	return model_has_tx(m) && !(m->tsx_force_abort & IA32_TSX_FORCE_ABORT_TSX_CPUID_CLEAR);
}

/* CPUID.07H is "Structured Extended Feature Flags", and CPUID.1AH is "Native Model ID
 * Enumeration". The other leaves are above, and 23H is in leaf23.c. */
static void basic(struct model *m, u32 leaf, u32 subleaf, u32 regs[4])
{
	switch (leaf) {
	case CPUID_LEAF_MAX_LEAF:
		cpuid_set(regs, (const u32[4]){ max_leaf(m), four_bytes("Genu"), four_bytes("ntel"),
						four_bytes("ineI") });
		return;
	case CPUID_LEAF_STEPPING:
		version(m, regs);
		fault_cpuid_version(m, regs);
		return;
	case LEAF_DESCRIPTORS:		/* one descriptor, which says: see leaf 4 */
		cpuid_set(regs, (const u32[4]){ 0xff01 });
		return;
	case LEAF_CACHES:
		caches(m, subleaf, regs);
		return;
	case LEAF_MONITOR:
		return;
	case LEAF_POWER:		/* the local APIC timer runs in deep sleep too */
		cpuid_set(regs, (const u32[4]){ regs[EAX] & 1u << 2 });
		return;
	case CPUID_LEAF_RTM:
		if (subleaf == 1) {
			clear(regs);
			SET(PERFMON_EXT, model_has_ext(m));
			fault_cpuid_ext(m, leaf, subleaf, regs);
			return;
		}
		if (subleaf)
			break;
		cpuid_set(regs, (const u32[4]){ 0, regs[EBX] & features_of(m, leaf, 0, EBX) });
		regs[EAX] = model_has_ext(m);	/* the last sub-leaf */
		SET(SGX, model_told_or(m, LAT_SGX, 0));
		SET(PT, model_told_or(m, LAT_PT, 0));
		SET(RTM, shows_tx(m));
		/* The hypervisor implements it, whether or not the machine below has it. */
		SET(TSC_ADJUST, features_of(m, CPUID_LEAF_RTM, 0, EBX) >> FIELD_TSC_ADJUST_LO);
		SET(HLE, shows_tx(m));
		SET(RTM_ALWAYS_ABORT, model_has_tx(m) && m->latitude[LAT_RTM_ALWAYS_ABORT]);
		SET(TSX_FORCE_ABORT, model_has_force_abort(m));
		SET(HYBRID, model_is_hybrid(m));
		SET(ARCH_LBR, model_has_arch_lbr(m));
		fault_cpuid_core(m, leaf, regs);
		return;
	case LEAF_CORE_TYPE:
		clear(regs);
		regs[EAX] = model_core_type(m);
		if (!regs[EAX] && m->facts & FACT_HYBRID)
			SET(CORE_TYPE, model_is_e_core(m) ? CORE_TYPE_ATOM : CORE_TYPE_CORE);
		fault_cpuid_core(m, leaf, regs);
		return;
	case CPUID_LEAF_LBR_DEPTHS:
		if (subleaf)
			break;
		branch_records(m, regs);
		fault_cpuid_lbr(m, regs);
		return;
	case CPUID_LEAF_PERFMON_VERSION:
		performance_monitoring(m, regs);
		fault_cpuid_perfmon(m, subleaf, regs);
		return;
	case CPUID_LEAF_EXT_SUBLEAVES:
		model_ext_leaf(m, subleaf, regs);
		fault_cpuid_ext(m, leaf, subleaf, regs);
		return;
	case LEAF_TOPOLOGY:
		topology(m, subleaf, regs);
		return;
	case LEAF_XSAVE:
		xsave(m, subleaf, regs);
		fault_cpuid_state(m, subleaf, regs);
		return;
	}
	clear(regs);
}

/*
 * SDM volume 2, "CPUID": above the highest basic and the highest extended leaf "the data for the
 * highest basic information leaf is returned". KVM does the same for an Intel guest, except in the
 * range of hypervisors' leaves.
 */
u32 model_cpuid_leaf(const struct model *m, u32 leaf)
{
	const bool hypervisors = leaf >> HYPERVISOR_RANGE_SHIFT ==
				 HYPERVISOR_LEAF >> HYPERVISOR_RANGE_SHIFT;

	if (leaf >= LEAF_EXTENDED)
		return leaf <= LEAF_EXTENDED_LAST ? leaf : max_leaf(m);
	if (leaf <= max_leaf(m) || (hypervisors && hypervisor_signature(m)))
		return leaf;
	return max_leaf(m);
}

void model_cpuid(struct model *m, u32 leaf, u32 subleaf, u32 regs[4])
{
	fault_next_sequence(m);
	if (leaf >= LEAF_EXTENDED)
		extended(m, leaf, regs);
	else if (leaf <= max_leaf(m))
		basic(m, leaf, subleaf, regs);
	else
		hypervisor(m, leaf, regs);
}
