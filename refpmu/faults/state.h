/* SPDX-License-Identifier: MIT */
/*
 * The state of faults. It is in fault_room of struct model, so that it is copied, compared and
 * reset together with the processor's other state.
 */
#ifndef REFPMU_FAULTS_STATE_H
#define REFPMU_FAULTS_STATE_H

#include "refpmu/model/model.h"

struct fault_state {
	/* Is this an injection point of the fault? See model/fault_when.h. */
	/* number of this instruction or access; of the last injection point */
	u32 sequence, last_sequence;
	u32 injection_points;
	bool fired;		/* the fault acts on the last injection point */
	u64 acted;		/* questions of whether it acts that were answered by yes */
	u8 at_counter;		/* the counter concerned, or MODEL_NO_COUNTER */
	u8 cpl;			/* of the instruction that retired last */
	bool halted;		/* it waits in HLT */
	u64 halted_at;		/* TSC when it began, of fault fixed1-counts-halts; or 0 */
	bool interrupts_off;	/* and whether RFLAGS.IF is clear after it */
	bool crosses_page;	/* the record of this assist does */

	u32 tick;		/* occurrences seen, of faults that hit every n-th */

	/* Interrupts. */
	bool held_pmi;		/* an overflow's interrupt waits for the next overflow */
	struct pmi raising;	/* the one being raised, or waiting in the local APIC */
	u8 lvt_vector, lvt_vector_before;	/* that software wrote last, and before */
	bool lvt_mask_written;	/* the mask bit that it wrote last */
	u64 overflowed;		/* counters that ever did */
	u64 stuck;		/* status bits that can't be cleared */
	bool two_wrapped;	/* the last overflow was on an instruction of another one */
	bool nmi_comes;		/* the last delivery was that of an NMI, not recorded yet */
	u64 uncore_signalled, uncore_froze;	/* uncore counters that have, since their control
					     * was written */
	u64 uncore_began[UNCORE_GP + 1];	/* MSR_UNCORE_PERF_GLOBAL_CTRL when it set the */
	bool uncore_enabled[UNCORE_GP + 1];	/* bit of an uncore counter; the own enable then */
	bool lbr_thawed;	/* no branch since LBR_Frz was cleared */
	bool frozen;		/* whatever the enables say */
	u64 debugctl_enabled;	/* IA32_DEBUGCTL when IA32_PERF_GLOBAL_CTRL was written */
	u64 debugctl_written;	/* by the last WRMSR that was accepted */
	u64 fetched_line;	/* of code, at the last fetch that counted nothing */
	u32 branches_after_off;	/* that are recorded although IA32_DEBUGCTL.LBR is clear */
	u64 hidden_status;	/* bits of global_status that a read doesn't show yet */

	/* Records. */
	u8 previous_record[MODEL_RECORD_BYTES];
	struct late_record {
		bool waits, and_index;
		u64 linear;
		u8 bytes[MODEL_RECORD_BYTES];
	} late_record;
	struct {
		bool waits;
		u64 seen, value;	/* what is in memory, and what belongs there */
	} late_index;
	struct {
		u32 left;		/* instructions; 0: nothing waits */
		u64 value;
	} late_reload[MODEL_MAX_COUNTERS];
	u64 first_ds_area;
	u64 counter_written[MODEL_MAX_COUNTERS];	/* by the last WRMSR */
	u64 precise;		/* counters with PDist that have overflowed since then */
	bool was_full;
	/* Of the DS area, at the first assist since IA32_DS_AREA was written; since it or
	 * IA32_PEBS_ENABLE was. */
	struct kept_fields {
		bool taken;
		u64 threshold, maximum, reset[12];
	} first_fields, enabled_fields;
	u64 interrupted;	/* PEBS counters that have, since IA32_PEBS_ENABLE was written */
	u32 arch_recorded;	/* the number of the instruction of the last record of */
	u8 arch_first;		/* architectural PEBS, and the counter of its first one */
	bool thresh_interrupted;	/* a record has, by IA32_PEBS_INDEX.THRESH */

	/* Adaptive records: MSR_PEBS_DATA_CFG of the first, its XMM group; the first instruction.
	 */
	u64 first_data_cfg, first_ip;
	u8 first_xmm[16 * 16];
	bool has_xmm;
	u64 snapshot_before[MODEL_MAX_COUNTERS + 2];	/* values of the counters group */

	/* Load latency. */
	u64 threshold_before;	/* what ld_lat_threshold was before its last write */
	u64 threshold_latched;	/* and when IA32_PEBS_ENABLE was written last */
	u64 offcore_latched[2];	/* the registers when an IA32_PERFEVTSELx was */
	/* What model.tagged is, the one before, and one that didn't retire. */
	struct fault_load {
		struct tagged_load load;
		bool dtlb_miss, near, split;	/* near: found in the L1; split: in two lines */
		bool exchange;	/* locked without a prefix */
		u16 bytes;
	} tagged, tagged_before, cancelled;
	bool exchange;		/* the instruction is XCHG */
	bool prefetched;	/* the instruction's prefetch counts as a load */

	/* Transactions. */
	u64 fallback_inner;	/* RIP, of the innermost XBEGIN */
	u64 tx_status;		/* IA32_PERF_GLOBAL_STATUS when it began */
	bool tx_committed;	/* the last one has ended well */
	bool tx_nested_ended;	/* one that is nested in the one that runs has */
	bool tx_record_due;	/* a record aborts it */
	u64 information_before;	/* that of the abort before */
	bool was_nested;	/* the last abort was of nested ones */

	/* Counting. */
	bool by_sibling;	/* what is counted is the sibling's, and maybe up to the next own */
	u32 event_stays;	/* counters that count the event of the select before, */
	u16 event_before[MODEL_MAX_GP];	/* this one */
	bool froze;		/* an overflow has set CTR_Frz, and nothing cleared it */
	u64 not_started;	/* counters that wait for a write of IA32_PERF_GLOBAL_CTRL */
	u64 staggered;		/* counters that don't count yet, */
	u32 stagger_left;	/* for this many instructions */
	u64 ip_before;		/* of the instruction before the last one */
	u64 next_ip;		/* where the program goes on unless a handler is entered */
	u32 handlers;		/* entered and not left yet */
} __attribute__((may_alias));

_Static_assert(sizeof(struct fault_state) <= sizeof(((struct model *)0)->fault_room), "room");

static inline struct fault_state *faults_of(const struct model *m)
{
	return (struct fault_state *)m->fault_room;
}

#endif
