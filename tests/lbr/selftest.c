/* SPDX-License-Identifier: MIT */
/*
 * Compares the branches that tests/lbr/branches.asm declares with single-stepping: after a taken
 * branch the next instruction is at its target, after any other instruction it is the following
 * one. No PMU is needed.
 */
#include "kernel/interrupt/intr.h"
#include "spec/x86.h"
#include "tests/frame/test.h"
#include "tests/lbr/branches.h"

#define RFLAGS_TF_TEXT	"0x100"
#define LONGEST		15	/* bytes of an instruction: SDM volume 2, "Instruction Format" */

static struct {
	const struct lbr_piece *piece;
	const struct lbr_row *next;	/* the next expected row */
	u64 previous;   /* address of the instruction that the next trap reports */
	u64 wrong;			/* a taken branch without a row; 0: none */
	unsigned taken;
} walk;

static void on_step(struct trap_frame *frame)
{
	const struct workload *w = walk.piece->workload;
	u64 from = walk.previous, to = frame->rip;
	bool taken = to <= from || to > from + LONGEST;

	walk.previous = to;
	if (from < (u64)(uintptr_t)w->begin || from >= (u64)(uintptr_t)w->end)
		return;
	if (walk.next < walk.piece->end && walk.next->from == from && walk.next->to == to) {
		walk.next++;
		walk.taken++;
	} else if (taken && !walk.wrong) {
		walk.wrong = from;
	}
}

/* Single-step the piece. Returns how many branches of its rows are taken, in their order. */
static void step(const struct lbr_piece *piece, u64 n)
{
	intr_handler before = intr_set_handler(VECTOR_DB, on_step);

	walk = (typeof(walk)){ .piece = piece, .next = piece->rows };
	__asm__ volatile("pushfq; orq $" RFLAGS_TF_TEXT ", (%%rsp); popfq" ::: "memory", "cc");
	workload_run_uncounted(piece->workload, n);
	__asm__ volatile("pushfq; andq $~" RFLAGS_TF_TEXT ", (%%rsp); popfq" ::: "memory", "cc");
	intr_set_handler(VECTOR_DB, before);
}

/*
 * A test of the harness itself: it decides no requirement.
 *
 * Given  the pieces whose branches are declared one by one
 * When   they are stepped through without a PMU
 * Then   each row's branch is taken, in order; no other branch has a target far enough to differ
 *        from the next instruction
 */
TEST(selftest, branches_are_taken_as_they_are_declared, NO_REQS, NEEDS(NULL))
{
	const struct lbr_piece *const pieces[] = { &lbr_piece_lbr_kinds, &lbr_piece_lbr_events,
						   &lbr_piece_lbr_events_apart,
						   &lbr_piece_lbr_log_kinds };

	for (unsigned i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		const struct lbr_piece *piece = pieces[i];

		step(piece, 0);
		HARNESS_CHECK(t, walk.next == piece->end && !walk.wrong,
			      "%s: %u branches of %lu, one at %#lx is none of them",
			      piece->workload->name, walk.taken, (u64)(piece->end - piece->rows),
			      walk.wrong);
	}
	for (unsigned n = 1; n <= LBR_LINKS; n += LBR_LINKS - 1) {
		struct lbr_row rows[LBR_LINKS + 1];
		struct lbr_piece chain = { lbr_piece_lbr_chain.workload, rows, rows + n + 1 };

		for (unsigned age = 0; age <= n; age++)
			rows[n - age] = lbr_chain_row(n, age);
		step(&chain, n);
		HARNESS_CHECK(t, walk.next == chain.end && !walk.wrong,
			      "%s: %u branches of %u, one at %#lx is none of them",
			      chain.workload->name, walk.taken, n + 1, walk.wrong);
	}
}
