/* SPDX-License-Identifier: MIT */
/*
 * Compares the last branch records that were read with all paths that the manual allows: one of
 * them must match. SDM "LBR Stack" and the tables of each format; volume 4, IA32_LBR_x_INFO.
 */
#include "spec/lbr.h"
#include "tests/random/branches/branch_paths.h"

/* ---- one entry */

/* The comparison of one entry. */
struct look {
	struct oracle *o;
	unsigned n;
	bool tell;
	unsigned wrongs;
};

static void look_at(struct look *l, enum draw_claim claim, u64 want, u64 got, const char *what)
{
	l->wrongs += want != got;
	if (l->tell)
		oracle_expect(l->o, claim, want, 0, got, what, l->n);
}

/* The claim for an entry with the wrong FROM: a branch was recorded that must not be, or one is
 * missing. */
static enum draw_claim blamed(const struct oracle *o, u64 from, enum draw_claim wanted)
{
	const int step = branch_find(o->env, o->trace, from);

	if (step < 0)
		return DRAW_CLAIM_LBR_FROM;
	if (o->branches->kept_out[step] < DRAW_CLAIMS)
		return o->branches->kept_out[step];
	return branch_calls_only(o) ? DRAW_CLAIM_LBR_STACK : wanted;
}

static void look_at_from(struct look *l, enum draw_claim claim, u64 want, u64 got)
{
	const u64 bits = l->o->env->branches.from_bits;

	if ((want ^ got) & bits)
		claim = blamed(l->o, got, claim);
	look_at(l, claim, want & bits, got & bits, "FROM of entry %lu");
	if (l->tell)
		l->o->verdict->looked[DRAW_CLAIM_LBR_FROM] = true;
}

static void look_at_info(struct look *l, const struct branch_kind *kind, u64 info)
{
	const struct draw_branch_env *env = &l->o->env->branches;
	u64 type = (info & ARCH_LBR_BR_TYPE) >> ARCH_LBR_BR_TYPE_SHIFT;

	if (env->types) {
		const u64 room = (u64)(kind->type_most - kind->type_least);

		l->wrongs += type - kind->type_least > room;
		if (l->tell)
			oracle_expect(l->o, DRAW_CLAIM_LBR_TYPE, kind->type_least, room, type,
				      "INFO[59:56] of entry %lu", l->n);
	}
	if (env->legacy)
		look_at(l, DRAW_CLAIM_LBR_INFO, 0,
			info & (LBR5_INFO_IN_TX | LBR5_INFO_TSX_ABORT),
			"INFO[62:61] of entry %lu");
}

static bool is_hidden(struct branch_entry e)
{
	return e.state == ENTRY_HIDDEN || e.state == ENTRY_INTERRUPT_HIDDEN ||
	       e.state == ENTRY_IRET_HIDDEN;
}

static enum draw_claim claim_of_entry(struct branch_entry e, const struct branch *branch)
{
	return e.state == ENTRY_BRANCH ? branch_claim(branch->kind) : DRAW_CLAIM_LBR_INTERRUPT;
}

/* The branch of this entry. An interrupt's FROM is the instruction at which the program continues
 * after the handler; the address of IRET in the handler isn't known. false: it is of no branch. */
static bool entry_branch(const struct oracle *o, struct branch_entry e, struct branch *branch)
{
	const struct draw_branch_env *env = &o->env->branches;
	const u64 rip = o->seen->interrupt[e.step % DRAW_INTERRUPTS_SEEN].rip;

	switch (e.state) {
	case ENTRY_BRANCH:
	case ENTRY_HIDDEN:
		return branch_of(o->env, o->trace, e.step, branch);
	case ENTRY_INTERRUPT:
	case ENTRY_INTERRUPT_HIDDEN:
		*branch = (struct branch){
			.kind = LBR_FAR, .from = rip,
			.to = o->c->lvt == DRAW_LVT_NMI ? env->nmi_gate : env->pmi_gate,
		};
		return true;
	case ENTRY_IRET:
	case ENTRY_IRET_HIDDEN:
		*branch = (struct branch){ .kind = LBR_FAR, .to = rip };
		return true;
	default:
		return false;
	}
}

static void look_at_branch(struct look *l, struct branch_entry e, unsigned registers,
			   const struct lbr_raw *got)
{
	struct oracle *o = l->o;
	struct branch branch;

	if (!entry_branch(o, e, &branch))
		return;
	if (registers & BRANCH_FROM && e.state != ENTRY_IRET) {
		if (is_hidden(e))
			look_at(l, DRAW_CLAIM_LBR_HIDDEN, ~0ULL, got->from,
				"FROM of entry %lu, from a level that is kept out");
		else
			look_at_from(l, claim_of_entry(e, &branch), branch.from, got->from);
	}
	if (registers & BRANCH_TO)
		look_at(l, DRAW_CLAIM_LBR_TO, branch.to, got->to, "TO of entry %lu");
	if (registers & BRANCH_INFO && o->env->branches.info)
		look_at_info(l, branch_kind_get(branch.kind), got->info);
}

