/* SPDX-License-Identifier: MIT */
/* Faults of version 4's registers, and of freezing by bits of the status: msr.c, lvt.c. */
#include "refpmu/faults/broken.h"
#include "refpmu/faults/skylake/version4.h"
#include "refpmu/model/core.h"

#define CTR_FRZ		IA32_PERF_GLOBAL_STATUS_CTR_FRZ
#define LBR_FRZ		IA32_PERF_GLOBAL_STATUS_LBR_FRZ
#define OVERFLOWS	(IA32_PERF_GLOBAL_STATUS_OVF_PMC | IA32_PERF_GLOBAL_STATUS_OVF_FIXED_CTR)

u64 fault_status_sets(struct model *m, u64 written, u64 status)
{
	u64 after = written << 1 & model_defined_bits(m, OF_IA32_PERF_GLOBAL_STATUS_SET);
	u64 counting = written & IA32_PERF_GLOBAL_STATUS_OVF_FIXED_CTR &
		       model_status_bits(m->active);
	struct model *sibling = model_core_sibling(m);

	if (m->config.fault == FAULT_STATUS_SET_STICKS)
		faults_of(m)->stuck |= written;
	if (written & CTR_FRZ && sibling && broken(m, FAULT_FROZEN_TOGETHER)) {
		sibling->global_status |= CTR_FRZ;
		model_configure(sibling);
		model_core_kick(m, sibling);
	}
	if (written & IA32_PERF_GLOBAL_STATUS_OVF_FIXED_CTR && sibling &&
	    broken(m, FAULT_STATUS_SET_LEAKS))
		sibling->global_status |= written & IA32_PERF_GLOBAL_STATUS_OVF_FIXED_CTR;
	if (broken(m, FAULT_STATUS_SET_REPLACES))
		return written;
	if (m->global_status & CTR_FRZ && written & OVERFLOWS & ~m->global_status &&
	    broken(m, FAULT_STATUS_SET_NOT_FROZEN))
		return status & ~(written & OVERFLOWS & ~m->global_status);
	if (after && broken(m, FAULT_STATUS_SET_NEIGHBOUR))
		return m->global_status | after;
	if (counting && broken(m, FAULT_STATUS_SET_NOT_COUNTING))
		return status & ~(counting & ~m->global_status);
	return status;
}

u64 fault_frozen_clears(struct model *m, u64 bits)
{
	u64 stay = m->global_status & ~bits & OVERFLOWS;

	if (m->global_status & CTR_FRZ && bits && broken(m, FAULT_CTR_FRZ_ENDS_BY_ANY))
		bits |= CTR_FRZ;
	if (m->global_status & CTR_FRZ && bits & IA32_PERF_GLOBAL_STATUS_OVF_FIXED_CTR &&
	    broken(m, FAULT_CTR_FRZ_ENDS_BY_FIXED))
		bits |= CTR_FRZ;
	if (bits & CTR_FRZ && stay && broken(m, FAULT_CTR_FRZ_WANTS_ALL))
		bits &= ~CTR_FRZ;
	if (bits & CTR_FRZ && !(m->debugctl & IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI) &&
	    broken(m, FAULT_CTR_FRZ_STICKY))
		bits &= ~CTR_FRZ;
	faults_of(m)->lbr_thawed = bits & m->global_status & LBR_FRZ;
	if (bits & LBR_FRZ && broken(m, FAULT_STATUS_RESET_KEEPS_LBR_FRZ))
		bits &= ~LBR_FRZ;
	if (bits & faults_of(m)->stuck && broken(m, FAULT_STATUS_SET_STICKS))
		bits &= ~faults_of(m)->stuck;
	return bits;
}

/* The number of counters with their interrupt bit set. */
static unsigned interrupt_users(const struct model *m)
{
	unsigned users = 0;

	for (unsigned i = 0; i < model_gp_counters(m); i++)
		users += !!(m->perfevtsel[i] & IA32_PERFEVTSEL_INT);
	for (unsigned i = 0; i < model_fixed_counters(m); i++)
		users += !!(m->fixed_ctr_ctrl >> i * IA32_FIXED_CTR_CTRL_EN1_SHIFT &
			    IA32_FIXED_CTR_CTRL_PMI0);
	return users;
}

