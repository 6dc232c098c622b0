/* SPDX-License-Identifier: MIT */
/*
 * The events of an instruction that an ESCR selects: event, mask, logical processor and privilege
 * level (Tables 18-66 and 18-67), and the three ways of tagging ("At-Retirement Counting").
 *
 * For a thread-specific event the flags of the logical processor that has the event apply. A
 * thread-independent event counts while any running logical processor is at a selected level; if
 * both OS and USR are selected, it always counts.
 */
#include "refpmu/model/netburst/netburst.h"
#include "refpmu/model/access.h"

static const struct {
	u8 select, escr0, escr1, flags;
} events[NB_EVENT_COUNT] = {
#define NB_EVENT(name, select, escr0, escr1, cccr_select, flags, source) \
	[NB_EVENT_##name] = { select, NB_##escr0, NB_##escr1, flags },
#include "spec/netburst.def"
};

static const struct {
	u8 event, bit, thread, counts;
} masks[] = {
#define NB_MASK(event, name, bit, thread, counts, source) \
	{ NB_EVENT_##event, bit, thread, counts },
#include "spec/netburst.def"
};
#define MASKS (sizeof(masks) / sizeof(masks[0]))
_Static_assert(MASKS <= 64 && NB_ESCRS <= 64, "sets of them are words");

static const struct {
	u8 select, pool;
} escrs[NB_ESCRS] = {
#define NB_ESCR(name, address, select, pool, source) [NB_##name] = { select, pool },
#include "spec/netburst.def"
};

/* ---- what is selected ---- */

/* "ESCR MSRs": T0_OS and T0_USR are about logical processor 0 at CPL 0 and at CPL 1 to 3, T1_OS
 * and T1_USR about logical processor 1. */
u64 netburst_flag_of(unsigned thread, bool user)
{
	if (thread)
		return user ? NB_ESCR_T1_USR : NB_ESCR_T1_OS;
	return user ? NB_ESCR_T0_USR : NB_ESCR_T0_OS;
}

/*
 * Table 18-66. "If for example, a TS event occurred in logical processor T0, the counting of the
 * event (as shown in Table 18-66) depends only on the setting of the T0_USR and T0_OS flags in
 * the ESCR being used to set up the event counter. The T1_USR and T1_OS flags have no effect on
 * the count." The printed cell T0_OS/T0_USR = 01, T1_OS/T1_USR = 10 contradicts this:
 * docs/READINGS.md.
 */
static bool thread_specific(struct model *m, u64 escr, unsigned thread, bool user)
{
	return fault_nb_thread_specific(m, escr, thread, user,
					escr & netburst_flag_of(thread, user));
}

/* Table 18-67. */
static bool runs_at_selected(const struct netburst *n, u64 escr)
{
	bool usr = escr & (NB_ESCR_T0_USR | NB_ESCR_T1_USR);
	bool os = escr & (NB_ESCR_T0_OS | NB_ESCR_T1_OS);

	if (usr == os)
		return usr;
	for (unsigned t = 0; t < NB_THREADS; t++)
		if (n->thread[t].active && n->thread[t].user == usr)
			return true;
	return false;
}

/* "The event cannot be qualified as being associated with a specific logical processor." */
static bool thread_independent(struct model *m, u64 escr, unsigned thread, bool user)
{
	return fault_nb_thread_independent(m, escr, thread, user,
					   runs_at_selected(netburst_of(m), escr));
}

/* "Performance Monitoring Events": "each event falls into one of two categories", thread
 * specific and thread independent. Table 19-34 has the category of each bit of an event mask. */
static bool selected(struct model *m, const struct netburst_step *s, u64 escr, u8 kind)
{
	bool user = fault_nb_user(m, s->core.r->cpl, s->core.r->cpl > 0);

	return kind == NB_TI ? thread_independent(m, escr, s->thread, user) :
			       thread_specific(m, escr, s->thread, user);
}

/* ---- what has happened ---- */

static bool is(const struct netburst_step *s, enum model_arithmetic kind)
{
	return s->core.r->arithmetic == kind;
}

/* Table 19-29, branch_retired: MMTP and MMTM are taken branches, MMNP and MMNM are not. Only a
 * conditional branch can be not taken. */
static bool is_taken(struct model *m, const struct model_retired *r)
{
	bool taken = r->branch != BRANCH_CONDITIONAL || r->taken;

	return fault_nb_taken(m, taken);
}

/* Table 19-29, instr_retired: NBOGUSTAG has the tagged instructions, NBOGUSNTAG the others. */
static bool is_tagged(const struct netburst_step *s)
{
	return (s->load_tags && s->core.r->loads) || (s->store_tags && s->core.r->stores) ||
	       s->execution_tags;
}

/* Table 19-32: execution_event counts micro-operations with the tag that its mask selects. */
static u64 executed(const struct netburst_step *s, unsigned tag)
{
	return !is(s, ARITHMETIC_NONE) && s->execution_tags & BIT(tag);
}

/* What one bit of an event mask counts of this instruction: Tables 19-28 to 19-33. */
static u64 occurrences(struct model *m, const struct netburst_step *s, enum netburst_what what)
{
	const struct model_retired *r = s->core.r;
	bool branch = r->branch != BRANCH_NONE;

	switch (what) {
	case NBW_INSTRUCTIONS:
		return 1;
	case NBW_UNTAGGED_INSTRUCTIONS:
		return !is_tagged(s);
	case NBW_TAGGED_INSTRUCTIONS:
		return is_tagged(s);
	case NBW_UOPS:		/* the number isn't documented: one, and one for each access */
		return 1 + r->loads + r->stores;
	case NBW_NOT_TAKEN_PREDICTED:
		return branch && !is_taken(m, r) && !s->mispredicted;
	case NBW_NOT_TAKEN_MISPREDICTED:
		return branch && !is_taken(m, r) && s->mispredicted;
	case NBW_TAKEN_PREDICTED:
		return branch && is_taken(m, r) && !s->mispredicted;
	case NBW_TAKEN_MISPREDICTED:
		return branch && is_taken(m, r) && s->mispredicted;
	case NBW_MISPREDICTED:
		return s->mispredicted;
	case NBW_CONDITIONAL:
		return r->branch == BRANCH_CONDITIONAL;
	case NBW_CALLS:
		return r->branch == BRANCH_CALL;
	case NBW_RETURNS:
		return r->branch == BRANCH_RETURN;
	case NBW_CLOCKS:
		return 1;
	case NBW_DATA_WALKS:
		return netburst_accesses(m, s, EK_DTLB_MISS_LOADS, true) +
		       netburst_accesses(m, s, EK_DTLB_MISS_STORES, true);
	case NBW_SPLIT_LOADS:
		return netburst_accesses(m, s, EK_SPLIT_LOADS, true);
	case NBW_SPLIT_STORES:
		return netburst_accesses(m, s, EK_SPLIT_STORES, true);
	case NBW_PACKED_SP:
		return is(s, ARITHMETIC_PACKED_SP);
	case NBW_PACKED_DP:
		return is(s, ARITHMETIC_PACKED_DP);
	case NBW_SCALAR_SP:
		return is(s, ARITHMETIC_SCALAR_SP);
	case NBW_SCALAR_DP:
		return is(s, ARITHMETIC_SCALAR_DP);
	case NBW_MMX_64:
		return is(s, ARITHMETIC_MMX_64);
	case NBW_MMX_128:
		return is(s, ARITHMETIC_MMX_128);
	case NBW_X87:
		return is(s, ARITHMETIC_X87);
	case NBW_FRONT_END:
		return (s->load_tags ? r->loads : 0) + (s->store_tags ? r->stores : 0);
	case NBW_EXECUTION_0:
	case NBW_EXECUTION_1:
	case NBW_EXECUTION_2:
	case NBW_EXECUTION_3:
		return executed(s, what - NBW_EXECUTION_0);
	case NBW_REPLAY:
		return netburst_replayed(m, s);
	default:
		return 0;
	}
}

static u64 happened(struct model *m, const struct netburst_step *s, enum netburst_what what)
{
	return fault_nb_happened(m, s, what, occurrences(m, s, what));
}

/* ---- ESCRs ---- */

/* "ESCR MSRs", event select field [30:25]; Tables 19-28 and 19-29 have the ESCRs of each event.
 * Returns the event that the ESCR selects; NB_EVENT_COUNT: none that it can count. */
static unsigned event_of(u64 escr, unsigned number)
{
	u64 select = (escr & NB_ESCR_EVENT_SELECT) >> NB_ESCR_EVENT_SELECT_SHIFT;
	unsigned e;

	for (e = 0; e < NB_EVENT_COUNT; e++)
		if (events[e].select == select &&
		    (events[e].escr0 == number || events[e].escr1 == number))
			break;
	return e;
}

static bool asks_memory(unsigned event)
{
	return event == NB_EVENT_REPLAY_EVENT || event == NB_EVENT_PAGE_WALK_TYPE ||
	       event == NB_EVENT_LOAD_PORT_REPLAY || event == NB_EVENT_STORE_PORT_REPLAY;
}

static void note(u64 *set, unsigned e, bool member)
{
	*set = member ? *set | BIT(e) : *set & ~BIT(e);
}

/* "ESCR MSRs": event mask field [24:9]. */
void netburst_escr_written(struct netburst_settings *with, unsigned e)
{
	u64 escr = with->escr[e], mask = (escr & NB_ESCR_EVENT_MASK) >> NB_ESCR_EVENT_MASK_SHIFT;
	struct netburst_meaning *meaning = &with->meaning[e];

	meaning->event = (u8)(escr ? event_of(escr, e) : NB_EVENT_COUNT);
	meaning->rows = 0;
	for (size_t i = 0; i < MASKS; i++)
		if (masks[i].event == meaning->event && mask & BIT(masks[i].bit))
			meaning->rows |= BIT(i);
	note(&with->taggers, e,
	     meaning->event < NB_EVENT_COUNT && events[meaning->event].flags & NB_TAGS);
	note(&with->memory, e, asks_memory(meaning->event));
}

/* "CCCR MSRs", ESCR select field [15:13]: Table 18-63 has the ESCR of each value. */
void netburst_cccr_written(struct netburst_settings *with, unsigned n)
{
	u64 select = (with->cccr[n] & NB_CCCR_ESCR_SELECT) >> NB_CCCR_ESCR_SELECT_SHIFT;
	unsigned e;

	for (e = 0; e < NB_ESCRS; e++)
		if (escrs[e].pool == netburst_counters[n].pool && escrs[e].select == select)
			break;
	with->selected[n] = (u8)e;
}

bool netburst_watches_memory(const struct netburst_settings *with)
{
	return with->running && with->memory;
}

/*
 * To use an ESCR, even only for tagging, a counter that it can feed must be enabled (18.15.5.9):
 * one of its own group, or of the other half of it. Otherwise the counts may be 0: latitude
 * tags-unfed.
 */
static bool feeds(struct model *m, const struct netburst_step *s, unsigned e)
{
	if (m->latitude[LAT_TAGS_UNFED])
		return true;
	for (u32 left = s->with->running; left; left &= left - 1)
		if ((netburst_counters[__builtin_ctz(left)].pool ^ escrs[e].pool) <= 1)
			return true;
	return false;
}

/* Table 19-31: uop_type with TAGLOADS or TAGSTORES tags loads or stores for front_end_event. */
static void tag_accesses(struct model *m, struct netburst_step *s, u64 escr, u64 mask)
{
	bool loads = mask & NB_UOP_TYPE_TAGLOADS, stores = mask & NB_UOP_TYPE_TAGSTORES;

	fault_nb_access_tags(m, escr, &loads, &stores);
	s->load_tags |= loads;
	s->store_tags |= stores;
}

/* The tags of one upstream ESCR: Tables 19-31 and 19-33; for execution tagging the tag enable
 * and tag value fields of "ESCR MSRs", Table 19-32. */
static void tag_by(struct model *m, struct netburst_step *s, unsigned e)
{
	const struct netburst_meaning *meaning = &s->with->meaning[e];
	const u64 escr = s->with->escr[e];

	for (u64 rows = meaning->rows; rows; rows &= rows - 1) {
		unsigned i = (unsigned)__builtin_ctzll(rows);

		if (!fault_nb_tags(m, s, e, selected(m, s, escr, masks[i].thread)))
			continue;
		if (meaning->event == NB_EVENT_UOP_TYPE)
			tag_accesses(m, s, escr, BIT(masks[i].bit));
		else if (meaning->event == NB_EVENT_LOAD_PORT_REPLAY)
			s->split_load_tags = true;
		else if (meaning->event == NB_EVENT_STORE_PORT_REPLAY)
			s->split_store_tags = true;
		else if (meaning->event == NB_EVENT_MOB_LOAD_REPLAY)
			s->replay_causes |= BIT(masks[i].bit);
		else if (escr & NB_ESCR_TAG_ENABLE && happened(m, s, masks[i].counts))
			s->execution_tags |= (u8)((escr & NB_ESCR_TAG_VALUE) >>
						  NB_ESCR_TAG_VALUE_SHIFT);
	}
}

/* "At-Retirement Counting": upstream ESCRs tag, and at-retirement events count tagged
 * micro-operations. */
void netburst_tag(struct model *m, struct netburst_step *s)
{
	s->load_tags = s->store_tags = s->split_load_tags = s->split_store_tags = false;
	s->execution_tags = 0;
	s->replay_causes = 0;
	for (u64 left = s->with->taggers; left; left &= left - 1) {
		unsigned e = (unsigned)__builtin_ctzll(left);

		if (feeds(m, s, e))
			tag_by(m, s, e);
	}
}

/* "CCCR MSRs": event select and mask come first, then privilege and thread, then the ESCR
 * select. The filters of the CCCR follow in netburst.c. */
struct netburst_input netburst_input(struct model *m, const struct netburst_step *s, unsigned n)
{
	unsigned e = fault_nb_escr(m, n, s->with->selected[n]), event;
	struct netburst_input input = { .count = 0 };

	if (e == NB_ESCRS || s->with->meaning[e].event == NB_EVENT_COUNT)
		return input;
	event = s->with->meaning[e].event;
	/* "PEBS is supported for only" Execution_event, Front_end_event and Replay_event. */
	input.precise = events[event].flags & NB_PEBS;
	for (u64 rows = s->with->meaning[e].rows; rows; rows &= rows - 1) {
		unsigned i = (unsigned)__builtin_ctzll(rows);
		enum netburst_what what = masks[i].counts;

		if (!fault_nb_selected(m, s, s->with->escr[e], event, what,
				       selected(m, s, s->with->escr[e], masks[i].thread)))
			continue;
		/* The same micro-operation, with another tag. */
		if (input.count && what >= NBW_EXECUTION_0 && what <= NBW_EXECUTION_3)
			continue;
		input.count += happened(m, s, what);
		input.per_clock |= what == NBW_CLOCKS;
	}
	fault_nb_input(m, s, n, e, &input);
	return input;
}
