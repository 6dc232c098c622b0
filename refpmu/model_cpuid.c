/* SPDX-License-Identifier: MIT */
/*
 * CPUID: what the machine below answered, turned into what the presented processor would answer:
 * "CPUID - CPU Identification". Vendor, signature, brand and the PMU's enumeration are replaced,
 * what only AMD processors have is taken away, and there is no sign of a hypervisor but the one
 * that the profile kvm shows. All other feature bits stay, because the machine below carries those
 * instructions out.
 *
 * Not handled: frequencies (what the machine below says), leaf 2 descriptors.
 */
#include "refpmu/model_internal.h"

enum { EAX, EBX, ECX, EDX };

enum {
#define CPUID_FIELD(name, leaf, subleaf, reg, lo, hi, source) CPUID_LEAF_##name = (int)(leaf),
#include "spec/cpuid.def"
};

#define BASIC_LEAF_LAST		0xdu	/* processor extended states */
#define LEAF_CACHES		0x4u
#define LEAF_TOPOLOGY		0xbu
#define LEAF_HYPERVISOR		0x40000000u
#define LEAF_EXTENDED		0x80000000u
#define LEAF_EXTENDED_LAST	0x80000008u

/* Leaf 80000001H: what Intel processors have in it. */
#define EXTENDED_ECX	(BIT(0) | BIT(5) | BIT(8))	/* LAHF, LZCNT, PREFETCHW */
#define EXTENDED_EDX	(BIT(11) | BIT(20) | BIT(26) | BIT(27) | BIT(29))
						/* SYSCALL, NX, 1 GiB pages, RDTSCP, long mode */
#define INVARIANT_TSC	BIT(8)			/* leaf 80000007H */

/* Put value into the field's bits of its register. */
static void set_field(u32 regs[4], unsigned reg, unsigned lo, unsigned hi, u64 value)
{
	regs[reg] = (u32)((regs[reg] & ~BITS(lo, hi)) | (value << lo & BITS(lo, hi)));
}

static void set(u32 regs[4], const u32 values[4])
{
	for (unsigned i = 0; i < 4; i++)
		regs[i] = values[i];
}

