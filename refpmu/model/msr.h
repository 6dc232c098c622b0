/* SPDX-License-Identifier: MIT */
/* The registers of the PMU: which one an address names, and which bits of it exist. */
#ifndef REFPMU_MODEL_MSR_H
#define REFPMU_MODEL_MSR_H

#include "refpmu/model/internal.h"

/* The registers, by the tokens of refpmu/faults/fault_msr.def. */
enum reg {
	REG_NONE, REG_PMC, REG_A_PMC, REG_PERFEVTSEL, REG_FIXED_CTR, REG_FIXED_CTR_CTRL,
	REG_GLOBAL_CTRL, REG_GLOBAL_STATUS, REG_OVF_CTRL, REG_PEBS_ENABLE, REG_LD_LAT,
	REG_DS_AREA, REG_DEBUGCTL, REG_OFFCORE_RSP_0, REG_OFFCORE_RSP_1, REG_PERF_CAPABILITIES,
	REG_MISC_ENABLE, REG_SMI_COUNT,
	/* the uncore's */
	REG_UNCORE_GLOBAL_CTRL, REG_UNCORE_GLOBAL_STATUS, REG_UNCORE_OVF_CTRL,
	REG_UNCORE_FIXED_CTR, REG_UNCORE_FIXED_CTR_CTRL, REG_UNCORE_MATCH, REG_UNCORE_PMC,
	REG_UNCORE_PERFEVTSEL,
	REG_KINDS,
};

struct place {
	enum reg reg;
	unsigned i;		/* member of a bank */
	unsigned counter;	/* that it belongs to, or MODEL_NO_COUNTER */
};

/* What WRMSR is to do with a register that the processor has. */
struct msr_write {
	bool read_only;		/* no value may be written */
	bool refused;		/* #GP */
	bool taken;		/* the register takes this value: */
	u64 value;
};

/* REG_NONE: not one of the model's. */
struct place model_msr_find(u32 msr);
/* Does the processor presented have it? If not, an access raises #GP. */
bool model_msr_exists(struct model *m, const struct place *p);
/* The bits that a write of this value may set; the others are reserved. */
u64 model_msr_writable(struct model *m, const struct place *p, u64 value);
/* The register takes this value, without a reserved bit, and what hangs on it changes. */
void model_msr_take(struct model *m, const struct place *p, u64 value);

/* uncore.c */
/* RDMSR and WRMSR of a register that is the uncore's; value has no reserved bit set. */
bool model_uncore_has(enum reg reg);
u64 model_uncore_read(struct model *m, const struct place *p);
void model_uncore_write(struct model *m, const struct place *p, u64 value);

#endif
