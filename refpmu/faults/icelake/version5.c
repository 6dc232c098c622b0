/* SPDX-License-Identifier: MIT */
/* Faults of version 5: fixed counter 3, MSR_PERF_METRICS, PEBS on every counter, registers. */
#include "refpmu/faults/icelake/version5.h"
#include "refpmu/faults/broken.h"
#include "refpmu/faults/lioncove/lioncove.h"
#include "refpmu/faults/goldencove/goldencove.h"

#define BAD_SPECULATION	(SLOTS_COUNTER + 1)	/* of E-cores; front end and retiring follow */
#define ANYTHREAD_FIXED	(IA32_FIXED_CTR_CTRL_ANY0 | IA32_FIXED_CTR_CTRL_ANY1 | \
			 IA32_FIXED_CTR_CTRL_ANY2)
#define FIRST_FOUR	4
#define LEAST_HALT	1000	/* cycles, of fault fixed-3-in-hlt */

/* ---- registers ---- */

bool fault_v5_exists(struct model *m, const struct msr_ref *p, bool exists)
{
	switch (p->reg) {
	case MODEL_REG_PEBS_DATA_CFG:
		return exists || broken(m, FAULT_DATA_CFG_ANYWHERE);
	case MODEL_REG_PERF_METRICS:
		if (!exists && BIT(m->config.generation) & GENS_ONE_THREAD &&
		    broken(m, FAULT_E_CORE_HAS_METRICS))
			return true;
		return exists ? !broken(m, FAULT_METRICS_ABSENT) :
				broken(m, FAULT_METRICS_ANYWHERE);
	case MODEL_REG_FIXED_CTR:
		if (p->i == 3 && exists)
			return !broken(m, FAULT_FIXED_MASK_EMPTY);
		return exists;
	default:
		return exists;
	}
}

bool fault_v5_absent_answers(struct model *m, const struct msr_ref *p)
{
	if (p->reg != MODEL_REG_FIXED_CTR)
		return false;
	return (p->i == 4 && broken(m, FAULT_FIXED_4_ANSWERS)) ||
	       (p->i == 3 && broken(m, FAULT_FIXED_3_ANSWERS)) ||
	       (p->i == 3 && BIT(m->config.generation) & (GENS_SKYMONT | GENS_CLEARWATERFOREST) &&
		broken(m, FAULT_HOLE_ANSWERS));
}

static u64 control_bits(struct model *m, u64 bits)
{
	if (model_has_baseline(m) && broken(m, FAULT_FIXED_CTRL_4))
		bits |= BITS(16, 19);
	if (model_has_baseline(m) && broken(m, FAULT_FIXED_CTRL_UPPER_TAKEN))
		bits |= BITS(48, 63);
	if (!model_has_baseline(m) && broken(m, FAULT_ADAPTIVE_FIXED_ANYWHERE))
		bits |= IA32_FIXED_CTR_CTRL_ADAPTIVE0;
	if (model_has_metrics(m) && broken(m, FAULT_METRICS_CLEAR_ANYWHERE))
		bits |= IA32_FIXED_CTR_CTRL_METRICS_CLEAR;
	return broken(m, FAULT_FIXED_ANYTHREAD_LEFT) ? bits | ANYTHREAD_FIXED : bits;
}

u64 fault_v5_bits(struct model *m, const struct msr_ref *p, u64 bits)
{
	switch (p->reg) {
	case MODEL_REG_PEBS_DATA_CFG:
		if (broken(m, FAULT_DATA_CFG_RESERVED))
			bits = ~0ULL;
		return bits;
	case MODEL_REG_PERFEVTSEL:
		if (broken(m, FAULT_ANYTHREAD_LEFT))
			bits |= IA32_PERFEVTSEL_ANY;
		return broken(m, FAULT_ADAPTIVE_BIT_ANYWHERE) ? bits | IA32_PERFEVTSEL_ADAPTIVE :
								bits;
	case MODEL_REG_FIXED_CTR_CTRL:
		return control_bits(m, bits);
	case MODEL_REG_GLOBAL_CTRL:
		return broken(m, FAULT_GLOBAL_CTRL_FIXED_4) ? bits | BIT(36) : bits;
	case MODEL_REG_PEBS_ENABLE:
		return model_has_baseline(m) && broken(m, FAULT_PEBS_FIXED_BY_MASK) ?
			       bits | BITS(8, 11) | BITS(36, 39) :
			       bits;
	default:
		return bits;
	}
}

