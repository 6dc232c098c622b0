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
	/* number of this instruction or access; number of the last injection point */
	u32 sequence, last_sequence;
	u32 injection_points;
	bool fired;		/* true: the last injection point is one at which the fault acts */
	u64 acted;		/* how often the fault has acted */
	u8 at_counter;		/* the counter concerned, or MODEL_NO_COUNTER */
	u8 cpl;			/* level of the instruction that retired last */
	bool halted;		/* the processor waits in HLT */
	u64 halted_at;		/* TSC at its begin, for fault fixed1-counts-halts; or 0 */
	bool interrupts_off;	/* RFLAGS.IF is clear after the last instruction */
	bool crosses_page;	/* the record of this assist crosses a page */

	u32 tick;		/* occurrences so far, for faults that hit every n-th */

	/* Interrupts. */
	bool held_pmi;		/* an overflow's interrupt waits for the next overflow */
	struct pmi raising;	/* the interrupt being raised, or waiting in the local APIC */
	u8 lvt_vector, lvt_vector_before;	/* last vector that software wrote; one before */
	bool lvt_mask_written;	/* last mask bit that software wrote */
	bool delivered_by_write;	/* a write of LVTPC delivers a PMI that was kept */
	u64 overflowed;		/* counters that have ever overflowed */
	u64 was_shown;		/* counters whose status bit was set before their last overflow */
	bool ovfbuf_was_set;	/* before the last assist */
	u64 stuck;		/* status bits that can't be cleared */
	bool two_wrapped;	/* another counter overflowed on the last overflow's instruction */
	bool nmi_comes;		/* an NMI was delivered, and hasn't been recorded yet */
	u64 uncore_signalled, uncore_froze;	/* uncore counters that have signalled, frozen,
					     * since their control was written */
	u64 uncore_began[UNCORE_GP + 1];	/* MSR_UNCORE_PERF_GLOBAL_CTRL when it last set */
	bool uncore_enabled[UNCORE_GP + 1];	/* the counter's bit; its own enable then */
	bool lbr_after_far;	/* the newest entry is of a far branch; cycles of the newest */
	u64 lbr_since;		/* one that isn't */
	bool lbr_thawed;	/* there was no branch since LBR_Frz was cleared */
	bool frozen;		/* the counters are frozen, whatever the enables say */
	u64 debugctl_enabled;	/* IA32_DEBUGCTL when IA32_PERF_GLOBAL_CTRL was written */
	u64 debugctl_written;	/* value of the last accepted WRMSR */
	u64 fetched_line;	/* line of code of the last fetch that counted nothing */
	u32 branches_after_off;	/* branches recorded although IA32_DEBUGCTL.LBR is clear */
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
		u64 seen, value;	/* contents of memory; the right value */
	} late_index;
	struct {
		u32 left;		/* instructions until the reload; 0: none waits */
		u64 value;
	} late_reload[MODEL_MAX_COUNTERS];
	u64 first_ds_area;
	u64 counter_written[MODEL_MAX_COUNTERS];	/* value of the last WRMSR */
	u64 precise;		/* counters with PDist that have overflowed since that WRMSR */
	bool was_full;
	/* Fields of the DS area at the first assist after a write of IA32_DS_AREA; after a write of
	 * IA32_DS_AREA or IA32_PEBS_ENABLE. */
	struct kept_fields {
		bool taken;
		u64 threshold, maximum, reset[12];
	} first_fields, enabled_fields;
	u64 exchanged; /* bits of IA32_PEBS_ENABLE that a write clears while it sets others */
	u64 interrupted;	/* PEBS counters with an interrupt since a write of the enable */
	u32 arch_recorded;	/* number of the instruction of the last architectural */
	u8 arch_first;		/* record; the counter of that instruction's first record */
	bool thresh_interrupted;	/* a record has interrupted, by IA32_PEBS_INDEX.THRESH */

	/* Adaptive records: MSR_PEBS_DATA_CFG and XMM group of the first record; its
	 * instruction. */
	u64 first_data_cfg, first_ip;
	u8 first_xmm[16 * 16];
	bool has_xmm;
	u64 snapshot_before[MODEL_MAX_COUNTERS + 2];	/* values of the previous counters group */

	/* Load latency. */
	u64 threshold_before;	/* ld_lat_threshold before its last write */
	u64 threshold_latched;	/* ld_lat_threshold when IA32_PEBS_ENABLE was written last */
	/* CFG_B when IA32_PERF_GLOBAL_CTRL was written last. */
	u64 cfg_b_latched[MODEL_MAX_COUNTERS];
	u64 offcore_latched[2];	/* MSR_OFFCORE_RSP_x at a write of an IA32_PERFEVTSELx */
	/* A copy of model.tagged; the tagged load before it; a load that didn't retire. */
	struct fault_load {
		struct tagged_load load;
		bool dtlb_miss, near, split;	/* near: hit the L1; split: in two lines */
		bool exchange;	/* locked without a LOCK prefix */
		u16 bytes;
	} tagged, tagged_before, cancelled;
	bool exchange;		/* the instruction is XCHG */
	bool prefetched;	/* the instruction's prefetch counts as a load */

	/* Transactions. */
	u64 fallback_inner;	/* fallback RIP of the innermost XBEGIN */
	u64 tx_status;		/* IA32_PERF_GLOBAL_STATUS when the transaction began */
	bool tx_committed;	/* the last transaction has committed */
	bool tx_had_nested;	/* the present transaction, or the last one, has had a nested one */
	bool tx_nested_ended;	/* a nested transaction of the present one has ended */
	bool tx_record_due;	/* a record will abort the transaction */
	u64 information_before;	/* information of the previous abort */
	bool was_nested;	/* the last abort ended nested transactions */

	/* Counting. */
	bool by_sibling;	/* counts are of the sibling; perhaps until the next own ones */
	u32 event_stays;	/* counters that count the event of their previous select: */
	u16 event_before[MODEL_MAX_GP];	/* that event */
	bool froze;		/* an overflow has set CTR_Frz, which isn't cleared yet */
	u64 not_started;	/* counters that wait for a write of IA32_PERF_GLOBAL_CTRL */
	u64 staggered;		/* counters that don't count yet: */
	u32 stagger_left;	/* instructions until they do */
	u64 ip_before;		/* address of the instruction before the last one */
	u64 next_ip;		/* address of the next instruction, unless a handler is entered */
	u32 handlers;		/* number of handlers that were entered and not left yet */
} __attribute__((may_alias));

_Static_assert(sizeof(struct fault_state) <= sizeof(((struct model *)0)->fault_room), "room");

static inline struct fault_state *faults_of(const struct model *m)
{
	return (struct fault_state *)m->fault_room;
}

#endif
