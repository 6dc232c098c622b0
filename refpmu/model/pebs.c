/* SPDX-License-Identifier: MIT */
/*
 * The PEBS assist: "Processor Event Based Sampling (PEBS)", "DS Save Area and IA-32e Mode
 * Operation". Bounds, record, index, reload, status, threshold, in this order; none of it can be
 * seen from in between.
 *
 * Not handled: branch records.
 */
#include "refpmu/model/core.h"
#include "refpmu/model/record.h"

#define PAGE_SIZE	4096
#define LATE_RELOAD	16	/* instructions, of fault reload-late */

#define RECORD_32_BIT	0x28	/* bytes, of fault record-compatibility-28 */

static u64 ds_linear(struct model *m)
{
	const struct model *sibling = model_core_sibling(m);

	if (sibling && sibling->ds_area && broken(m, FAULT_RECORD_TO_SIBLING))
		return sibling->ds_area;
	return broken(m, FAULT_DS_AREA_FIRST) ? m->faults.first_ds_area : m->ds_area;
}

static unsigned index_offset(struct model *m)
{
	return broken(m, FAULT_RECORDS_TO_BTS) ? DS_OFFSET_bts_index : DS_OFFSET_pebs_index;
}

static void break_ds_area(struct model *m, struct ds_area *ds)
{
	u64 maximum = ds->pebs_absolute_maximum;

	if (broken(m, FAULT_RECORDS_TO_BTS)) {
		ds->pebs_buffer_base = ds->bts_buffer_base;
		ds->pebs_index = ds->bts_index;
		ds->pebs_absolute_maximum = ds->bts_absolute_maximum;
		ds->pebs_interrupt_threshold = ds->bts_interrupt_threshold;
	}
	if (broken(m, FAULT_DS_FIELDS_EXCHANGED)) {
		ds->pebs_absolute_maximum = ds->pebs_interrupt_threshold;
		ds->pebs_interrupt_threshold = maximum;
	}
}

/* As processors without DTES64 would read it: each field is four bytes. */
static void read_narrow(struct ds_area *ds, const u8 *bytes)
{
#define DS_FIELD(field, offset, title) ds->field = (u32)get64(bytes + (offset) / 2);
#include "spec/ds.def"
}

static bool read_ds_area(struct model *m, struct ds_area *ds)
{
	u8 bytes[DS_BYTES];

	if (!m->host->read(m->host->ctx, ds_linear(m), bytes, sizeof(bytes)))
		return false;
#define DS_FIELD(field, offset, title) ds->field = get64(bytes + (offset));
#include "spec/ds.def"
	if (m->faults.compatibility && broken(m, FAULT_DS_COMPATIBILITY_32))
		read_narrow(ds, bytes);
	break_ds_area(m, ds);
	return true;
}

static void write_index(struct model *m, u64 index)
{
	u8 bytes[sizeof(u64)];

	put64(bytes, index);
	/* The page was there a moment ago, when the area was read. */
	m->host->write(m->host->ctx, ds_linear(m) + index_offset(m), bytes, sizeof(bytes));
	if (broken(m, FAULT_BTS_INDEX_MOVES))
		m->host->write(m->host->ctx, ds_linear(m) + DS_OFFSET_bts_index, bytes,
			       sizeof(bytes));
}

/* Fault index-late: what the record before left to do, unless software has set the index since. */
static void write_late_index(struct model *m, struct ds_area *ds)
{
	if (m->faults.late_index.waits && ds->pebs_index == m->faults.late_index.seen) {
		ds->pebs_index = m->faults.late_index.value;
		write_index(m, ds->pebs_index);
	}
	m->faults.late_index.waits = false;
}

