/* SPDX-License-Identifier: MIT */
/*
 * Single-stepping: SDM "Debug Exceptions", single-step exception condition. It is a trap: at the
 * #DB the instruction is complete and RIP is already at the next one, so each #DB completes the
 * instruction at the address that the previous #DB reported.
 */
#include "tests/measure/step.h"

#include "kernel/interrupt/intr.h"
#include "tests/measure/classify.h"

#define RFLAGS_TF "0x100"

static struct {
	const struct workload *workload;
	u64 previous;		/* address of the instruction that the next #DB reports */
	u64 rcx;		/* RCX before that instruction */
	struct step_counts counts;
	struct step_branches *branches;		/* NULL: no branches wanted */
} stepping;

bool step_is_branch(const struct step_branches *branches, u64 from)
{
	for (unsigned i = 0; i < branches->count; i++)
		if (branches->branch[i].from == from)
			return true;
	return false;
}

/* The index of a branch; branches->count: it isn't in the list. */
static unsigned find_branch(const struct step_branches *branches, u64 from, u64 to)
{
	unsigned i = 0;

	while (i < branches->count &&
	       (branches->branch[i].from != from || branches->branch[i].to != to))
		i++;
	return i;
}

u64 step_times(const struct step_branches *branches, u64 from, u64 to)
{
	const unsigned i = find_branch(branches, from, to);

	return i < branches->count ? branches->branch[i].times : 0;
}

static void keep_branch(struct step_branches *branches, u64 from, u64 to)
{
	const unsigned i = find_branch(branches, from, to);

	if (i == STEP_BRANCHES)
		return;
	if (i == branches->count) {
		branches->branch[i].from = from;
		branches->branch[i].to = to;
		branches->branch[i].times = 0;
		branches->count++;
	}
	branches->branch[i].times++;
}

static void on_debug(struct trap_frame *frame)
{
	const u8 *done = (const u8 *)(uintptr_t)stepping.previous;
	struct instruction_kind kind;
	struct step_counts *c = &stepping.counts;
	u64 iterations = stepping.rcx - frame->reg.rcx;

	stepping.previous = frame->rip;
	stepping.rcx = frame->reg.rcx;
	c->steps++;
	if (done < stepping.workload->begin || done >= stepping.workload->end)
		return;
	if (!classify_instruction(done, &kind) && !c->unknown)
		c->unknown = (u64)(uintptr_t)done;
	if (stepping.branches && kind.branch)
		keep_branch(stepping.branches, (u64)(uintptr_t)done, frame->rip);
	/*
	 * A repeated instruction is one instruction, with one #DB for each iteration ("REP/REPE/...
	 * Repeat String Operation Prefix": each counts RCX down). QEMU 10 has one more #DB, at
	 * which RCX is unchanged and nothing is stored. So iterations are counted, not steps.
	 */
	if (!kind.repeated)
		iterations = 1;
	if (!kind.repeated || frame->rip != (u64)(uintptr_t)done)
		c->count[WORKLOAD_INSTRUCTIONS]++;
	c->count[WORKLOAD_LOADS] += kind.load * iterations;
	c->count[WORKLOAD_STORES] += kind.store * iterations;
	c->count[WORKLOAD_LOCKS] += kind.locked;
	c->count[WORKLOAD_BRANCHES] += kind.branch;
	c->count[WORKLOAD_CONDITIONAL] += kind.conditional;
	c->count[WORKLOAD_TAKEN] += kind.branch &&
				    (!kind.conditional ||
				     frame->rip != (u64)(uintptr_t)done + kind.length);
	c->count[WORKLOAD_CALLS] += kind.call;
	c->count[WORKLOAD_RETURNS] += kind.ret;
}

struct step_counts step_workload(const struct workload *w, u64 n)
{
	intr_handler before = intr_set_handler(VECTOR_DB, on_debug);

	stepping.workload = w;
	stepping.previous = 0;
	stepping.counts = (struct step_counts){ .steps = 0 };
	__asm__ volatile("pushfq; orq $" RFLAGS_TF ", (%%rsp); popfq" ::: "memory", "cc");
	workload_run_uncounted(w, n);
	__asm__ volatile("pushfq; andq $~" RFLAGS_TF ", (%%rsp); popfq" ::: "memory", "cc");
	intr_set_handler(VECTOR_DB, before);
	return stepping.counts;
}

void step_branches(const struct workload *w, u64 n, struct step_branches *branches)
{
	branches->count = 0;
	stepping.branches = branches;
	step_workload(w, n);
	stepping.branches = NULL;
}
