/* SPDX-License-Identifier: MIT */
/*
 * PEBS records of NetBurst: "DS Save Area", "64 Bit Format of the DS Save Area", "Processor
 * Event-Based Sampling (PEBS)". The 64-bit form in IA-32e mode, and wherever DTES64 announces it;
 * the 32-bit form else. IP and registers are those at the start of the instruction that caused the
 * event; registers "may be partially modified" (latitude).
 */
#include "refpmu/model/core.h"
#include "refpmu/model/netburst/netburst.h"

struct ds {
	u64 base, index, maximum, threshold, reset;
};

/* Where a field is, in either form: size 0, not there. */
struct nb_field {
	u8 offset, size;
};

enum ds_field { DS_pebs_buffer_base, DS_pebs_index, DS_pebs_absolute_maximum,
		DS_pebs_interrupt_threshold, DS_pebs_counter_reset, DS_FIELDS };
enum record_member { MEMBER_rflags, MEMBER_rip, MEMBER_rax, MEMBER_rbx, MEMBER_rcx, MEMBER_rdx,
		     MEMBER_rsi, MEMBER_rdi, MEMBER_rbp, MEMBER_rsp, MEMBER_r8, MEMBER_r9,
		     MEMBER_r10, MEMBER_r11, MEMBER_r12, MEMBER_r13, MEMBER_r14, MEMBER_r15,
		     MEMBERS };
enum form { FORM_NB64, FORM_NB32, FORMS };

static const struct nb_field ds_places[FORMS][DS_FIELDS] = {
#define NB_DS_FIELD(form, field, offset, size, title) [FORM_##form][DS_##field] = { offset, size },
#include "spec/netburst.def"
};