static void advance_index(struct model *m, u64 index)
{
	u64 advance = model_record_bytes(m);

	if (broken(m, FAULT_INDEX_NOT_ADVANCED))
		return;
	/* The format before EventingIP ended there. */
	if (broken(m, FAULT_RECORD_SIZE_C0))
		advance = FMT2_BYTES;
	if (m->faults.compatibility && broken(m, FAULT_RECORD_COMPATIBILITY_28))
		advance = RECORD_32_BIT;
	if (broken(m, FAULT_RECORD_SIZE_B0))
		advance = FMT2_OFFSET_eventing_ip;
	if (broken(m, FAULT_INDEX_DOUBLED) ||
	    (m->faults.assist_kind == EK_BRANCHES && broken(m, FAULT_BRANCH_INDEX_DOUBLED)))
		advance *= 2;
	if (broken(m, FAULT_INDEX_LATE)) {
		m->faults.late_index.waits = true;
		m->faults.late_index.seen = index;
		m->faults.late_index.value = index + advance;
		return;
	}
	write_index(m, index + advance);
}

/* Faults record-after-pmi, record-late: what was held back is written at last. */
void model_write_late_record(struct model *m)
{
	struct late_record *late = &m->faults.late_record;

	if (!late->waits)
		return;
	late->waits = false;
	m->host->write(m->host->ctx, late->linear, late->bytes, model_record_bytes(m));
	if (late->and_index)
		advance_index(m, late->linear);
}

static bool hold_back(struct model *m, u64 linear, const u8 *record, bool and_index)
{
	m->faults.late_record.waits = true;
	m->faults.late_record.and_index = and_index;
	m->faults.late_record.linear = linear;
	__builtin_memcpy(m->faults.late_record.bytes, record, MODEL_RECORD_BYTES);
	return true;
}

/* Where the record goes: to the index. */
static u64 place_of(struct model *m, const struct ds_area *ds)
{
	u64 size = model_record_bytes(m);

	if (broken(m, FAULT_RECORD_AT_BASE))
		return ds->pebs_buffer_base;
	if (broken(m, FAULT_RECORD_OUT_OF_ORDER)) {
		u64 n = (ds->pebs_index - ds->pebs_buffer_base) / size;

		if (n & 1)
			return ds->pebs_index - size;
		if (ds->pebs_absolute_maximum - ds->pebs_index >= 2 * size)
			return ds->pebs_index + size;
	}
	return ds->pebs_index;
}

/* Faults record-tail-lost, record-tail-wraps: the second page isn't reached. */
static bool write_torn(struct model *m, u64 place, const u8 *record)
{
	const struct model_host *host = m->host;
	size_t size = model_record_bytes(m), head = PAGE_SIZE - place % PAGE_SIZE;

	if (head > size)
		head = size;
	if (m->config.fault == FAULT_RECORD_TAIL_WRAPS)
		host->write(host->ctx, place & -(u64)PAGE_SIZE, record + head, size - head);
	return host->write(host->ctx, place, record, head);
}

/* The record. false: the buffer isn't mapped; nothing was written. */
static bool write_record(struct model *m, u64 place, const u8 *record)
{
	const struct model_host *host = m->host;
	unsigned size = model_record_bytes(m);

	if (broken(m, FAULT_RECORD_DROPPED))
		return true;
	if (broken(m, FAULT_RECORD_LATE))
		return hold_back(m, place, record, false);
	if (m->faults.crosses_page && (broken(m, FAULT_RECORD_TAIL_LOST) ||
				broken(m, FAULT_RECORD_TAIL_WRAPS)))
		return write_torn(m, place, record);
	if (!host->write(host->ctx, place, record, size))
		return false;
	if (broken(m, FAULT_WRITE_PAST_RECORD))
		host->write(host->ctx, place + size, record, sizeof(u64));
	if (broken(m, FAULT_RECORD_DOUBLED))
		host->write(host->ctx, place + size, record, size);
	return true;
}

/* Record and index. */
static bool write_both(struct model *m, const struct ds_area *ds, u64 place, const u8 *record,
		       bool threshold)
{
	bool index_first = broken(m, FAULT_INDEX_FIRST);

	if (threshold && broken(m, FAULT_RECORD_AFTER_PMI))
		return hold_back(m, ds->pebs_index, record, true);
	if (index_first)
		advance_index(m, ds->pebs_index);
	if (!write_record(m, place, record))
		return false;
	if (!index_first)
		advance_index(m, ds->pebs_index);
	return true;
}

