/* SPDX-License-Identifier: MIT */
/*
 * The entries of architectural last branch records: which is the newest, what starts and stops
 * recording, and the effects of software's reads and writes of other registers. SDM volume 4,
 * IA32_LBR_CTL, IA32_LBR_DEPTH, IA32_LBR_x_FROM_IP.
 */
#include "kernel/interrupt/fault.h"
#include "spec/msr.h"
#include "tests/frame/test.h"
#include "tests/lbr/arch.h"
#include "tests/measure/two_cpus.h"

/*
 * ALBR-13  Entry 0 must be the newest branch, and a new branch must move each entry up by one.
 *          Linux intel_pmu_arch_lbr_read
 *
 * Given  each depth that CPUID.1CH:EAX[7:0] lists, a chain of jumps each to the next
 * When   one branch is recorded; a few; as many as there are entries; some more; more than twice as
 *        many
 * Then   entry 0 is the newest branch, each next entry the branch before it, up to the depth; the
 *        remaining entries are 0
 */
TEST(lbr, entry_0_is_the_newest_branch_and_the_others_follow_by_age, REQS(ALBR_13),
     NEEDS(need_arch_lbr), .under_every_fault = true)
{
	const struct lbr_leaf leaf = arch_lbr_leaf();
	const u64 all = arch_lbr_everything();
	struct lbr_stack stack;

	for (unsigned depth = ARCH_LBR_DEPTH_UNIT; depth <= lbr_leaf_deepest(&leaf);
	     depth += ARCH_LBR_DEPTH_UNIT) {
		const u64 branches[] = { 1, 5, depth, depth + 3, 96 };

		if (!lbr_leaf_lists(&leaf, depth))
			continue;
		for (unsigned i = 0; i < sizeof(branches) / sizeof(branches[0]); i++) {
			const u64 n = branches[i];
			const unsigned held = n < depth ? (unsigned)n : depth;

			arch_lbr_open(depth);
			arch_lbr_go_on(&lbr_piece_lbr_chain, n - 1, all, &stack);
			CHECK_EQ(t, ALBR_13, held, arch_lbr_count(&stack),
				 "entries in use, depth %u, after %lu branches", depth, n);
			lbr_check_chain(t, AT(ALBR_13), &stack, n - 1, held);
		}
	}
	arch_lbr_close();
}

/*
 * ALBR-06  While IA32_LBR_CTL[0] is 0 nothing may be recorded, and the entries must be kept.
 * ALBR-21  Setting IA32_LBR_CTL[0] again must not clear the entries.
 *          SDM volume 4, IA32_LBR_CTL
 *
 * Given  entries of known branches
 * When   other branches are executed, IA32_LBR_CTL[0] = 0, its other bits 1; then one with [0] = 1
 * Then   each entry is as before; then the one branch is entry 0, and FROM, TO and INFO of the
 *        others are there after it
 * Control: the first branches were recorded
 */
