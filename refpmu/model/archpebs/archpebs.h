/* SPDX-License-Identifier: MIT */
/*
 * CPUID leaf 23H and the facilities that it enumerates: the registers from 1900H on, auto counter
 * reload, architectural PEBS. A counter is named by its index; bit n of a mask is counter n.
 */
#ifndef REFPMU_MODEL_ARCHPEBS_H
#define REFPMU_MODEL_ARCHPEBS_H

#include "refpmu/model/internal.h"
#include "refpmu/model/msr.h"

/* ---- leaf23.c ---- */

enum { EXT_EAX, EXT_EBX, EXT_ECX, EXT_EDX };
enum { EXT_FEATURES, EXT_COUNTERS, EXT_RELOAD, EXT_EVENTS, EXT_GROUPS, EXT_PEBS, EXT_SUBLEAVES };

/* Is there a leaf 23H? This sub-leaf as CPUID shows it. */
bool model_has_ext(const struct model *m);
void model_ext_leaf(const struct model *m, u32 subleaf, u32 regs[4]);
bool model_has_umask2(const struct model *m);
bool model_has_eq(const struct model *m);
bool model_has_rdpmc_user_disable(const struct model *m);
/* Fixed counters, bit i; 0: leaf 23H doesn't list them. */
u64 model_ext_fixed_mask(const struct model *m);
u64 model_ext_fixed_of(enum generation_id id);
/* Sets of counters: those that can be reloaded, those that can cause a reload; those with PEBS,
 * those with PDist. */
u64 model_reloadable(const struct model *m);
u64 model_reload_causes(const struct model *m);
u64 model_arch_pebs_counters(const struct model *m);
u64 model_pdist_counters(const struct model *m);
/* Bits of CFG_C that choose groups. */
u64 model_arch_pebs_groups(const struct model *m);
/* Is what a personality tells of the leaf a processor's? */
bool model_ext_is_possible(const struct model *m);
/* Is there architectural PEBS? */
bool model_has_arch_pebs(const struct model *m);

/* ---- reload.c: the registers, and auto counter reload ---- */

/* Find one of the registers from 1900H on; false: msr isn't one. */
bool model_v6_find(u32 msr, struct msr_ref *p);
bool model_v6_exists(const struct model *m, const struct msr_ref *p);
u64 model_v6_writable(const struct model *m, const struct msr_ref *p);
u64 model_v6_read(const struct model *m, const struct msr_ref *p);
void model_v6_take(struct model *m, const struct msr_ref *p, u64 value);
/* The value with which a counter is reloaded. */
u64 model_reload_value(const struct model *m, unsigned counter);
/* Does counter i reload itself, so that its overflow doesn't show? */
bool model_reloads_itself(struct model *m, unsigned i);
/* These counters have wrapped on this instruction: reload the counters that name one of them as a
 * cause. */
void model_reload_by(struct model *m, u64 wrapped);

/* Counters whose bits a register in the layout of IA32_PERF_GLOBAL_CTRL has. */
static inline u64 model_counters_of(u64 gp, u64 fixed)
{
	return (gp & BITS(0, FIRST_FIXED - 1)) | (fixed & BITS(0, MODEL_MAX_FIXED - 1))
							 << FIRST_FIXED;
}

#endif
