/* SPDX-License-Identifier: MIT */
/*
 * MSR_PERF_METRICS: fixed counter 3's slots by category, each a fraction of FFH; their sum is FFH.
 * The pair counts while both are enabled. Sources: Linux, intel/perfmon, and "RDPMC" for the read
 * that clears.
 *
 * The use of slots is microarchitectural. In the model an instruction uses all slots of its cycles
 * except one in each cycle, which is front-end bound. The slots of a mispredicted branch count as
 * bad speculation. While an instruction waits for its loads, the slots are back-end bound. Level 2:
 * stores count as heavy operations, all bad speculation is misprediction, slots that a taken branch
 * leaves empty are fetch latency, and all waits for loads are memory bound.
 */
#include "refpmu/model/pmu.h"

enum { RETIRING, BAD_SPECULATION, FRONTEND_BOUND, BACKEND_BOUND };

#define WHOLE		0xffu
/* The metrics have fewer bits than a counter; the manual doesn't say how many slots they can
 * hold. */
#define MOST_SLOTS	BIT(40)

/* Slots of one cycle, as CPUID.0AH:EDX[19:16] and CPUID.(23H,0):ECX[7:0] report them. */
u64 model_slots(const struct model *m)
{
	return m->latitude[LAT_SLOTS];
}

/* IA32_PERF_GLOBAL_CTRL[35] enables fixed counter 3, and [48] enables the metrics. Linux enables
 * and disables them together. */
bool model_metrics_run(const struct model *m)
{
	return m->active & BIT(SLOTS_COUNTER) && model_has_metrics(m) &&
	       fault_metrics_run(m, m->global_ctrl & IA32_PERF_GLOBAL_CTRL_EN_PERF_METRICS);
}

static u64 all_slots(const struct model *m)
{
	u64 sum = 0;

	for (unsigned i = 0; i < MODEL_METRICS; i++)
		sum += m->metrics.slots[i];
	return sum;
}

/* Level 2 of category i is a part of it, so it isn't larger: Linux INTEL_PMU_METRIC. Ice Lake
 * has four metrics, and bytes 4 to 7 are 0 there. */
static u64 part_of(const struct model *m, unsigned i, unsigned whole, u64 sum)
{
	u64 part = m->metrics.parts[i] * WHOLE / sum;

	if (!(model_generation(m)->facilities & FAC_METRICS_LEVEL_2))
		return 0;
	return part < whole ? part : whole;
}

/* Events 8 to 11 of CPUID.(23H,3):EAX and fixed counters 4 to 6 of E-cores: intel/perfmon,
 * Linux. Slots are assigned as for the metrics. */
u64 model_topdown(const struct model *m, const struct model_retired *r, u64 cycles,
		  enum event_kind kind)
{
	const u64 base = m->latitude[LAT_CYCLES_PER_INSTRUCTION], slots = model_slots(m);

	if (kind == EK_SLOTS_BACKEND_BOUND)
		return (cycles - base) * slots;
	if (kind == EK_SLOTS_BAD_SPECULATION)
		return model_mispredicted(r) ? base * slots : 0;
	if (model_mispredicted(r))
		return 0;
	return kind == EK_SLOTS_RETIRING ? base * (slots - 1) : base;
}

/*
 * Bytes 0 to 3 are retiring, bad speculation, front-end bound and back-end bound; bytes 4 to 7
 * are a part of each: Linux INTEL_PMU_METRIC. The first four add up to about FFH: Linux
 * icl_update_topdown_event.
 */
u64 model_metrics_read(struct model *m)
{
	u64 sum = all_slots(m), value = 0, so_far = 0;
	unsigned before = 0;

	if (!sum)
		return fault_metrics(m, m->metrics.written);
	/* The bytes are rounded so that their sum is FFH. */
	for (unsigned i = 0; i < MODEL_METRICS; i++) {
		unsigned now;

		so_far += m->metrics.slots[i];
		now = (unsigned)(so_far * WHOLE / sum);
		value |= (u64)(now - before) << 8 * i;
		value |= part_of(m, i, now - before, sum)
			 << (8 * i + PERF_METRICS_HEAVY_OPERATIONS_SHIFT);
		before = now;
	}
	return fault_metrics(m, value);
}

/* Software begins with 0 in fixed counter 3 and in MSR_PERF_METRICS: Linux
 * icl_set_topdown_event_period. */
void model_metrics_write(struct model *m, u64 value)
{
	m->metrics.written = value;
	for (unsigned i = 0; i < MODEL_METRICS; i++)
		m->metrics.slots[i] = m->metrics.parts[i] = 0;
}

/* An overflow of the metrics sets IA32_PERF_GLOBAL_STATUS[48]: Linux
 * GLOBAL_STATUS_PERF_METRICS_OVF. It comes earlier than that of a 48-bit counter. */
void model_metrics_retired(struct model *m, const struct model_retired *r, u64 cycles, u64 base)
{
	const struct model_rule *rule = &m->counter[SLOTS_COUNTER].rule;
	u64 slots = model_slots(m);

	if (!(r->cpl ? rule->usr : rule->os))
		return;
	if (model_mispredicted(r)) {
		m->metrics.slots[BAD_SPECULATION] += base * slots;
		m->metrics.parts[BAD_SPECULATION] += base * slots;
	} else {
		m->metrics.slots[RETIRING] += base * (slots - 1);
		m->metrics.parts[RETIRING] += r->stores ? base * (slots - 1) : 0;
		m->metrics.slots[FRONTEND_BOUND] += base;
		m->metrics.parts[FRONTEND_BOUND] += r->branch != BRANCH_NONE ? base : 0;
	}
	m->metrics.slots[BACKEND_BOUND] += (cycles - base) * slots;
	m->metrics.parts[BACKEND_BOUND] += (cycles - base) * slots;
	if (all_slots(m) < MOST_SLOTS)
		return;
	model_metrics_write(m, 0);
	m->global_status |= IA32_PERF_GLOBAL_STATUS_OVF_PERF_METRICS;
}