void fault_v5_wrmsr(struct model *m, const struct msr_ref *p, struct msr_write *write)
{
	if (p->reg == MODEL_REG_PEBS_DATA_CFG && broken(m, FAULT_DATA_CFG_NO_ENTRIES))
		write->value &= ~PEBS_DATA_CFG_LBR_ENTRIES;
	if (p->reg == MODEL_REG_PERF_METRICS && write->value >> 32 &&
	    broken(m, FAULT_METRICS_WRITE_32))
		write->value &= BITS(0, 31);
}

void fault_v5_retired(struct model *m, const struct model_retired *r)
{
	if (m->config.fault != FAULT_FIXED_IP_BEFORE)
		return;
	if (!(m->active & BIT(FIRST_FIXED)))
		faults_of(m)->first_ip = 0;
	else if (!faults_of(m)->first_ip)
		faults_of(m)->first_ip = r->ip;
}

void fault_v5_rdpmc(struct model *m, unsigned counter, struct msr_result *result)
{
	const u64 sign = BIT(model_width(m, counter) - 1);

	if (counter >= FIRST_FIXED && counter != MODEL_NO_COUNTER && result->value & sign &&
	    broken(m, FAULT_RDPMC_FIXED_EXTENDED))
		result->value |= ~model_width_mask(m, counter);
}

void fault_v5_cpuid(struct model *m, u32 regs[4])
{
	enum { EAX, EBX, ECX, EDX };

	if (broken(m, FAULT_GP_COUNTERS_HALVED))
		regs[EAX] = (regs[EAX] & ~0xff00u) | 4u << 8;
	if (broken(m, FAULT_SLOTS_OF_ANOTHER))
		regs[EDX] = (regs[EDX] & ~0xf0000u) | 1u << 16;
}

u64 fault_v5_clears(struct model *m, u64 bits)
{
	return broken(m, FAULT_METRICS_STATUS_STICKS) ?
		       bits & ~IA32_PERF_GLOBAL_OVF_CTRL_CLR_OVF_PERF_METRICS :
		       bits;
}

void fault_v5_halt(struct model *m)
{
	if (m->active & BIT(SLOTS_COUNTER) && broken(m, FAULT_FIXED_3_IN_HLT))
		model_set_counter(m, SLOTS_COUNTER,
				  m->counter[SLOTS_COUNTER].value + LEAST_HALT * model_slots(m));
}

/* ---- metrics ---- */

void fault_metrics_clear(struct model *m, struct metrics_clear *clear)
{
	if (clear->slots && broken(m, FAULT_METRICS_CLEAR_HALF))
		clear->slots = false;
	if (!clear->metrics && broken(m, FAULT_METRICS_ALWAYS_CLEAR))
		*clear = (struct metrics_clear){ true, true };
}

struct msr_result fault_rdpmc_metrics(struct model *m, struct msr_result result)
{
	if (broken(m, FAULT_METRICS_RDPMC_ABSENT))
		return (struct msr_result){ .status = MSR_GP };
	if (broken(m, FAULT_METRICS_RDPMC_SLOTS))
		result.value = m->counter[SLOTS_COUNTER].value;
	return result;
}

#define BACKEND_BOUND		3	/* of the four categories */
/* Fault metrics-not-frozen: so many slots pass from one read to the next. */
#define SLOTS_BETWEEN_READS	BIT(20)