TEST(lbr, entries_stay_while_lbren_is_0_and_when_it_is_set_again, REQS(ALBR_06, ALBR_21),
     NEEDS(need_arch_lbr), .under_every_fault = true)
{
	const u64 all = arch_lbr_everything(), links = 4;
	const struct lbr_piece *kinds = &lbr_piece_lbr_kinds;
	struct lbr_stack before, after;

	arch_lbr_close();
	arch_lbr_go_on(&lbr_piece_lbr_chain, links, all, &before);
	lbr_check_chain(t, CONTROL_AT(ALBR_06), &before, links, (unsigned)links + 1);
	arch_lbr_go_on(kinds, 0, all & ~IA32_LBR_CTL_LBREN, &after);
	CHECK(t, ALBR_06, lbr_same(&before, &after),
	      "entries are as before after branches with LBREN = 0; FROM of entry 0 %#lx, was %#lx",
	      after.raw[0].from, before.raw[0].from);
	arch_lbr_go_on(kinds, 0, all, &after);
	CONTROL_EQ(t, IDS(ALBR_06, ALBR_21), (kinds->end - 1)->from, after.branch[0].from,
		   "FROM of entry 0 after the same branches with LBREN = 1");
	/* Record only one more branch, so that old entries remain even with a depth of eight. */
	arch_lbr_close();
	arch_lbr_go_on(&lbr_piece_lbr_chain, links, all, &before);
	arch_lbr_go_on(&lbr_piece_lbr_chain, 0, all, &after);
	for (unsigned i = 0; i <= links; i++) {
		CHECK_EQ(t, ALBR_21, before.raw[i].from, after.raw[1 + i].from,
			 "FROM of entry %u, which was entry %u before LBREN was set again", 1 + i,
			 i);
		CHECK_EQ(t, ALBR_21, before.raw[i].to, after.raw[1 + i].to,
			 "TO of entry %u, which was entry %u before LBREN was set again", 1 + i, i);
		CHECK_EQ(t, ALBR_21, before.raw[i].info, after.raw[1 + i].info,
			 "INFO of entry %u, which was entry %u before LBREN was set again", 1 + i,
			 i);
	}
	arch_lbr_close();
}

/*
 * ALBR-07  IA32_DEBUGCTL[0] must neither start nor stop architectural last branch records.
 *          Linux __intel_pmu_lbr_enable
 *
 * Given  IA32_DEBUGCTL[0] is written 1; then 0
 * When   branches are executed with IA32_LBR_CTL[0] = 0; then with [0] = 1; then with IA32_LBR_CTL
 *        set before IA32_DEBUGCTL[0] is written 0, once more, 1, and 0 again
 * Then   none is recorded; then each is; then each is as well, and IA32_LBR_CTL reads as before
 *        after each write to IA32_DEBUGCTL
 */
TEST(lbr, debug_control_neither_starts_nor_stops_architectural_records, REQS(ALBR_07),
     NEEDS(need_arch_lbr, need_debug_control_write))
{
	static const struct workload_switch zero = { .msr = MSR_IA32_DEBUGCTL };
	const u64 links = 4, all = arch_lbr_everything();
	const struct lbr_row last = lbr_chain_row(links, 0);
	struct lbr_stack stack;

	(void)msr_try_write(MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_LBR);
	CHECK_EQ(t, ALBR_07, 0, msr_read(MSR_IA32_LBR_CTL),
		 "IA32_LBR_CTL, which was 0, after IA32_DEBUGCTL[0] = 1 was written");
	arch_lbr_record(&lbr_piece_lbr_chain, links, 0, &stack);
	CHECK_EQ(t, ALBR_07, 0, arch_lbr_count(&stack),
		 "entries after branches, IA32_DEBUGCTL[0] = 1 and LBREN = 0");
	msr_write(MSR_IA32_DEBUGCTL, 0);
	arch_lbr_record(&lbr_piece_lbr_chain, links, all, &stack);
	CHECK_EQ(t, ALBR_07, links + 1, arch_lbr_count(&stack),
		 "entries after %lu branches, IA32_DEBUGCTL[0] = 0 and LBREN = 1", links + 1);
	msr_write(MSR_IA32_LBR_CTL, all);
	workload_run_switched(lbr_piece_lbr_chain.workload, links, &zero);
	CHECK_EQ(t, ALBR_07, all, msr_read(MSR_IA32_LBR_CTL),
		 "IA32_LBR_CTL after IA32_DEBUGCTL was written 0, which it was");
	(void)msr_try_write(MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_LBR);
	msr_write(MSR_IA32_DEBUGCTL, 0);
	CHECK_EQ(t, ALBR_07, all, msr_read(MSR_IA32_LBR_CTL),
		 "IA32_LBR_CTL after IA32_DEBUGCTL[0] was written 1, then 0");
	arch_lbr_close();
	msr_write(MSR_IA32_LBR_CTL, all);
	workload_run_switched(lbr_piece_lbr_chain.workload, links, &zero);
	msr_write(MSR_IA32_LBR_CTL, 0);
	arch_lbr_read(&stack);
	CHECK_RANGE(t, ALBR_07, 0, stack.depth - 1, lbr_find(&stack, last.from),
		    "entry of the last branch after a write of 0 to IA32_DEBUGCTL, LBREN = 1");
	arch_lbr_close();
}