static void clear(u32 regs[4])
{
	set(regs, (const u32[4]){ 0 });
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

/* No row of spec/generation.def has this model of family 06H. */
#define UNKNOWN_MODEL	0xff
#define GENERATION_MODEL(id, family, model, ...) \
	_Static_assert((family) != 0x6 || (model) != UNKNOWN_MODEL, #id);
#include "spec/generation.def"
/* What a part without a name of its own says. */
static const char unknown_brand[48] = "Genuine Intel(R) CPU 0000";

static void version(const struct model *m, u32 regs[4])
{
	const struct generation *g = model_generation(m);
	u32 model = m->facts & FACT_UNKNOWN_MODEL ? UNKNOWN_MODEL : g->model;

	regs[EAX] = 0;
	SET(STEPPING, g->stepping);
	SET(MODEL, model);
	SET(FAMILY, g->family);
	SET(EXT_MODEL, model >> 4);
	SET(LOGICAL_PROCESSORS, 1);
	SET(DTES64, !(m->facts & FACT_NO_PEBS));
	SET(DS_CPL, !(m->facts & FACT_NO_PEBS));
	SET(PDCM, 1);
	SET(HYPERVISOR, m->facts & FACT_KVM_SIGNATURE ? 1 : 0);
	SET(DS, !(m->facts & FACT_NO_PEBS));
	SET(HTT, 0);
}

static void performance_monitoring(struct model *m, u32 regs[4])
{
	/* The architectural events in the order of EBX: Table 18-1. */
	static const u16 architectural[] = {
		0x003c, 0x00c0, 0x013c, 0x4f2e, 0x412e, 0x00c4, 0x00c5,
	};
	const unsigned events = sizeof(architectural) / sizeof(architectural[0]);
	const struct generation *g = model_generation(m);

	clear(regs);
	SET(PERFMON_VERSION, g->perfmon);
	SET(GP_COUNTERS, model_gp_counters(m) - broken(m, FAULT_CPUID_COUNTER_MISSING));
	SET(GP_WIDTH, broken(m, FAULT_CPUID_WIDTH_40) ? 40u : g->width);
	SET(EVENTS_LENGTH, events);
	SET(FIXED_COUNTERS, g->fixed);
	SET(FIXED_WIDTH, g->width);
	for (unsigned i = 0; i < events; i++)
		if (!model_event(m, architectural[i]))
			regs[EBX] |= (u32)BIT(i);
}

/* One logical processor in one core; the x2APIC ID in EDX stays. */
/* "Deterministic Cache Parameters": the caches of the memory hierarchy; of instructions there is
 * none, and the machine below has one. */
static void caches(const struct model *m, u32 subleaf, u32 regs[4])
{
	enum { DATA = 1, UNIFIED = 3, SELF_INITIALISING = BIT(8), INCLUSIVE = BIT(1) };
	const struct memory_shape shape = model_memory_shape(m);
	const struct { u32 type, level, sets, ways; } cache[] = {
		[0] = { DATA, 1, shape.l1_sets, MEMORY_L1_WAYS },
		[2] = { UNIFIED, 2, shape.l2_sets, MEMORY_L2_WAYS },
		[3] = { UNIFIED, 3, shape.l3_sets, MEMORY_L3_WAYS },
	};

	/* Nobody shares a cache, and there is one core: EAX[31:14]. */
	regs[EAX] &= (u32)BITS(0, 13);
	if (subleaf >= sizeof(cache) / sizeof(cache[0]) || !cache[subleaf].type)
		return;
	regs[EAX] = cache[subleaf].type | cache[subleaf].level << 5 | SELF_INITIALISING;
	regs[EBX] = (cache[subleaf].ways - 1) << 22 | (MEMORY_LINE - 1);
	regs[ECX] = cache[subleaf].sets - 1;
	regs[EDX] = subleaf == 3 ? INCLUSIVE : 0;
}

static void topology(u32 subleaf, u32 regs[4])
{
	enum { LEVEL_SMT = 1, LEVEL_CORE = 2 };
	u32 type = subleaf == 0 ? LEVEL_SMT : subleaf == 1 ? LEVEL_CORE : 0;

	regs[EAX] = 0;
	regs[EBX] = type ? 1 : 0;
	regs[ECX] = type << 8 | (subleaf & 0xff);
}

static void extended(const struct model *m, u32 leaf, u32 regs[4])
{
	const char *name = m->facts & FACT_UNKNOWN_MODEL ? unknown_brand
							 : model_generation(m)->brand;

	switch (leaf) {
	case LEAF_EXTENDED:
		set(regs, (const u32[4]){ LEAF_EXTENDED_LAST });
		return;
	case LEAF_EXTENDED + 1:
		set(regs, (const u32[4]){ 0, 0, regs[ECX] & EXTENDED_ECX,
					  regs[EDX] & EXTENDED_EDX });
		return;
	case LEAF_EXTENDED + 2:
	case LEAF_EXTENDED + 3:
	case LEAF_EXTENDED + 4:
		for (u32 i = 0; i < 4; i++)
			regs[i] = four_bytes(name + 16 * (leaf - LEAF_EXTENDED - 2) + 4 * i);
		return;
	case LEAF_EXTENDED + 6:		/* the second-level cache in ECX */
		set(regs, (const u32[4]){ 0, 0, regs[ECX], 0 });
		return;
	case LEAF_EXTENDED + 7:
		set(regs, (const u32[4]){ 0, 0, 0, regs[EDX] & INVARIANT_TSC });
		return;
	case LEAF_EXTENDED_LAST:	/* sizes of physical and linear addresses */
		set(regs, (const u32[4]){ regs[EAX] & 0xffff });
		return;
	}
	clear(regs);
}

void model_cpuid(struct model *m, u32 leaf, u32 subleaf, u32 regs[4])
{
	m->moment++;
	if (leaf >= LEAF_EXTENDED) {
		extended(m, leaf, regs);
		return;
	}
	switch (leaf) {
	case CPUID_LEAF_MAX_LEAF:
		set(regs, (const u32[4]){ BASIC_LEAF_LAST, four_bytes("Genu"), four_bytes("ntel"),
					  four_bytes("ineI") });
		return;
	case CPUID_LEAF_STEPPING:
		version(m, regs);
		return;
	case LEAF_CACHES:
		caches(m, subleaf, regs);
		return;
	case CPUID_LEAF_RTM:
		if (subleaf == 0) {
			SET(HLE, 0);
			SET(RTM, 0);
		}
		return;
	case CPUID_LEAF_PERFMON_VERSION:
		performance_monitoring(m, regs);
		return;
	case LEAF_TOPOLOGY:
		topology(subleaf, regs);
		return;
	}
	if (leaf == LEAF_HYPERVISOR && m->facts & FACT_KVM_SIGNATURE) {
		set(regs, (const u32[4]){ LEAF_HYPERVISOR + 1, four_bytes("KVMK"),
					  four_bytes("VMKV"), four_bytes("M\0\0") });
		return;
	}
	/* Leaves of hypervisors are among those that no processor has. */
	if (leaf > BASIC_LEAF_LAST)
		clear(regs);
}