u64 fault_metrics(struct model *m, u64 value)
{
	if (m->config.fault == FAULT_NONE)
		return value;
	if (broken(m, FAULT_METRICS_BYTE_MISSING))
		value &= ~PERF_METRICS_RETIRING;
	if (broken(m, FAULT_METRICS_REVERSED))
		value = __builtin_bswap32((u32)value);
	if (broken(m, FAULT_METRICS_MIDDLE_EXCHANGED))
		value = (value & ~BITS(8, 23)) | (value >> 8 & BITS(8, 15)) |
			(value << 8 & BITS(16, 23));
	if (!(m->global_status & IA32_PERF_GLOBAL_STATUS_CTR_FRZ))
		faults_of(m)->froze = false;
	if (faults_of(m)->froze && broken(m, FAULT_METRICS_NOT_FROZEN))
		m->metrics.slots[BACKEND_BOUND] += SLOTS_BETWEEN_READS;
	if (value && broken(m, FAULT_METRICS_NOISE))
		value |= 0x5aULL << 32;
	if (!value && broken(m, FAULT_METRICS_NOT_CLEARED))
		value = 0x20507f10;
	return fault_glc_metrics(m, value);
}

bool fault_metrics_run(const struct model *m, bool run)
{
	return run || m->config.fault == FAULT_METRICS_UNGATED;
}

/* ---- counters ---- */

bool fault_v5_pebs_enabled(struct model *m, unsigned counter)
{
	if (counter >= 4 && counter < FIRST_FIXED && broken(m, FAULT_PEBS_FIRST_FOUR))
		return false;
	if (counter == SLOTS_COUNTER && broken(m, FAULT_PEBS_NO_FIXED_3))
		return false;
	return counter < FIRST_FIXED || !broken(m, FAULT_PEBS_NO_FIXED);
}

/* true: neither the event's row nor its alias is precise. */
static bool is_imprecise(const struct model *m, unsigned i)
{
	const struct event_row *event;

	if (i >= FIRST_FIXED)
		return i != FIRST_FIXED;
	event = model_event(m, (u16)m->perfevtsel[i]);
	return !event || !(event->flags & EV_PEBS);
}

void fault_v5_setting(struct model *m, unsigned i, struct counter_setting *setting)
{
	if (setting->rule.pebs && is_imprecise(m, i) && broken(m, FAULT_PEBS_PRECISE_ONLY))
		setting->rule.pebs = false;
	if (setting->rule.pebs && setting->rule.flags & EV_LL &&
	    !(m->pebs_enable & BIT(IA32_PEBS_ENABLE_LL_EN_PMC_SHIFT + i)) &&
	    broken(m, FAULT_LATENCY_WANTS_BITS))
		setting->rule.pebs = false;
	if (i >= BAD_SPECULATION && i <= BAD_SPECULATION + 2 &&
	    broken(m, FAULT_SLOT_COUNTERS_COUNT_INSTRUCTIONS))
		setting->rule.kind = EK_INSTRUCTIONS;
	if (i > BAD_SPECULATION && i <= BAD_SPECULATION + 2 &&
	    broken(m, FAULT_FIXED_5_AND_6_EXCHANGED))
		setting->rule.kind = i == BAD_SPECULATION + 1 ? EK_SLOTS_RETIRING :
								EK_SLOTS_FRONTEND_BOUND;
	if (i == BAD_SPECULATION + 1 && broken(m, FAULT_FIXED_5_NO_PMI))
		setting->rule.interrupt = false;
	if (i != SLOTS_COUNTER)
		return;
	if (broken(m, FAULT_FIXED_3_INERT))
		setting->enabled = false;
	if (broken(m, FAULT_FIXED_3_NO_PMI))
		setting->rule.interrupt = false;
	if (setting->frozen && broken(m, FAULT_FREEZE_BUT_FIXED_3))
		setting->frozen = false;
}

const struct event_row *fault_v5_event(struct model *m, unsigned n, const struct event_row *event)
{
	static const struct event_row precise = {
		.code = EVENT_INST_RETIRED_PREC_DIST,
		.flags = EV_PEBS | EV_PDIR,
		.kind = EK_INSTRUCTIONS,
		.counters = BIT(1),
	};

	if (n == 1 && (u16)m->perfevtsel[n] == EVENT_INST_RETIRED_PREC_DIST &&
	    broken(m, FAULT_PDIR_ON_PMC1))
		return &precise;
	if (event && event->kind == EK_SLOTS && n >= FIRST_FOUR && n < FIRST_FIXED &&
	    broken(m, FAULT_SLOTS_FIRST_FOUR))
		return model_event(m, EVENT_UNHALTED_CORE_CYCLES);
	return event;
}

