/* SPDX-License-Identifier: MIT */
/* Faults of Golden Cove: precise distribution, two latencies, sampled stores, level 2 metrics. */
#include "refpmu/faults/goldencove/goldencove.h"
#include "refpmu/faults/broken.h"

/* IA32_PMC6 and IA32_PMC7 of a P-core: CPUID.0AH is the same on all cores, and doesn't enumerate
 * them. */
#define GP_BEYOND_COMMON_LEAF	BITS(6, 7)
#define INSTRUCTIONS_LATE 2
#define ANOTHER_LINE	0x40

/* Cores whose fixed counter 3 is missing between others; cores whose counters are those of one
 * type. */
#define WITH_A_HOLE	(GENS_SKYMONT | GENS_CLEARWATERFOREST)
#define SMALLER_CORES	GENS_ONE_THREAD

static bool is_one_of(const struct model *m, u32 generations)
{
	return BIT(m->config.generation) & generations;
}

/* Does a broken core lack this event on this counter? */
static bool is_lost(struct model *m, unsigned n, const struct event_row *event)
{
	switch (event->kind) {
	case EK_LOAD_LATENCY:
		return n && is_one_of(m, SMALLER_CORES) && broken(m, FAULT_LATENCY_PMC0_ONLY);
	case EK_STORE_SAMPLE:
		return n && broken(m, FAULT_STORE_SAMPLE_PMC0_ONLY);
	case EK_FRONTEND:
		return event->code == EVENT_FRONTEND_RETIRED_RWC &&
		       broken(m, FAULT_FRONTEND_OLD_UMASK);
	default:
		return (event->code == EVENT_DTLB_LOAD_MISSES_WALK_COMPLETED_GLC ||
			event->code == EVENT_DTLB_STORE_MISSES_WALK_COMPLETED_GLC) &&
		       event->flags & EV_WALK && broken(m, FAULT_WALKS_OLD_CODES);
	}
}

const struct event_row *fault_glc_event(struct model *m, unsigned n, const struct event_row *event)
{
	if (event && n < FIRST_FIXED && is_lost(m, n, event))
		return NULL;
	if (event && n >= 4 && n < FIRST_FIXED && broken(m, FAULT_COUNTERS_FROM_4_INERT))
		return NULL;
	if (event && event->kind == EK_LOAD_LATENCY && n >= 4 && n < FIRST_FIXED &&
	    broken(m, FAULT_LATENCY_FIRST_FOUR))
		return NULL;
	return event;
}

/* Did software preset the counter to the smallest period that has PDist? */
static bool is_least(const struct model *m, unsigned i)
{
	const u64 events = 0 - faults_of(m)->counter_written[i];

	return (events & model_width_mask(m, i)) == PDIST_LEAST_PERIOD;
}

void fault_glc_overflow(struct model *m, unsigned i, struct counter_overflow *overflow)
{
	if (!(model_generation(m)->facilities & FAC_PDIST) || !overflow->arms)
		return;
	if (i == 1 && overflow->due && model_generation(m)->facilities & FAC_PDIST_1 &&
	    broken(m, FAULT_PDIST_PMC1_NEXT))
		overflow->due = false;
	if (i == FIRST_FIXED && !m->counter[i].near && broken(m, FAULT_PDIST_FIXED_LATE)) {
		overflow->due = false;
		overflow->shadow = INSTRUCTIONS_LATE;
	}
	if (overflow->due && model_has_baseline(m) && !m->counter[i].rule.adaptive &&
	    broken(m, FAULT_PDIST_ADAPTIVE_ONLY)) {
		overflow->due = false;
		overflow->shadow = INSTRUCTIONS_LATE;
	}
	if (!i && overflow->due && is_least(m, i) && broken(m, FAULT_PDIST_FROM_257))
		overflow->due = false;
	if (i < FIRST_FIXED && faults_of(m)->precise & BIT(i) && overflow->due &&
	    broken(m, FAULT_PDIST_FIRST_RECORD))
		overflow->due = false;
	if (i == 1 && overflow->due && m->pebs_enable & BIT(0) &&
	    broken(m, FAULT_PDIST_PMC1_LOST_BESIDE_PMC0))
		overflow->due = false;
	faults_of(m)->precise |= BIT(i);
	if (!i && overflow->due && broken(m, FAULT_PDIST_PMC0_NEXT))
		overflow->due = false;
	if (!i && overflow->due && m->counter[i].rule.interrupt &&
	    broken(m, FAULT_PDIST_WITHOUT_INT))
		overflow->due = false;
	if (!i && overflow->due && m->pebs_enable & ~1ULL && broken(m, FAULT_PDIST_PMC0_ALONE))
		overflow->due = false;
	if (i == FIRST_FIXED && (u32)m->pebs_enable &&
	    broken(m, FAULT_PDIST_FIXED_ALONE)) {
		overflow->due = false;
		overflow->shadow = INSTRUCTIONS_LATE;
	}
}