/* Of the format before: format 1 has no EventingIP, format 0 ends with the registers. */
static u64 older_record_bytes(const struct model *m)
{
	return model_record_bytes(m) == FMT2_BYTES ? FMT1_BYTES : FMT1_OFFSET_status;
}

/* Does one more record fit between the index and the absolute maximum, behind the base? */
static bool in_bounds(struct model *m, const struct ds_area *ds)
{
	if (ds->pebs_index < ds->pebs_buffer_base && !broken(m, FAULT_BASE_UNCHECKED))
		return false;
	if (ds->pebs_index <= ds->pebs_absolute_maximum &&
	    ds->pebs_absolute_maximum - ds->pebs_index >= model_record_bytes(m))
		return true;
	if (ds->pebs_index < ds->pebs_absolute_maximum &&
	    ds->pebs_absolute_maximum - ds->pebs_index >= older_record_bytes(m) &&
	    broken(m, FAULT_OLDER_ROOM_SUFFICES))
		return true;
	return broken(m, FAULT_PAST_MAXIMUM);
}

/* The counters that overflowed and are enabled for PEBS: one assist is for all of them. */
static u64 covered_counters(struct model *m, const struct step *s, unsigned x)
{
	u64 enabled = 0, shown = m->global_status;

	if (m->latitude[LAT_ASSIST_SKIPS_NEW])
		shown &= ~s->wrapped;

	for (unsigned i = 0; i < DS_RESET_SLOTS; i++)
		if (model_pebs_enabled(m, i))
			enabled |= BIT(i);
	return BIT(x) | (enabled & shown);
}

static void reload(struct model *m, const struct ds_area *ds, u64 covered, unsigned x)
{
	const u64 reset[DS_RESET_SLOTS] = { ds->pebs_counter0_reset, ds->pebs_counter1_reset,
					    ds->pebs_counter2_reset, ds->pebs_counter3_reset };

	if (broken(m, FAULT_RELOAD_ALL))
		covered |= m->global_status;
	for (unsigned i = 0; i < DS_RESET_SLOTS; i++) {
		u64 value = reset[i];

		m->faults.at_counter = (u8)i;
		if (!(covered & BIT(i)) || broken(m, FAULT_NO_RELOAD))
			continue;
		if (i != x && broken(m, FAULT_RELOAD_OWN_ONLY))
			continue;
		if (broken(m, FAULT_RELOAD_NEXT_SLOT))
			value = reset[(i + 1) % DS_RESET_SLOTS];
		if (m->counter[i].rule.kind == EK_LOAD_LATENCY && broken(m, FAULT_LL_RELOAD_HALF))
			value = -((-value & model_width_mask(m)) / 2);
		if (broken(m, FAULT_RELOAD_LATE)) {
			m->faults.late_reload[i].left = LATE_RELOAD;
			m->faults.late_reload[i].value = value;
			continue;
		}
		model_set_counter(m, i, value);
	}
	m->faults.at_counter = (u8)x;
}

static bool threshold_reached(struct model *m, const struct ds_area *ds)
{
	u64 size = model_record_bytes(m), threshold = ds->pebs_interrupt_threshold;
	u64 index = ds->pebs_index + size;

	if (broken(m, FAULT_THRESHOLD_ALWAYS))
		return true;
	if (index + size > ds->pebs_absolute_maximum && broken(m, FAULT_LAST_RECORD_QUIET))
		return false;
	if (threshold == ds->pebs_buffer_base && broken(m, FAULT_THRESHOLD_AT_BASE_LOST))
		return false;
	if (broken(m, FAULT_THRESHOLD_LATE))
		return ds->pebs_index >= threshold;
	if (broken(m, FAULT_THRESHOLD_MINUS_1))
		return index + size >= threshold;
	if (broken(m, FAULT_THRESHOLD_EQUAL))
		return index == threshold;
	return index >= threshold;
}

