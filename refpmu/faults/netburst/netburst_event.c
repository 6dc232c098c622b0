/* SPDX-License-Identifier: MIT */
/* Faults of NetBurst's events: the thread that counts, the event, the tags. */
#include "refpmu/faults/broken.h"
#include "refpmu/faults/netburst/netburst_state.h"
#include "refpmu/model/netburst/netburst.h"

#define ALL_FLAGS	(NB_ESCR_T0_OS | NB_ESCR_T0_USR | NB_ESCR_T1_OS | NB_ESCR_T1_USR)

static const u8 escr_pools[NB_ESCRS] = {
#define NB_ESCR(name, address, select, pool, source) [NB_##name] = pool,
#include "spec/netburst.def"
};

/* ---- Tables 18-66 and 18-67 ---- */

/* Does a fault of one cell of Table 18-66 invert the selection for this thread's level? */
static bool cell_is_broken(struct model *m, u64 flags, unsigned thread, bool user)
{
	static const struct {
		u64 flags;
		enum fault_id fault;
		u8 thread, user;
	} cells[] = {
#define FAULT_NB_CELL(token, name, requirements, flags, thread, user, title) \
		{ flags, FAULT_NB_CELL_##token, thread, user },
#include "refpmu/faults/fault_netburst_cell.def"
	};

	for (unsigned i = 0; i < sizeof cells / sizeof cells[0]; i++)
		if (cells[i].flags == flags && cells[i].thread == thread && cells[i].user == user)
			return broken(m, cells[i].fault);
	return false;
}

bool fault_nb_thread_specific(struct model *m, u64 escr, unsigned thread, bool user, bool counts)
{
	u64 flags = escr & ALL_FLAGS;

	if (m->config.fault == FAULT_NONE)
		return counts;
	if (broken(m, FAULT_NB_THREADS_EXCHANGED)) {
		thread = !thread;
		counts = flags & netburst_flag_of(thread, user);
	}
	if (!flags && broken(m, FAULT_NB_NO_FLAGS_COUNT))
		return true;
	if (flags == ALL_FLAGS && thread && broken(m, FAULT_NB_ALL_FLAGS_T0))
		return false;
	if (flags == (NB_ESCR_T0_USR | NB_ESCR_T1_OS) && broken(m, FAULT_NB_MISPRINT))
		return !user;
	if (counts != cell_is_broken(m, flags, thread, user))
		return true;
	return (flags & netburst_flag_of(thread, !user) && broken(m, FAULT_NB_LEVELS_IGNORED)) ||
	       (flags & netburst_flag_of(!thread, user) &&
		((!user && broken(m, FAULT_NB_ANY_OS)) ||
		 (!thread && broken(m, FAULT_NB_T1_FLAGS_COUNT_T0))));
}

bool fault_nb_user(struct model *m, unsigned cpl, bool user)
{
	return broken(m, FAULT_NB_USR_CPL_3) ? cpl == 3 : user;
}

bool fault_nb_thread_independent(struct model *m, u64 escr, unsigned thread, bool user, bool counts)
{
	if (m->config.fault == FAULT_NONE)
		return counts;
	if (broken(m, FAULT_NB_TI_AS_TS))
		return escr & netburst_flag_of(thread, user);
	if (thread && broken(m, FAULT_NB_TI_T0_ONLY))
		return false;
	return counts || (!(escr & ALL_FLAGS) && broken(m, FAULT_NB_NO_FLAGS_COUNT));
}

/* A thread-independent event at CPL 1 or 2 is counted as at CPL 0. */
static bool selected_as_os(const struct netburst *n, unsigned thread, u64 escr)
{
	return escr & (NB_ESCR_T0_OS | NB_ESCR_T1_OS) ||
	       (escr & (NB_ESCR_T0_USR | NB_ESCR_T1_USR) && n->thread[!thread].active &&
		n->thread[!thread].user);
}

/* Is a level flag in replay_event's ESCR ignored? */
static bool replay_is_lost(struct model *m, const struct netburst_step *s)
{
	return (s->thread && broken(m, FAULT_NB_REPLAY_T0_ONLY)) ||
	       (s->core.r->cpl && broken(m, FAULT_NB_REPLAY_OS_ONLY));
}

bool fault_nb_selected(struct model *m, const struct netburst_step *s, u64 escr, unsigned event,
		       enum netburst_what what, bool selected)
{
	if (m->config.fault == FAULT_NONE)
		return selected;
	if (s->core.r->cpl % 3 && what >= NBW_PACKED_SP && what <= NBW_X87 &&
	    broken(m, FAULT_NB_TI_USR_CPL_3))
		return selected_as_os(netburst_of(m), s->thread, escr);
	if (selected && event == NB_EVENT_PAGE_WALK_TYPE &&
	    !(escr & netburst_flag_of(s->thread, s->core.r->cpl)) && broken(m, FAULT_NB_WALKS_TS))
		return false;
	if (selected)
		return event != NB_EVENT_REPLAY_EVENT || !replay_is_lost(m, s);
	if ((event == NB_EVENT_REPLAY_EVENT && broken(m, FAULT_NB_REPLAY_FLAGS)) ||
	    (event == NB_EVENT_MISPRED_BRANCH_RETIRED && broken(m, FAULT_NB_MISPRED_FLAGS)))
		return true;
	/* The flags of the other logical processor select the level too. */
	if (escr & netburst_flag_of(!s->thread, s->core.r->cpl) &&
	    ((event == NB_EVENT_BRANCH_RETIRED && broken(m, FAULT_NB_BRANCH_RETIRED_BOTH)) ||
	     (event == NB_EVENT_RETIRED_BRANCH_TYPE && broken(m, FAULT_NB_BRANCH_TYPE_BOTH)) ||
	     ((event == NB_EVENT_LOAD_PORT_REPLAY || event == NB_EVENT_STORE_PORT_REPLAY) &&
	      broken(m, FAULT_NB_SPLITS_TI))))
		return true;
	if (event == NB_EVENT_RETIRED_BRANCH_TYPE &&
	    ((!s->thread && !s->core.r->cpl && escr & NB_ESCR_T1_OS &&
	      broken(m, FAULT_NB_BRANCH_TYPE_T1_OS)) ||
	     (s->core.r->cpl % 3 && escr & netburst_flag_of(s->thread, false) &&
	      broken(m, FAULT_NB_BRANCH_TYPE_CPL_1))))
		return true;
	return what == NBW_CLOCKS && broken(m, FAULT_NB_HALTED_CLOCKS);
}

/* ---- what has happened ---- */

bool fault_nb_taken(struct model *m, bool taken)
{
	return taken != broken(m, FAULT_NB_BRANCH_MASKS);
}

static u64 executed(struct model *m, const struct netburst_step *s, unsigned tag, u64 n)
{
	if (tag && n && broken(m, FAULT_NB_NBOGUS0_ALONE))
		return 0;
	if (tag == 1 && s->core.r->arithmetic != ARITHMETIC_NONE &&
	    !n != !(s->execution_tags & BIT(2)) && broken(m, FAULT_NB_NBOGUS1_TAG_2))
		return !n;
	if (tag == 3 && n && s->execution_tags & BIT(0) && broken(m, FAULT_NB_TAG_3_BESIDE_0))
		return 0;
	if (broken(m, FAULT_NB_EXECUTION_UNTAGGED))
		return 1;
	return s->execution_tags && s->core.r->arithmetic != ARITHMETIC_NONE &&
			       broken(m, FAULT_NB_TAG_VALUE_IGNORED) ?
		       1 :
		       n;
}

/* Table 19-28. */
static bool is_silent(struct model *m, enum netburst_what what)
{
	switch (what) {
#define FAULT_NB_KIND(kind, name, title) \
	case NBW_##kind: \
		return broken(m, FAULT_NB_KIND_##kind);
#include "refpmu/faults/fault_netburst_kind.def"
	default:
		return false;
	}
}

/* Does instr_retired take a tagged instruction for an untagged one? */
static bool lacks_tag(struct model *m, const struct netburst_step *s)
{
	return (s->execution_tags && broken(m, FAULT_NB_EXECUTION_NO_TAGS)) ||
	       (s->store_tags && s->core.r->stores && broken(m, FAULT_NB_STORES_NO_TAGS));
}

static u64 mispredicted(struct model *m, const struct model_retired *r, u64 n)
{
	if (n && broken(m, FAULT_NB_MISPREDICTS_NONE))
		return 0;
	if (r->branch == BRANCH_NONE)
		return n;
	if (n && broken(m, FAULT_NB_MISPREDICTS_TWICE))
		return 2;
	if (n && broken(m, FAULT_NB_MISPREDICTS_HALF))
		return netburst_faults(netburst_of(m))->tick++ % 2;
	if (!n && broken(m, FAULT_NB_MISPREDICTS_EACH))
		return 1;
	return broken(m, FAULT_NB_MISPREDICTS_ALL) ? 2 : n;
}

u64 fault_nb_happened(struct model *m, const struct netburst_step *s, enum netburst_what what,
		      u64 n)
{
	const struct model_retired *r = s->core.r;

	if (m->config.fault == FAULT_NONE)
		return n;
	if (n && is_silent(m, what))
		return 0;
	if (what == NBW_NEVER && broken(m, FAULT_NB_BOGUS_COUNTS))
		return 1;
	if ((what == NBW_TAGGED_INSTRUCTIONS || what == NBW_UNTAGGED_INSTRUCTIONS) &&
	    lacks_tag(m, s))
		return what == NBW_UNTAGGED_INSTRUCTIONS;
	switch (what) {
	case NBW_MMX_64:
	case NBW_MMX_128:
	case NBW_X87:
		return r->arithmetic >= ARITHMETIC_MMX_64 && broken(m, FAULT_NB_ARITHMETIC_ANY) ?
			       1 :
			       n;
	case NBW_DATA_WALKS:
		return broken(m, FAULT_NB_WALKS_ALWAYS) ? r->loads + r->stores : n;
	case NBW_INSTRUCTIONS:
	case NBW_UNTAGGED_INSTRUCTIONS:
	case NBW_TAGGED_INSTRUCTIONS:
		return n && broken(m, FAULT_NB_INSTRUCTIONS_MISSED) &&
				       netburst_faults(netburst_of(m))->tick++ % 4 == 0 ?
			       0 :
			       n;
	case NBW_TAKEN_PREDICTED:
		return s->mispredicted && r->taken && broken(m, FAULT_NB_MMTP_ALL) ? 1 : n;
	case NBW_CALLS:
		return n && r->indirect && broken(m, FAULT_NB_INDIRECT_NO_CALLS) ? 0 : n;
	case NBW_NOT_TAKEN_MISPREDICTED:
	case NBW_TAKEN_MISPREDICTED:
		return n && broken(m, FAULT_NB_MISPREDICTS_MANY) ? 1000 : n;
	case NBW_MISPREDICTED:
		return mispredicted(m, r, n);
	case NBW_RETURNS:
		return n && broken(m, FAULT_NB_RETURNS_MISSED) ? 0 : n;
	case NBW_CLOCKS:
		return n && broken(m, FAULT_NB_CLOCKS_HALF) ? 0 : n;
	case NBW_FRONT_END:
		return broken(m, FAULT_NB_FRONT_END_UNTAGGED) ? r->loads + r->stores : n;
	case NBW_EXECUTION_0:
	case NBW_EXECUTION_1:
	case NBW_EXECUTION_2:
	case NBW_EXECUTION_3:
		return executed(m, s, what - NBW_EXECUTION_0, n);
	default:
		return n;
	}
}

/* ---- ESCRs ---- */

unsigned fault_nb_escr(struct model *m, unsigned n, unsigned e)
{
	if ((e == NB_U2L_ESCR0 || e == NB_U2L_ESCR1) && broken(m, FAULT_NB_FLAME_SELECT_3))
		return e == NB_U2L_ESCR0 ? NB_FIRM_ESCR0 : NB_FIRM_ESCR1;
	if (!broken(m, FAULT_NB_SELECT_IGNORED))
		return e;
	for (e = 0; e < NB_ESCRS; e++)
		if (escr_pools[e] == netburst_counters[n].pool)
			break;
	return e;
}

/* "PEBS is supported for only" Execution_event, Front_end_event and Replay_event. */
static bool makes_records(struct model *m, const struct netburst_step *s, unsigned event,
			  bool precise)
{
	const u64 matrix = s->with->matrix_vert;

	if (s->thread && event != NB_EVENT_FRONT_END_EVENT && broken(m, FAULT_NB_PEBS_T1_FRONT_END))
		return false;
	if (event == NB_EVENT_REPLAY_EVENT &&
	    ((matrix & NB_PEBS_MATRIX_VERT_STORES && broken(m, FAULT_NB_PEBS_NO_STORES)) ||
	     (matrix & NB_PEBS_MATRIX_VERT_BRANCHES && broken(m, FAULT_NB_PEBS_NO_BRANCHES))))
		return false;
	if ((event == NB_EVENT_EXECUTION_EVENT && broken(m, FAULT_NB_PEBS_NO_EXECUTION)) ||
	    (event == NB_EVENT_FRONT_END_EVENT && broken(m, FAULT_NB_PEBS_NO_FRONT_END)) ||
	    (event == NB_EVENT_REPLAY_EVENT && broken(m, FAULT_NB_PEBS_NO_REPLAY)))
		return false;
	return precise || broken(m, FAULT_NB_PEBS_ANY_EVENT) ||
	       (event == NB_EVENT_MISPRED_BRANCH_RETIRED && broken(m, FAULT_NB_MISPRED_PEBS));
}

static bool is_left_out(struct model *m, const struct model_retired *r)
{
	return (r->branch == BRANCH_CALL && broken(m, FAULT_NB_BRANCH_RETIRED_NO_CALLS)) ||
	       (r->branch == BRANCH_RETURN && broken(m, FAULT_NB_BRANCH_RETIRED_NO_RETURNS)) ||
	       (r->indirect && broken(m, FAULT_NB_BRANCH_RETIRED_NO_INDIRECT));
}

/* The count of branch_retired for this instruction, by the mask of ESCR e. */
static u64 branches(struct model *m, const struct netburst_step *s, unsigned e, u64 n)
{
	const u64 escr = s->with->escr[e];
	const u64 mask = (escr & NB_ESCR_EVENT_MASK) >> NB_ESCR_EVENT_MASK_SHIFT;
	const bool of_mispredicted = !(mask & (NB_BRANCH_RETIRED_MMNP | NB_BRANCH_RETIRED_MMTP));
	const bool other = s->core.r->branch != BRANCH_NONE && !n &&
			   escr & netburst_flag_of(s->thread, s->core.r->cpl);

	if (n && ((of_mispredicted && broken(m, FAULT_NB_PREDICTION_NEVER)) ||
		  is_left_out(m, s->core.r)))
		return 0;
	if ((other && of_mispredicted && broken(m, FAULT_NB_PREDICTION_IGNORED)) ||
	    (other && e == NB_CRU_ESCR3 && broken(m, FAULT_NB_ESCR3_MASK_IGNORED)))
		return 1;
	return n;
}

void fault_nb_input(struct model *m, const struct netburst_step *s, unsigned n, unsigned e,
		    struct netburst_input *input)
{
	u64 escr = s->with->escr[e];
	unsigned event = s->with->meaning[e].event;

	if (m->config.fault == FAULT_NONE)
		return;
	if (broken(m, FAULT_NB_EVENT_IGNORED)) {
		*input = (struct netburst_input){
			.count = !!(escr & netburst_flag_of(s->thread, s->core.r->cpl)),
		};
		return;
	}
	if ((event == NB_EVENT_BRANCH_RETIRED && broken(m, FAULT_NB_BRANCH_RETIRED_SILENT)) ||
	    (event == NB_EVENT_FRONT_END_EVENT && n == NB_IQ_COUNTER1 &&
	     broken(m, FAULT_NB_COUNTER_13_FRONT_END)))
		*input = (struct netburst_input){ .count = 0 };
	if (event == NB_EVENT_BRANCH_RETIRED)
		input->count = branches(m, s, e, input->count);
	input->precise = makes_records(m, s, event, input->precise);
}

/* ---- tags ---- */

/* Does a later ESCR tag with the same event and mask, but with other tag bits? */
static bool tags_again(const struct netburst_step *s, unsigned e)
{
	const u64 kind = (u64)NB_ESCR_EVENT_SELECT | (u64)NB_ESCR_EVENT_MASK | NB_ESCR_TAG_ENABLE;

	for (u64 left = s->with->taggers >> e >> 1; left; left &= left - 1) {
		const u64 other = s->with->escr[e + 1 + (unsigned)__builtin_ctzll(left)];

		if (!((other ^ s->with->escr[e]) & kind))
			return true;
	}
	return false;
}

bool fault_nb_tags(struct model *m, const struct netburst_step *s, unsigned e, bool tags)
{
	if (m->config.fault == FAULT_NONE)
		return tags;
	if (!tags) {
		const unsigned event = s->with->meaning[e].event;

		if (s->with->escr[e] & NB_ESCR_TAG_ENABLE && broken(m, FAULT_NB_EXECUTION_FLAGS))
			return true;
		return (event == NB_EVENT_UOP_TYPE && broken(m, FAULT_NB_UOP_TYPE_FLAGS)) ||
		       ((event == NB_EVENT_LOAD_PORT_REPLAY ||
			 event == NB_EVENT_STORE_PORT_REPLAY ||
			 event == NB_EVENT_MOB_LOAD_REPLAY) &&
			broken(m, FAULT_NB_UPSTREAM_FLAGS));
	}
	return !(e == NB_FIRM_ESCR1 && broken(m, FAULT_NB_FIRM_ESCR1)) &&
	       !(s->with->taggers >> e > 1 && broken(m, FAULT_NB_LAST_ESCR_TAGS)) &&
	       !(tags_again(s, e) && broken(m, FAULT_NB_ONE_TAG_OF_TWO));
}

void fault_nb_access_tags(struct model *m, u64 escr, bool *loads, bool *stores)
{
	if (*loads && escr & (u64)NB_UOP_TYPE_TAGSTORES << NB_ESCR_EVENT_MASK_SHIFT &&
	    broken(m, FAULT_NB_TAGSTORES_ALONE))
		*loads = false;
	if (*loads != *stores && broken(m, FAULT_NB_FRONT_END_EXCHANGED)) {
		*loads = !*loads;
		*stores = !*stores;
	}
}

void fault_nb_replay(struct model *m, struct netburst_replay *replay)
{
	if (m->config.fault == FAULT_NONE)
		return;
	if (!replay->tags && broken(m, FAULT_NB_UOP_TAG_IGNORED))
		replay->tags = true;
	if (broken(m, FAULT_NB_MATRIX_IGNORED))
		replay->loads = replay->stores = replay->branches = true;
	if (replay->loads != replay->stores && broken(m, FAULT_NB_REPLAY_EXCHANGED)) {
		replay->loads = !replay->loads;
		replay->stores = !replay->stores;
	}
	if (replay->metrics & BIT(9) && broken(m, FAULT_NB_MOB_REPLAY_SILENT))
		replay->metrics &= ~BIT(9);
	if (replay->metrics & BIT(1) && replay->loads && broken(m, FAULT_NB_L2_AS_L1))
		replay->metrics ^= BIT(0) | BIT(1);
	if (replay->branches && broken(m, FAULT_NB_MISPRED_SILENT))
		replay->branches = false;
}

/* Bits of MSR_PEBS_ENABLE, Table 19-33. */
enum { METRIC_DTLB = 2, METRIC_SPLIT = 10 };

static u64 locked(struct model *m, const struct netburst_step *s, enum event_kind kind)
{
	return netburst_accesses(m, s, kind, true) - netburst_accesses(m, s, kind, false);
}

/* Accesses that no upstream event tags count too. */
static u64 untagged_splits(struct model *m, const struct netburst_step *s, u64 n)
{
	const u64 matrix = s->with->matrix_vert;

	if (!s->split_load_tags && matrix & NB_PEBS_MATRIX_VERT_LOADS)
		n += netburst_accesses(m, s, EK_SPLIT_LOADS, false);
	if (!s->split_store_tags && matrix & NB_PEBS_MATRIX_VERT_STORES)
		n += netburst_accesses(m, s, EK_SPLIT_STORES, false);
	return n;
}

u64 fault_nb_replayed(struct model *m, const struct netburst_step *s, u64 n)
{
	const u64 metrics = s->with->pebs_enable, matrix = s->with->matrix_vert;

	if (metrics & NB_PEBS_ENABLE_UOP_TAG && metrics & BIT(METRIC_SPLIT) &&
	    broken(m, FAULT_NB_SPLITS_UNTAGGED))
		return untagged_splits(m, s, n);
	if (n && s->mispredicted && broken(m, FAULT_NB_TAGGED_MISPRED_TWICE))
		return n + 1;
	if (s->split_load_tags && metrics & BIT(METRIC_SPLIT) &&
	    broken(m, FAULT_NB_LOCKED_SPLITS_REPLAYED))
		return n + locked(m, s, EK_SPLIT_LOADS);
	if (s->split_store_tags && metrics & BIT(METRIC_SPLIT) &&
	    matrix & NB_PEBS_MATRIX_VERT_LOADS && matrix & NB_PEBS_MATRIX_VERT_STORES &&
	    broken(m, FAULT_NB_SPLIT_STORES_LOST_BESIDE_LOADS))
		return n - netburst_accesses(m, s, EK_SPLIT_STORES, false);
	if (metrics & BIT(METRIC_DTLB) && matrix & NB_PEBS_MATRIX_VERT_LOADS &&
	    broken(m, FAULT_NB_LOCKED_WALKS_REPLAYED))
		return n + locked(m, s, EK_DTLB_MISS_LOADS);
	return broken(m, FAULT_NB_METRIC_IGNORED) ? s->core.r->loads : n;
}

u64 fault_nb_overlap(struct model *m, bool above, u64 cause)
{
	if (cause == NB_MOB_LOAD_REPLAY_PARTIAL_DATA && !above &&
	    broken(m, FAULT_NB_OVERLAP_BELOW_WHOLE))
		return NB_MOB_LOAD_REPLAY_UNALGN_ADDR;
	if (cause == NB_MOB_LOAD_REPLAY_PARTIAL_DATA && above &&
	    broken(m, FAULT_NB_OVERLAP_ABOVE_WHOLE))
		return NB_MOB_LOAD_REPLAY_UNALGN_ADDR;
	if (cause == NB_MOB_LOAD_REPLAY_UNALGN_ADDR && broken(m, FAULT_NB_UNALIGNED_PARTIAL))
		return NB_MOB_LOAD_REPLAY_PARTIAL_DATA;
	return cause;
}