u64 fault_glc_latency(struct model *m, bool locked, u64 value)
{
	const u64 instruction = value & ADAPTIVE_LATENCY_INSTRUCTION;
	const u64 cache = value & ADAPTIVE_LATENCY_CACHE;

	if (!(model_generation(m)->facilities & FAC_LL_SPLIT))
		return value;
	if (instruction >> 8 && broken(m, FAULT_LATENCY_INSTRUCTION_8_BITS))
		return value & ~BITS(8, 15);
	if (broken(m, FAULT_LATENCY_ONE_FIELD))
		return instruction;
	if (broken(m, FAULT_LATENCIES_EXCHANGED) ||
	    (locked && broken(m, FAULT_LATENCIES_EXCHANGED_IF_LOCKED)))
		return cache >> ADAPTIVE_LATENCY_CACHE_SHIFT |
		       instruction << ADAPTIVE_LATENCY_CACHE_SHIFT;
	return value;
}

void fault_glc_store(struct model *m, enum event_kind kind, struct record *record)
{
	if (kind == EK_STORE_SAMPLE && broken(m, FAULT_STORE_SAMPLE_LOADS))
		record->data_linear_address += ANOTHER_LINE;
}

u64 fault_glc_metrics(struct model *m, u64 value)
{
	const u64 first = value & BITS(0, 31), second = value >> 32;

	if (!(model_generation(m)->facilities & FAC_METRICS_LEVEL_2) || !value)
		return value;
	if (broken(m, FAULT_METRICS_LEVEL_2_NEXT))
		return first | (second >> 8 | (second & 0xff) << 24) << 32;
	if (broken(m, FAULT_METRICS_LEVEL_2_REST))
		return first | ~first << 32;
	if (broken(m, FAULT_METRICS_NO_MISPREDICTS))
		return value & ~BITS(40, 47);
	if (broken(m, FAULT_METRICS_NO_FETCH_LATENCY))
		return value & ~BITS(48, 55);
	return broken(m, FAULT_METRICS_NO_MEMORY_BOUND) ? value & ~BITS(56, 63) : value;
}

void fault_glc_wrmsr(struct model *m, const struct msr_ref *p, struct msr_write *write)
{
	if (p->reg == MODEL_REG_PEBS_FRONTEND && write->value & PEBS_FRONTEND_EVTSEL_MS &&
	    broken(m, FAULT_FRONTEND_BIT_3_DROPPED))
		write->value &= ~PEBS_FRONTEND_EVTSEL_MS;
	if (p->reg == MODEL_REG_PERF_METRICS && write->taken &&
	    broken(m, FAULT_METRICS_PARTS_KEPT)) {
		write->taken = false;
		m->metrics.written = write->value;
		for (unsigned i = 0; i < MODEL_METRICS; i++)
			m->metrics.slots[i] = 0;
	}
}

enum {
#define CPUID_FIELD(name, leaf, subleaf, reg, lo, hi, source) \
	name##_LEAF = (int)(leaf), name##_LO = (lo),
#include "spec/cpuid.def"
};

#define LATER		0x8000u
#define NO_TYPE		0x30u