/*
 * ALBR-27  Reading entries must change neither them nor their order.
 *          SDM volume 4, IA32_LBR_x_FROM_IP
 *
 * Given  known branches, as many as there are entries
 * When   each entry is read, and each once more
 * Then   both reads agree, and are of the branches
 * Control: the first read has the branches
 */
TEST(lbr, reading_the_entries_changes_none, REQS(ALBR_27), NEEDS(need_arch_lbr))
{
	const unsigned depth = arch_lbr_depth();
	struct lbr_stack first, again;

	arch_lbr_close();
	arch_lbr_go_on(&lbr_piece_lbr_chain, depth, arch_lbr_everything(), &first);
	arch_lbr_read(&again);
	lbr_check_chain(t, CONTROL_AT(ALBR_27), &first, depth, depth);
	for (unsigned i = 0; i < depth; i++) {
		CHECK_EQ(t, ALBR_27, first.raw[i].from, again.raw[i].from,
			 "FROM of entry %u, read again", i);
		CHECK_EQ(t, ALBR_27, first.raw[i].to, again.raw[i].to, "TO of entry %u, read again",
			 i);
		CHECK_EQ(t, ALBR_27, first.raw[i].info, again.raw[i].info,
			 "INFO of entry %u, read again", i);
	}
	arch_lbr_close();
}

struct both_depths {
	struct two_cpus both;
	unsigned least;
	struct lbr_stack stack[2];	/* with more branches than there are entries */
	u64 first[2], then[2];	/* IA32_LBR_DEPTH: when the first has the least; when both have */
};

static void set_depths(void *arg)
{
	struct both_depths *d = arg;
	const unsigned side = two_cpus_side();

	arch_lbr_close();
	two_cpus_barrier(&d->both);
	if (!side)
		arch_lbr_open(d->least);
	two_cpus_barrier(&d->both);
	d->first[side] = msr_read(MSR_IA32_LBR_DEPTH);
	two_cpus_barrier(&d->both);
	if (side)
		arch_lbr_open(d->least);
	else
		arch_lbr_close();
	two_cpus_barrier(&d->both);
	d->then[side] = msr_read(MSR_IA32_LBR_DEPTH);
	arch_lbr_go_on(&lbr_piece_lbr_chain, LBR_LINKS, arch_lbr_everything(), &d->stack[side]);
	two_cpus_barrier(&d->both);
	arch_lbr_close();
}

/*
 * ALBR-28  Each logical processor must have its own entries, IA32_LBR_CTL and IA32_LBR_DEPTH.
 *          SDM tables of chapter 35 for last branch records (scope: Thread)
 *
 * Given  two processors with the greatest depth
 * When   the first one writes the least depth that CPUID.1CH:EAX[7:0] lists; then it writes the
 *        greatest, and the other one the least
 * Then   each processor reads its own depth in IA32_LBR_DEPTH each time, and that number of entries
 *        hold branches
 */
