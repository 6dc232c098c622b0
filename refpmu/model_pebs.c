/* SPDX-License-Identifier: MIT */
/*
 * The PEBS assist and its record: "Processor Event Based Sampling (PEBS)", "DS Save Area and
 * IA-32e Mode Operation", Table 18-44 "PEBS Record Format for 4th Generation Intel Core Processor
 * Family", "PEBS Data Address Profiling".
 *
 * Not handled: load latency events, transactions (no TSX: their field is 0), branch records.
 */
#include "refpmu/model_internal.h"

/* The 64-bit form of the DS buffer management area, which DTES64 announces for every mode. */
struct ds_area {
#define DS_FIELD(field, offset, title) u64 field;
#include "spec/ds.def"
};

enum {
#define DS_FIELD(field, offset, title) DS_OFFSET_##field = (offset),
#include "spec/ds.def"
	DS_BYTES = DS_OFFSET_pebs_counter3_reset + sizeof(u64),
	DS_RESET_SLOTS = 4,
};

struct record {
#define RECORD_FIELD(format, field, offset, size, title) u64 field;
#include "spec/record.def"
};

enum {
#define RECORD_FIELD(format, field, offset, size, title) \
	format##_OFFSET_##field = (offset) + 0 * sizeof(char[(size) == sizeof(u64) ? 1 : -1]),
#define RECORD_SIZE(format, bytes) format##_BYTES = (bytes),
#include "spec/record.def"
};

_Static_assert((int)FMT2_BYTES == MODEL_RECORD_BYTES, "the record that the model can hold back");

static u64 get64(const u8 *from)
{
	u64 value;

	__builtin_memcpy(&value, from, sizeof(value));
	return value;
}

static void put64(u8 *to, u64 value)
{
	__builtin_memcpy(to, &value, sizeof(value));
}

static bool read_ds_area(const struct model *m, struct ds_area *ds)
{
	u8 bytes[DS_BYTES];

	if (!m->host->read(m->host->ctx, m->ds_area, bytes, sizeof(bytes)))
		return false;
#define DS_FIELD(field, offset, title) ds->field = get64(bytes + (offset));
#include "spec/ds.def"
	return true;
}

static void write_index(const struct model *m, u64 index)
{
	u8 bytes[sizeof(u64)];

	put64(bytes, index);
	/* The page was there a moment ago, when the area was read. */
	m->host->write(m->host->ctx, m->ds_area + DS_OFFSET_pebs_index, bytes, sizeof(bytes));
}

bool model_cache_access(struct model *m, const struct model_retired *r)
{
	bool store_hit = false;

	for (unsigned a = 0; a < r->n_access; a++) {
		u64 line = r->access[a].linear / 64 + 1;
		u64 *set = m->cache[line % MODEL_CACHE_SETS];
		u64 previous = line;
		bool hit = false;

		/* Newest first: move what lies before the line one back, or push out the oldest. */
		for (unsigned way = 0; way < MODEL_CACHE_WAYS && !hit; way++) {
			u64 here = set[way];

			set[way] = previous;
			previous = here;
			hit = here == line;
		}
		if (r->access[a].store)
			store_hit = hit;
	}
	return store_hit;
}

/* The data linear address of the event: of the last access of its kind. */
static u64 data_address(const struct step *s, unsigned x)
{
	enum event_kind kind = s->rule[x]->kind;

	for (unsigned a = s->r->n_access; a-- > 0;) {
		const struct model_access *access = &s->r->access[a];

		if (kind == EK_STORES ? access->store :
		    kind == EK_LOCK_LOADS ? access->locked && !access->store : !access->store)
			return access->linear;
	}
	return 0;
}

static void break_record(const struct model *m, const struct step *s, struct record *record)
{
	struct record good = *record;

	switch (m->config.fault) {
	case FAULT_GPR_ORDER:
		record->rbx = good.rcx;
		record->rcx = good.rdx;
		record->rdx = good.rbx;
		record->rsi = good.rsp;
		record->rdi = good.rbp;
		record->rbp = good.rsi;
		record->rsp = good.rdi;
		break;
	case FAULT_FLAGS_STALE:
		record->rflags = s->r->before.rflags;
		break;
	case FAULT_EVENTING_IP_NEXT:
		record->eventing_ip = s->r->after.rip;
		break;
	case FAULT_RIP_EVENTING:
		record->rip = s->r->ip;
		break;
	case FAULT_DLA_ZERO:
		record->data_linear_address = 0;
		break;
	case FAULT_LATENCY_LEFT:
		record->latency = 7;
		break;
	default:
		break;
	}
}

static void fill_record(const struct model *m, const struct step *s, unsigned x, u64 status,
			struct record *record)
{
	const u64 *gpr = broken(m, FAULT_GPR_STALE) ? s->r->before.gpr : s->r->after.gpr;
	u8 flags = s->rule[x]->flags;

