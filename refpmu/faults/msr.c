/* SPDX-License-Identifier: MIT */
/* Faults of registers, in RDMSR, WRMSR and RDPMC. */
#include "refpmu/faults/broken.h"
#include "refpmu/faults/archpebs/archpebs.h"
#include "refpmu/faults/goldencove/arch_lbr.h"
#include "refpmu/faults/goldencove/goldencove.h"
#include "refpmu/faults/kvm/kvm.h"
#include "refpmu/faults/lioncove/lioncove.h"
#include "refpmu/faults/netburst/netburst_state.h"
#include "refpmu/faults/icelake/version5.h"
#include "refpmu/faults/skylake/version4.h"
#include "refpmu/model/core.h"
#include "refpmu/model/msr.h"
#include "refpmu/model/netburst/netburst.h"

#define LAST_OF_GRACEMONT 5	/* its last general-purpose counter */
#define COUNTERS_OF_ICE_LAKE 8	/* its general-purpose counters */
#define WIDEST_COUNTER	48	/* bits, of fault counters-above-width: bit 47 is the sign */

/* The faults that are generated for each register; FAULT_NONE: there is none. */
static const struct {
	u16 write_dropped, reads_zero, reserved_accepted, refused_taken, shared;
} generated[MODEL_REG_KINDS] = {
#define FAULT_MSR_WRITE(token, msr, members, name, requirements, title, ...) \
	[MODEL_REG_##token].write_dropped = FAULT_##token##_WRITE_DROPPED,
#define FAULT_MSR_READ(token, msr, members, name, requirements, title, ...) \
	[MODEL_REG_##token].reads_zero = FAULT_##token##_READS_ZERO,
#define FAULT_MSR_RESERVED(token, msr, members, name, requirements, title, ...) \
	[MODEL_REG_##token].reserved_accepted = FAULT_##token##_RESERVED_ACCEPTED,
#define FAULT_MSR_REFUSED(token, msr, name, requirements, title) \
	[MODEL_REG_##token].refused_taken = FAULT_##token##_REFUSED_TAKEN,
#include "refpmu/faults/fault_msr.def"
#define FAULT_MSR_SHARED(token, msr, name, requirements, title) \
	[MODEL_REG_##token].shared = FAULT_##token##_SHARED,
#include "refpmu/faults/fault_shared.def"
	[MODEL_REG_LBR_INFO].shared = FAULT_LBR_INFO_SHARED,
};

/* ---- which registers and bits there are ---- */

bool fault_msr_exists(struct model *m, const struct msr_ref *p, bool exists)
{
	exists = fault_arch_lbr_exists(m, p, fault_v5_exists(m, p, exists));
	exists = fault_ext_exists(m, p, exists);
	if (!exists && fault_kvm_answers(m, p))
		return true;
	if (!exists && p->reg == MODEL_REG_TSX_FORCE_ABORT)
		return broken(m, FAULT_FORCE_ABORT_UNANNOUNCED);
	if (!exists && p->reg == MODEL_REG_STATUS_SET)
		return broken(m, FAULT_STATUS_SET_BEFORE_4);
	if (p->reg == MODEL_REG_LBR_INFO)
		return exists ? !broken(m, FAULT_LBR_INFO_MISSING) :
				broken(m, FAULT_LBR_INFO_UNANNOUNCED);
	if ((p->reg == MODEL_REG_UNC_CTRL || p->reg == MODEL_REG_UNC_STATUS) &&
	    broken(m, FAULT_UNCORE_GLOBAL_MISSING))
		return false;
	if (!exists)
		return p->reg == MODEL_REG_A_PMC && p->i < model_gp_counters(m) &&
		       broken(m, FAULT_A_PMC_UNANNOUNCED);
	return !(p->reg == MODEL_REG_OFFCORE_RSP_0 && broken(m, FAULT_OFFCORE_RSP_0_MISSING)) &&
	       !(p->reg == MODEL_REG_OFFCORE_RSP_1 && broken(m, FAULT_OFFCORE_RSP_1_MISSING));
}

bool fault_absent_answers(struct model *m, const struct msr_ref *p, bool answers)
{
	return answers || fault_v5_absent_answers(m, p) || fault_ext_absent_answers(m, p) ||
	       (p->counter >= COUNTERS_OF_ICE_LAKE && p->counter < FIRST_FIXED &&
		broken(m, FAULT_PMC_8_ANSWERS)) ||
	       (p->counter == MODEL_NO_COUNTER && broken(m, FAULT_OTHER_REGISTERS_ANSWER)) ||
	       (p->reg == MODEL_REG_A_PMC && p->counter < FIRST_FIXED &&
		p->counter >= model_gp_counters(m) && broken(m, FAULT_A_PMC_4_ANSWERS)) ||
	       (p->counter < FIRST_FIXED && (broken(m, FAULT_ABSENT_COUNTERS_ANSWER) ||
					     broken(m, FAULT_ABSENT_COUNTERS_TAKE_WRITES)));
}

u64 fault_msr_bits(struct model *m, const struct msr_ref *p, u64 bits)
{
	if (p->reg == MODEL_REG_PEBS_ENABLE && broken(m, FAULT_PRECISE_STORE_EXISTS))
		bits |= IA32_PEBS_ENABLE_PS_EN;
	if (p->reg == MODEL_REG_PEBS_ENABLE && broken(m, FAULT_LL_ENABLE_MISSING))
		bits &= ~IA32_PEBS_ENABLE_LL_EN_PMC;
	if (p->reg == MODEL_REG_PERFEVTSEL && broken(m, FAULT_PIN_CONTROL_REFUSED))
		bits &= ~(u64)IA32_PERFEVTSEL_PC;
	if (p->reg == MODEL_REG_LD_LAT && broken(m, FAULT_LD_LAT_WIDE))
		bits |= BITS(0, 31);
	if (p->reg == MODEL_REG_PERFEVTSEL && model_has_tx(m) && broken(m, FAULT_IN_TXCP_ANYWHERE))
		bits |= IA32_PERFEVTSEL_IN_TXCP;
	if (p->reg == MODEL_REG_PEBS_FRONTEND && broken(m, FAULT_FRONTEND_WIDE))
		bits |= BITS(0, 7);
	if ((p->reg == MODEL_REG_LBR_FROM || p->reg == MODEL_REG_LBR_TO) && ~bits &&
	    broken(m, FAULT_LBR_ANY_ADDRESS))
		bits = ~0ULL;
	if (p->reg == MODEL_REG_LBR_SELECT && broken(m, FAULT_LBR_SELECT_WIDE))
		bits |= BITS(10, 15);
	if (p->reg == MODEL_REG_PEBS_ENABLE && model_gp_counters(m) > 4 &&
	    broken(m, FAULT_PEBS_OF_EIGHT))
		bits |= BITS(4, 7);
	if (p->reg == MODEL_REG_DEBUGCTL && broken(m, FAULT_DEBUGCTL_BIT_2_TAKEN))
		bits |= BIT(2);
	if (p->reg == MODEL_REG_DEBUGCTL && broken(m, FAULT_FREEZE_SMM_REFUSED))
		bits &= ~IA32_DEBUGCTL_FREEZE_WHILE_SMM;
	if (p->reg == MODEL_REG_STATUS_SET && broken(m, FAULT_STATUS_SET_ABSENT))
		bits |= BITS(0, 47);
	bits = fault_ext_bits(m, p, fault_glc_bits(m, p, fault_arch_lbr_bits(m, p, bits)));
	bits = fault_lnc_bits(m, p, bits);
	return fault_kvm_bits(m, p, fault_v5_bits(m, p, bits));
}

void fault_reset(struct model *m)
{
	if (broken(m, FAULT_STATUS_AFTER_RESET))
		m->global_status = IA32_PERF_GLOBAL_STATUS_COND_CHGD;
}

/* ---- reading ---- */

static u64 sign_extended(u64 value)
{
	return value & BIT(WIDEST_COUNTER - 1) ? value | BITS(WIDEST_COUNTER, 63) : value;
}

/* RDMSR or RDPMC has read this counter. */
static void counter_is_read(struct model *m, unsigned i)
{
	if (!(m->active & BIT(i)) && broken(m, FAULT_STOPPED_READ_CLEARS))
		m->counter[i].value = 0;
}

/* Faults of RDMSR alone. */
static u64 read_by_number(struct model *m, unsigned i, u64 value)
{
	counter_is_read(m, i);
	if (m->active & BIT(i) && i < FIRST_FIXED && broken(m, FAULT_RDMSR_LOSES_ONE))
		model_set_counter(m, i, value - 1);
	if (m->active & BIT(i) && i < FIRST_FIXED && broken(m, FAULT_RDMSR_RUNNING_ZERO))
		return 0;
	return broken(m, FAULT_COUNTERS_ABOVE_WIDTH) ? sign_extended(value) : value;
}

static u64 read_status(struct model *m, u64 value)
{
	u64 status = value & ~faults_of(m)->hidden_status;
	u64 fixed = status & IA32_PERF_GLOBAL_STATUS_OVF_FIXED_CTR;

	if (fixed && broken(m, FAULT_FIXED_STATUS_MISPLACED))
		status = (status & ~fixed) |
			 fixed >> (IA32_PERF_GLOBAL_STATUS_OVF_FIXED_CTR_SHIFT - 4);
	if (status && broken(m, FAULT_STATUS_RESERVED_SET))
		status |= BIT(8) | BIT(35);
	if (status & IA32_PERF_GLOBAL_STATUS_OVF_BUF && m->active &&
	    faults_of(m)->lvt_mask_written && broken(m, FAULT_OVFBUF_HIDDEN))
		status &= ~IA32_PERF_GLOBAL_STATUS_OVF_BUF;
	if (faults_of(m)->hidden_status && broken(m, FAULT_STATUS_LATE))
		faults_of(m)->hidden_status = 0;
	if (status && broken(m, FAULT_STATUS_CLEARED_BY_READ))
		m->global_status = 0;
	return status;
}

static bool unreadable(struct model *m, const struct msr_ref *p)
{
	const enum model_reg reg = p->reg;

	if (p->counter < FIRST_FIXED && p->counter >= model_gp_counters(m) &&
	    broken(m, FAULT_ABSENT_COUNTERS_TAKE_WRITES))
		return true;
	return fault_ext_unreadable(m, p) ||
	       (reg == MODEL_REG_PEBS_ENABLE && broken(m, FAULT_PEBS_ENABLE_UNREADABLE)) ||
	       (reg == MODEL_REG_LD_LAT && broken(m, FAULT_LD_LAT_UNREADABLE)) ||
	       (reg == MODEL_REG_PERF_CAPABILITIES && broken(m, FAULT_CAPABILITIES_UNREADABLE));
}

void fault_rdmsr(struct model *m, const struct msr_ref *p, struct msr_result *result)
{
	if (m->config.fault == FAULT_NONE || result->status != MSR_DONE)
		return;
	if (p->reg == MODEL_REG_PMC || p->reg == MODEL_REG_A_PMC || p->reg == MODEL_REG_FIXED_CTR) {
		if (model_has_counter(m, p->counter))
			result->value = fault_frozen_read(m, p->counter,
							  read_by_number(m, p->counter,
									 result->value));
		if (p->reg == MODEL_REG_A_PMC && m->active & BIT(p->counter) &&
		    broken(m, FAULT_A_PMC_RUNNING_STALE))
			result->value = faults_of(m)->counter_written[p->counter] &
					model_width_mask(m, p->counter);
	} else if (p->reg == MODEL_REG_GLOBAL_STATUS) {
		result->value = fault_status_shown(m, read_status(m, result->value));
	} else if (p->reg == MODEL_REG_MISC_ENABLE && broken(m, FAULT_PEBS_SHOWN_UNAVAILABLE)) {
		result->value |= IA32_MISC_ENABLE_PEBS_UNAVAILABLE;
	} else if (p->reg == MODEL_REG_MISC_ENABLE && broken(m, FAULT_PERFMON_SHOWN_ABSENT)) {
		result->value &= ~IA32_MISC_ENABLE_PERFMON_AVAILABLE;
	}
	if (p->reg == MODEL_REG_DS_AREA && m->host->netburst && broken(m, FAULT_NB_DS_AREA_SHARED))
		result->value = netburst_faults(netburst_of(m))->last_ds_area;
	result->value = fault_arch_lbr_read(m, p, fault_kvm_read(m, p, result->value));
	result->value = fault_ext_read(m, p, result->value);
	if (p->reg == MODEL_REG_LBR_INFO && m->lbr.entry[p->i].info &&
	    broken(m, FAULT_LBR_INFO_READ_CLEARS))
		m->lbr.entry[p->i].info = 0;
	if (p->reg == MODEL_REG_LBR_TOS && broken(m, FAULT_LBR_TOS_NEXT))
		result->value ^= 1;
	if (unreadable(m, p))
		*result = (struct msr_result){ .status = MSR_GP };
	else if (broken(m, generated[p->reg].reads_zero))
		result->value = 0;
}

u32 fault_rdpmc_select(struct model *m, u32 ecx)
{
	if (ecx & BIT(31) && broken(m, FAULT_RDPMC_FAST_ALLOWED))
		ecx &= ~(u32)BIT(31);
	if (ecx & BITS(4, 28) && broken(m, FAULT_RDPMC_INDEX_SHORT))
		ecx &= ~(u32)BITS(4, 28);
	if (ecx & RDPMC_FIXED && broken(m, FAULT_RDPMC_FIXED_AS_GP))
		ecx &= ~(u32)RDPMC_FIXED;
	if (model_has_metrics(m) && ecx >> 16 == RDPMC_METRICS >> 16 && ecx != RDPMC_METRICS &&
	    broken(m, FAULT_RDPMC_METRICS_ANY_INDEX))
		ecx = (u32)RDPMC_METRICS;
	if (ecx == 3 && broken(m, FAULT_RDPMC_PMC3_READS_2))
		ecx = 2;
	if (ecx == (RDPMC_FIXED | 5) && broken(m, FAULT_RDPMC_FIXED5_READS_4))
		ecx = RDPMC_FIXED | 4;
	if (ecx == (RDPMC_FIXED | 2) && broken(m, FAULT_RDPMC_FIXED2_READS_1))
		ecx = RDPMC_FIXED | 1;
	return ecx;
}

void fault_rdpmc(struct model *m, u32 ecx, unsigned counter, struct msr_result *result)
{
	if (m->config.fault == FAULT_NONE)
		return;
	if (counter == MODEL_NO_COUNTER) {
		if (broken(m, FAULT_RDPMC_ABSENT_ANSWERS) || fault_kvm_rdpmc(m, ecx) ||
		    (ecx == (RDPMC_FIXED | 3) && broken(m, FAULT_HOLE_RDPMC)))
			*result = (struct msr_result){ .status = MSR_DONE };
		return;
	}
	if (broken(m, FAULT_RDPMC_REFUSED)) {
		*result = (struct msr_result){ .status = MSR_GP };
		return;
	}
	if (counter == FIRST_FIXED + 1 && broken(m, FAULT_RDPMC_FIXED1_READS_0)) {
		result->value = 0;
		return;
	}
	fault_v5_rdpmc(m, counter, result);
	fault_at_counter(m, counter);
	counter_is_read(m, counter);
	if (broken(m, FAULT_RDPMC_STALE))
		result->value = faults_of(m)->counter_written[counter] &
				model_width_mask(m, counter);
	if (broken(m, FAULT_RDPMC_ABOVE_WIDTH))
		result->value = sign_extended(result->value);
	fault_at_counter(m, MODEL_NO_COUNTER);
}

/* ---- writing ---- */

/* The write must be refused: does a broken processor accept it? */
static bool accepts(struct model *m, const struct msr_ref *p, u64 value, bool read_only)
{
	const enum model_reg reg = p->reg;

	if (reg == MODEL_REG_GLOBAL_STATUS && value == IA32_PERF_GLOBAL_STATUS_OVF_BUF &&
	    broken(m, FAULT_STATUS_62_WRITABLE))
		return true;
	if (reg == MODEL_REG_OVF_CTRL && broken(m, FAULT_STATUS_RESERVED_SET))
		return true;
	if (reg == MODEL_REG_A_PMC && sign_extended(value) == value &&
	    broken(m, FAULT_FULL_WIDTH_SIGN_COPIES))
		return true;
	if (reg == MODEL_REG_V6_CTR && broken(m, FAULT_V6_CTR_UPPER_TAKEN))
		return true;
	if (reg == MODEL_REG_INUSE && broken(m, FAULT_INUSE_TAKES_WRITES))
		return true;
	if ((reg == MODEL_REG_UNCORE_PMC || reg == MODEL_REG_UNCORE_PERFEVTSEL) && p->i &&
	    p->i < UNCORE_GP - 1 && broken(m, FAULT_UNCORE_MIDDLE_RESERVED))
		return true;
	return (!read_only && broken(m, FAULT_RESERVED_ACCEPTED)) ||
	       (!read_only && !~value && broken(m, FAULT_ALL_ONES_ACCEPTED)) ||
	       (reg == MODEL_REG_GLOBAL_STATUS &&
		(broken(m, FAULT_STATUS_WRITABLE) || broken(m, FAULT_STATUS_TAKES_WRITES))) ||
	       (reg == MODEL_REG_PERF_CAPABILITIES && broken(m, FAULT_CAPABILITIES_TAKE_WRITES)) ||
	       broken(m, generated[reg].reserved_accepted);
}

/* A broken processor has accepted a write of a read-only register: take the value. */
static void take_read_only(struct model *m, enum model_reg reg, u64 value)
{
	if (reg == MODEL_REG_GLOBAL_STATUS && broken(m, FAULT_STATUS_TAKES_WRITES))
		m->global_status = value;
	if (reg == MODEL_REG_PERF_CAPABILITIES && broken(m, FAULT_CAPABILITIES_TAKE_WRITES))
		m->perf_capabilities = value;
}

static void fault_msr_take(struct model *m, const struct msr_ref *p, u64 value)
{
	model_msr_take(m, p, value);
	model_configure(m);
}

/* Is an accepted write lost? */
static bool is_lost(struct model *m, const struct msr_ref *p, u64 value)
{
	bool counter = p->reg == MODEL_REG_PMC || p->reg == MODEL_REG_A_PMC ||
		       p->reg == MODEL_REG_FIXED_CTR;

	if (counter && p->counter == LAST_OF_GRACEMONT && m->config.generation == GEN_GRACEMONT &&
	    broken(m, FAULT_E_CORE_LAST_LOST))
		return true;
	if (p->reg == MODEL_REG_UNCORE_PMC && model_uncore_of(m)->active & BIT(p->i) &&
	    broken(m, FAULT_UNCORE_RUNNING_KEEPS))
		return true;
	return broken(m, generated[p->reg].write_dropped) ||
	       (counter && m->active & BIT(p->counter) &&
		broken(m, FAULT_WRITE_WHILE_COUNTING_LOST)) ||
	       (p->reg == MODEL_REG_DS_AREA && m->ds_area && value &&
		broken(m, FAULT_DS_AREA_STICKS));
}

/* The value that a counter takes if it is written while it counts. */
static u64 taken_running(struct model *m, const struct msr_ref *p, u64 value)
{
	const u64 low = (u64)(int64_t)(int32_t)value & model_width_mask(m, p->counter);

	switch (p->reg) {
	case MODEL_REG_A_PMC:
		return low != value && broken(m, FAULT_FULL_WIDTH_RUNNING_32) ? low : value;
	case MODEL_REG_PMC:
		return value >> 32 && broken(m, FAULT_PMC_RUNNING_UNSIGNED) ? (u32)value : value;
	case MODEL_REG_FIXED_CTR:
		return low != value && broken(m, FAULT_FIXED_RUNNING_32) ? low : value;
	default:
		return value;
	}
}

static u64 keep(u64 value, u64 old, u64 bits)
{
	return (value & ~bits) | (old & bits);
}

/* The setting that a counter takes if it is written while it counts, and goes on. */
static u64 select_running(struct model *m, unsigned n, u64 value)
{
	const u64 levels = IA32_PERFEVTSEL_OS | IA32_PERFEVTSEL_USR, old = m->perfevtsel[n];

	if (!(m->active & BIT(n)) || !(value & IA32_PERFEVTSEL_EN))
		return value;
	if ((value ^ old) & levels && broken(m, FAULT_RUNNING_LEVELS_KEPT))
		return keep(value, old, levels);
	return (value ^ old) & IA32_PERFEVTSEL_CMASK && broken(m, FAULT_RUNNING_CMASK_KEPT) ?
		       keep(value, old, IA32_PERFEVTSEL_CMASK) :
		       value;
}

static u64 fixed_running(struct model *m, u64 value)
{
	for (unsigned n = 0; n < MODEL_MAX_FIXED; n++) {
		const u64 field = IA32_FIXED_CTR_CTRL_EN0 << n * IA32_FIXED_CTR_CTRL_EN1_SHIFT;

		if (m->active & BIT(FIRST_FIXED + n) && value & field &&
		    (value ^ m->fixed_ctr_ctrl) & field && broken(m, FAULT_FIXED_RUNNING_LEVELS))
			value = keep(value, m->fixed_ctr_ctrl, field);
	}
	return value;
}

/* The value that the register takes in place of the written one. */
static u64 taken(struct model *m, const struct msr_ref *p, u64 value)
{
	if (p->reg == MODEL_REG_PMC && value & BIT(31) && broken(m, FAULT_PMC_NOT_SIGN_EXTENDED))
		return value & BITS(0, 31);
	if (p->counter != MODEL_NO_COUNTER && m->active & BIT(p->counter))
		value = taken_running(m, p, value);
	if (p->reg == MODEL_REG_A_PMC && broken(m, FAULT_FULL_WIDTH_TRUNCATED))
		return value & BITS(0, 31);
	if (p->reg == MODEL_REG_DEBUGCTL && value & IA32_DEBUGCTL_FREEZE_WHILE_SMM) {
		if (value & IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI &&
		    broken(m, FAULT_SMM_FREEZE_LOST_BESIDE_FREEZE))
			value &= ~(u64)IA32_DEBUGCTL_FREEZE_WHILE_SMM;
		if (value & IA32_DEBUGCTL_LBR && broken(m, FAULT_LBR_LOST_BESIDE_SMM_FREEZE))
			value &= ~(u64)IA32_DEBUGCTL_LBR;
	}
	if (p->reg == MODEL_REG_PERFEVTSEL)
		value = select_running(m, p->i, value);
	if (p->reg == MODEL_REG_FIXED_CTR_CTRL)
		value = fixed_running(m, value);
	return fault_kvm_takes(m, p, value);
}

void fault_wrmsr(struct model *m, const struct msr_ref *p, u64 value, struct msr_write *w)
{
	struct model *sibling = model_core_sibling(m);

	if (m->config.fault == FAULT_NONE)
		return;
	fault_v5_wrmsr(m, p, w);
	fault_glc_wrmsr(m, p, w);
	fault_ext_wrmsr(m, p, w);
	if (w->refused) {
		if (!accepts(m, p, value, w->read_only)) {
			if (!w->read_only && broken(m, generated[p->reg].refused_taken))
				fault_msr_take(m, p, w->value);
			if (p->reg == MODEL_REG_GLOBAL_STATUS &&
			    broken(m, FAULT_STATUS_CLEARED_BY_REFUSED))
				m->global_status = 0;
			return;
		}
		w->refused = false;
		w->taken = !w->read_only;
	}
	if (p->reg == MODEL_REG_DEBUGCTL && value & IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI &&
	    broken(m, FAULT_FREEZE_REFUSED)) {
		w->refused = true;
		w->taken = false;
		return;
	}
	w->value = taken(m, p, w->value);
	if (p->reg == MODEL_REG_PMC && value >> 32 && value >> 32 != BITS(0, 31) &&
	    broken(m, FAULT_PMC_TAKES_EDX))
		w->value = value & model_width_mask(m, p->counter);
	fault_lbr_written(m, p, w);
	if (w->taken && (is_lost(m, p, w->value) || fault_frozen_loses(m, p->reg)))
		w->taken = false;
	if (sibling && broken(m, generated[p->reg].shared)) {
		fault_msr_take(sibling, p, w->value);
		model_core_kick(m, sibling);
	}
	if (sibling && w->taken)
		fault_arch_lbr_sibling(m, sibling, p, w->value);
	take_read_only(m, p->reg, value);
}

/* IA32_PERFEVTSELx, IA32_FIXED_CTR_CTRL: the counters that wait for a write of
 * IA32_PERF_GLOBAL_CTRL. */
static void take_enable(struct model *m, unsigned counter, u64 value)
{
	if (value & ~m->perfevtsel[counter] & IA32_PERFEVTSEL_EN &&
	    m->global_ctrl & model_global_bit(counter) && broken(m, FAULT_EN_AFTER_GLOBAL))
		faults_of(m)->not_started |= BIT(counter);
}

static void take_fixed_ctrl(struct model *m, u64 value)
{
	if (value != m->fixed_ctr_ctrl && broken(m, FAULT_FIXED_CTRL_DISARMS_ALL))
		model_disarm(m, BITS(FIRST_FIXED, MODEL_MAX_COUNTERS - 1));
	if ((value ^ m->fixed_ctr_ctrl) & IA32_FIXED_CTR_CTRL_EN1 &&
	    broken(m, FAULT_FIXED_CTRL_CLEARS))
		model_set_counter(m, FIRST_FIXED + 1, 0);
	for (unsigned n = 0; n < MODEL_MAX_FIXED; n++) {
		u64 field = IA32_FIXED_CTR_CTRL_EN0 << n * IA32_FIXED_CTR_CTRL_EN1_SHIFT;

		if (value & field && !(m->fixed_ctr_ctrl & field) &&
		    m->global_ctrl & model_global_bit(FIRST_FIXED + n) &&
		    broken(m, FAULT_FIXED_AFTER_GLOBAL))
			faults_of(m)->not_started |= BIT(FIRST_FIXED + n);
	}
}

static void take_pebs_enable(struct model *m, u64 value)
{
	u64 set = value & ~m->pebs_enable & IA32_PEBS_ENABLE_PEBS_EN_PMC;
	u64 cleared = ~value & m->pebs_enable & IA32_PEBS_ENABLE_PEBS_EN_PMC;

	if (cleared && broken(m, FAULT_PEBS_CLEAR_DROPS_ARMS))
		model_disarm(m, IA32_PEBS_ENABLE_PEBS_EN_PMC);
	if ((value ^ m->pebs_enable) & IA32_PEBS_ENABLE_LL_EN_PMC &&
	    broken(m, FAULT_LATENCY_ENABLE_DISARMS))
		model_disarm(m, BIT(2));
	faults_of(m)->exchanged = set ? cleared : 0;
	faults_of(m)->was_full = false;
	faults_of(m)->interrupted = 0;
	faults_of(m)->enabled_fields.taken = false;
	for (unsigned i = 0; i < FIRST_FIXED; i++) {
		fault_at_counter(m, i);
		if (set & BIT(i) && broken(m, FAULT_ENABLE_ARMS))
			m->counter[i].armed = true;
	}
	fault_at_counter(m, MODEL_NO_COUNTER);
}

static bool has_interrupt(const struct model *m, unsigned i)
{
	return i < FIRST_FIXED ?
		       m->perfevtsel[i] & IA32_PERFEVTSEL_INT :
		       m->fixed_ctr_ctrl >> (i - FIRST_FIXED) * IA32_FIXED_CTR_CTRL_EN1_SHIFT &
			       IA32_FIXED_CTR_CTRL_PMI0;
}

static void uncore_control_written(struct model *m, unsigned counter)
{
	faults_of(m)->uncore_signalled &= ~BIT(counter);
	faults_of(m)->uncore_froze &= ~BIT(counter);
}

static void latch(struct model *m, enum model_reg reg)
{
	if (reg == MODEL_REG_PEBS_ENABLE)
		faults_of(m)->threshold_latched = m->ld_lat_threshold;
	if (reg == MODEL_REG_PERFEVTSEL)
		__builtin_memcpy(faults_of(m)->offcore_latched, m->offcore_rsp,
				 sizeof(faults_of(m)->offcore_latched));
}

/* Writes that don't concern the counters that are armed. */
static void disarm_at_write(struct model *m, enum model_reg reg)
{
	static const struct {
		enum model_reg reg;
		enum fault_id fault;
	} writes[] = {
		{ MODEL_REG_DS_AREA, FAULT_DS_AREA_DISARMS },
		{ MODEL_REG_DEBUGCTL, FAULT_DEBUGCTL_DISARMS },
		{ MODEL_REG_LD_LAT, FAULT_LD_LAT_DISARMS },
		{ MODEL_REG_OVF_CTRL, FAULT_OVF_CTRL_DISARMS },
		{ MODEL_REG_GLOBAL_CTRL, FAULT_GLOBAL_CTRL_DISARMS },
	};

	for (size_t i = 0; i < sizeof(writes) / sizeof(writes[0]); i++)
		if (reg == writes[i].reg)
			fault_disarm_all(m, writes[i].fault);
}

void fault_msr_taken(struct model *m, const struct msr_ref *p, u64 value)
{
	if (m->config.fault == FAULT_NONE)
		return;
	disarm_at_write(m, p->reg);
	fault_freeze_registers(m, p->reg, value);
	fault_kvm_taken(m, p, value);
	fault_arch_lbr_taken(m, p, value);
	latch(m, p->reg);
	if (p->reg == MODEL_REG_UNCORE_PMC &&
	    model_uncore_of(m)->global_status & model_uncore_bit(p->i) &&
	    broken(m, FAULT_UNCORE_WRITES_CLEAR_STATUS))
		model_uncore_write(m, &(struct msr_ref){ .reg = MODEL_REG_UNCORE_OVF_CTRL },
				   model_uncore_bit(p->i));
	switch (p->reg) {
	case MODEL_REG_PMC:
	case MODEL_REG_A_PMC:
	case MODEL_REG_FIXED_CTR:
		faults_of(m)->counter_written[p->counter] = value;
		faults_of(m)->precise &= ~BIT(p->counter);
		if ((m->global_status & model_global_bit(p->counter) &&
		     has_interrupt(m, p->counter) &&
		     broken(m, FAULT_COUNTER_WITH_INT_CLEARS_STATUS)) ||
		    broken(m, FAULT_STATUS_CLEARED_BY_COUNTER))
			m->global_status &= ~model_global_bit(p->counter);
		if (p->reg == MODEL_REG_FIXED_CTR && p->i + 1 < model_fixed_counters(m) &&
		    broken(m, FAULT_FIXED_WRITES_NEXT))
			model_set_counter(m, p->counter + 1, value);
		break;
	case MODEL_REG_PERFEVTSEL:
		take_enable(m, p->i, value);
		break;
	case MODEL_REG_FIXED_CTR_CTRL:
		take_fixed_ctrl(m, value);
		break;
	case MODEL_REG_DEBUGCTL:
		if (m->global_ctrl && m->global_status &&
		    value & IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI && !model_version_4(m) &&
		    broken(m, FAULT_FREEZE_BY_WRITE))
			m->global_ctrl = 0;
		break;
	case MODEL_REG_GLOBAL_CTRL:
		__builtin_memcpy(faults_of(m)->cfg_b_latched, m->cfg_b, sizeof(m->cfg_b));
		faults_of(m)->debugctl_enabled = m->debugctl;
		faults_of(m)->frozen = false;
		faults_of(m)->not_started = 0;
		break;
	case MODEL_REG_PEBS_ENABLE:
		take_pebs_enable(m, value);
		break;
	case MODEL_REG_LD_LAT:
		faults_of(m)->threshold_before = m->ld_lat_threshold;
		break;
	case MODEL_REG_DS_AREA:
		if (!faults_of(m)->first_ds_area)
			faults_of(m)->first_ds_area = value;
		faults_of(m)->first_fields.taken = false;
		faults_of(m)->enabled_fields.taken = false;
		if (m->host->netburst && m->config.fault == FAULT_NB_DS_AREA_SHARED)
			netburst_faults(netburst_of(m))->last_ds_area = value;
		break;
	case MODEL_REG_MISC_ENABLE:
		if (broken(m, FAULT_MISC_ENABLE_WRITABLE))
			m->misc_enable = value;
		break;
	case MODEL_REG_UNCORE_FIXED_CTR_CTRL:
		uncore_control_written(m, UNCORE_GP);
		break;
	case MODEL_REG_UNCORE_PMC:
	case MODEL_REG_UNCORE_PERFEVTSEL:
		if (p->reg == MODEL_REG_UNCORE_PERFEVTSEL)
			uncore_control_written(m, p->i);
		if (broken(m, FAULT_UNCORE_REGISTERS_IN_PAIRS)) {
			struct msr_ref pair = { .reg = p->reg, .i = p->i ^ 1,
						.counter = p->counter };

			model_uncore_write(m, &pair, value);
		}
		break;
	case MODEL_REG_OFFCORE_RSP_0:
	case MODEL_REG_OFFCORE_RSP_1:
		if (broken(m, FAULT_OFFCORE_REGISTERS_ONE))
			m->offcore_rsp[MODEL_REG_OFFCORE_RSP_1 - p->reg] = value;
		break;
	default:
		break;
	}
}

u64 fault_status_clears(struct model *m, u64 bits)
{
	const u64 enabled = m->pebs_enable & IA32_PEBS_ENABLE_PEBS_EN_PMC;

	if (m->config.fault == FAULT_NONE)
		return bits;
	bits = fault_ext_clears(m, fault_kvm_clears(m, fault_v5_clears(m, bits)));
	if (bits & (IA32_PERF_GLOBAL_STATUS_OVF_BUF | IA32_PERF_GLOBAL_STATUS_COND_CHGD |
		    IA32_PERF_GLOBAL_STATUS_OVF_FIXED_CTR) &&
	    m->global_status & IA32_PERF_GLOBAL_STATUS_OVF_UNCORE &&
	    broken(m, FAULT_STATUS_CLEARS_OVF_UNCORE))
		bits |= IA32_PERF_GLOBAL_STATUS_OVF_UNCORE;
	if (broken(m, FAULT_OVF_UNCORE_STICKS))
		bits &= ~IA32_PERF_GLOBAL_OVF_CTRL_CLR_OVF_UNCORE;
	if (bits & ~IA32_PERF_GLOBAL_OVF_CTRL_CLR_OVF_BUF && broken(m, FAULT_OVFBUF_STAYS_BESIDE))
		bits &= ~IA32_PERF_GLOBAL_OVF_CTRL_CLR_OVF_BUF;
	if (bits & IA32_PERF_GLOBAL_STATUS_OVF_FIXED_CTR &&
	    !(bits & IA32_PERF_GLOBAL_STATUS_OVF_PMC) && broken(m, FAULT_OVFBUF_KEPT_BESIDE_FIXED))
		bits &= ~IA32_PERF_GLOBAL_OVF_CTRL_CLR_OVF_BUF;
	if (bits & IA32_PERF_GLOBAL_OVF_CTRL_CLR_OVF_BUF && m->global_status & ~bits & enabled &&
	    broken(m, FAULT_OVFBUF_CLEARS_PEBS_BITS))
		bits |= enabled;
	for (unsigned i = 0; i < MODEL_MAX_COUNTERS; i++)
		if (m->active & BIT(i) && broken(m, FAULT_RUNNING_BITS_STAY))
			bits &= ~model_global_bit(i);
	if (bits & IA32_PERF_GLOBAL_STATUS_COND_CHGD && broken(m, FAULT_CONDCHGD_STAYS))
		bits &= ~IA32_PERF_GLOBAL_STATUS_COND_CHGD;
	if ((bits & IA32_PERF_GLOBAL_STATUS_COND_CHGD && broken(m, FAULT_CONDCHGD_CLEARS_OVFBUF)) ||
	    (bits & model_global_bit(FIRST_FIXED + 2) && broken(m, FAULT_FIXED_CLEARS_OVFBUF)))
		bits |= IA32_PERF_GLOBAL_STATUS_OVF_BUF;
	if (bits & model_global_bit(FIRST_FIXED + 3) && broken(m, FAULT_FIXED3_CLEARS_METRICS))
		bits |= IA32_PERF_GLOBAL_STATUS_OVF_PERF_METRICS;
	if (broken(m, FAULT_OVF_CTRL_CLEARS_ALL))
		bits = ~0ULL;
	if (broken(m, FAULT_CORE_CLEARS_UNCORE))
		model_uncore_clear(m, ~0ULL);
	return fault_frozen_clears(m, bits);
}

/* Change the start value of a counter with PEBS. */
static void break_start(struct model *m, unsigned i)
{
	enum { LEAST = 128, STEP = 64 };
	const u64 mask = model_width_mask(m, i);
	const u64 events = -m->counter[i].value & mask;

	if (events && events < LEAST && broken(m, FAULT_START_LEAST_128))
		m->counter[i].value = -(u64)LEAST & mask;
	if (events % STEP && broken(m, FAULT_START_OF_64))
		m->counter[i].value = -((events / STEP + 1) * STEP) & mask;
}

void fault_counters_start(struct model *m, u64 started)
{
	u64 others = started & (started - 1);

	if (m->config.fault == FAULT_NONE)
		return;
	faults_of(m)->next_ip = faults_of(m)->handlers = 0;
	for (unsigned i = 0; i < MODEL_MAX_COUNTERS; i++) {
		fault_at_counter(m, i);
		if (started & BIT(i) && broken(m, FAULT_START_ROUNDS))
			m->counter[i].value &= ~BITS(0, 3);
		if (started & BIT(i) && m->counter[i].rule.pebs)
			break_start(m, i);
	}
	fault_at_counter(m, MODEL_NO_COUNTER);
	if (others && broken(m, FAULT_START_STAGGERED)) {
		faults_of(m)->staggered = others;
		faults_of(m)->stagger_left = 16;
	}
}
