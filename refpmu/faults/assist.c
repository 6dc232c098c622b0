/* SPDX-License-Identifier: MIT */
/* Faults of refpmu/model/pebs.c: the address of the DS area, the stores of an assist, and their
 * time. */
#include "refpmu/faults/broken.h"
#include "refpmu/faults/icelake/version5.h"
#include "refpmu/faults/kvm/kvm.h"
#include "refpmu/faults/record.h"
#include "refpmu/model/core.h"

#define STATUS_FIXED_SHIFT	32	/* of IA32_PERF_GLOBAL_STATUS */
#define PAGE_SIZE	4096
#define CACHE_LINE	64
#define CARRY		0x10000	/* of fault index-loses-carry */
#define LATE_RELOAD	16	/* instructions, of fault reload-late */
#define LARGE_RECORD	1024	/* bytes, of fault large-record-threshold-late */
#define RECORD_32_BIT	0x28	/* bytes, of fault record-compatibility-28 */

/* ---- the DS area ---- */

static u64 ds_linear(struct model *m)
{
	const struct model *sibling = model_core_sibling(m);

	if (sibling && sibling->ds_area && broken(m, FAULT_RECORD_TO_SIBLING))
		return sibling->ds_area;
	return broken(m, FAULT_DS_AREA_FIRST) ? faults_of(m)->first_ds_area : m->ds_area;
}

static void write_index(struct model *m, u64 ds, u64 index)
{
	u8 bytes[sizeof(u64)];

	put64(bytes, index);
	m->host->write(m->host->ctx, ds + DS_OFFSET_pebs_index, bytes, sizeof(bytes));
}

/* Faults record-after-pmi and record-late: write the delayed record. */
void fault_late_record(struct model *m)
{
	struct late_record *late = &faults_of(m)->late_record;

	if (!late->waits)
		return;
	late->waits = false;
	m->host->write(m->host->ctx, late->linear, late->bytes, model_record_bytes(m));
	if (late->and_index)
		write_index(m, ds_linear(m), late->linear + model_record_bytes(m));
}

void fault_assist_begins(struct model *m, struct assist_plan *plan)
{
	if (m->config.fault == FAULT_NONE)
		return;
	faults_of(m)->crosses_page = false;
	fault_late_record(m);
	plan->ds = ds_linear(m);
	if (plan->ds >> 48 && broken(m, FAULT_DS_AREA_48))
		plan->ds &= BITS(0, 47);
	if (plan->ds >> 32 && broken(m, FAULT_DS_AREA_32))
		plan->ds = (u32)plan->ds;
	if (plan->ds % CACHE_LINE && broken(m, FAULT_DS_AREA_AT_LINE))
		plan->ds -= plan->ds % CACHE_LINE;
}

/* Fault ds-area-one-page: so many bytes of the area are in its first page. */
static void read_one_page(struct ds_area *ds, u64 bytes)
{
#define DS_FIELD(field, offset, title) \
	if ((offset) >= bytes) \
		ds->field = 0;
#include "spec/ds.def"
}

/* Read the area as a processor without DTES64 does: each field has four bytes. */
static void read_narrow(struct model *m, struct assist_plan *plan)
{
	u8 bytes[DS_BYTES];

	if (!m->host->read(m->host->ctx, plan->ds, bytes, sizeof(bytes)))
		return;
#define DS_FIELD(field, offset, title) plan->area.field = (u32)get64(bytes + (offset) / 2);
#include "spec/ds.def"
}

/* Fault index-late: write the previous record's index, unless software has set the index since. */
static void write_late_index(struct model *m, struct assist_plan *plan)
{
	if (faults_of(m)->late_index.waits &&
	    plan->area.pebs_index == faults_of(m)->late_index.seen) {
		plan->area.pebs_index = faults_of(m)->late_index.value;
		write_index(m, plan->ds, plan->area.pebs_index);
	}
	faults_of(m)->late_index.waits = false;
}

