/* SPDX-License-Identifier: MIT */
/*
 * CPUID leaf 23H: "Architectural Performance Monitoring Extended", SDM volume 1, Processor
 * Identification and Feature Determination. The leaf has the generation's rows, without the
 * features that the profile hides.
 */
#include "refpmu/model/archpebs/archpebs.h"
#include "spec/arch_pebs.h"

static const struct {
	u8 generation, subleaf;
	u32 regs[4];
} rows[] = {
#define GENERATION_EXT(id, subleaf, eax, ebx, ecx, edx, source) \
	{ GEN_##id, subleaf, { eax, ebx, ecx, edx } },
#include "spec/generation.def"
};

#define LEAF			0x23u

/* Bits of sub-leaf 0: its EAX, of sub-leaves; its EBX. */
#define SUBLEAVES_OF_PEBS	(BIT(EXT_GROUPS) | BIT(EXT_PEBS))
#define UMASK2			BIT(0)
#define EQ			BIT(1)
#define RDPMC_USER_DISABLE	BIT(2)

/* Position of fixed counter 0 in a knob's set of counters. */
#define TOLD_FIXED_SHIFT	16
/* Bits of sub-leaf 4 that belong together. */
#define GROUP(field)		((u32)(IA32_PMC_GP0_CFG_C_##field >> 32))
#define COUNTER_GROUPS		(GROUP(CNTR_GP) | GROUP(CNTR_FIXED) | GROUP(CNTR_METRICS))

/* The rows of a generation for a sub-leaf; NULL: its registers are 0. */
static const u32 *row_of_generation(enum generation_id id, u32 subleaf)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].generation == id && rows[i].subleaf == subleaf)
			return rows[i].regs;
	return NULL;
}

static const u32 *row_of(const struct model *m, u32 subleaf)
{
	return row_of_generation(m->config.generation, subleaf);
}

/* The leaf is valid if CPUID.(07H,1):EAX[8] is 1. KVM doesn't show it. */
bool model_has_ext(const struct model *m)
{
	return row_of(m, EXT_FEATURES) && model_core_version(m) >= 5 &&
	       !(m->facts & (FACT_NO_PMU | FACT_PERFMON_1 | FACT_PERFMON_2 | FACT_KVM_SIGNATURE));
}

/* The set of counters that this knob tells: bits 9:0 are general-purpose, 22:16 fixed counters. */
static u64 told_counters(const struct model *m, enum latitude_id knob)
{
	return model_counters_of(m->latitude[knob], m->latitude[knob] >> TOLD_FIXED_SHIFT);
}

/* What the personality has of the counters in the generation's row. */
static u64 told_of(const struct model *m, enum latitude_id knob, u64 row)
{
	return model_told(m, knob) ? row & told_counters(m, knob) : row;
}

/* A register of the sub-leaf, if the processor has the leaf. */
static u32 row(const struct model *m, u32 subleaf, unsigned reg)
{
	const u32 *regs = model_has_ext(m) ? row_of(m, subleaf) : NULL;

	return regs ? regs[reg] : 0;
}

/* CPUID.(23H,0):EAX[5:4]. There is architectural PEBS only with both sub-leaves: Linux. */
bool model_has_arch_pebs(const struct model *m)
{
	return (row(m, EXT_FEATURES, EXT_EAX) & SUBLEAVES_OF_PEBS) == SUBLEAVES_OF_PEBS &&
	       !(m->facts & (FACT_WITHOUT_PEBS | FACT_BASIC_PEBS));
}

/* CPUID.(23H,0):EBX: UMASK2 and EQ. */
static u32 features(const struct model *m)
{
	u32 all = row(m, EXT_FEATURES, EXT_EBX);

	return model_told(m, LAT_EXT_FEATURES) ? all & m->latitude[LAT_EXT_FEATURES] : all;
}

/* CPUID.(23H,0):EBX[0]: IA32_PERFEVTSELx[47:40] exist. */
bool model_has_umask2(const struct model *m)
{
	return features(m) & UMASK2;
}

/* CPUID.(23H,0):EBX[1]: IA32_PERFEVTSELx[36] exists. */
bool model_has_eq(const struct model *m)
{
	return features(m) & EQ;
}

/* CPUID.(23H,0):EBX[2]: IA32_PERFEVTSELx[37] and IA32_FIXED_CTR_CTRL[33 + 4i] exist. Linux and
 * its mailing list, "rdpmc user disable". */
bool model_has_rdpmc_user_disable(const struct model *m)
{
	return model_has_ext(m) && m->latitude[LAT_RDPMC_USER_DISABLE];
}