	*record = (struct record){
		.rflags = s->r->after.rflags,
		.rip = s->r->after.rip,
		.rax = gpr[REG_RAX],
		.rbx = gpr[REG_RBX],
		.rcx = gpr[REG_RCX],
		.rdx = gpr[REG_RDX],
		.rsi = gpr[REG_RSI],
		.rdi = gpr[REG_RDI],
		.rbp = gpr[REG_RBP],
		.rsp = gpr[REG_RSP],
		.r8 = gpr[REG_R8],
		.r9 = gpr[REG_R9],
		.r10 = gpr[REG_R10],
		.r11 = gpr[REG_R11],
		.r12 = gpr[REG_R12],
		.r13 = gpr[REG_R13],
		.r14 = gpr[REG_R14],
		.r15 = gpr[REG_R15],
		.status = status,
		.eventing_ip = s->r->ip,
	};
	if (flags & EV_DLA)
		record->data_linear_address = data_address(s, x);
	if (flags & EV_STORE_L1)
		record->data_source = s->store_hit;
	break_record(m, s, record);
}

static void record_bytes(const struct record *record, u8 *bytes)
{
#define RECORD_FIELD(format, field, offset, size, title) put64(bytes + (offset), record->field);
#include "spec/record.def"
}

/* The record and then the index. false: the buffer isn't mapped; nothing was written. */
static bool write_record(const struct model *m, u64 linear, const u8 *record)
{
	const struct model_host *host = m->host;
	u64 advance = FMT2_BYTES;

	if (!host->write(host->ctx, linear, record, FMT2_BYTES))
		return false;
	if (broken(m, FAULT_WRITE_PAST_RECORD))
		host->write(host->ctx, linear + FMT2_BYTES, record, sizeof(u64));
	/* The format before this one had no EventingIP and ended there. */
	if (broken(m, FAULT_RECORD_SIZE_B0))
		advance = FMT2_OFFSET_eventing_ip;
	if (!broken(m, FAULT_INDEX_NOT_ADVANCED))
		write_index(m, linear + advance);
	return true;
}

/* Fault record-after-pmi: what was held back is written when software has stopped looking. */
void model_write_late_record(struct model *m)
{
	if (m->late)
		write_record(m, m->late_index, m->late_record);
	m->late = false;
}

/* Does one more record fit between the index and the absolute maximum, behind the base? */
static bool in_bounds(const struct model *m, const struct ds_area *ds)
{
	if (ds->pebs_index < ds->pebs_buffer_base)
		return false;
	if (broken(m, FAULT_PAST_MAXIMUM))
		return true;
	return ds->pebs_index <= ds->pebs_absolute_maximum &&
	       ds->pebs_absolute_maximum - ds->pebs_index >= FMT2_BYTES;
}

/* The counters that overflowed and are enabled for PEBS: one assist is for all of them. */
static u64 covered_counters(const struct model *m, unsigned x)
{
	return BIT(x) | (m->pebs_enable & IA32_PEBS_ENABLE_PEBS_EN_PMC & m->global_status);
}

static void reload(struct model *m, const struct ds_area *ds, u64 covered)
{
	const u64 reset[DS_RESET_SLOTS] = { ds->pebs_counter0_reset, ds->pebs_counter1_reset,
					    ds->pebs_counter2_reset, ds->pebs_counter3_reset };

	if (broken(m, FAULT_RELOAD_ALL))
		covered |= m->global_status;
	for (unsigned i = 0; i < DS_RESET_SLOTS; i++)
		if (covered & BIT(i) && !broken(m, FAULT_NO_RELOAD))
			model_set_counter(m, i, reset[i]);
}

static bool threshold_reached(const struct model *m, const struct ds_area *ds, u64 index)
{
	if (broken(m, FAULT_THRESHOLD_ALWAYS))
		return true;
	if (broken(m, FAULT_THRESHOLD_LATE))
		return ds->pebs_index >= ds->pebs_interrupt_threshold;
	return index >= ds->pebs_interrupt_threshold;
}

struct assist model_assist(struct model *m, struct step *s, unsigned x)
{
	u64 covered = covered_counters(m, x);
	u64 status = m->global_status;
	struct assist result = { .covered = covered };
	struct record record;
	u8 bytes[FMT2_BYTES];
	struct ds_area ds;

	model_write_late_record(m);
	if (!read_ds_area(m, &ds) || !in_bounds(m, &ds))
		return result;
	result.threshold = threshold_reached(m, &ds, ds.pebs_index + FMT2_BYTES);

	if (broken(m, FAULT_STATUS_AFTER_ASSIST))
		status &= ~covered;
	fill_record(m, s, x, status, &record);
	record_bytes(&record, bytes);
	if (broken(m, FAULT_RECORD_AFTER_PMI) && result.threshold) {
		m->late = true;
		m->late_index = ds.pebs_index;
		record_bytes(&record, m->late_record);
	} else if (!write_record(m, ds.pebs_index, bytes)) {
		return (struct assist){ .covered = covered };
	}

	if (m->host->trace)
		m->host->trace(m->host->ctx, ACTION_ASSIST, x);
	reload(m, &ds, covered);
	m->global_status &= ~covered;
	if (result.threshold)
		m->global_status |= IA32_PERF_GLOBAL_STATUS_OVF_BUF;
	return result;
}
