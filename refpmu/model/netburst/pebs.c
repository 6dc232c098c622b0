/* SPDX-License-Identifier: MIT */
/*
 * PEBS records of NetBurst: "DS Save Area", "64 Bit Format of the DS Save Area", "Processor
 * Event-Based Sampling (PEBS)". The form is the 64-bit one in IA-32e mode, and if DTES64 announces
 * it; else the 32-bit one. IP and registers are those at the start of the instruction that caused
 * the event; registers "may be partially modified" (latitude).
 */
#include "refpmu/model/core.h"
#include "refpmu/model/netburst/netburst.h"

/* The place of a field, in either form; size 0: the form doesn't have it. */
struct nb_field {
	u8 offset, size;
};

enum ds_field { DS_pebs_buffer_base, DS_pebs_index, DS_pebs_absolute_maximum,
		DS_pebs_interrupt_threshold, DS_pebs_counter_reset, DS_FIELDS };
enum record_member { MEMBER_rflags, MEMBER_rip, MEMBER_rax, MEMBER_rbx, MEMBER_rcx, MEMBER_rdx,
		     MEMBER_rsi, MEMBER_rdi, MEMBER_rbp, MEMBER_rsp, MEMBER_r8, MEMBER_r9,
		     MEMBER_r10, MEMBER_r11, MEMBER_r12, MEMBER_r13, MEMBER_r14, MEMBER_r15,
		     MEMBERS };

static const struct nb_field ds_places[NETBURST_FORMS][DS_FIELDS] = {
#define NB_DS_FIELD(form, field, offset, size, title) \
	[NETBURST_FORM_##form][DS_##field] = { offset, size },
#include "spec/netburst.def"
};

static const struct nb_field record_places[NETBURST_FORMS][MEMBERS] = {
#define NB_RECORD_FIELD(form, field, offset, size, title) \
	[NETBURST_FORM_##form][MEMBER_##field] = { offset, size },
#include "spec/netburst.def"
};

static const unsigned record_bytes[NETBURST_FORMS] = {
#define NB_RECORD_SIZE(form, bytes) [NETBURST_FORM_##form] = (bytes),
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

/* Table 35-41: each logical processor has its own IA32_DS_AREA. */
static u64 ds_linear(struct model *m)
{
	return fault_nb_ds_area(m, m->ds_area);
}

/* Figures 17-5 to 17-8, "DS Save Area". The counter reset value is a 40-bit value. */
static bool read_ds(struct model *m, enum netburst_form form, struct netburst_ds *ds)
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

/* Figure 17-7: the IP is a linear address. The registers "may be logged in a partially modified
 * state": latitude record-registers. */
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

/* Figures 17-7 and 17-8: 40 bytes, or 144 bytes in the 64-bit form. */
static void fill(const struct model *m, const struct model_retired *r, enum netburst_form form,
		 u8 *bytes)
{
	for (unsigned i = 0; i < MEMBERS; i++) {
		const struct nb_field *p = &record_places[form][i];
		u64 value = member_of(m, r, i);

		__builtin_memcpy(bytes + p->offset, &value, p->size);
	}
}

/* "64 Bit Format of the DS Save Area": the 64-bit form with DTES64 or in IA-32e mode; else the
 * 32-bit form. */
static enum netburst_form form_of(const struct model *m, const struct model_retired *r)
{
	bool announced = !m->latitude[LAT_DS_FOLLOWS_MODE];

	return announced || !r->legacy ? NETBURST_FORM_NB64 : NETBURST_FORM_NB32;
}

/* "... equal to or greater than the PEBS interrupt threshold value". */
static void interrupt(struct model *m, unsigned counter, const struct netburst_ds *ds)
{
	struct model *to = fault_nb_threshold(m, ds, ds->index >= ds->threshold ? m : NULL);

	if (!to)
		return;
	model_request(to, ACTION_THRESHOLD_INT, counter);
	model_core_kick(m, to);
}

/* "Processor Event-Based Sampling (PEBS)": the record is written at the PEBS index, which then
 * points after the record. The counter gets the reset value. Without room nothing is written. */
bool netburst_assist(struct model *m, const struct netburst_step *s, unsigned counter)
{
	struct netburst *n = netburst_of(m);
	enum netburst_form area = form_of(m, s->core.r), form = fault_nb_form(m, area);
	u8 bytes[NB64_BYTES] = { 0 };
	unsigned size = record_bytes[form];
	struct netburst_assist assist;
	struct netburst_ds ds;

	if (!read_ds(m, area, &ds))
		return false;
	assist.fits = ds.index >= ds.base && ds.index + size <= ds.maximum;
	assist.written = assist.reloads = true;
	assist.at = ds.index;
	assist.index = ds.index + size;
	assist.reload = ds.reset & BITS(0, NB_WIDTH - 1);
	fault_nb_assist(m, s->thread, &ds, &assist);
	if (!assist.fits)
		return false;
	fill(m, s->core.r, form, bytes);
	fault_nb_record(m, s->thread, form, ds.index == ds.base, bytes);
	if (assist.written) {
		if (!m->host->write(m->host->ctx, assist.at, bytes, size))
			return false;
		fault_nb_record_written(m, assist.at + size);
		ds.index = assist.index;
		/* The page was mapped when the area was read. */
		m->host->write(m->host->ctx, ds_linear(m) + ds_places[area][DS_pebs_index].offset,
			       &ds.index, ds_places[area][DS_pebs_index].size);
	}
	if (assist.reloads)
		n->counter[counter] = assist.reload;
	interrupt(m, counter, &ds);
	return true;
}
