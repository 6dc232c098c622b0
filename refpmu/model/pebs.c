/* SPDX-License-Identifier: MIT */
/*
 * The PEBS assist: "Processor Event Based Sampling (PEBS)", "DS Save Area and IA-32e Mode
 * Operation". Bounds, record, index, reload, status, threshold, in this order; no intermediate
 * state is visible.
 *
 * Not handled: branch records.
 */
#include "refpmu/model/record.h"

/*
 * "64 Bit Format of the DS Save Area": the buffer management area, at the linear address in
 * IA32_DS_AREA. Figure 18-22 shows the reset values of IA32_PMC0 to IA32_PMC3. Those of further
 * counters depend on the format: Linux ds.c.
 */
static bool read_ds_area(struct model *m, u64 linear, struct ds_area *area)
{
	const bool more = model_pebs_format(m) >= PEBS_FORMAT_MORE_RESETS;
	u8 bytes[DS_5_BYTES] = { 0 };
	u32 size = more ? DS_5_BYTES : model_format_is_adaptive(m) ? DS_ADAPTIVE_BYTES : DS_BYTES;

	if (!m->host->read(m->host->ctx, linear, bytes, size))
		return false;
#define DS_FIELD(field, offset, title) area->field = get64(bytes + (offset));
#include "spec/ds.def"
#define ADAPTIVE_DS(field, offset, title, source) area->field = get64(bytes + (offset));
#include "spec/adaptive.def"
#define ADAPTIVE_DS_5(field, offset, title, source) \
	area->field = more ? get64(bytes + (offset)) : area->field;
#include "spec/adaptive.def"
#define ADAPTIVE_DS_MORE(field, offset, title, source) \
	area->field = more ? get64(bytes + (offset)) : 0;
#include "spec/adaptive.def"
	return true;
}

/* PEBS index: "linear address of the next byte of the PEBS buffer to be written to"; nothing is
 * written beyond the absolute maximum. */
static bool in_bounds(const struct ds_area *area, u64 size)
{
	return area->pebs_index >= area->pebs_buffer_base &&
	       area->pebs_index <= area->pebs_absolute_maximum &&
	       area->pebs_absolute_maximum - area->pebs_index >= size;
}

/* The counters that overflowed and are enabled in IA32_PEBS_ENABLE: one assist is for all of
 * them. docs/READINGS.md, "One assist for several counters". */
static u64 covered_counters(struct model *m, const struct retire_ctx *s, unsigned x)
{
	u64 covered = BIT(x), skipped = m->latitude[LAT_ASSIST_SKIPS_NEW] ? s->wrapped : 0;

	for (unsigned i = 0; i < MODEL_MAX_COUNTERS; i++)
		if (!(skipped & BIT(i)) && m->global_status & model_global_bit(i) &&
		    model_pebs_enabled(m, i))
			covered |= BIT(i);
	return covered;
}

/*
 * When the index equals the absolute maximum "no signal is generated", and nothing is written.
 * Some processors set OvfBuf nevertheless, as "Global Counter Control Facilities" of Sandy Bridge
 * says: latitude full-buffer-signal.
 */
static void skip_event(struct model *m, const struct assist_plan *plan)
{
	if (plan->area.pebs_index >= plan->area.pebs_buffer_base &&
	    m->latitude[LAT_FULL_BUFFER_SIGNAL])
		m->global_status |= IA32_PERF_GLOBAL_STATUS_OVF_BUF;
	fault_buffer_full(m, plan);
}

/*
 * The record goes to the index, and the index moves past it. The reset values are loaded into the
 * counters and their overflow bits are cleared; the overflow bits of other counters "remain
 * unaffected". OvfBuf is set when the index "matches/exceeds the interrupt threshold".
 */