/* The faults of a processor that keeps old fields of the DS area. */
struct keeping {
	enum fault_id reset, threshold, maximum;
};

/* Use the fields of the first assist until a register is written. */
static void keep_fields(struct model *m, struct kept_fields *kept, struct keeping by,
			struct ds_area *ds)
{
	u64 *const reset[] = {
		&ds->pebs_counter0_reset, &ds->pebs_counter1_reset, &ds->pebs_counter2_reset,
		&ds->pebs_counter3_reset, &ds->pebs_counter4_reset, &ds->pebs_counter5_reset,
		&ds->pebs_counter6_reset, &ds->pebs_counter7_reset, &ds->pebs_fixed_counter0_reset,
		&ds->pebs_fixed_counter1_reset, &ds->pebs_fixed_counter2_reset,
		&ds->pebs_fixed_counter3_reset,
	};
	bool first = !kept->taken;

	if (first) {
		kept->taken = true;
		kept->threshold = ds->pebs_interrupt_threshold;
		kept->maximum = ds->pebs_absolute_maximum;
	}
	for (unsigned i = 0; i < sizeof(reset) / sizeof(reset[0]); i++) {
		if (first)
			kept->reset[i] = *reset[i];
		if (kept->reset[i] != *reset[i] && broken(m, by.reset))
			*reset[i] = kept->reset[i];
	}
	if (kept->threshold != ds->pebs_interrupt_threshold && broken(m, by.threshold))
		ds->pebs_interrupt_threshold = kept->threshold;
	if (kept->maximum != ds->pebs_absolute_maximum && broken(m, by.maximum))
		ds->pebs_absolute_maximum = kept->maximum;
}

void fault_ds_area(struct model *m, const struct retire_ctx *s, struct assist_plan *plan)
{
	struct ds_area *ds = &plan->area;
	u64 maximum = ds->pebs_absolute_maximum;

	if (m->config.fault == FAULT_NONE)
		return;
	if (s->r->compatibility && broken(m, FAULT_DS_COMPATIBILITY_32))
		read_narrow(m, plan);
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
	if (plan->ds % PAGE_SIZE > PAGE_SIZE - DS_BYTES && broken(m, FAULT_DS_AREA_ONE_PAGE))
		read_one_page(ds, PAGE_SIZE - plan->ds % PAGE_SIZE);
	write_late_index(m, plan);
	keep_fields(m, &faults_of(m)->first_fields,
		    (struct keeping){ FAULT_RESET_CACHED, FAULT_THRESHOLD_CACHED,
				      FAULT_MAXIMUM_CACHED },
		    ds);
	keep_fields(m, &faults_of(m)->enabled_fields,
		    (struct keeping){ FAULT_RESET_KEPT_ENABLED, FAULT_THRESHOLD_KEPT_ENABLED,
				      FAULT_MAXIMUM_KEPT_ENABLED },
		    ds);
	if (plan->covered & ~s->due && broken(m, FAULT_COVERS_DUE_ONLY))
		plan->covered &= s->due;
	if (plan->covered & ~m->active && broken(m, FAULT_COVERS_ACTIVE_ONLY))
		plan->covered &= m->active;
}

/* The record size of the previous format: format 1 has no EventingIP, format 0 ends after the
 * registers. */
static u64 older_record_bytes(const struct model *m)
{
	return model_record_bytes(m) == FMT2_BYTES ? FMT1_BYTES : FMT1_OFFSET_status;
}

static bool has_room(const struct ds_area *ds, u64 size)
{
	return ds->pebs_index <= ds->pebs_absolute_maximum &&
	       ds->pebs_absolute_maximum - ds->pebs_index >= size;
}

/* Compare the lower halves of the addresses only. */
static bool has_room_32(const struct ds_area *ds, u64 size)
{
	u32 index = (u32)ds->pebs_index, maximum = (u32)ds->pebs_absolute_maximum;

	return index <= maximum && maximum - index >= size;
}

