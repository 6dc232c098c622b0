/* SPDX-License-Identifier: MIT */
/* Faults of NetBurst's records and of its DS area. */
#include "refpmu/faults/broken.h"
#include "refpmu/faults/netburst/netburst_state.h"
#include "refpmu/model/core.h"
#include "refpmu/model/netburst/netburst.h"
#include "spec/x86.h"

#define FIELD	8u	/* bytes, of the 64-bit form */

enum {
#define NB_RECORD_FIELD(form, field, offset, size, title) AT_##form##_##field = (offset),
#include "spec/netburst.def"
};

/* Faults of one field, or of a field and the next one. */
static const struct {
	u16 zero, stale, swapped;
	u8 at;
} generated[] = {
#define FAULT(token, name, requirements, sentence, ...)
#define FAULT_NB_FIELD(token, field, name, requirements, title) \
	{ FAULT_NB_##token##_ZERO, FAULT_NB_##token##_STALE, FAULT_NONE, AT_NB64_##field },
#define FAULT_NB_PAIR(token, field, name, requirements, title) \
	{ FAULT_NONE, FAULT_NONE, FAULT_NB_##token##_SWAPPED, AT_NB64_##field },
#include "refpmu/faults/fault_netburst.def"
#undef FAULT
};

u64 fault_nb_ds_area(struct model *m, u64 linear)
{
	return broken(m, FAULT_NB_DS_AREA_SHARED) ? netburst_faults(netburst_of(m))->last_ds_area :
						    linear;
}

unsigned fault_nb_form(struct model *m, unsigned form)
{
	return broken(m, FAULT_NB_RECORD_32) ? NETBURST_FORM_NB32 : form;
}

/* No records any more after the threshold is reached, until software writes the index (or
 * MSR_PEBS_ENABLE: netburst.c). */
static bool is_stopped(struct model *m, unsigned thread, const struct netburst_ds *ds,
		       const struct netburst_assist *assist)
{
	u64 *at = &netburst_thread_faults(&netburst_of(m)->thread[thread])->stopped_at;

	if (*at == ds->index && broken(m, FAULT_NB_THRESHOLD_STOPS))
		return true;
	*at = assist->index >= ds->threshold ? assist->index : 0;
	return false;
}

/* Use the index and reset value of the first assist. */
static void go_by_kept(struct model *m, struct netburst_thread_faults *f,
		       const struct netburst_ds *ds, struct netburst_assist *assist)
{
	const u64 size = assist->index - ds->index;

	if (!broken(m, FAULT_NB_DS_CACHED))
		return;
	if (!f->is_kept) {
		f->kept_index = ds->index;
		f->kept_reset = assist->reload;
		f->is_kept = true;
	}
	assist->at = f->kept_index;
	assist->index = f->kept_index + size;
	assist->reload = f->kept_reset;
	assist->fits = assist->at >= ds->base && assist->index <= ds->maximum;
	if (assist->fits)
		f->kept_index = assist->index;
}

/* There is no room, or there was none before. */
static bool is_full(struct model *m, struct netburst_thread_faults *f, bool fits)
{
	if (fits)
		return f->was_full && broken(m, FAULT_NB_FULL_STAYS);
	f->was_full = true;
	return true;
}

void fault_nb_assist(struct model *m, unsigned thread, const struct netburst_ds *ds,
		     struct netburst_assist *assist)
{
	struct netburst_thread_faults *f = netburst_thread_faults(&netburst_of(m)->thread[thread]);
	const u64 index = ds->index, low = BITS(0, 31);

	if (m->config.fault == FAULT_NONE)
		return;
	go_by_kept(m, f, ds, assist);
	assist->fits = !is_full(m, f, assist->fits);
	if (assist->fits && (assist->index & low) > (ds->maximum & low) &&
	    broken(m, FAULT_NB_MAXIMUM_32))
		assist->fits = false;
	if (!assist->fits && index >= ds->base && index < ds->maximum &&
	    broken(m, FAULT_NB_MAXIMUM_OF_STARTS))
		assist->fits = true;
	if (assist->fits && is_stopped(m, thread, ds, assist))
		assist->fits = false;
	if (!assist->fits && broken(m, FAULT_NB_FULL_IGNORED))
		assist->fits = true;
	if (broken(m, FAULT_NB_RECORD_DROPPED))
		assist->written = false;
	if (index != ds->base && broken(m, FAULT_NB_RECORDS_AT_BASE))
		assist->at = ds->base;
	if (broken(m, FAULT_NB_INDEX_STAYS))
		assist->index = index;
	if (index >> 32 && broken(m, FAULT_NB_INDEX_32))
		assist->index &= BITS(0, 31);
	if (broken(m, FAULT_NB_INDEX_FAR))
		assist->index += FIELD;
	if (broken(m, FAULT_NB_NO_RELOAD))
		assist->reloads = false;
	if (broken(m, FAULT_NB_RELOAD_SIGN))
		assist->reload = (assist->reload & BITS(0, 31)) |
				 (assist->reload & BIT(31) ? BITS(32, NB_WIDTH - 1) : 0);
}

static void move_rip(u8 *field, unsigned size)
{
	u64 rip = 0;

	__builtin_memcpy(&rip, field, size);
	rip += 16;
	__builtin_memcpy(field, &rip, size);
}

void fault_nb_record(struct model *m, unsigned thread, unsigned form, bool first, u8 *bytes)
{
	struct netburst_thread_faults *f = netburst_thread_faults(&netburst_of(m)->thread[thread]);
	u8 good[NB64_BYTES];

	if (m->config.fault == FAULT_NONE)
		return;
	if (broken(m, FAULT_NB_RIP_FAR)) {
		if (form == NETBURST_FORM_NB64)
			move_rip(bytes + AT_NB64_rip, FIELD);
		else
			move_rip(bytes + AT_NB32_rip, sizeof(u32));
	}
	if (form != NETBURST_FORM_NB64)
		return;
	if (broken(m, FAULT_NB_RIP_32) || (thread && broken(m, FAULT_NB_RIP_32_T1)))
		__builtin_memset(bytes + AT_NB64_rip + FIELD / 2, 0, FIELD / 2);
	if (broken(m, FAULT_NB_FLAGS_16))
		__builtin_memset(bytes + AT_NB64_rflags + sizeof(u16), 0, FIELD - sizeof(u16));
	if (broken(m, FAULT_NB_STATUS_FLAGS)) {
		u16 flags;

		__builtin_memcpy(&flags, bytes + AT_NB64_rflags, sizeof(flags));
		flags &= (u16)~RFLAGS_STATUS;
		__builtin_memcpy(bytes + AT_NB64_rflags, &flags, sizeof(flags));
	}
	__builtin_memcpy(good, bytes, sizeof(good));
	for (size_t i = 0; i < sizeof(generated) / sizeof(generated[0]); i++) {
		unsigned at = generated[i].at;

		if (broken(m, generated[i].zero))
			__builtin_memset(bytes + at, 0, FIELD);
		if (broken(m, generated[i].stale))
			__builtin_memcpy(bytes + at, f->previous_record + at, FIELD);
		if (broken(m, generated[i].swapped)) {
			__builtin_memcpy(bytes + at, good + at + FIELD, FIELD);
			__builtin_memcpy(bytes + at + FIELD, good + at, FIELD);
		}
	}
	if (!first && broken(m, FAULT_NB_LATER_REPEATED))
		__builtin_memcpy(bytes, f->previous_record, sizeof(good));
	__builtin_memcpy(f->previous_record, good, sizeof(good));
}

void fault_nb_record_written(struct model *m, u64 end)
{
	const u64 nothing = 0;
	const u8 both = BIT(0) | BIT(1);

	if (broken(m, FAULT_NB_RECORD_LONG) ||
	    (netburst_of(m)->now.pebs_threads == both && broken(m, FAULT_NB_PEBS_BOTH_LONG)))
		m->host->write(m->host->ctx, end, &nothing, sizeof(nothing));
}

struct model *fault_nb_threshold(struct model *m, const struct netburst_ds *ds, struct model *to)
{
	struct netburst_thread_faults *f = netburst_thread_faults(
		&netburst_of(m)->thread[netburst_thread_of(m)]);
	const u64 low = BITS(0, 31);

	if (m->config.fault == FAULT_NONE)
		return to;
	if (!to && (ds->index & low) >= (ds->threshold & low) && broken(m, FAULT_NB_THRESHOLD_32))
		to = m;
	if (ds->index > ds->threshold && broken(m, FAULT_NB_THRESHOLD_EXACT))
		return NULL;
	if (ds->index == ds->threshold && ds->threshold == ds->maximum &&
	    broken(m, FAULT_NB_THRESHOLD_AT_MAXIMUM))
		return NULL;
	if (!to && broken(m, FAULT_NB_THRESHOLD_ALWAYS))
		to = m;
	if (to && f->has_interrupted && broken(m, FAULT_NB_THRESHOLD_ONCE))
		to = NULL;
	f->has_interrupted |= !!to;
	if (to && broken(m, FAULT_NB_THRESHOLD_NEVER))
		to = NULL;
	return to && netburst_has_ht(m) && broken(m, FAULT_NB_THRESHOLD_SIBLING) ?
		       model_core_sibling(m) :
		       to;
}
