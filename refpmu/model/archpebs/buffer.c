/* SPDX-License-Identifier: MIT */
/*
 * The buffer of architectural PEBS: physical memory at IA32_PEBS_BASE, filled from
 * IA32_PEBS_INDEX.WR on. Linux reads the number of written bytes from WR, and writes 0 to begin
 * again. No source describes the end of the buffer. In the model a record that doesn't fit is
 * dropped and sets FULL; while FULL is set, no record is written.
 */
#include "refpmu/model/archpebs/record.h"

/* IA32_PMC_x_CFG_C[63], PEBS_EN, of a counter that CPUID.(23H,5):EAX or ECX has: Linux
 * intel_pmu_enable_event_ext. */
bool model_arch_pebs_enabled(struct model *m, unsigned counter)
{
	bool enabled = model_arch_pebs_counters(m) & BIT(counter) &&
		       m->cfg_c[counter] & IA32_PMC_GP0_CFG_C_PEBS_EN;

	/* No source says whether EN enables records or only the threshold: latitude. */
	if (!(m->pebs_index & IA32_PEBS_INDEX_EN) && !m->latitude[LAT_PEBS_INDEX_EN])
		enabled = false;
	return fault_arch_enabled(m, counter, enabled);
}

/* IA32_PEBS_INDEX[26:4], WR, in units of 16 bytes: Linux union arch_pebs_index. */
static u64 write_offset(u64 index)
{
	return (index & IA32_PEBS_INDEX_WR) >> IA32_PEBS_INDEX_WR_SHIFT;
}

/* When WR reaches THRESH, IA32_PERF_GLOBAL_STATUS[54] is set and an interrupt is raised: Linux
 * handle_pmi_common. Both fields have the same unit: union arch_pebs_index. */
static bool reaches_threshold(u64 index)
{
	u64 threshold = (index & IA32_PEBS_INDEX_THRESH) >> IA32_PEBS_INDEX_THRESH_SHIFT;

	return index & IA32_PEBS_INDEX_EN && write_offset(index) >= threshold;
}

/* IA32_PEBS_BASE: [51:12] is the physical address, and the low bits are n for a buffer of 1000H
 * << n bytes. SDM volume 4, Linux intel_pmu_drain_arch_pebs. */
static void place(struct model *m, struct arch_plan *plan)
{
	const u64 size = (u64)ARCH_PEBS_LEAST_BUFFER << (m->pebs_base & IA32_PEBS_BASE_SIZE);

	plan->begin = m->pebs_base & IA32_PEBS_BASE_BASE;
	plan->end = plan->begin + size;
	plan->at = plan->begin + write_offset(m->pebs_index) * ARCH_PEBS_UNIT;
}

/* No source: see above. The name of IA32_PEBS_INDEX[31] is FULL. */
static void drop(struct model *m, struct arch_plan *plan)
{
	plan->index = m->pebs_index | IA32_PEBS_INDEX_FULL;
	/* Only once: the interrupt has already reported it. */
	plan->threshold = !plan->full && m->pebs_index & IA32_PEBS_INDEX_EN;
	plan->set = plan->threshold ? IA32_PERF_GLOBAL_STATUS_ARCH_PEBS_THRESHOLD : 0;
}

/*
 * WR grows by the size of the record in units of 16 bytes: Linux intel_pmu_drain_arch_pebs. The
 * counter is loaded with its CFG_C[31:0]: intel_pmu_enable_event_ext. Its overflow bit is cleared
 * as for records of the DS area, "PEBS Record Format".
 */
static void plan_record(struct model *m, unsigned x, struct arch_plan *plan)
{
	const u64 wr = write_offset(m->pebs_index) + plan->size / ARCH_PEBS_UNIT;

	plan->index = (m->pebs_index & ~IA32_PEBS_INDEX_WR) |
		      (wr << IA32_PEBS_INDEX_WR_SHIFT & IA32_PEBS_INDEX_WR);
	plan->reloads = true;
	plan->reload = model_reload_value(m, x);
	plan->cleared = model_global_bit(x);
	plan->threshold = reaches_threshold(plan->index);
	plan->set = plan->threshold ? IA32_PERF_GLOBAL_STATUS_ARCH_PEBS_THRESHOLD : 0;
}

/* The buffer is where IA32_PEBS_BASE says in physical memory: Linux writes virt_to_phys of it. */
static bool write_bytes(struct model *m, const struct arch_plan *plan)
{
	if (!m->host->write_physical || plan->linear)
		return m->host->write(m->host->ctx, plan->at, plan->bytes, plan->size);
	return m->host->write_physical(m->host->ctx, plan->at, plan->bytes, plan->size);
}

/* Each counter has its own CFG_C, and its records have the groups of that: Linux. So a record is
 * for one counter. */
struct assist model_arch_assist(struct model *m, struct retire_ctx *s, unsigned x)
{
	struct arch_plan plan = { .full = m->pebs_index & IA32_PEBS_INDEX_FULL,
				  .covered = BIT(x) };
	struct assist result = { 0 };

	model_arch_layout(m, x, &plan.layout);
	plan.size = model_arch_fill(m, s, x, &plan.layout, plan.bytes);
	place(m, &plan);
	plan.fits = !plan.full && plan.at + plan.size <= plan.end;
	fault_arch_fits(m, &plan);
	if (plan.fits)
		plan_record(m, x, &plan);
	else
		drop(m, &plan);
	fault_arch_plan(m, x, &plan);
	result.covered = plan.covered;
	if (plan.fits && !write_bytes(m, &plan))
		return result;
	if (plan.fits && m->host->trace)
		m->host->trace(m->host->ctx, ACTION_ASSIST, x);
	m->pebs_index = plan.index;
	if (plan.reloads)
		model_preset_counter(m, x, plan.reload);
	m->global_status = (m->global_status & ~plan.cleared) | plan.set;
	result.threshold = plan.threshold;
	return result;
}