/* CPUID.(23H,1):EBX: bit i is fixed counter i. */
u64 model_ext_fixed_of(enum generation_id id)
{
	const u32 *regs = row_of_generation(id, EXT_COUNTERS);

	return regs ? regs[EXT_EBX] : 0;
}

/* CPUID.(23H,1):EBX of this processor. */
u64 model_ext_fixed_mask(const struct model *m)
{
	return row(m, EXT_COUNTERS, EXT_EBX);
}

/* The counters in a pair of registers that the processor has. */
static u64 existing_counters(const struct model *m, u32 subleaf, unsigned gp, unsigned fixed)
{
	u64 all = model_counters_of(row(m, subleaf, gp), row(m, subleaf, fixed));

	for (unsigned i = 0; i < MODEL_MAX_COUNTERS; i++)
		if (!model_has_counter(m, i))
			all &= ~BIT(i);
	return all;
}

/* CPUID.(23H,2):EAX, EBX: counters that can be reloaded. */
u64 model_reloadable(const struct model *m)
{
	return told_of(m, LAT_RELOADED, existing_counters(m, EXT_RELOAD, EXT_EAX, EXT_EBX));
}

/* CPUID.(23H,2):ECX, EDX: counters whose overflow can reload others. */
u64 model_reload_causes(const struct model *m)
{
	return told_of(m, LAT_RELOADING, existing_counters(m, EXT_RELOAD, EXT_ECX, EXT_EDX));
}

/* CPUID.(23H,5):EAX, ECX: counters with PEBS. */
u64 model_arch_pebs_counters(const struct model *m)
{
	return model_has_arch_pebs(m) ?
		       told_of(m, LAT_PEBS_COUNTERS,
						existing_counters(m, EXT_PEBS, EXT_EAX, EXT_ECX)) :
					0;
}

/* CPUID.(23H,5):EBX, EDX: counters with PDist. */
u64 model_pdist_counters(const struct model *m)
{
	return model_has_arch_pebs(m) ?
		       told_of(m, LAT_PDIST_COUNTERS,
						existing_counters(m, EXT_PEBS, EXT_EBX, EXT_EDX)) :
					0;
}

/* CPUID.(23H,4):EBX. */
static u32 groups(const struct model *m)
{
	u32 all = row(m, EXT_GROUPS, EXT_EBX);

	return model_told(m, LAT_PEBS_GROUPS) ? all & m->latitude[LAT_PEBS_GROUPS] : all;
}

/* CPUID.(23H,4):EBX[n] is bit 32 + n of IA32_PMC_x_CFG_C. */
u64 model_arch_pebs_groups(const struct model *m)
{
	return model_has_arch_pebs(m) ? (u64)groups(m) << 32 : 0;
}

/* ---- what can't be ---- */

static bool leaf_is_told(const struct model *m)
{
	return model_told(m, LAT_GP_MASK) || model_told(m, LAT_EXT_FEATURES) ||
	       model_told(m, LAT_RELOADED) || model_told(m, LAT_RELOADING) ||
	       model_told(m, LAT_PEBS_GROUPS) || model_told(m, LAT_PEBS_COUNTERS) ||
	       model_told(m, LAT_PDIST_COUNTERS);
}

/* Are all counters that the knob tells in this set? */
static bool told_within(const struct model *m, enum latitude_id knob, u64 set)
{
	return !model_told(m, knob) || !(told_counters(m, knob) & ~set);
}

/* Leaf 0AH can't tell of a counter above a hole, but of fewer than there are: on a hybrid. */
static bool gp_mask_is_possible(const struct model *m)
{
	return !model_told(m, LAT_GP_MASK) ||
	       !((BIT(model_told_or(m, LAT_GP_COUNTERS, 0)) - 1) & ~model_gp_mask(m));
}

/* One that is reloaded needs one that reloads it, and one of these is none without the other. */
static bool reload_is_possible(const struct model *m)
{
	return told_within(m, LAT_RELOADED, existing_counters(m, EXT_RELOAD, EXT_EAX, EXT_EBX)) &&
	       told_within(m, LAT_RELOADING, existing_counters(m, EXT_RELOAD, EXT_ECX, EXT_EDX)) &&
	       !model_reloadable(m) == !model_reload_causes(m);
}