static bool fits_wrongly(struct model *m, const struct ds_area *ds)
{
	if (ds->pebs_index < ds->pebs_buffer_base)
		return has_room(ds, model_record_bytes(m)) &&
		       (broken(m, FAULT_BASE_UNCHECKED) ||
			((u32)ds->pebs_index >= (u32)ds->pebs_buffer_base &&
			 broken(m, FAULT_BASE_COMPARES_32)));
	if (has_room_32(ds, model_record_bytes(m)) && broken(m, FAULT_MAXIMUM_COMPARES_32))
		return true;
	if (ds->pebs_index < ds->pebs_absolute_maximum && has_room(ds, older_record_bytes(m)) &&
	    broken(m, FAULT_OLDER_ROOM_SUFFICES))
		return true;
	if (ds->pebs_index > ds->pebs_absolute_maximum && broken(m, FAULT_INDEX_BEYOND_MAXIMUM))
		return true;
	return broken(m, FAULT_PAST_MAXIMUM);
}

/* Does the record cross a page and end at the absolute maximum? */
static bool ends_at_maximum(const struct model *m, const struct ds_area *ds)
{
	const u64 end = ds->pebs_index + model_record_bytes(m);

	return end == ds->pebs_absolute_maximum &&
	       ds->pebs_index / PAGE_SIZE != (end - 1) / PAGE_SIZE;
}

void fault_bounds(struct model *m, struct assist_plan *plan)
{
	if (m->config.fault == FAULT_NONE)
		return;
	if (!plan->fits)
		plan->fits = fault_v5_fits(m, &plan->area) || fits_wrongly(m, &plan->area) ||
			     (plan->covered >= BIT(FIRST_FIXED) &&
			      broken(m, FAULT_ROOM_OF_FIXED)) ||
			     (m->pebs_enable & IA32_PEBS_ENABLE_PS_EN &&
			      broken(m, FAULT_PS_PAST_MAXIMUM));
	else if (ends_at_maximum(m, &plan->area) && broken(m, FAULT_FULL_ACROSS_PAGE))
		plan->fits = false;
	else if ((faults_of(m)->was_full && broken(m, FAULT_FULL_STAYS_FULL)) ||
		 (!has_room_32(&plan->area, model_record_bytes(m)) &&
		  broken(m, FAULT_MAXIMUM_COMPARES_32)))
		plan->fits = false;
	faults_of(m)->crosses_page = plan->fits && plan->area.pebs_index % PAGE_SIZE >
							   PAGE_SIZE - model_record_bytes(m);
}

void fault_buffer_full(struct model *m, const struct assist_plan *plan)
{
	faults_of(m)->was_full = true;
	if (broken(m, FAULT_FULL_INTERRUPTS))
		model_request(m, ACTION_THRESHOLD_INT, faults_of(m)->at_counter);
	if (broken(m, FAULT_FULL_INDEX_ADVANCES))
		write_index(m, plan->ds, plan->area.pebs_index + model_record_bytes(m));
}

/* ---- the record ---- */

/* The bit of IA32_PERF_GLOBAL_STATUS that a broken processor leaves out of records. */
static u64 missing_in_image(struct model *m, u64 status)
{
	static const struct {
		u16 fault;
		u8 bit;
	} bits[] = {
#define FAULT(token, name, requirements, sentence, ...)
#define FAULT_IMAGE_BIT(token, bit, name, title, ...) { FAULT_##token, bit },
#include "refpmu/faults/fault_sampling.def"
#undef FAULT
	};

	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
		if (status & BIT(bits[i].bit) && broken(m, (enum fault_id)bits[i].fault))
			return BIT(bits[i].bit);
	return status >> 32 && broken(m, FAULT_STATUS_IMAGE_LOW) ? BITS(32, 63) : 0;
}

