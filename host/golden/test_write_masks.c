/* SPDX-License-Identifier: MIT */
/*
 * Every bit of every register of a core PMU, one at a time, on every generation: the bits that a
 * WRMSR accepts, and the bits that raise #GP. Typed by hand from SDM Tables 35-2, 35-13, 35-18 and
 * 35-22, Figures 18-1, 18-6 to 18-9, 18-20, 18-21, 18-23, 18-27 to 18-30 and 18-35, "IA32_DEBUGCTL
 * MSR", "Off-core Response Performance Monitoring"; Skylake's from Tables 35-36 to 35-39, 18-54,
 * 18-59 and Figures 18-11 and 18-12, "MSR_LBR_SELECT". Nothing comes from spec/. test_write_rules.c
 * has whole values and the values that are read back. Hyper-threading is on: four counters.
 */
#include "host/check.h"
#include "host/golden/no_host.h"

#include "refpmu/model/model.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define NOT_THERE 0

struct mask {
	u32 first, last;	/* addresses */
	u64 nehalem, westmere, sandybridge, ivybridge, haswell, broadwell;
	u64 open;		/* bits about which the pages contradict each other */
};

#define EACH(bits)	bits, bits, bits, bits, bits, bits
#define NHM_WSM(bits)	bits, bits, NOT_THERE, NOT_THERE, NOT_THERE, NOT_THERE
#define FROM_SNB(bits)	NOT_THERE, NOT_THERE, bits, bits, bits, bits

static const struct mask masks[] = {
	/* IA32_PMC0 to 3: EDX is ignored. IA32_A_PMC0 to 3: 48 bits. */
	{ 0x0c1, 0x0c4, EACH(0xffffffffffffffff), 0 },
	{ 0x4c1, 0x4c4, FROM_SNB(0x0000ffffffffffff), 0 },
	/* IA32_PERFEVTSEL0 to 3: event, umask, USR, OS, E, PC, INT, ANY, EN, INV, CMASK. */
	{ 0x186, 0x189, EACH(0x00000000ffffffff), 0 },
	{ 0x309, 0x30b, EACH(0x0000ffffffffffff), 0 },
	/* IA32_FIXED_CTR_CTRL: EN, ANY and PMI of three. */
	{ 0x38d, 0x38d, EACH(0x0000000000000fff), 0 },
	{ 0x38e, 0x38e, EACH(NOT_THERE), 0 },
	{ 0x38f, 0x38f, EACH(0x000000070000000f), 0 },
	/* Clear: PMC3:0, FIXED_CTR2:0, Ovf_Uncore (of parts with one), OvfBuf, CondChgd. */
	{ 0x390, 0x390, EACH(0xe00000070000000f), 0 },
	{ 0x345, 0x345, EACH(NOT_THERE), 0 },
	/* PEBS_EN 3:0, LL_EN 35:32; PS_EN 63 on the 2nd and 3rd generation. */
	{ 0x3f1, 0x3f1, 0x0000000f0000000f, 0x0000000f0000000f, 0x8000000f0000000f,
	  0x8000000f0000000f, 0x0000000f0000000f, 0x0000000f0000000f, 0 },
	{ 0x3f6, 0x3f6, EACH(0x000000000000ffff), 0 },
	/* Figure 18-28: request 7:0, response 15:8, of which 11 is reserved. Sandy Bridge: request
	 * 15:0 with 14:12 unnamed, 16 any, supplier 30:17, snoop 37:31. */
	{ 0x1a6, 0x1a6, 0xf7ff, 0xf7ff, 0x3fffffffff, 0x3fffffffff, 0x3fffffffff, 0x3fffffffff,
	  0x7800 },
	{ 0x1a7, 0x1a7, NOT_THERE, 0xf7ff, 0x3fffffffff, 0x3fffffffff, 0x3fffffffff,
	  0x3fffffffff, 0x7800 },
	/* LBR, BTF, TR, BTS, BTINT, BTS_OFF_OS, BTS_OFF_USR, two freezes, SMM freeze. Bit 13 exists
	 * on Nehalem and Westmere, and in one table on later parts; bit 15 with RTM. */
	{ 0x1d9, 0x1d9, EACH(0x0000000000007fc3), 0x2000 },
	/* The uncore of Nehalem and Westmere. Client parts of Sandy Bridge and later have another
	 * one at some of these addresses, which docs/READINGS.md leaves out. */
	{ 0x391, 0x391, NHM_WSM(0x800f0001000000ff), 0 },
	{ 0x392, 0x392, EACH(NOT_THERE), 0 },
	{ 0x393, 0x393, NHM_WSM(0xa0000001000000ff), 0 },
	{ 0x394, 0x394, NHM_WSM(0x0000ffffffffffff), 0 },
	{ 0x395, 0x395, NHM_WSM(0x0000000000000005), 0 },
	{ 0x3b0, 0x3b7, NHM_WSM(0x0000ffffffffffff), 0 },
	/* Event, umask, OCC_CTR_RST 17, E 18, PMI 20, EN 22, INV 23, CMASK. */
	{ 0x3c0, 0x3c7, NHM_WSM(0x00000000ffd6ffff), 0 },
	/* Counters that don't exist. */
	{ 0x0c5, 0x0c8, EACH(NOT_THERE), 0 },
	{ 0x18a, 0x18d, EACH(NOT_THERE), 0 },
	{ 0x30c, 0x30c, EACH(NOT_THERE), 0 },
	{ 0x4c5, 0x4c8, EACH(NOT_THERE), 0 },
};

