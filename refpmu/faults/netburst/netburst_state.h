/* SPDX-License-Identifier: MIT */
/* The state of NetBurst's faults, for a core and for each logical processor. It is in fault_room of
 * struct netburst (state.h). */
#ifndef REFPMU_FAULTS_NETBURST_STATE_H
#define REFPMU_FAULTS_NETBURST_STATE_H

#include "refpmu/model/netburst/state.h"
#include "spec/netburst.h"
#include "spec/types.h"

struct netburst_core_faults {
	u32 pmi_later;		/* bit n: nb-pmi-one-count-late holds counter n's PMI */
	u32 cascaded;		/* nb-cascade-once: bit n, counter n was started by another one */
	u32 flagged;		/* bit n: at its last overflow counter n had OVF set already */
	u64 last_ds_area;	/* nb-ds-area-shared */
	/* nb-counters-per-thread: the logical processor that has written it last */
	u8 counter_writer[NB_COUNTERS], cccr_writer[NB_COUNTERS];
	u32 forced;		/* nb-force-ovf-once: bit n, counter n has been */
	/* nb-second-lost: instructions of thread 1 and 1, when thread 0 had it last; 0: not yet */
	u64 first_had[NB_COUNTERS];
	u32 tick;
	u8 pebs_writer;		/* nb-pebs-bits-of-first */
	u32 extended;		/* nb-extended-cascade-once, as cascaded */
	u64 last_debugctla;	/* nb-debugctla-shared */
	/* The instruction of an overflow, by logical processor and number, and its first counter.
	 */
	u64 overflow_at;
	u8 overflow_of;
	u8 due_by[NB_COUNTERS];	/* nb-pmi-next-of-same-thread: whose event has overflowed */
} __attribute__((may_alias));

struct netburst_thread_faults {
	u32 seen;		/* instructions */
	u64 own_pebs_enable, own_matrix_vert, own_escr;
	u8 previous_record[NB64_BYTES];
	u64 stopped_at;		/* nb-threshold-stops-pebs: the index; 0: not yet */
	/* Since MSR_PEBS_ENABLE was written: nb-ds-area-cached, nb-full-buffer-stops-pebs,
	 * nb-threshold-once. */
	u64 kept_index, kept_reset;
	bool is_kept, was_full, has_interrupted;
} __attribute__((may_alias));

_Static_assert(sizeof(struct netburst_core_faults) <= sizeof(((struct netburst *)0)->fault_room),
	       "room");
_Static_assert(sizeof(struct netburst_thread_faults) <=
		       sizeof(((struct netburst_processor *)0)->fault_room),
	       "room");

static inline struct netburst_core_faults *netburst_faults(const struct netburst *n)
{
	return (struct netburst_core_faults *)n->fault_room;
}

/* Has a cascade started counter i, with this CCCR? */
static inline bool netburst_is_cascaded(const struct netburst *n, unsigned i, u64 cccr)
{
	return netburst_faults(n)->cascaded & BIT(i) && !(cccr & NB_CCCR_ENABLE);
}

static inline struct netburst_thread_faults *
netburst_thread_faults(const struct netburst_processor *processor)
{
	return (struct netburst_thread_faults *)processor->fault_room;
}

#endif