u64 fault_v5_fixed_control(struct model *m, unsigned n, u64 control)
{
	const u64 enable = IA32_FIXED_CTR_CTRL_EN0;

	if (n == 3 && control & enable && (control & enable) != enable &&
	    m->global_ctrl & IA32_PERF_GLOBAL_CTRL_EN_PERF_METRICS &&
	    broken(m, FAULT_SLOTS_AT_EACH_LEVEL))
		control |= enable;
	return control;
}

u64 fault_v5_increment(struct model *m, unsigned i, u64 add)
{
	if (i == BAD_SPECULATION + 1 && broken(m, FAULT_FRONT_END_SLOTS_STAND))
		return 0;
	if (i == BAD_SPECULATION + 2 && broken(m, FAULT_RETIRING_SLOTS_STAND))
		return 0;
	return i == SLOTS_COUNTER && broken(m, FAULT_SLOTS_HALVED) ? add / 2 : add;
}

void fault_v5_overflow(struct model *m, unsigned i, struct counter_overflow *overflow)
{
	if (i == BAD_SPECULATION + 1 && broken(m, FAULT_FIXED_5_STATUS))
		overflow->status = 0;
	if (i != SLOTS_COUNTER)
		return;
	if (model_metrics_run(m) && broken(m, FAULT_SLOTS_OVERFLOW_AS_METRICS))
		overflow->status |= IA32_PERF_GLOBAL_STATUS_OVF_PERF_METRICS;
	if (broken(m, FAULT_FIXED_3_STATUS))
		overflow->status = 0;
}

/* ---- the assist ---- */

u64 fault_v5_applicable(struct model *m, u64 counters)
{
	const u64 fixed = counters & IA32_PERF_GLOBAL_STATUS_OVF_FIXED_CTR;

	if (fixed && broken(m, FAULT_APPLICABLE_FIXED_AT_8))
		counters = (counters & ~fixed) |
			   fixed >> (IA32_PERF_GLOBAL_STATUS_OVF_FIXED_CTR_SHIFT - FIRST_FIXED);
	if (broken(m, FAULT_APPLICABLE_UNARMED))
		counters |= m->global_status & (IA32_PERF_GLOBAL_STATUS_OVF_PMC |
						IA32_PERF_GLOBAL_STATUS_OVF_FIXED_CTR);
	if (counters & (counters - 1) && broken(m, FAULT_APPLICABLE_ONE))
		counters &= -counters;
	return counters;
}

/* Sign-extend the lower half to a counter's 48 bits. */
static u64 sign_extended(u64 value)
{
	return (value & BITS(0, 31)) | (value & BIT(31) ? BITS(32, 47) : 0);
}

u64 fault_v5_reset(struct model *m, const struct assist_plan *plan, unsigned i, u64 value)
{
	if (i >= 4 && i < FIRST_FIXED && broken(m, FAULT_RESET_SLOTS_EXCHANGED))
		return plan->reset[i + 4];
	if (i >= FIRST_FIXED && broken(m, FAULT_RESET_FIXED_PMC0))
		return plan->area.pebs_counter0_reset;
	if (i >= FIRST_FIXED && broken(m, FAULT_RESET_FIXED_NEXT))
		return i == SLOTS_COUNTER || i + 1 == MODEL_MAX_COUNTERS ?
			       plan->area.pebs_fixed_counter0_reset :
			       plan->reset[i + 1];
	if (i >= FIRST_FIXED && value != sign_extended(value) &&
	    broken(m, FAULT_RESET_FIXED_32_BITS))
		return sign_extended(value);
	if (model_pebs_format(m) >= PEBS_FORMAT_MORE_RESETS)
		value = fault_lnc_reset(m, plan, i, value);
	if (!value && broken(m, FAULT_RESET_ZERO_KEPT))
		return m->counter[i].value;
	return value;
}

bool fault_v5_fits(struct model *m, const struct ds_area *ds)
{
	return model_format_is_adaptive(m) && ds->pebs_index >= ds->pebs_buffer_base &&
	       ds->pebs_index + ADAPTIVE_BASIC_BYTES <= ds->pebs_absolute_maximum &&
	       broken(m, FAULT_ROOM_OF_BASIC);
}