u64 fault_inuse(struct model *m, u64 value)
{
	if (m->config.fault == FAULT_NONE)
		return value;
	for (unsigned i = 0; i < model_gp_counters(m); i++)
		if (value & BIT(i) && !(m->perfevtsel[i] & IA32_PERFEVTSEL_EN) &&
		    broken(m, FAULT_INUSE_NEEDS_EN))
			value &= ~BIT(i);
	for (unsigned i = 0; i < model_fixed_counters(m); i++)
		if (m->fixed_ctr_ctrl >> i * IA32_FIXED_CTR_CTRL_EN1_SHIFT &
			    IA32_FIXED_CTR_CTRL_PMI0 &&
		    broken(m, FAULT_INUSE_BY_PMI))
			value |= model_global_bit(FIRST_FIXED + i);
	if (value & IA32_PERF_GLOBAL_INUSE_PMI && broken(m, FAULT_INUSE_PMI_32))
		value ^= IA32_PERF_GLOBAL_INUSE_PMI | BIT(32);
	if (m->pebs_enable && broken(m, FAULT_INUSE_WITHOUT_PEBS))
		value &= ~IA32_PERF_GLOBAL_INUSE_PMI;
	if (m->pebs_enable && !(m->pebs_enable & BITS(0, 31)) && !interrupt_users(m) &&
	    broken(m, FAULT_INUSE_WITHOUT_UPPER_PEBS))
		value &= ~IA32_PERF_GLOBAL_INUSE_PMI;
	if (interrupt_users(m) > 1 && broken(m, FAULT_INUSE_PMI_OF_ONE))
		value &= ~IA32_PERF_GLOBAL_INUSE_PMI;
	if (broken(m, FAULT_INUSE_TOO_MANY))
		value |= BITS(48, 62) | BIT(35) | BIT(8);
	return value;
}

/* The freeze bits that a version 4 would set at an overflow with interrupt. */
static u64 freezes(const struct model *m)
{
	return (m->debugctl & IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI ? CTR_FRZ : 0) |
	       (m->debugctl & IA32_DEBUGCTL_FREEZE_LBRS_ON_PMI ? LBR_FRZ : 0);
}

u64 fault_status_shown(struct model *m, u64 status)
{
	if (status & OVERFLOWS && broken(m, FAULT_STATUS_BIT_54))
		status |= BIT(54);
	if (status & OVERFLOWS && broken(m, FAULT_STATUS_BIT_55))
		status |= IA32_PERF_GLOBAL_STATUS_TRACE_TOPA_PMI;
	if (!model_version_4(m) && status & OVERFLOWS && freezes(m) &&
	    broken(m, FAULT_FREEZE_SHOWN_BEFORE_4))
		status |= freezes(m);
	return status;
}

/* ---- freezing ---- */

void fault_freeze_way(struct model *m, struct freeze_plan *plan)
{
	if (!plan->lbrs && !plan->counters)
		return;
	if (!plan->streamlined)
		return;
	if (broken(m, FAULT_FREEZE_LEGACY)) {
		plan->streamlined = false;
	} else if (broken(m, FAULT_FREEZE_BOTH)) {
		model_freeze(m, plan);
		plan->streamlined = false;
	}
	if (m->global_status & LBR_FRZ && broken(m, FAULT_CTR_FRZ_NOT_BESIDE_LBR_FRZ))
		plan->counters = false;
	if (m->host->lvtpc(m->host->ctx) & LVT_MASKED && broken(m, FAULT_FREEZE_WANTS_LVT))
		*plan = (struct freeze_plan){ .lbrs = false };
}

