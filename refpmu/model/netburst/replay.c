/* SPDX-License-Identifier: MIT */
/*
 * Replay tagging: "Tagging Mechanism for Replay_event", Table 19-33. The memory hierarchy gives the
 * reason of a replay, except for loads that wait for a store (MOB_load_replay, Table 19-28): loads
 * of some of the store's bytes and of other bytes, and loads of its bytes with another alignment.
 * The manual doesn't say how long a load can wait for a store; in the model it is some
 * instructions.
 */
#include "refpmu/model/access.h"
#include "refpmu/model/netburst/netburst.h"

#define WINDOW	16u	/* instructions for which loads may wait for a store */
#define LOW_BITS 0xf	/* address bits that UNALGN_ADDR compares */

/* Replay tags neither I/O nor uncacheable nor locked accesses: Table 19-33's notes. */
u64 netburst_accesses(struct model *m, const struct netburst_step *s, enum event_kind kind,
		      bool locked_too)
{
	const struct model_retired *r = s->core.r;
	u64 n = r->any_spilled ? r->spilled[kind - EK_SPLIT_LOADS] : 0;

	for (unsigned a = 0; a < r->n_access; a++)
		n += (locked_too || !r->access[a].locked) &&
		     model_access_is(m, kind, &r->access[a], &s->core.outcome[a]);
	return n;
}

/* Table 19-28, MOB_load_replay: PARTIAL_DATA and UNALGN_ADDR. How exactly a load must overlap a
 * store isn't stated: docs/READINGS.md, "Loads that wait for a store (MOB_load_replay)". */
static u64 causes_of(struct model *m, const struct model_access *load,
		     const struct netburst_store *store)
{
	u64 end = load->linear + load->bytes, stored = store->linear + store->bytes;

	if (end <= store->linear || load->linear >= stored)
		return 0;
	if (load->linear < store->linear || end > stored)
		return fault_nb_overlap(m, end > stored, NB_MOB_LOAD_REPLAY_PARTIAL_DATA);
	return (load->linear ^ store->linear) & LOW_BITS ?
		       fault_nb_overlap(m, false, NB_MOB_LOAD_REPLAY_UNALGN_ADDR) :
		       0;
}

/* Table 19-33, MOB_load_replay_retired: loads of this instruction that have waited for a store
 * because of a tagged cause. */
static u64 waiting_loads(struct model *m, const struct netburst_step *s)
{
	const struct netburst_processor *t = &netburst_of(m)->thread[s->thread];
	const struct model_retired *r = s->core.r;
	u64 n = 0;

	for (unsigned a = 0; a < r->n_access; a++) {
		u64 causes = 0;

		if (r->access[a].store || r->access[a].locked)
			continue;
		for (unsigned i = 0; i < NB_STORES; i++)
			if (t->store[i].bytes && t->retired - t->store[i].at < WINDOW)
				causes |= causes_of(m, &r->access[a], &t->store[i]);
		n += (causes & s->replay_causes) != 0;
	}
	return n;
}

void netburst_note_stores(struct model *m, const struct netburst_step *s)
{
	struct netburst_processor *t = &netburst_of(m)->thread[s->thread];
	const struct model_retired *r = s->core.r;

	t->retired++;
	for (unsigned a = 0; a < r->n_access; a++)
		if (r->access[a].store)
			t->store[t->next_store++ % NB_STORES] = (struct netburst_store){
				r->access[a].linear, r->access[a].bytes, t->retired,
			};
}

/* Table 19-33's notes: locked accesses can't be tagged. */
static u64 tagged(struct model *m, const struct netburst_step *s, enum event_kind kind)
{
	return netburst_accesses(m, s, kind, false);
}

/* Table 19-33: both registers select the tags; several metrics are added up. */
u64 netburst_replayed(struct model *m, const struct netburst_step *s)
{
	u64 enable = s->with->pebs_enable, matrix = s->with->matrix_vert, n = 0;
	struct netburst_replay replay = {
		.tags = enable & NB_PEBS_ENABLE_UOP_TAG,
		.metrics = enable,
		.loads = matrix & NB_PEBS_MATRIX_VERT_LOADS,
		.stores = matrix & NB_PEBS_MATRIX_VERT_STORES,
		.branches = matrix & NB_PEBS_MATRIX_VERT_BRANCHES,
	};

	fault_nb_replay(m, &replay);
	if (!replay.tags)
		return 0;
	if (replay.metrics & BIT(0) && replay.loads)
		n += tagged(m, s, EK_L1_MISS) + tagged(m, s, EK_HIT_LFB);
	if (replay.metrics & BIT(1) && replay.loads)
		n += tagged(m, s, EK_L2_MISS);
	if (replay.metrics & BIT(2))
		n += (replay.loads ? tagged(m, s, EK_DTLB_MISS_LOADS) : 0) +
		     (replay.stores ? tagged(m, s, EK_DTLB_MISS_STORES) : 0);
	if (replay.metrics & BIT(9) && replay.loads)
		n += waiting_loads(m, s);
	if (replay.metrics & BIT(10))
		n += (replay.loads && s->split_load_tags ? tagged(m, s, EK_SPLIT_LOADS) : 0) +
		     (replay.stores && s->split_store_tags ? tagged(m, s, EK_SPLIT_STORES) : 0);
	if ((replay.metrics & NB_PEBS_ENABLE_REPLAY_BRANCH) == NB_PEBS_ENABLE_REPLAY_BRANCH &&
	    replay.branches)
		n += s->mispredicted;
	return fault_nb_replayed(m, s, n);
}