u64 fault_status_image(struct model *m, u64 covered, u64 status)
{
	if (m->config.fault == FAULT_NONE)
		return status;
	status &= ~missing_in_image(m, status);
	if (broken(m, FAULT_STATUS_AFTER_ASSIST))
		status &= ~model_status_bits(covered);
	if (broken(m, FAULT_STATUS_IMAGE_PEBS_ONLY))
		status &= m->pebs_enable & IA32_PEBS_ENABLE_PEBS_EN_PMC;
	return status;
}

static u64 other_address(struct model *m, const struct assist_plan *plan)
{
	const struct ds_area *ds = &plan->area;
	u64 size = plan->size;

	if (broken(m, FAULT_RECORD_AT_BASE))
		return ds->pebs_buffer_base;
	if (broken(m, FAULT_RECORD_OUT_OF_ORDER)) {
		u64 n = (ds->pebs_index - ds->pebs_buffer_base) / size;

		if (n & 1)
			return ds->pebs_index - size;
		if (ds->pebs_absolute_maximum - ds->pebs_index >= 2 * size)
			return ds->pebs_index + size;
	}
	if (plan->record >> 32 && broken(m, FAULT_RECORD_AT_32))
		return (u32)plan->record;
	if (plan->record % CACHE_LINE && broken(m, FAULT_RECORD_AT_LINE))
		return plan->record - plan->record % CACHE_LINE;
	return plan->record;
}

static void hold_back(struct model *m, struct assist_plan *plan, u64 linear, bool and_index)
{
	faults_of(m)->late_record.waits = true;
	faults_of(m)->late_record.and_index = and_index;
	faults_of(m)->late_record.linear = linear;
	__builtin_memcpy(faults_of(m)->late_record.bytes, plan->bytes, MODEL_RECORD_BYTES);
	plan->size = 0;
	if (and_index)
		plan->advances = false;
}

static void break_write(struct model *m, struct assist_plan *plan)
{
	plan->index_first = broken(m, FAULT_INDEX_FIRST);
	if (plan->threshold && broken(m, FAULT_RECORD_AFTER_PMI))
		hold_back(m, plan, plan->area.pebs_index, true);
	if (broken(m, FAULT_RECORD_DROPPED))
		plan->size = 0;
	if (broken(m, FAULT_RECORD_LATE))
		hold_back(m, plan, plan->record, false);
	/* Nothing is written to the second page. */
	if (faults_of(m)->crosses_page &&
	    (broken(m, FAULT_RECORD_TAIL_LOST) || broken(m, FAULT_RECORD_TAIL_WRAPS)))
		plan->size = (unsigned)(PAGE_SIZE - plan->record % PAGE_SIZE);
}

/* ---- index, threshold ---- */

static u64 advance(struct model *m, const struct retire_ctx *s, unsigned x)
{
	u64 size = model_record_bytes(m);

	/* The format without EventingIP ended there. */
	if (broken(m, FAULT_RECORD_SIZE_C0))
		return FMT2_BYTES;
	if (s->r->compatibility && broken(m, FAULT_RECORD_COMPATIBILITY_28))
		return RECORD_32_BIT;
	if (broken(m, FAULT_RECORD_SIZE_B0))
		return FMT2_OFFSET_eventing_ip;
	if (broken(m, FAULT_INDEX_DOUBLED) ||
	    (s->rule[x]->kind == EK_BRANCHES && broken(m, FAULT_BRANCH_INDEX_DOUBLED)))
		return 2 * size;
	return size;
}