bool fault_counter_frozen(struct model *m, unsigned i, bool frozen)
{
	if (!frozen)
		return m->debugctl & IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI && model_version_4(m) &&
		       m->global_status & model_global_bit(i) &&
		       broken(m, FAULT_CTR_FRZ_HOLDS_OVERFLOWED);
	if (m->counter[i].armed && broken(m, FAULT_CTR_FRZ_NOT_OF_ARMED))
		return false;
	return !broken(m, FAULT_CTR_FRZ_INERT) &&
	       !(i >= FIRST_FIXED && broken(m, FAULT_CTR_FRZ_GP_ONLY));
}

void fault_quiet_overflow(struct model *m)
{
	const struct freeze_plan plan = {
		.counters = true, .streamlined = model_version_4(m),
	};

	if (m->debugctl & IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI &&
	    broken(m, FAULT_FREEZE_WITHOUT_INT))
		model_freeze(m, &plan);
}

void fault_freeze_registers(struct model *m, enum model_reg reg, u64 value)
{
	if (reg == MODEL_REG_GLOBAL_CTRL && m->global_status & CTR_FRZ &&
	    broken(m, FAULT_CTR_FRZ_ENDS_BY_CTRL))
		m->global_status &= ~CTR_FRZ;
	if ((reg == MODEL_REG_PERFEVTSEL || reg == MODEL_REG_V6_CFG_A ||
	     reg == MODEL_REG_FIXED_CTR_CTRL) &&
	    m->global_status & CTR_FRZ && broken(m, FAULT_CTR_FRZ_ENDS_BY_ENABLES))
		m->global_status &= ~CTR_FRZ;
	if (reg == MODEL_REG_DEBUGCTL && value & IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI &&
	    m->global_status & OVERFLOWS && model_version_4(m) && broken(m, FAULT_FREEZE_BY_LEVEL))
		m->global_status |= CTR_FRZ;
}

bool fault_frozen_loses(struct model *m, enum model_reg reg)
{
	const bool counter = reg == MODEL_REG_PMC || reg == MODEL_REG_A_PMC ||
			     reg == MODEL_REG_V6_CTR || reg == MODEL_REG_FIXED_CTR;

	return counter && m->global_status & CTR_FRZ && broken(m, FAULT_CTR_FRZ_LOSES_WRITES);
}

u64 fault_frozen_read(struct model *m, unsigned counter, u64 value)
{
	if (m->global_status & CTR_FRZ && broken(m, FAULT_CTR_FRZ_DRIFTS))
		value = ++m->counter[counter].value;
	return value;
}

u64 fault_status_of_overflow(struct model *m, unsigned i, u64 status)
{
	u64 before = faults_of(m)->overflowed;

	faults_of(m)->overflowed |= BIT(i);
	if (before & BIT(i) && broken(m, FAULT_STATUS_ONCE))
		return 0;
	if (i >= FIRST_FIXED && m->debugctl & IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI &&
	    !(m->fixed_ctr_ctrl & IA32_FIXED_CTR_CTRL_PMI0 << 4 * (i - FIRST_FIXED)) &&
	    broken(m, FAULT_FIXED_FREEZES_UNASKED))
		status |= CTR_FRZ;
	return broken(m, FAULT_OVFBUF_BY_OVERFLOW) ? status | IA32_PERF_GLOBAL_STATUS_OVF_BUF :
						     status;
}

#define LENGTH_ABOVE_8_BITS	BITS(16, 19)

static bool is_another_line(struct model *m)
{
	const u64 before = faults_of(m)->fetched_line;

	faults_of(m)->fetched_line = m->fetch.line;
	return m->fetch.line != before;
}

bool fault_frontend(struct model *m, bool occurs)
{
	const u64 event = m->pebs_frontend & (PEBS_FRONTEND_EVTSEL | PEBS_FRONTEND_EVTSEL_HIGH);

	if (occurs)
		return !broken(m, FAULT_FRONTEND_NEVER);
	if (event == FRONTEND_LATENCY && m->pebs_frontend & LENGTH_ABOVE_8_BITS &&
	    is_another_line(m) && broken(m, FAULT_FRONTEND_LENGTH_8_BITS))
		return true;
	return broken(m, FAULT_FRONTEND_EVERY) ||
	       (event == FRONTEND_LATENCY && broken(m, FAULT_FRONTEND_ANY_BUBBLE));
}