TEST(lbr, each_processor_has_a_depth_of_its_own, REQS(ALBR_28),
     NEEDS(need_arch_lbr_depths, need_partner))
{
	const struct lbr_leaf leaf = arch_lbr_leaf();
	const u64 deepest = lbr_leaf_deepest(&leaf);
	unsigned least = ARCH_LBR_DEPTH_UNIT;

	while (!lbr_leaf_lists(&leaf, least))
		least += ARCH_LBR_DEPTH_UNIT;
	FOR_EACH_PARTNER (cpu) {
		struct both_depths d = { .least = least };

		if (!two_cpus_run(t, &d.both, cpu, set_depths, &d))
			return;
		CHECK_EQ(t, ALBR_28, least, d.first[0],
			 "IA32_LBR_DEPTH of the first processor, paired with %s",
			 two_cpus_name(cpu));
		CHECK_EQ(t, ALBR_28, deepest, d.first[1], "IA32_LBR_DEPTH of %s, the first has %u",
			 two_cpus_name(cpu), least);
		CHECK_EQ(t, ALBR_28, deepest, d.then[0],
			 "IA32_LBR_DEPTH of the first processor, %s has %u", two_cpus_name(cpu),
			 least);
		CHECK_EQ(t, ALBR_28, deepest, arch_lbr_count(&d.stack[0]),
			 "entries in use of the first processor, after %u branches", LBR_LINKS + 1);
		CHECK_EQ(t, ALBR_28, least, arch_lbr_count(&d.stack[1]),
			 "entries in use of %s, after %u branches", two_cpus_name(cpu),
			 LBR_LINKS + 1);
		CHECK_EQ(t, ALBR_28, least, d.then[1], "IA32_LBR_DEPTH of %s", two_cpus_name(cpu));
	}
}

struct both_record {
	struct two_cpus both;
	u64 other;			/* IA32_LBR_CTL of the other processor */
	struct lbr_stack stack[2];
	u64 control[2];
};

/* The first processor records a chain; the other one records the kinds, with another control. */
static void record(void *arg)
{
	struct both_record *r = arg;
	const unsigned side = two_cpus_side();
	const u64 all = arch_lbr_everything();

	arch_lbr_close();
	two_cpus_barrier(&r->both);
	if (!side)
		arch_lbr_go_on(&lbr_piece_lbr_chain, 2, all, &r->stack[0]);
	two_cpus_barrier(&r->both);
	if (side)
		arch_lbr_go_on(&lbr_piece_lbr_kinds, 0, r->other, &r->stack[1]);
	two_cpus_barrier(&r->both);
	arch_lbr_read(&r->stack[side]);
	two_cpus_barrier(&r->both);
	msr_write(MSR_IA32_LBR_CTL, side ? all & ~IA32_LBR_CTL_LBREN : 0);
	two_cpus_barrier(&r->both);
	r->control[side] = msr_read(MSR_IA32_LBR_CTL);
	two_cpus_barrier(&r->both);
	if (!side)
		arch_lbr_close();
	two_cpus_barrier(&r->both);
	if (side)
		arch_lbr_read(&r->stack[1]);
	two_cpus_barrier(&r->both);
	arch_lbr_close();
}

/*
 * ALBR-28  Each logical processor must have its own entries, IA32_LBR_CTL and IA32_LBR_DEPTH.
 *          SDM tables of chapter 35 for last branch records (scope: Thread)
 *
 * Given  two processors
 * When   one records a chain of jumps; then the other one branches of other kinds; then the first
 *        one writes IA32_LBR_DEPTH
 * Then   each one's newest entry, number of entries and IA32_LBR_CTL are its own, and the write
 *        clears no entry of the other one
 */