static void plan_record(struct model *m, struct assist_plan *plan)
{
	const struct ds_area *area = &plan->area;
	const u64 reset[MODEL_MAX_COUNTERS] = {
		area->pebs_counter0_reset, area->pebs_counter1_reset,
		area->pebs_counter2_reset, area->pebs_counter3_reset,
		area->pebs_counter4_reset, area->pebs_counter5_reset,
		area->pebs_counter6_reset, area->pebs_counter7_reset,
		area->pebs_counter8_reset, area->pebs_counter9_reset,
		[FIRST_FIXED] = area->pebs_fixed_counter0_reset,
		[FIRST_FIXED + 1] = area->pebs_fixed_counter1_reset,
		[FIRST_FIXED + 2] = area->pebs_fixed_counter2_reset,
		[FIRST_FIXED + 3] = area->pebs_fixed_counter3_reset,
		[FIRST_FIXED + 4] = area->pebs_fixed_counter4_reset,
		[FIRST_FIXED + 5] = area->pebs_fixed_counter5_reset,
		[FIRST_FIXED + 6] = area->pebs_fixed_counter6_reset,
	};

	plan->record = area->pebs_index;
	plan->size = model_record_bytes(m);
	plan->index_at = plan->ds + DS_OFFSET_pebs_index;
	plan->index = area->pebs_index + plan->size;
	plan->advances = true;
	plan->reloaded = plan->covered;
	plan->cleared = model_status_bits(plan->covered);
	__builtin_memcpy(plan->reset, reset, sizeof(plan->reset));
	plan->threshold = plan->index >= area->pebs_interrupt_threshold;
	plan->set = plan->threshold ? IA32_PERF_GLOBAL_STATUS_OVF_BUF : 0;
}

static void write_index(struct model *m, const struct assist_plan *plan)
{
	u8 bytes[sizeof(u64)];

	put64(bytes, plan->index);
	/* The page was mapped when the area was read. */
	if (plan->advances)
		m->host->write(m->host->ctx, plan->index_at, bytes, sizeof(bytes));
}

/* Write the record and the index: the threshold interrupt "is generated after the PEBS assist
 * completes". false: the buffer isn't mapped, and nothing was written. */
static bool write_record(struct model *m, const struct assist_plan *plan)
{
	if (plan->index_first)
		write_index(m, plan);
	if (plan->size && !m->host->write(m->host->ctx, plan->record, plan->bytes, plan->size))
		return false;
	if (!plan->index_first)
		write_index(m, plan);
	return true;
}

/* The counters take the values that are "specified in PEBS CounterX Reset"; others aren't
 * changed. */
static void reload(struct model *m, const struct assist_plan *plan)
{
	for (unsigned i = 0; i < MODEL_MAX_COUNTERS; i++)
		if (plan->reloaded & BIT(i))
			model_preset_counter(m, i, plan->reset[i]);
}

/*
 * "Processor Event Based Sampling (PEBS)": one record for the covered counters. Without room the
 * event is skipped: docs/READINGS.md, "A full buffer". "The PEBS threshold interrupt is triggered
 * by the PEBS assist, and is by definition prioritized lower than the PEBS assist."
 */
struct assist model_assist(struct model *m, struct retire_ctx *s, unsigned x)
{
	struct assist_plan plan = { .ds = m->ds_area, .covered = covered_counters(m, s, x) };
	struct assist result = { .covered = plan.covered };

	fault_assist_begins(m, &plan);
	if (!read_ds_area(m, plan.ds, &plan.area))
		return result;
	fault_ds_area(m, s, &plan);
	if (model_format_is_adaptive(m)) {
		model_adaptive_layout(m, x, plan.covered, &plan.layout);
		m->record_bytes = (u16)model_adaptive_bytes(&plan.layout);
	}
	plan.fits = in_bounds(&plan.area, model_record_bytes(m));
	fault_bounds(m, &plan);
	if (!plan.fits) {
		skip_event(m, &plan);
		return result;
	}
	plan_record(m, &plan);
	model_fill_record(m, s, x, fault_status_image(m, plan.covered, m->global_status),
			  fault_applicable(m, model_status_bits(plan.covered)), &plan.layout,
			  plan.bytes);
	fault_assist(m, s, x, &plan);
	if (!write_record(m, &plan))
		return result;
	fault_record_written(m, &plan);
	if (m->host->trace)
		m->host->trace(m->host->ctx, ACTION_ASSIST, x);
	reload(m, &plan);
	m->global_status &= ~plan.cleared;
	m->global_status |= plan.set;
	result.threshold = plan.threshold;
	return result;
}