static bool groups_are_possible(const struct model *m)
{
	u32 shown = groups(m);
	u32 lbr = shown & GROUP(LBR);

	return (!model_told(m, LAT_PEBS_GROUPS) ||
		!(m->latitude[LAT_PEBS_GROUPS] & ~row(m, EXT_GROUPS, EXT_EBX))) &&
	       !(shown & GROUP(ALLOW_IN_RECORD)) == !(shown & COUNTER_GROUPS) &&
	       (!lbr || lbr == GROUP(LBR));
}

/* Without PEBS at all the knobs of its counters tell nothing. */
static bool pebs_counters_are_possible(const struct model *m)
{
	if (!model_has_arch_pebs(m))
		return true;
	return told_within(m, LAT_PEBS_COUNTERS,
			   existing_counters(m, EXT_PEBS, EXT_EAX, EXT_ECX)) &&
	       told_within(m, LAT_PDIST_COUNTERS,
			   existing_counters(m, EXT_PEBS, EXT_EBX, EXT_EDX)) &&
	       model_arch_pebs_counters(m) &&
	       !(model_pdist_counters(m) & ~model_arch_pebs_counters(m));
}

bool model_ext_is_possible(const struct model *m)
{
	if (!leaf_is_told(m))
		return true;
	return model_has_ext(m) && model_told_or(m, LAT_MAX_LEAF, LEAF) >= LEAF &&
	       gp_mask_is_possible(m) && reload_is_possible(m) &&
	       !(model_told_or(m, LAT_EXT_FEATURES, 0) & ~row(m, EXT_FEATURES, EXT_EBX)) &&
	       groups_are_possible(m) && pebs_counters_are_possible(m);
}

/* ---- the leaf ---- */

/* Put a set of counters into a pair of registers. */
static void put_counters(u64 counters, u32 *gp, u32 *fixed)
{
	*gp = (u32)(counters & BITS(0, FIRST_FIXED - 1));
	*fixed = (u32)(counters >> FIRST_FIXED);
}

/* CPUID.(23H,0): the valid sub-leaves, the features, and in ECX[7:0] the slots of a cycle. */
static void put_features(const struct model *m, u32 subleaves, u32 regs[4])
{
	regs[EXT_EAX] = subleaves;
	regs[EXT_EBX] = features(m);
	if (model_has_rdpmc_user_disable(m))
		regs[EXT_EBX] |= (u32)RDPMC_USER_DISABLE;
	/* The value 0 means: see fixed counter 3. */
	if (m->latitude[LAT_SLOTS_SHOWN] || !model_has_counter(m, SLOTS_COUNTER))
		regs[EXT_ECX] = (u32)model_slots(m);
}

/* CPUID.(23H,0):EAX[n] says whether sub-leaf n is valid. A sub-leaf that isn't valid is 0 in all
 * registers. */
void model_ext_leaf(const struct model *m, u32 subleaf, u32 regs[4])
{
	u32 subleaves = row(m, EXT_FEATURES, EXT_EAX);

	if (!model_has_arch_pebs(m))
		subleaves &= ~(u32)SUBLEAVES_OF_PEBS;
	if (model_told(m, LAT_RELOADED) && !model_reloadable(m))
		subleaves &= ~(u32)BIT(EXT_RELOAD);
	for (unsigned i = 0; i < 4; i++)
		regs[i] = 0;
	if (subleaf >= EXT_SUBLEAVES || !(subleaves & BIT(subleaf)))
		return;
	switch (subleaf) {
	case EXT_FEATURES:
		put_features(m, subleaves, regs);
		break;
	case EXT_COUNTERS:
		regs[EXT_EAX] = (u32)model_gp_mask(m);
		regs[EXT_EBX] = (u32)model_fixed_mask(m);
		break;
	case EXT_RELOAD:
		put_counters(model_reloadable(m), &regs[EXT_EAX], &regs[EXT_EBX]);
		put_counters(model_reload_causes(m), &regs[EXT_ECX], &regs[EXT_EDX]);
		break;
	case EXT_EVENTS:
		/* 1 if the event exists; in CPUID.0AH:EBX the bit of such an event is 0. */
		regs[EXT_EAX] = (u32)model_architectural_events(m);
		break;
	case EXT_GROUPS:
		regs[EXT_EBX] = groups(m);
		break;
	case EXT_PEBS:
		/* General-purpose counters with PEBS, with PDist; fixed counters with PEBS, with
		 * PDist. */
		put_counters(model_arch_pebs_counters(m), &regs[EXT_EAX], &regs[EXT_ECX]);
		put_counters(model_pdist_counters(m), &regs[EXT_EBX], &regs[EXT_EDX]);
		break;
	}
}
