/* SPDX-License-Identifier: MIT */
/*
 * What is in a PEBS record: Table 18-44 "PEBS Record Format for 4th Generation Intel Core
 * Processor Family", "PEBS Data Address Profiling".
 *
 * Not handled: load latency events, transactions (no TSX: their field is 0).
 */
#include "refpmu/model_record.h"

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

static bool is_of_event(const struct model_access *access, enum event_kind kind)
{
	if (kind == EK_STORES)
		return access->store;
	return !access->store && (kind != EK_LOCK_LOADS || access->locked);
}

/* The data linear address of the event: of one access of its kind. */
static u64 data_address(struct model *m, const struct step *s, unsigned x)
{
	enum { LAST, FIRST };
	enum event_kind kind = s->rule[x]->kind;
	u64 linear[MODEL_MAX_ACCESSES];
	unsigned n = 0;

	for (unsigned a = 0; a < s->r->n_access; a++)
		if (is_of_event(&s->r->access[a], kind))
			linear[n++] = s->r->access[a].linear;
	if (!n)
		return 0;
	if (m->latitude[LAT_TAG_ACCESS] == LAST)
		return linear[n - 1];
	return linear[m->latitude[LAT_TAG_ACCESS] == FIRST ? 0 : model_random(m) % n];
}

/* What the manual doesn't define for this event: Table 18-46. */
static void leave_undefined(struct model *m, u8 flags, struct record *record)
{
	if (!m->latitude[LAT_UNDEFINED_FIELDS])
		return;
	if (!(flags & EV_DLA)) {
		record->data_linear_address = model_random(m);
		record->data_source = model_random(m);
		record->latency = model_random(m) & BITS(0, 15);
	} else if (!(flags & EV_STORE_L1)) {
		record->data_source |= model_random(m) & 1;
	}
}

void model_fill_record(struct model *m, const struct step *s, unsigned x, u64 status, u8 *bytes)
{
	const u64 *gpr = broken(m, FAULT_GPR_STALE) ? s->r->before.gpr : s->r->after.gpr;
	u8 flags = s->rule[x]->flags;
	struct record record = {
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
		record.data_linear_address = data_address(m, s, x);
	if (flags & EV_STORE_L1)
		record.data_source = s->store_hit;
	leave_undefined(m, flags, &record);
#define RECORD_FIELD(format, field, offset, size, title) put64(bytes + (offset), record.field);
#include "spec/record.def"
}
