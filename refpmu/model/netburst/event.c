/* SPDX-License-Identifier: MIT */
/*
 * What an ESCR selects of an instruction: event, mask, logical processor and privilege level
 * (Tables 18-66 and 18-67), and the three ways of tagging ("At-Retirement Counting").
 *
 * A thread-specific event is qualified by the flags of the logical processor that has it. A
 * thread-independent one counts while any logical processor that runs is at a selected level,
 * and with OS and USR both selected always.
 */
#include "refpmu/model/netburst/netburst.h"
#include "refpmu/model/access.h"

static const struct { u8 select, escr0, escr1, flags; } events[NB_EVENT_COUNT] = {
#define NB_EVENT(name, select, escr0, escr1, cccr_select, flags, source) \
	[NB_EVENT_##name] = { select, NB_##escr0, NB_##escr1, flags },
#include "spec/netburst.def"
};

static const struct { u8 event, bit, thread, counts; } masks[] = {
#define NB_MASK(event, name, bit, thread, counts, source) \
	{ NB_EVENT_##event, bit, thread, counts },
#include "spec/netburst.def"
};
#define MASKS (sizeof(masks) / sizeof(masks[0]))
_Static_assert(MASKS <= 64 && NB_ESCRS <= 64, "sets of them are words");

static const struct { u8 select, pool; } escrs[NB_ESCRS] = {
#define NB_ESCR(name, address, select, pool, source) [NB_##name] = { select, pool },
#include "spec/netburst.def"
};

#define ALL_FLAGS	(NB_ESCR_T0_OS | NB_ESCR_T0_USR | NB_ESCR_T1_OS | NB_ESCR_T1_USR)

/* ---- who is counted ---- */

static u64 flag_of(unsigned thread, bool user)
{
	if (thread)
		return user ? NB_ESCR_T1_USR : NB_ESCR_T1_OS;
	return user ? NB_ESCR_T0_USR : NB_ESCR_T0_OS;
}

/* Does a fault of one cell of Table 18-66 turn this logical processor's level round? */
static bool cell_is_broken(struct model *m, u64 flags, unsigned thread, bool user)
{
	static const struct { u64 flags; enum fault_id fault; u8 thread, user; } cells[] = {
#define FAULT_NB_CELL(token, name, requirements, flags, thread, user, title) \
		{ flags, FAULT_NB_CELL_##token, thread, user },
#include "refpmu/faults/fault_netburst_cell.def"
	};

	for (unsigned i = 0; i < sizeof cells / sizeof cells[0]; i++)
		if (cells[i].flags == flags && cells[i].thread == thread && cells[i].user == user)
			return broken(m, cells[i].fault);
	return false;
}

/* Table 18-66. Broken processors add to a cell, or take away from it. */
static bool thread_specific(struct model *m, u64 escr, unsigned thread, bool user)
{
	u64 flags = escr & ALL_FLAGS;

	if (broken(m, FAULT_NB_THREADS_EXCHANGED))
		thread = !thread;
	if (!flags && broken(m, FAULT_NB_NO_FLAGS_COUNT))
		return true;
	if (flags == ALL_FLAGS && thread && broken(m, FAULT_NB_ALL_FLAGS_T0))
		return false;
	if (flags == (NB_ESCR_T0_USR | NB_ESCR_T1_OS) && broken(m, FAULT_NB_MISPRINT))
		return !user;
	if (!!(flags & flag_of(thread, user)) != cell_is_broken(m, flags, thread, user))
		return true;
	return (flags & flag_of(thread, !user) && broken(m, FAULT_NB_LEVELS_IGNORED)) ||
	       (flags & flag_of(!thread, user) &&
		((!user && broken(m, FAULT_NB_ANY_OS)) ||
		 (!thread && broken(m, FAULT_NB_T1_FLAGS_COUNT_T0))));
}

/* Table 18-67. */
static bool thread_independent(struct model *m, u64 escr, unsigned thread, bool user)
{
	const struct netburst *n = netburst_of(m);
	bool usr = escr & (NB_ESCR_T0_USR | NB_ESCR_T1_USR);
	bool os = escr & (NB_ESCR_T0_OS | NB_ESCR_T1_OS);

	if (broken(m, FAULT_NB_TI_AS_TS))
		return thread_specific(m, escr, thread, user);
	if (thread && broken(m, FAULT_NB_TI_T0_ONLY))
		return false;
	if (!usr && !os)
		return broken(m, FAULT_NB_NO_FLAGS_COUNT);
	if (usr && os)
		return true;
	for (unsigned t = 0; t < NB_THREADS; t++)
		if (n->thread[t].active && n->thread[t].user == usr)
			return true;
	return false;
}

static bool selected(struct model *m, const struct netburst_step *s, u64 escr, u8 kind)
{
	bool user = s->core.r->cpl;

	return kind == NB_TI ? thread_independent(m, escr, s->thread, user) :
			       thread_specific(m, escr, s->thread, user);
}

/* Faults nb-branch-retired-both, nb-branch-type-both: the flags of the other thread do as well. */
static bool selected_of_both(struct model *m, const struct netburst_step *s, u64 escr,
			     unsigned event)
{
	if (!(escr & flag_of(!s->thread, s->core.r->cpl)))
		return false;
	return (event == NB_EVENT_BRANCH_RETIRED && broken(m, FAULT_NB_BRANCH_RETIRED_BOTH)) ||
	       (event == NB_EVENT_RETIRED_BRANCH_TYPE && broken(m, FAULT_NB_BRANCH_TYPE_BOTH));
}

/* ---- what has happened ---- */

static bool is(const struct netburst_step *s, enum model_arithmetic kind)
{
	return s->core.r->arithmetic == kind;
}

static bool is_taken(struct model *m, const struct model_retired *r)
{
	bool taken = r->branch != BRANCH_CONDITIONAL || r->taken;

	return taken != broken(m, FAULT_NB_BRANCH_MASKS);
}

static bool is_tagged(const struct netburst_step *s)
{
	return (s->load_tags && s->core.r->loads) || (s->store_tags && s->core.r->stores) ||
	       s->execution_tags;
}

static u64 executed(struct model *m, const struct netburst_step *s, unsigned tag)
{
	if (broken(m, FAULT_NB_EXECUTION_UNTAGGED))
		return 1;
	if (is(s, ARITHMETIC_NONE))
		return 0;
	if (s->execution_tags && broken(m, FAULT_NB_TAG_VALUE_IGNORED))
		return 1;
	return s->execution_tags >> tag & 1;
}

static u64 instructions(struct model *m)
{
	return !(broken(m, FAULT_NB_INSTRUCTIONS_MISSED) && netburst_of(m)->faults.tick++ % 4 == 0);
}

static u64 mispredictions(struct model *m, const struct netburst_step *s)
{
	return s->mispredicted ? broken(m, FAULT_NB_MISPREDICTS_MANY) ? 1000 : 1 : 0;
}

static u64 happened(struct model *m, const struct netburst_step *s, enum netburst_what what)
{
	const struct model_retired *r = s->core.r;
	bool branch = r->branch != BRANCH_NONE;

	switch (what) {
	case NBW_INSTRUCTIONS:
		return instructions(m);
	case NBW_UNTAGGED_INSTRUCTIONS:
		return is_tagged(s) ? 0 : instructions(m);
	case NBW_TAGGED_INSTRUCTIONS:
		return is_tagged(s) ? instructions(m) : 0;
	case NBW_UOPS:		/* how many isn't stated: one, and one for each access */
		return 1 + r->loads + r->stores;
	case NBW_NOT_TAKEN_PREDICTED:
		return branch && !is_taken(m, r) && !s->mispredicted;
	case NBW_NOT_TAKEN_MISPREDICTED:
		return branch && !is_taken(m, r) ? mispredictions(m, s) : 0;
	case NBW_TAKEN_PREDICTED:
		return branch && is_taken(m, r) && !s->mispredicted;
	case NBW_TAKEN_MISPREDICTED:
		return branch && is_taken(m, r) ? mispredictions(m, s) : 0;
	case NBW_MISPREDICTED:
		return branch && broken(m, FAULT_NB_MISPREDICTS_ALL) ? 2 : s->mispredicted;
	case NBW_CONDITIONAL:
		return r->branch == BRANCH_CONDITIONAL;
	case NBW_CALLS:
		return r->branch == BRANCH_CALL;
	case NBW_RETURNS:
		return r->branch == BRANCH_RETURN && !broken(m, FAULT_NB_RETURNS_MISSED);
	case NBW_CLOCKS:
		return !broken(m, FAULT_NB_CLOCKS_HALF);
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
		if (broken(m, FAULT_NB_FRONT_END_UNTAGGED))
			return r->loads + r->stores;
		return (s->load_tags ? r->loads : 0) + (s->store_tags ? r->stores : 0);
	case NBW_EXECUTION_0:
	case NBW_EXECUTION_1:
	case NBW_EXECUTION_2:
	case NBW_EXECUTION_3:
		return executed(m, s, what - NBW_EXECUTION_0);
	case NBW_REPLAY:
		return netburst_replayed(m, s);
	default:
		return 0;
	}
}

/* ---- ESCRs ---- */

/* NB_EVENT_COUNT: it selects none that it can count. */
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

void netburst_escr_written(struct netburst_settings *with, unsigned e)
{
	u64 escr = with->escr[e], mask = (escr & NB_ESCR_EVENT_MASK) >> NB_ESCR_EVENT_MASK_SHIFT;
	struct netburst_meaning *meaning = &with->meaning[e];

	meaning->event = (u8)(escr ? event_of(escr, e) : NB_EVENT_COUNT);
	meaning->rows = 0;
	for (size_t i = 0; i < MASKS; i++)
		if (masks[i].event == meaning->event && mask & BIT(masks[i].bit))
			meaning->rows |= BIT(i);
	note(&with->taggers, e, meaning->event < NB_EVENT_COUNT &&
				events[meaning->event].flags & NB_TAGS);
	note(&with->memory, e, asks_memory(meaning->event));
}

void netburst_cccr_written(struct netburst_settings *with, unsigned n)
{
	u64 select = (with->cccr[n] & NB_CCCR_ESCR_SELECT) >> NB_CCCR_ESCR_SELECT_SHIFT;
	unsigned e;

	for (e = 0; e < NB_ESCRS; e++)
		if (escrs[e].pool == netburst_counters[n].pool && escrs[e].select == select)
			break;
	with->selected[n] = (u8)e;
}

/* The ESCR that counter n counts by, or NB_ESCRS. */
static unsigned selected_escr(struct model *m, const struct netburst_settings *with, unsigned n)
{
	unsigned e;

	if (!broken(m, FAULT_NB_SELECT_IGNORED))
		return with->selected[n];
	for (e = 0; e < NB_ESCRS; e++)
		if (escrs[e].pool == netburst_counters[n].pool)
			break;
	return e;
}

bool netburst_watches_memory(const struct netburst_settings *with)
{
	return with->running && with->memory;
}

/*
 * "To use an ESCR, even only for tagging, a counter that it can feed must be enabled" (18.15.5.9):
 * one of its own group, or of the other half of it. Otherwise the counts "may be 0".
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

static void tag_accesses(struct model *m, struct netburst_step *s, u64 mask)
{
	bool loads = mask & NB_UOP_TYPE_TAGLOADS, stores = mask & NB_UOP_TYPE_TAGSTORES;

	if (loads != stores && broken(m, FAULT_NB_FRONT_END_EXCHANGED)) {
		loads = !loads;
		stores = !stores;
	}
	s->load_tags |= loads;
	s->store_tags |= stores;
}

/* The tags of one upstream ESCR. */
static void tag_by(struct model *m, struct netburst_step *s, u64 escr,
		   const struct netburst_meaning *meaning)
{
	for (u64 rows = meaning->rows; rows; rows &= rows - 1) {
		unsigned i = (unsigned)__builtin_ctzll(rows);

		if (!selected(m, s, escr, masks[i].thread))
			continue;
		if (meaning->event == NB_EVENT_UOP_TYPE)
			tag_accesses(m, s, BIT(masks[i].bit));
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

void netburst_tag(struct model *m, struct netburst_step *s)
{
	s->load_tags = s->store_tags = s->split_load_tags = s->split_store_tags = false;
	s->execution_tags = 0;
	s->replay_causes = 0;
	for (u64 left = s->with->taggers; left; left &= left - 1) {
		unsigned e = (unsigned)__builtin_ctzll(left);

		if (feeds(m, s, e))
			tag_by(m, s, s->with->escr[e], &s->with->meaning[e]);
	}
}

/* "PEBS is supported for only" Execution_event, Front_end_event and Replay_event. */
static bool makes_records(struct model *m, unsigned event)
{
	if ((event == NB_EVENT_EXECUTION_EVENT && broken(m, FAULT_NB_PEBS_NO_EXECUTION)) ||
	    (event == NB_EVENT_FRONT_END_EVENT && broken(m, FAULT_NB_PEBS_NO_FRONT_END)) ||
	    (event == NB_EVENT_REPLAY_EVENT && broken(m, FAULT_NB_PEBS_NO_REPLAY)))
		return false;
	return events[event].flags & NB_PEBS || broken(m, FAULT_NB_PEBS_ANY_EVENT) ||
	       (event == NB_EVENT_MISPRED_BRANCH_RETIRED && broken(m, FAULT_NB_MISPRED_PEBS));
}

u64 netburst_input(struct model *m, const struct netburst_step *s, unsigned n, bool *per_clock,
		   bool *precise)
{
	unsigned e = selected_escr(m, s->with, n), event;
	u64 escr, input = 0;

	*per_clock = *precise = false;
	if (e == NB_ESCRS)
		return 0;
	escr = s->with->escr[e];
	event = s->with->meaning[e].event;
	if (broken(m, FAULT_NB_EVENT_IGNORED))
		return selected(m, s, escr, NB_TS);
	if (event == NB_EVENT_COUNT ||
	    (event == NB_EVENT_BRANCH_RETIRED && broken(m, FAULT_NB_BRANCH_RETIRED_SILENT)) ||
	    (event == NB_EVENT_FRONT_END_EVENT && n == NB_IQ_COUNTER1 &&
	     broken(m, FAULT_NB_COUNTER_13_FRONT_END)))
		return 0;
	*precise = makes_records(m, event);
	for (u64 rows = s->with->meaning[e].rows; rows; rows &= rows - 1) {
		unsigned i = (unsigned)__builtin_ctzll(rows);

		if (!selected(m, s, escr, masks[i].thread) &&
		    !selected_of_both(m, s, escr, event) &&
		    !(masks[i].counts == NBW_CLOCKS && broken(m, FAULT_NB_HALTED_CLOCKS)))
			continue;
		/* The same micro-operation, under another tag. */
		if (input && masks[i].counts >= NBW_EXECUTION_0 &&
		    masks[i].counts <= NBW_EXECUTION_3)
			continue;
		input += happened(m, s, masks[i].counts);
		*per_clock |= masks[i].counts == NBW_CLOCKS;
	}
	return input;
}
