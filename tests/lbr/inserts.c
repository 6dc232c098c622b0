/* SPDX-License-Identifier: MIT */
/*
 * LBR Inserts, architectural event 12: it counts recorded entries, so its count is compared with
 * the records themselves.
 */
#include "kernel/output/fmt.h"
#include "pmu/counter.h"
#include "tests/frame/needs.h"
#include "tests/frame/test.h"
#include "tests/lbr/arch.h"

#define LBR_INSERTS_EVENT	12u	/* bit of CPUID.0AH:EBX and of CPUID.(23H,3):EAX */

static bool need_lbr_inserts(char *reason, size_t size)
{
	const struct pmu_caps *caps = counter_caps();

	if (!need_arch_lbr_kinds(reason, size))
		return false;
	if (!(caps->events_absent & BIT(LBR_INSERTS_EVENT)))
		return true;
	fmt_print(reason, size,
		  "event \"%s\" isn't available (CPUID.0AH:EAX = %#x EBX = %#x)",
		  "LBR inserts", caps->leaf_0a_eax, caps->leaf_0a_ebx);
	return false;
}

/* Let the counter run while the piece is recorded with this IA32_LBR_CTL. */
static u64 inserts(unsigned counter, const struct lbr_piece *piece, u64 n, u64 control,
		   struct lbr_stack *stack)
{
	counter_program(counter, EVENT_LBR_INSERTS, COUNT_BOTH);
	counter_write(counter, 0);
	counters_enable(pmc_one(counter));
	arch_lbr_close();
	arch_lbr_run(piece, n, control);
	counters_disable();
	counter_program_disabled(counter, 0, 0);
	arch_lbr_read(stack);
	arch_lbr_close();
	return counter_read(counter);
}

/*
 * CNT-51  LBR Inserts must count each entry that is made in the last branch records, and nothing
 *         else.
 *         CPUID leaf 23H, sub-leaf 3; KVM's selftests; intel/perfmon: LBR_INSERTS
 *
 * Given  a branch of each kind, and a conditional one that isn't taken
 * When   each general-purpose counter counts LBR inserts while all kinds are selected, returns
 *        alone, and none
 * Then   it counts as many as there are entries: all, one, none
 * Control: there are entries, except while no kind is selected
 */
TEST(count, lbr_inserts_event_counts_each_entry_of_the_last_branch_records, REQS(CNT_51),
     NEEDS(need_perfmon, need_lbr_inserts))
{
	static const u64 kinds[] = { ARCH_LBR_EVERY_KIND, IA32_LBR_CTL_NEAR_RET, 0 };
	const struct lbr_piece *piece = &lbr_piece_lbr_kinds;
	const unsigned all = (unsigned)(piece->end - piece->rows);

	FOR_EACH_COUNTER (c, counters_gp().bits)
		for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
			struct lbr_stack stack;
			u64 value = inserts(c, piece, 0, arch_lbr_only(kinds[i]), &stack);
			/* The nine branches may be more than there are entries. */
			const unsigned made = kinds[i] == ARCH_LBR_EVERY_KIND ?
						      all :
						      arch_lbr_count(&stack);

			CONTROL_RANGE(t, CNT_51, kinds[i] ? 1 : 0, stack.depth,
				      arch_lbr_count(&stack), "entries, IA32_LBR_CTL[22:16] = %#lx",
				      kinds[i] >> 16);
			CHECK_EQ(t, CNT_51, made, value,
				 "LBR inserts, IA32_LBR_CTL[22:16] = %#lx, IA32_PMC%u",
				 kinds[i] >> 16, c);
		}
}

/*
 * CNT-51  LBR Inserts must count each entry that is made in the last branch records, and nothing
 *         else.
 *         CPUID leaf 23H, sub-leaf 3; KVM's selftests; intel/perfmon: LBR_INSERTS
 *
 * Given  a chain of more jumps than the records have entries; UD2, whose handler skips it
 * When   the last general-purpose counter counts LBR inserts while all kinds are selected, and
 *        while recording is off
 * Then   it counts each jump, those whose entries are gone too, and both branches of UD2; and
 *        nothing while recording is off
 * Control: the chain has more jumps than there are entries; UD2 and the return from its handler
 *          have two
 */
TEST(count, lbr_inserts_event_counts_entries_that_are_gone_and_those_of_exceptions, REQS(CNT_51),
     NEEDS(need_perfmon, need_lbr_inserts))
{
	const unsigned last = counter_last();
	const u64 on = arch_lbr_only(ARCH_LBR_EVERY_KIND);
	struct lbr_stack stack;
	intr_handler before;

	/* The chain's jumps, and an indirect jump to the first of them. */
	CHECK_EQ(t, CNT_51, LBR_LINKS + 1,
		 inserts(last, &lbr_piece_lbr_chain, LBR_LINKS, on, &stack),
		 "LBR inserts of %u jumps and one more, %u entries", LBR_LINKS, stack.depth);
	CONTROL_RANGE(t, CNT_51, 1, LBR_LINKS, stack.depth, "entries");
	CHECK_EQ(t, CNT_51, 0,
		 inserts(last, &lbr_piece_lbr_chain, LBR_LINKS, on & ~(u64)IA32_LBR_CTL_LBREN,
			 &stack),
		 "LBR inserts of the same jumps, IA32_LBR_CTL.LBREn = 0");
	before = intr_set_handler(VECTOR_UD, lbr_skip_ud2);
	CHECK_EQ(t, CNT_51, 2,
		 inserts(last, &lbr_piece_lbr_undefined, 0,
			 arch_lbr_only(IA32_LBR_CTL_OTHER_BRANCH), &stack),
		 "LBR inserts of UD2 and the return, far branches let in alone");
	intr_set_handler(VECTOR_UD, before);
	CONTROL_EQ(t, CNT_51, 2, arch_lbr_count(&stack), "entries of UD2 and the return");
}