TEST(lbr, each_processor_has_architectural_records_of_its_own, REQS(ALBR_28),
     NEEDS(need_arch_lbr, need_partner))
{
	const struct lbr_piece *kinds = &lbr_piece_lbr_kinds;
	const struct lbr_row last = lbr_chain_row(2, 0);

	FOR_EACH_PARTNER (cpu) {
		struct both_record r = { .other = arch_lbr_everything(),
					 .control = { ~0ULL, ~0ULL } };

		if (!two_cpus_run(t, &r.both, cpu, record, &r))
			return;
		CHECK_EQ(t, ALBR_28, last.from, r.stack[0].branch[0].from,
			 "FROM of entry 0 of the first processor, paired with %s",
			 two_cpus_name(cpu));
		CHECK_EQ(t, ALBR_28, 3, arch_lbr_count(&r.stack[0]),
			 "entries in use of the first processor");
		CHECK_EQ(t, ALBR_28, (kinds->end - 1)->from, r.stack[1].branch[0].from,
			 "FROM of entry 0 of %s, the first one's depth written",
			 two_cpus_name(cpu));
		CHECK_EQ(t, ALBR_28, (u64)(kinds->end - kinds->rows), arch_lbr_count(&r.stack[1]),
			 "entries in use of %s", two_cpus_name(cpu));
		CHECK_EQ(t, ALBR_28, 0, r.control[0], "IA32_LBR_CTL of the first processor");
		CHECK_EQ(t, ALBR_28, arch_lbr_everything() & ~IA32_LBR_CTL_LBREN, r.control[1],
			 "IA32_LBR_CTL of %s", two_cpus_name(cpu));
	}
}

/* The branches of the kinds piece that the other processor must record with this IA32_LBR_CTL. */
static unsigned recorded_with(u64 control)
{
	const struct lbr_piece *kinds = &lbr_piece_lbr_kinds;
	unsigned n = 0;

	if (!(control & IA32_LBR_CTL_OS))
		return 0;
	for (const struct lbr_row *row = kinds->rows; row < kinds->end; row++)
		n += !!(control & arch_lbr_filter(row->kind));
	return n;
}

static bool need_a_filter(char *reason, size_t size)
{
	return need_arch_lbr_kinds(reason, size) || need_arch_lbr_levels(reason, size);
}

#define CONTROLS_MOST	(2 * (LBR_KINDS_END - LBR_CONDITIONAL) + 1)

/* Values of IA32_LBR_CTL that leave branches out: each kind alone, all kinds but that, and no OS,
 * as far as the leaf lists these filters. Returns their number. */
static unsigned filters(u64 *controls)
{
	const struct lbr_leaf leaf = arch_lbr_leaf();
	const u64 all = arch_lbr_everything();
	unsigned n = 0;

	for (u64 kind = LBR_CONDITIONAL; leaf.branch_filtering && kind < LBR_KINDS_END; kind++) {
		controls[n++] = arch_lbr_only(arch_lbr_filter(kind));
		controls[n++] = all & ~arch_lbr_filter(kind);
	}
	if (leaf.cpl_filtering)
		controls[n++] = all & ~IA32_LBR_CTL_OS;
	return n;
}

/*
 * ALBR-28  Each logical processor must have its own entries, IA32_LBR_CTL and IA32_LBR_DEPTH.
 *          SDM tables of chapter 35 for last branch records (scope: Thread)
 *
 * Given  two processors; the first one records each kind of branch at each level
 * When   the other one records branches of each kind at CPL 0 with one kind enabled, then with all
 *        kinds but that, for each kind; then without OS. What the leaf doesn't list is left out
 * Then   it records the kinds that its own IA32_LBR_CTL lets in, and no other
 * Control: the first one records each branch of its code
 */
TEST(lbr, each_processor_filters_by_its_own_lbr_ctl, REQS(ALBR_28),
     NEEDS(need_a_filter, need_partner))
{
	u64 controls[CONTROLS_MOST];
	const unsigned n = filters(controls);

	FOR_EACH_PARTNER (cpu)
		for (unsigned i = 0; i < n; i++) {
			struct both_record r = { .other = controls[i] };

			if (!two_cpus_run(t, &r.both, cpu, record, &r))
				return;
			CONTROL_EQ(t, ALBR_28, 3, arch_lbr_count(&r.stack[0]),
				   "entries in use of the first processor");
			CHECK_EQ(t, ALBR_28, recorded_with(r.other), arch_lbr_count(&r.stack[1]),
				 "entries in use of %s, its IA32_LBR_CTL = %#lx",
				 two_cpus_name(cpu), r.other);
		}
}
