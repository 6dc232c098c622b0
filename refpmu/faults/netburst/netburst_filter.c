/* SPDX-License-Identifier: MIT */
/* Faults of the filters of a CCCR: compare, complement, threshold, edge. */
#include "refpmu/faults/broken.h"
#include "refpmu/faults/netburst/netburst_state.h"
#include "refpmu/model/netburst/netburst.h"

#define NB_THRESHOLD_MOST (NB_CCCR_THRESHOLD >> NB_CCCR_THRESHOLD_SHIFT)

/* Does the counter count nothing with the compare flag and without the complement flag? */
static bool compares_in_vain(struct model *m, unsigned i, bool edge)
{
	const bool middle = i >= NB_MS_COUNTER0 && i < NB_IQ_COUNTER0;
	const bool iq = i == NB_IQ_COUNTER2 || i == NB_IQ_COUNTER3 || i == NB_IQ_COUNTER5;

	return (edge &&
		(broken(m, FAULT_NB_EDGE_SILENT) || (i != NB_BPU_COUNTER0 && i != NB_IQ_COUNTER1 &&
						     broken(m, FAULT_NB_EDGE_SILENT_SOME)))) ||
	       (middle && broken(m, FAULT_NB_COMPARE_SILENT_4_11)) ||
	       (iq && broken(m, FAULT_NB_COMPARE_SILENT_SOME));
}

/* The threshold that is used with the edge flag. */
static u64 edge_threshold(struct model *m, u64 threshold)
{
	const enum fault_id bits[] = { FAULT_NB_EDGE_THRESHOLD_0, FAULT_NB_EDGE_THRESHOLD_1,
				       FAULT_NB_EDGE_THRESHOLD_2, FAULT_NB_EDGE_THRESHOLD_3 };

	for (unsigned k = 0; k < sizeof(bits) / sizeof(bits[0]); k++)
		if (threshold & BIT(k) && broken(m, bits[k]))
			threshold &= ~BIT(k);
	return threshold;
}

/* Take the state of the neighbour's condition, if both count edges. */
static void share_condition(struct model *m, unsigned i)
{
	struct netburst *n = netburst_of(m);
	const unsigned other = i ^ 1;

	if (n->now.running & BIT(other) && n->now.cccr[other] & NB_CCCR_EDGE &&
	    broken(m, FAULT_NB_EDGE_STATE_PAIRS))
		n->condition = (n->condition & ~(u32)BIT(i)) |
			       (n->condition & BIT(other) ? (u32)BIT(i) : 0);
}

void fault_nb_filter(struct model *m, unsigned i, u64 cccr, struct netburst_filter *f)
{
	const u64 never = ~0ULL;
	u64 threshold = f->least - 1;

	if (m->config.fault == FAULT_NONE)
		return;
	if (f->compare && (broken(m, FAULT_NB_COMPARE_IGNORED) ||
			   (netburst_thread_of(m) && broken(m, FAULT_NB_COMPARE_T0)) ||
			   (i == NB_FLAME_COUNTER2 && broken(m, FAULT_NB_COMPARE_10)) ||
			   (netburst_is_cascaded(netburst_of(m), i, cccr) &&
			    broken(m, FAULT_NB_CASCADED_COMPARE))))
		f->compare = false;
	if (f->compare && !f->edge && !f->complement && !threshold &&
	    broken(m, FAULT_NB_COMPARE_ADDS))
		f->compare = false;
	if (f->edge && broken(m, FAULT_NB_EDGE_IGNORED))
		f->edge = false;
	if (threshold > 1 && threshold < NB_THRESHOLD_MOST && broken(m, FAULT_NB_THRESHOLD_MIDDLE))
		f->least = 2;
	if (f->edge)
		f->least = edge_threshold(m, f->least - 1) + 1;
	if (f->edge)
		share_condition(m, i);
	else if (threshold % NB_THRESHOLD_MOST && i != NB_IQ_COUNTER0 && i != NB_IQ_COUNTER1 &&
		 broken(m, FAULT_NB_THRESHOLD_OTHERS))
		f->least = 1;
	if (broken(m, FAULT_NB_THRESHOLD_EQUAL))
		f->least--;
	if (f->compare && !f->complement && compares_in_vain(m, i, f->edge))
		f->least = never;
	if (f->complement && (broken(m, FAULT_NB_COMPLEMENT_IGNORED) ||
			      (i == NB_MS_COUNTER1 && broken(m, FAULT_NB_COMPLEMENT_5))))
		f->complement = false;
	if (f->complement && cccr & NB_CCCR_EDGE && broken(m, FAULT_NB_COMPLEMENT_WITH_EDGE))
		f->complement = false;
	if (f->compare && !(cccr & NB_CCCR_COMPLEMENT) && broken(m, FAULT_NB_COMPARE_SILENT))
		f->least = never;
	if (!f->compare && ((cccr & NB_CCCR_COMPLEMENT && broken(m, FAULT_NB_COMPLEMENT_ALONE)) ||
			    (cccr & NB_CCCR_THRESHOLD && broken(m, FAULT_NB_THRESHOLD_ALONE))))
		f->compare = true;
	if (!f->compare && f->edge && broken(m, FAULT_NB_EDGE_ALONE))
		*f = (struct netburst_filter){ .compare = true, .edge = true, .least = 1 };
}