static void break_index(struct model *m, const struct retire_ctx *s, unsigned x,
			struct assist_plan *plan)
{
	if (model_has_fault(m, FAULT_RECORDS_TO_BTS))
		plan->index_at = plan->ds + DS_OFFSET_bts_index;
	if (broken(m, FAULT_INDEX_NOT_ADVANCED))
		plan->advances = false;
	plan->index = plan->area.pebs_index + advance(m, s, x);
	if (plan->index >> 48 && broken(m, FAULT_INDEX_WRITTEN_48))
		plan->index &= BITS(0, 47);
	if (plan->index >> 32 && broken(m, FAULT_INDEX_WRITTEN_32))
		plan->index = (u32)plan->index;
	if (plan->index % CARRY < plan->area.pebs_index % CARRY &&
	    broken(m, FAULT_INDEX_LOSES_CARRY))
		plan->index -= CARRY;
	if (plan->index >> 32 > plan->area.pebs_index >> 32 &&
	    broken(m, FAULT_INDEX_LOSES_CARRY_32))
		plan->index -= BIT(32);
	if (broken(m, FAULT_INDEX_LATE)) {
		plan->advances = false;
		faults_of(m)->late_index.waits = true;
		faults_of(m)->late_index.seen = plan->area.pebs_index;
		faults_of(m)->late_index.value = plan->index;
	}
}

static bool threshold_reached(struct model *m, const struct assist_plan *plan)
{
	const struct ds_area *ds = &plan->area;
	u64 size = model_record_bytes(m), threshold = ds->pebs_interrupt_threshold;
	u64 index = ds->pebs_index + size;

	if (broken(m, FAULT_THRESHOLD_ALWAYS))
		return true;
	if (plan->threshold && m->global_status & IA32_PERF_GLOBAL_STATUS_OVF_BUF &&
	    broken(m, FAULT_THRESHOLD_WAITS_FOR_OVFBUF))
		return false;
	if (plan->threshold && plan->covered & (plan->covered - 1) &&
	    broken(m, FAULT_THRESHOLD_OF_ONE))
		return false;
	if (plan->threshold && faults_of(m)->was_full &&
	    broken(m, FAULT_THRESHOLD_LOST_AFTER_FULL)) {
		faults_of(m)->was_full = false;
		return false;
	}
	if (size > LARGE_RECORD && broken(m, FAULT_LARGE_RECORD_LATE))
		return ds->pebs_index >= threshold;
	if (index + size > ds->pebs_absolute_maximum && broken(m, FAULT_LAST_RECORD_QUIET))
		return false;
	if (threshold == ds->pebs_buffer_base && broken(m, FAULT_THRESHOLD_AT_BASE_LOST))
		return false;
	if (!threshold && broken(m, FAULT_THRESHOLD_0_LOST))
		return false;
	if (broken(m, FAULT_THRESHOLD_LATE))
		return ds->pebs_index >= threshold;
	if (broken(m, FAULT_THRESHOLD_MINUS_1))
		return index + size >= threshold;
	if ((index ^ threshold) >> 32 && broken(m, FAULT_THRESHOLD_COMPARES_32))
		return (u32)index >= (u32)threshold;
	if (broken(m, FAULT_THRESHOLD_EQUAL))
		return index == threshold;
	return plan->threshold;
}

/* ---- reload, status ---- */

static u64 other_reset(struct model *m, const struct ds_area *ds, unsigned i, u64 value)
{
	const u64 next[] = { ds->pebs_counter1_reset, ds->pebs_counter2_reset,
			     ds->pebs_counter3_reset, ds->pebs_counter0_reset };

	if (i < sizeof(next) / sizeof(next[0]) && broken(m, FAULT_RELOAD_NEXT_SLOT))
		return next[i];
	if (m->counter[i].rule.kind == EK_LOAD_LATENCY && broken(m, FAULT_LL_RELOAD_HALF))
		return -((-value & model_width_mask(m, i)) / 2);
	return value;
}