/* Version 4. TSX is off: no IN_TX, no RTM_DEBUG. */
static const struct {
	u32 first, last;
	u64 taken, open;
} skylake[] = {
	{ 0x0c1, 0x0c4, 0xffffffffffffffff, 0 },
	{ 0x4c1, 0x4c4, 0x0000ffffffffffff, 0 },
	{ 0x186, 0x189, 0x00000000ffffffff, 0 },
	{ 0x309, 0x30b, 0x0000ffffffffffff, 0 },
	{ 0x38d, 0x38d, 0x0000000000000fff, 0 },
	{ 0x38e, 0x38e, NOT_THERE, 0 },
	{ 0x38f, 0x38f, 0x000000070000000f, 0 },
	/* LBR_Frz 58, CTR_Frz 59, Ovf_Uncore, OvfBuf, CondChgd. Open are ToPA 55 and ASCI 60,
	 * because a part may lack these facilities. */
	{ 0x390, 0x390, 0xec0000070000000f, 0x1080000000000000 },
	/* The same without CondChgd. */
	{ 0x391, 0x391, 0x6c0000070000000f, 0x1080000000000000 },
	{ 0x392, 0x392, NOT_THERE, 0 },
	{ 0x345, 0x345, NOT_THERE, 0 },
	{ 0x3f1, 0x3f1, 0x0000000f0000000f, 0 },
	{ 0x3f6, 0x3f6, 0x000000000000ffff, 0 },
	/* Event 2:0 and 4, bubble length 19:8, width 22:20; Table 18-59 has 3 and 7:5 in the
	 * event. */
	{ 0x3f7, 0x3f7, 0x00000000007fff17, 0x00000000000000e8 },
	{ 0x1a6, 0x1a7, 0x0000003fffffffff, 0x7800 },
	{ 0x1d9, 0x1d9, 0x0000000000007fc3, 0x2000 },
	/* CPL 1:0, branches 8:2, call stack 9. */
	{ 0x1c8, 0x1c8, 0x00000000000003ff, 0 },
	{ 0x10f, 0x10f, NOT_THERE, 0 },
	{ 0x0c5, 0x0c8, NOT_THERE, 0 },
	{ 0x18a, 0x18d, NOT_THERE, 0 },
	{ 0x30c, 0x30c, NOT_THERE, 0 },
	{ 0x4c5, 0x4c8, NOT_THERE, 0 },
};

static void check_register(unsigned generation, u32 msr, u64 taken, u64 open)
{
	static struct model model;
	struct model_config config = { .generation = (enum generation_id)generation,
				       .hyper_threading = true };

	for (unsigned bit = 0; bit < 64; bit++) {
		u64 value = 1ULL << bit;

		if (open & value)
			continue;
		model_init(&model, &config, &no_host);
		CHECK_EQ(taken & value ? MSR_DONE : MSR_GP, model_wrmsr(&model, msr, value).status,
			 "generation %u, MSR %#x, bit %u alone", generation, msr, bit);
	}
}

static void each_bit_is_taken_where_the_manual_says(void)
{
	for (size_t i = 0; i < COUNT(masks); i++) {
		const struct mask *m = &masks[i];
		const u64 taken[] = { m->nehalem, m->westmere, m->sandybridge, m->ivybridge,
				      m->haswell, m->broadwell };

		for (unsigned g = 0; g < COUNT(taken); g++)
			for (u32 msr = m->first; msr <= m->last; msr++)
				check_register(g, msr, taken[g], m->open);
	}
}

static void each_bit_of_skylake_is_taken_where_the_manual_says(void)
{
	for (size_t i = 0; i < COUNT(skylake); i++)
		for (u32 msr = skylake[i].first; msr <= skylake[i].last; msr++)
			check_register(GEN_SKYLAKE, msr, skylake[i].taken, skylake[i].open);
}

int main(void)
{
	RUN(each_bit_is_taken_where_the_manual_says);
	RUN(each_bit_of_skylake_is_taken_where_the_manual_says);
	return check_end();
}