/* The bit of IA32_PERF_GLOBAL_STATUS that a broken processor leaves out of records. */
static u64 missing_in_image(struct model *m, u64 status)
{
	static const struct { u16 fault; u8 bit; } bits[] = {
#define FAULT(token, name, requirements, sentence)
#define FAULT_IMAGE_BIT(token, bit, name, title) { FAULT_##token, bit },
#include "refpmu/faults/fault_sampling.def"
#undef FAULT
	};

	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
		if (status & BIT(bits[i].bit) && broken(m, (enum fault_id)bits[i].fault))
			return BIT(bits[i].bit);
	return status >> 32 && broken(m, FAULT_STATUS_IMAGE_LOW) ? BITS(32, 63) : 0;
}

static u64 status_image(struct model *m, u64 covered)
{
	u64 status = m->global_status;

	if (m->config.fault)
		status &= ~missing_in_image(m, status);

	if (broken(m, FAULT_STATUS_AFTER_ASSIST))
		status &= ~covered;
	if (broken(m, FAULT_STATUS_IMAGE_PEBS_ONLY))
		status &= m->pebs_enable & IA32_PEBS_ENABLE_PEBS_EN_PMC;
	return status;
}

static void update_status(struct model *m, u64 covered, bool threshold)
{
	if (broken(m, FAULT_ASSIST_CLEARS_ALL))
		covered = IA32_PERF_GLOBAL_STATUS_OVF_PMC | IA32_PERF_GLOBAL_STATUS_OVF_FIXED_CTR;
	if (!broken(m, FAULT_ASSIST_KEEPS_STATUS))
		m->global_status &= ~covered;
	if (threshold && !broken(m, FAULT_OVFBUF_DROPPED))
		m->global_status |= IA32_PERF_GLOBAL_STATUS_OVF_BUF;
}

/* The event is skipped: no record, no reload, no signal. */
static void skip_event(struct model *m, const struct ds_area *ds)
{
	m->faults.was_full = true;
	if (broken(m, FAULT_FULL_INTERRUPTS))
		model_request(m, ACTION_THRESHOLD_INT, m->faults.at_counter);
	if (ds->pebs_index >= ds->pebs_buffer_base && m->latitude[LAT_FULL_BUFFER_SIGNAL])
		m->global_status |= IA32_PERF_GLOBAL_STATUS_OVF_BUF;
	if (broken(m, FAULT_FULL_INDEX_ADVANCES))
		write_index(m, ds->pebs_index + model_record_bytes(m));
}

struct assist model_assist(struct model *m, struct step *s, unsigned x)
{
	u64 covered = covered_counters(m, s, x), place;
	struct assist result = { .covered = covered };
	u8 record[MODEL_RECORD_BYTES] = { 0 };
	struct ds_area ds;
	bool threshold;

	m->faults.compatibility = s->r->compatibility;
	m->faults.assist_kind = s->rule[x]->kind;
	model_write_late_record(m);
	if (!read_ds_area(m, &ds))
		return result;
	write_late_index(m, &ds);
	if (!in_bounds(m, &ds)) {
		skip_event(m, &ds);
		return result;
	}
	if (m->faults.was_full && broken(m, FAULT_FULL_STAYS_FULL))
		return result;

	m->faults.crosses_page = ds.pebs_index % PAGE_SIZE > PAGE_SIZE - model_record_bytes(m);
	place = place_of(m, &ds);
	threshold = threshold_reached(m, &ds);
	model_fill_record(m, s, x, status_image(m, covered), record);
	model_break_record(m, s, x, place, record);
	if (!write_both(m, &ds, place, record, threshold))
		return result;
	result.threshold = threshold;

	if (m->host->trace)
		m->host->trace(m->host->ctx, ACTION_ASSIST, x);
	reload(m, &ds, covered, x);
	update_status(m, covered, threshold);
	return result;
}