static void break_reload(struct model *m, unsigned x, struct assist_plan *plan)
{
	unsigned reloads = 0;

	if (plan->reloaded & BITS(0, FIRST_FIXED - 1) && broken(m, FAULT_RELOADS_GP_ALONE))
		plan->reloaded &= BITS(0, FIRST_FIXED - 1);
	if (plan->threshold && broken(m, FAULT_RELOADS_LOWEST_AT_THRESHOLD))
		plan->reloaded &= -plan->reloaded;
	if (broken(m, FAULT_RELOAD_ALL))
		plan->reloaded |= m->global_status & model_generation(m)->pebs_mask;
	for (unsigned i = 0; i < MODEL_MAX_COUNTERS; i++) {
		fault_at_counter(m, i);
		if (!(plan->reloaded & BIT(i)))
			continue;
		if (broken(m, FAULT_NO_RELOAD) || (i != x && broken(m, FAULT_RELOAD_OWN_ONLY)) ||
		    (i != x && i >= 4 && i < FIRST_FIXED && broken(m, FAULT_RELOAD_OWN_OR_LOW)))
			plan->reloaded &= ~BIT(i);
		if (++reloads > 2 && broken(m, FAULT_RELOADS_TWO))
			plan->reloaded &= ~BIT(i);
		plan->reset[i] = fault_v5_reset(m, plan, i,
						other_reset(m, &plan->area, i, plan->reset[i]));
		if (broken(m, FAULT_RELOAD_LATE)) {
			plan->reloaded &= ~BIT(i);
			faults_of(m)->late_reload[i].left = LATE_RELOAD;
			faults_of(m)->late_reload[i].value = plan->reset[i];
		}
	}
	fault_at_counter(m, x);
}

/* Clear status bits that don't belong to the record. */
static void clear_others(struct model *m, struct assist_plan *plan)
{
	u64 fixed = plan->cleared << STATUS_FIXED_SHIFT & m->global_status &
		    IA32_PERF_GLOBAL_STATUS_OVF_FIXED_CTR;

	if (fixed && broken(m, FAULT_ASSIST_CLEARS_FIXED_BIT))
		plan->cleared |= fixed;
	if (!plan->threshold && m->global_status & IA32_PERF_GLOBAL_STATUS_OVF_BUF &&
	    broken(m, FAULT_OVFBUF_FALLS))
		plan->cleared |= IA32_PERF_GLOBAL_STATUS_OVF_BUF;
}

static void break_status(struct model *m, struct assist_plan *plan)
{
	if (broken(m, FAULT_ASSIST_CLEARS_ALL))
		plan->cleared = IA32_PERF_GLOBAL_STATUS_OVF_PMC |
				IA32_PERF_GLOBAL_STATUS_OVF_FIXED_CTR;
	if (broken(m, FAULT_ASSIST_KEEPS_STATUS))
		plan->cleared = 0;
	plan->set = plan->threshold && !broken(m, FAULT_OVFBUF_DROPPED) ?
			    IA32_PERF_GLOBAL_STATUS_OVF_BUF :
			    0;
	clear_others(m, plan);
}

/* Faults of a record that has aborted a transaction (aborts), or of a record of an abort. */
static void break_aborting(struct model *m, bool aborts, struct assist_plan *plan)
{
	if (plan->reloaded &&
	    broken(m, aborts ? FAULT_TX_RECORD_NO_RELOAD : FAULT_TX_ABORT_NO_RELOAD))
		plan->reloaded = 0;
	if (plan->cleared &&
	    broken(m, aborts ? FAULT_TX_RECORD_KEEPS_STATUS : FAULT_TX_ABORT_KEEPS_STATUS))
		plan->cleared = 0;
	if (plan->threshold &&
	    broken(m, aborts ? FAULT_TX_RECORD_NO_THRESHOLD : FAULT_TX_ABORT_NO_THRESHOLD)) {
		plan->threshold = false;
		plan->set = 0;
	}
}

/* ---- precise store alone ---- */

static void break_store_record(struct model *m, struct assist_plan *plan)
{
	if (broken(m, FAULT_PS_RECORD_AT_BASE))
		plan->record = plan->area.pebs_buffer_base;
	if (broken(m, FAULT_PS_INDEX_STAYS))
		plan->advances = false;
	if (plan->threshold && broken(m, FAULT_PS_OVFBUF_DROPPED))
		plan->set = 0;
	if (plan->threshold && broken(m, FAULT_PS_THRESHOLD_QUIET)) {
		plan->threshold = false;
		plan->set = 0;
	}
	if (broken(m, FAULT_PS_STATUS_STAYS))
		plan->cleared = 0;
}

