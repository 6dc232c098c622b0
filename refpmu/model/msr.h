/* SPDX-License-Identifier: MIT */
/* The registers of the PMU: the register at an address, and its bits. */
#ifndef REFPMU_MODEL_MSR_H
#define REFPMU_MODEL_MSR_H

#include "refpmu/model/internal.h"

/* The registers, by the tokens of refpmu/faults/fault_msr.def. */
enum model_reg {
	MODEL_REG_NONE,
	MODEL_REG_PMC,
	MODEL_REG_A_PMC,
	MODEL_REG_PERFEVTSEL,
	MODEL_REG_FIXED_CTR,
	MODEL_REG_FIXED_CTR_CTRL,
	MODEL_REG_GLOBAL_CTRL,
	MODEL_REG_GLOBAL_STATUS,
	MODEL_REG_OVF_CTRL,
	MODEL_REG_PEBS_ENABLE,
	MODEL_REG_LD_LAT,
	MODEL_REG_DS_AREA,
	MODEL_REG_DEBUGCTL,
	MODEL_REG_OFFCORE_RSP_0,
	MODEL_REG_OFFCORE_RSP_1,
	MODEL_REG_PERF_CAPABILITIES,
	MODEL_REG_MISC_ENABLE,
	MODEL_REG_SMI_COUNT,
	MODEL_REG_STATUS_SET,
	MODEL_REG_INUSE,
	MODEL_REG_PEBS_FRONTEND,
	MODEL_REG_PEBS_DATA_CFG,
	MODEL_REG_PERF_METRICS,
	MODEL_REG_TSX_FORCE_ABORT,
	MODEL_REG_UNC_CTRL,
	MODEL_REG_UNC_STATUS,
	/* from 1900H on, and architectural PEBS */
	MODEL_REG_V6_CTR,
	MODEL_REG_V6_CFG_A,
	MODEL_REG_CFG_B,
	MODEL_REG_CFG_C,
	MODEL_REG_PEBS_BASE,
	MODEL_REG_PEBS_INDEX,
	/* last branch records */
	MODEL_REG_LBR_SELECT,
	MODEL_REG_LBR_TOS,
	MODEL_REG_LBR_FROM,
	MODEL_REG_LBR_TO,
	MODEL_REG_LBR_INFO,
	MODEL_REG_ARCH_LBR_CTL,
	MODEL_REG_ARCH_LBR_DEPTH,
	MODEL_REG_ARCH_LBR_FROM,
	MODEL_REG_ARCH_LBR_TO,
	MODEL_REG_ARCH_LBR_INFO,
	MODEL_REG_LBR_CORE2,	/* no processor of this model has them */
	/* the uncore's */
	MODEL_REG_UNCORE_GLOBAL_CTRL,
	MODEL_REG_UNCORE_GLOBAL_STATUS,
	MODEL_REG_UNCORE_OVF_CTRL,
	MODEL_REG_UNCORE_FIXED_CTR,
	MODEL_REG_UNCORE_FIXED_CTR_CTRL,
	MODEL_REG_UNCORE_MATCH,
	MODEL_REG_UNCORE_PMC,
	MODEL_REG_UNCORE_PERFEVTSEL,
	MODEL_REG_KINDS,
};

struct msr_ref {
	enum model_reg reg;
	unsigned i;		/* member of a bank */
	unsigned counter;	/* that it belongs to, or MODEL_NO_COUNTER */
};

/* The effect of a WRMSR to a register that the processor has. */
struct msr_write {
	bool read_only;		/* no value may be written */
	bool refused;		/* #GP */
	bool taken;		/* the register takes this value: */
	u64 value;
};

/* MODEL_REG_NONE: not one of the model's. */
struct msr_ref model_msr_find(const struct model *m, u32 msr);
/* Does the processor presented have it? If not, an access raises #GP. */
bool model_msr_exists(struct model *m, const struct msr_ref *p);
/* The bits that a write of this value may set; the others are reserved. */
u64 model_msr_writable(struct model *m, const struct msr_ref *p, u64 value);
/* Set the register to this value, which has no reserved bit set, and everything that depends on the
 * register. */
void model_msr_take(struct model *m, const struct msr_ref *p, u64 value);

/* uncore.c */
/* Is this a register of the uncore? RDMSR and WRMSR of such a register; value has no reserved bit
 * set. */
bool model_uncore_has(enum model_reg reg);
u64 model_uncore_read(struct model *m, const struct msr_ref *p);
void model_uncore_write(struct model *m, const struct msr_ref *p, u64 value);

#endif