#define CALLS		5u
#define RETURNS		2u

/*
 * CNT-51  LBR Inserts must count each entry that is made in the last branch records, and nothing
 *         else.
 *         CPUID leaf 23H, sub-leaf 3; KVM's selftests; intel/perfmon: LBR_INSERTS
 *
 * Given  call-stack mode, in which a return removes an entry and makes none
 * When   the last general-purpose counter counts LBR inserts of five nested calls, with no return
 *        and with two
 * Then   it counts the calls alone
 * Control: the entries are the calls that haven't returned
 */
TEST(count, lbr_inserts_event_counts_calls_alone_in_call_stack_mode, REQS(CNT_51),
     NEEDS(need_perfmon, need_lbr_inserts, need_arch_lbr_call_stack))
{
	const u64 mode = IA32_LBR_CTL_NEAR_REL_CALL | IA32_LBR_CTL_NEAR_IND_CALL |
			 IA32_LBR_CTL_NEAR_RET;

	for (unsigned returns = 0; returns <= RETURNS; returns += RETURNS) {
		struct lbr_stack stack;
		u64 value = inserts(counter_last(), &lbr_piece_lbr_deep,
				    CALLS | (u64)returns << 16,
				    arch_lbr_only(mode) | IA32_LBR_CTL_CALL_STACK, &stack);

		CHECK_EQ(t, CNT_51, CALLS, value, "LBR inserts of %u nested calls and %u returns",
			 CALLS, returns);
		CONTROL_EQ(t, CNT_51, CALLS - returns, arch_lbr_count(&stack),
			   "entries after %u calls and %u returns", CALLS, returns);
	}
}

#define USER_LINKS	3u

/*
 * CNT-51  LBR Inserts must count each entry that is made in the last branch records, and nothing
 *         else.
 *         CPUID leaf 23H, sub-leaf 3; KVM's selftests; intel/perfmon: LBR_INSERTS
 *
 * Given  a chain of jumps, IA32_LBR_CTL.LBREn = 1
 * When   the last general-purpose counter counts LBR inserts while LBR_FRZ is set; and those of the
 *        jumps at CPL 3, with CPL 0 filtered out
 * Then   it counts none while frozen, and as many as there are entries at CPL 3
 * Control: once LBR_FRZ is cleared it counts each jump; the jumps at CPL 3 are recorded
 */
TEST(count, lbr_inserts_event_counts_none_while_frozen_and_each_at_cpl_3, REQS(CNT_51),
     NEEDS(need_perfmon, need_lbr_inserts, need_arch_lbr_levels))
{
	const unsigned last = counter_last();
	const u64 on = arch_lbr_only(ARCH_LBR_EVERY_KIND);
	const u64 jumps = arch_lbr_only(IA32_LBR_CTL_NEAR_REL_JMP | IA32_LBR_CTL_NEAR_IND_JMP);
	struct lbr_stack stack;
	u64 frozen;

	msr_write(MSR_IA32_PERF_GLOBAL_STATUS_SET, IA32_PERF_GLOBAL_STATUS_LBR_FRZ);
	frozen = inserts(last, &lbr_piece_lbr_chain, LBR_LINKS, on, &stack);
	counters_clear(IA32_PERF_GLOBAL_STATUS_LBR_FRZ);
	CHECK_EQ(t, CNT_51, 0, frozen, "LBR inserts of %u jumps, LBR_FRZ = 1", LBR_LINKS + 1);
	CONTROL_EQ(t, CNT_51, 0, arch_lbr_count(&stack), "entries of them, LBR_FRZ = 1");
	CONTROL_EQ(t, CNT_51, LBR_LINKS + 1,
		   inserts(last, &lbr_piece_lbr_chain, LBR_LINKS, on, &stack),
		   "LBR inserts of the same jumps, LBR_FRZ = 0");
	counter_program(last, EVENT_LBR_INSERTS, COUNT_BOTH);
	counter_write(last, 0);
	counters_enable(pmc_one(last));
	msr_write(MSR_IA32_LBR_CTL, jumps & ~(u64)IA32_LBR_CTL_OS);
	workload_run_user(lbr_piece_lbr_chain.workload, USER_LINKS);
	msr_write(MSR_IA32_LBR_CTL, 0);
	counters_disable();
	counter_program_disabled(last, 0, 0);
	arch_lbr_read(&stack);
	arch_lbr_close();
	CONTROL_RANGE(t, CNT_51, USER_LINKS + 1, stack.depth - 1, arch_lbr_count(&stack),
		      "entries of jumps at CPL 3");
	CHECK_EQ(t, CNT_51, arch_lbr_count(&stack), counter_read(last),
		 "LBR inserts of jumps at CPL 3");
}