u64 fault_retire_latency(struct model *m, const struct retire_ctx *s, u64 cycles)
{
	if (!(s->due & BITS(0, 3)) && broken(m, FAULT_RETIRE_LATENCY_FIRST_FOUR))
		return 0;
	if (s->cycles > cycles && broken(m, FAULT_RETIRE_LATENCY_WRAPS))
		return (u16)s->cycles;
	if (broken(m, FAULT_RETIRE_LATENCY_TSC))
		return LATER | (m->cycles & (LATER - 1));
	return broken(m, FAULT_RETIRE_LATENCY_CONSTANT) ? 1 : cycles;
}

void fault_cpuid_core(struct model *m, u32 leaf, u32 regs[4])
{
	if (!(BIT(m->config.generation) & GENS_ONE_THREAD))
		return;
	if (leaf == HYBRID_LEAF && broken(m, FAULT_HYBRID_ON_P_CORES))
		regs[3] &= ~(u32)BIT(HYBRID_LO);
	if (leaf == CORE_TYPE_LEAF && broken(m, FAULT_CORE_TYPE_OF_THE_FIRST))
		regs[0] = CORE_TYPE_CORE << CORE_TYPE_LO | (regs[0] & 1);
	if (leaf == CORE_TYPE_LEAF && broken(m, FAULT_CORE_TYPE_UNKNOWN))
		regs[0] = NO_TYPE << CORE_TYPE_LO | (regs[0] & 1);
}

/* The PEBS counters of an E-core, and of the P-core in the same package. */
#define P_CORE_PEBS	(BITS(0, 7) | BITS(32, 35))

u64 fault_glc_capabilities(struct model *m, u64 value)
{
	if (is_one_of(m, SMALLER_CORES) && broken(m, FAULT_E_CORE_TELLS_METRICS))
		value |= IA32_PERF_CAPABILITIES_PERF_METRICS;
	return value;
}

/* Bits of counters that don't exist. */
static u64 absent_bits(struct model *m, const struct msr_ref *p)
{
	const bool hole = is_one_of(m, WITH_A_HOLE);

	switch (p->reg) {
	case MODEL_REG_FIXED_CTR_CTRL:
		return hole && broken(m, FAULT_HOLE_FIXED_CTRL) ?
			       (IA32_FIXED_CTR_CTRL_EN0 | IA32_FIXED_CTR_CTRL_PMI0)
				       << 3 * IA32_FIXED_CTR_CTRL_EN1_SHIFT :
			       0;
	case MODEL_REG_GLOBAL_CTRL:
		if (is_one_of(m, SMALLER_CORES) && broken(m, FAULT_E_CORE_METRICS_ENABLE))
			return IA32_PERF_GLOBAL_CTRL_EN_PERF_METRICS;
		return hole && broken(m, FAULT_HOLE_GLOBAL_CTRL) ? model_global_bit(SLOTS_COUNTER) :
								   0;
	case MODEL_REG_PEBS_ENABLE:
		return hole && model_has_baseline(m) && broken(m, FAULT_HOLE_PEBS_ENABLE) ?
			       model_global_bit(SLOTS_COUNTER) :
			       0;
	case MODEL_REG_PERFEVTSEL:
		return !model_has_tx(m) && broken(m, FAULT_IN_TX_WITHOUT_TSX) ?
			       IA32_PERFEVTSEL_IN_TX | IA32_PERFEVTSEL_IN_TXCP :
			       0;
	default:
		return 0;
	}
}

u64 fault_glc_bits(struct model *m, const struct msr_ref *p, u64 bits)
{
	bits |= absent_bits(m, p);
	if (p->reg == MODEL_REG_GLOBAL_CTRL && is_one_of(m, GENS_ALDERLAKE) &&
	    broken(m, FAULT_P_CORE_AS_TOLD))
		bits &= ~GP_BEYOND_COMMON_LEAF;
	if (p->reg == MODEL_REG_PEBS_ENABLE && bits && BIT(m->config.generation) & GENS_E_CORES)
		return broken(m, FAULT_PEBS_ENABLE_OF_P_CORE) ? bits | P_CORE_PEBS : bits;
	if (p->reg != MODEL_REG_PEBS_FRONTEND || !(bits & PEBS_FRONTEND_EVTSEL_MS))
		return bits;
	return broken(m, FAULT_FRONTEND_BIT_5_TAKEN) ? bits | BIT(5) : bits;
}