/* ---- load latency alone ---- */

static void break_latency_record(struct model *m, unsigned x, struct assist_plan *plan)
{
	if (plan->threshold && broken(m, FAULT_LL_THRESHOLD_QUIET)) {
		plan->threshold = false;
		plan->set = 0;
	}
	if (broken(m, FAULT_LL_STATUS_STAYS))
		plan->cleared &= ~BIT(x);
}

/* ---- all of it ---- */

void fault_assist(struct model *m, const struct retire_ctx *s, unsigned x, struct assist_plan *plan)
{
	if (m->config.fault == FAULT_NONE)
		return;
	faults_of(m)->ovfbuf_was_set = m->global_status & IA32_PERF_GLOBAL_STATUS_OVF_BUF;
	plan->record = other_address(m, plan);
	plan->threshold = threshold_reached(m, plan);
	fault_record_bytes(m, s, x, plan->record, plan->bytes);
	break_index(m, s, x, plan);
	break_write(m, plan);
	break_reload(m, x, plan);
	break_status(m, plan);
	if (s->aborts || s->tx_abort)
		break_aborting(m, s->aborts, plan);
	fault_kvm_assist(m, plan);
	if (s->rule[x]->flags & EV_PS)
		break_store_record(m, plan);
	if (s->rule[x]->flags & EV_LL)
		break_latency_record(m, x, plan);
}

void fault_record_written(struct model *m, const struct assist_plan *plan)
{
	const struct model_host *host = m->host;
	unsigned size = model_record_bytes(m);
	u8 index[sizeof(u64)];

	if (m->config.fault == FAULT_NONE || !plan->size)
		return;
	if (plan->size < size && model_has_fault(m, FAULT_RECORD_TAIL_WRAPS))
		host->write(host->ctx, plan->record & -(u64)PAGE_SIZE, plan->bytes + plan->size,
			    size - plan->size);
	if (broken(m, FAULT_WRITE_PAST_RECORD))
		host->write(host->ctx, plan->record + size, plan->bytes, sizeof(u64));
	if (broken(m, FAULT_RECORD_DOUBLED))
		host->write(host->ctx, plan->record + size, plan->bytes, size);
	put64(index, plan->index);
	if (plan->advances && broken(m, FAULT_BTS_INDEX_MOVES))
		host->write(host->ctx, plan->ds + DS_OFFSET_bts_index, index, sizeof(index));
}

/* All bits except the lowest two. */
static u64 above_two(u64 bits)
{
	bits &= bits - 1;
	return bits & (bits - 1);
}

u64 fault_applicable(struct model *m, u64 counters)
{
	if (m->config.fault == FAULT_NONE)
		return counters;
	if (broken(m, FAULT_APPLICABLE_IMAGE))
		return m->global_status;
	if (broken(m, FAULT_APPLICABLE_NONE))
		return 0;
	if (above_two(counters) && broken(m, FAULT_APPLICABLE_TWO))
		counters &= ~above_two(counters);
	if (counters & IA32_PERF_GLOBAL_STATUS_OVF_FIXED_CTR &&
	    counters & ~IA32_PERF_GLOBAL_STATUS_OVF_FIXED_CTR &&
	    broken(m, FAULT_APPLICABLE_DROPS_FIXED))
		counters &= ~IA32_PERF_GLOBAL_STATUS_OVF_FIXED_CTR;
	counters = fault_kvm_applicable(m, fault_v5_applicable(m, counters));
	return broken(m, FAULT_APPLICABLE_BUFFER) ? counters | IA32_PERF_GLOBAL_STATUS_OVF_BUF :
						    counters;
}