static void look_at_others(struct look *l, struct branch_entry e, unsigned registers,
			   const struct lbr_raw *got)
{
	const struct lbr_raw want = e.state == ENTRY_OLD ? branch_old(l->o->c, e.step) :
							   (struct lbr_raw){ .from = 0 };
	const enum draw_claim claim = e.state == ENTRY_OLD     ? DRAW_CLAIM_LBR_OLD :
				      e.state == ENTRY_CLEARED ? DRAW_CLAIM_LBR_CLEARED :
								 DRAW_CLAIM_LBR_REMOVED;

	if (registers & BRANCH_FROM)
		look_at_from(l, claim, want.from, got->from);
	if (registers & BRANCH_TO)
		look_at(l, claim, want.to, got->to, "TO of entry %lu");
	if (registers & BRANCH_INFO && e.state == ENTRY_CLEARED)
		look_at(l, claim, 0, got->info, "INFO of entry %lu");
}

unsigned branch_compare(struct oracle *o, const struct branch_stack *stack, unsigned n,
			unsigned registers, const struct lbr_raw *got, bool tell)
{
	const struct branch_entry e = o->env->branches.legacy ?
					      stack->entry[n] :
					      branch_entry_of(o->branches, stack, n);
	struct look l = { .o = o, .n = n, .tell = tell };

	if (e.state >= ENTRY_BRANCH)
		look_at_branch(&l, e, registers, got);
	else if (e.state != ENTRY_UNKNOWN && e.state != ENTRY_ANY)
		look_at_others(&l, e, registers, got);
	return l.wrongs;
}

/* ---- all of them */

static unsigned compare_path(struct oracle *o, const struct branch_stack *stack, bool tell)
{
	const struct draw_branches_seen *seen = &o->seen->branches;
	unsigned wrongs = 0;

	for (unsigned n = 0; n < o->branches->depth; n++)
		if (seen->looked >> n & 1)
			wrongs += branch_compare(o, stack, n, BRANCH_WHOLE, &seen->entry[n], tell);
	if (o->env->branches.architectural)
		return wrongs;
	if (tell)
		oracle_expect(o, DRAW_CLAIM_LBR_TOP, stack->top, 0, seen->top,
			      "MSR_LASTBRANCH_TOS (%#lx)", MSR_LASTBRANCH_TOS);
	return wrongs + (stack->top != seen->top);
}

/* A guest loses its entries if it is rescheduled while recording is off (KVM,
 * intel_pmu_cleanup). */
static bool are_lost(const struct oracle *o)
{
	const struct draw_branches_seen *seen = &o->seen->branches;
	u64 bits = 0;

	for (unsigned n = 0; n < ARCH_LBR_MAX_ENTRIES; n++)
		if (seen->looked >> n & 1)
			bits |= seen->entry[n].from | seen->entry[n].to;
	return o->env->hypervisor && !o->env->strict && !bits;
}

void oracle_end_branches(struct oracle *o)
{
	struct branch_paths *b = o->branches;
	unsigned best = 0, least = ~0u;

	if (!b->paths)
		return;
	/* Branches after the program are recorded too. */
	if (oracle_branches_on(o) || are_lost(o)) {
		o->vague = true;
		return;
	}
	if (o->env->branches.architectural)
		oracle_expect(o, DRAW_CLAIM_REGISTER, b->depth, 0, o->seen->branches.depth,
			      "IA32_LBR_DEPTH (%#lx) at the end", MSR_IA32_LBR_DEPTH);
	if (o->env->branches.streamlined && draw_counts(o->c))
		oracle_expect(o, DRAW_CLAIM_LBR_FROZEN,
			      b->frozen ? IA32_PERF_GLOBAL_STATUS_LBR_FRZ : 0, 0,
			      o->seen->status & IA32_PERF_GLOBAL_STATUS_LBR_FRZ,
			      "LBR_FRZ at the end (status %#lx)", o->seen->status);
	for (unsigned i = 0; i < b->paths && least; i++) {
		const unsigned wrongs = compare_path(o, &b->path[i], false);

		if (wrongs < least) {
			least = wrongs;
			best = i;
		}
	}
	(void)compare_path(o, &b->path[best], true);
	for (unsigned claim = 0; claim < DRAW_CLAIMS; claim++)
		o->verdict->looked[claim] |= b->looked[claim];
}