static const struct nb_field record_places[FORMS][MEMBERS] = {
#define NB_RECORD_FIELD(form, field, offset, size, title) \
	[FORM_##form][MEMBER_##field] = { offset, size },
#include "spec/netburst.def"
};

static const unsigned record_bytes[FORMS] = {
#define NB_RECORD_SIZE(form, bytes) [FORM_##form] = (bytes),
#include "spec/netburst.def"
};

/* The general register that a member holds. */
static const u8 registers[MEMBERS] = {
	[MEMBER_rax] = REG_RAX, [MEMBER_rbx] = REG_RBX, [MEMBER_rcx] = REG_RCX,
	[MEMBER_rdx] = REG_RDX, [MEMBER_rsi] = REG_RSI, [MEMBER_rdi] = REG_RDI,
	[MEMBER_rbp] = REG_RBP, [MEMBER_rsp] = REG_RSP, [MEMBER_r8] = REG_R8,
	[MEMBER_r9] = REG_R9, [MEMBER_r10] = REG_R10, [MEMBER_r11] = REG_R11,
	[MEMBER_r12] = REG_R12, [MEMBER_r13] = REG_R13, [MEMBER_r14] = REG_R14,
	[MEMBER_r15] = REG_R15,
};

static const struct { u16 zero, stale, swapped; } faults[MEMBERS] = {
#define FAULT(token, name, requirements, sentence, ...)
#define FAULT_NB_FIELD(token, field, name, requirements, title) \
	[MEMBER_##field].zero = FAULT_NB_##token##_ZERO, \
	[MEMBER_##field].stale = FAULT_NB_##token##_STALE,
#define FAULT_NB_PAIR(token, field, name, requirements, title) \
	[MEMBER_##field].swapped = FAULT_NB_##token##_SWAPPED,
#include "refpmu/faults/fault_netburst.def"
#undef FAULT
};

static u64 ds_linear(struct model *m)
{
	return broken(m, FAULT_NB_DS_AREA_SHARED) ? netburst_of(m)->faults.last_ds_area :
						    m->ds_area;
}

static bool read_ds(struct model *m, enum form form, struct ds *ds)
{
	u64 *const to[DS_FIELDS] = {
		[DS_pebs_buffer_base] = &ds->base, [DS_pebs_index] = &ds->index,
		[DS_pebs_absolute_maximum] = &ds->maximum,
		[DS_pebs_interrupt_threshold] = &ds->threshold,
		[DS_pebs_counter_reset] = &ds->reset,
	};

	for (unsigned f = 0; f < DS_FIELDS; f++) {
		const struct nb_field *p = &ds_places[form][f];

		*to[f] = 0;
		if (!m->host->read(m->host->ctx, ds_linear(m) + p->offset, to[f], p->size))
			return false;
	}
	return true;
}

static u64 member_of(const struct model *m, const struct model_retired *r, unsigned member)
{
	const struct model_registers *at = m->latitude[LAT_RECORD_REGISTERS] ? &r->after :
									       &r->before;

	switch (member) {
	case MEMBER_rflags:
		return at->rflags;
	case MEMBER_rip:
		return r->ip;
	default:
		return at->gpr[registers[member]];
	}
}

static void fill(struct model *m, const struct model_retired *r, enum form form, u8 *bytes)
{
	for (unsigned i = 0; i < MEMBERS; i++) {
		const struct nb_field *p = &record_places[form][i];
		u64 value = member_of(m, r, i);

		if (i == MEMBER_rip && broken(m, FAULT_NB_RIP_FAR))
			value += 16;
		__builtin_memcpy(bytes + p->offset, &value, p->size);
	}
}

/* The record is right when it comes here. */
static void break_record(struct model *m, struct netburst_processor *t, enum form form, u8 *bytes)
{
	u8 good[NB64_BYTES];

	if (m->config.fault == FAULT_NONE || form != FORM_NB64)
		return;
	__builtin_memcpy(good, bytes, sizeof(good));
	for (unsigned i = 0; i < MEMBERS; i++) {
		u8 *field = bytes + record_places[form][i].offset;

		if (broken(m, faults[i].zero))
			__builtin_memset(field, 0, sizeof(u64));
		if (broken(m, faults[i].stale))
			__builtin_memcpy(field, t->faults.previous_record +
					 record_places[form][i].offset, sizeof(u64));
		if (faults[i].swapped != FAULT_NONE && broken(m, faults[i].swapped)) {
			__builtin_memcpy(field, good + record_places[form][i + 1].offset,
					 sizeof(u64));
			__builtin_memcpy(bytes + record_places[form][i + 1].offset,
					 good + record_places[form][i].offset, sizeof(u64));
		}
	}
	__builtin_memcpy(t->faults.previous_record, good, sizeof(good));
}

/* The form that processor and mode ask for. */
static enum form form_of(struct model *m, const struct model_retired *r)
{
	bool announced = !m->latitude[LAT_DS_FOLLOWS_MODE];

	if (broken(m, FAULT_NB_RECORD_32))
		return FORM_NB32;
	return announced || !r->legacy ? FORM_NB64 : FORM_NB32;
}

static void interrupt(struct model *m, unsigned counter, const struct ds *ds)
{
	bool reached = ds->index >= ds->threshold || broken(m, FAULT_NB_THRESHOLD_ALWAYS);
	struct model *to = m;

	if (!reached || broken(m, FAULT_NB_THRESHOLD_NEVER))
		return;
	if (netburst_has_ht(m) && broken(m, FAULT_NB_THRESHOLD_SIBLING))
		to = model_core_sibling(m);
	if (!to)
		return;
	model_request(to, ACTION_THRESHOLD_INT, counter);
	model_core_call(m, to);
}

bool netburst_assist(struct model *m, const struct netburst_step *s, unsigned counter)
{
	struct netburst *n = netburst_of(m);
	/* DS area and form are those of the area's owner; which form of record a broken processor
	 * writes there is its own matter. */
	enum form form = form_of(m, s->core.r);
	enum form area = broken(m, FAULT_NB_RECORD_32) ? FORM_NB64 : form;
	u8 bytes[NB64_BYTES] = { 0 };
	const u64 nothing = 0;
	unsigned size = record_bytes[form];
	struct ds ds;

	if (!read_ds(m, area, &ds))
		return false;
	if ((ds.index < ds.base || ds.index + size > ds.maximum) &&
	    !broken(m, FAULT_NB_FULL_IGNORED))
		return false;
	fill(m, s->core.r, form, bytes);
	break_record(m, &n->thread[s->thread], form, bytes);
	if (!broken(m, FAULT_NB_RECORD_DROPPED)) {
		if (!m->host->write(m->host->ctx, ds.index, bytes, size))
			return false;
		if (broken(m, FAULT_NB_RECORD_LONG))
			m->host->write(m->host->ctx, ds.index + size, &nothing, sizeof(nothing));
		if (!broken(m, FAULT_NB_INDEX_STAYS))
			ds.index += size + (broken(m, FAULT_NB_INDEX_FAR) ? 8 : 0);
		/* The page was there a moment ago. */
		m->host->write(m->host->ctx,
			       ds_linear(m) + ds_places[area][DS_pebs_index].offset, &ds.index,
			       ds_places[area][DS_pebs_index].size);
	}
	if (!broken(m, FAULT_NB_NO_RELOAD))
		n->counter[counter] = ds.reset & BITS(0, NB_WIDTH - 1);
	interrupt(m, counter, &ds);
	return true;
}
