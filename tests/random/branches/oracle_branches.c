/* SPDX-License-Identifier: MIT */
/*
 * The contents of last branch records after each instruction: SDM "Last Branch, Interrupt, and
 * Exception Recording", "LBR Stack", "Filtering of Last Branch Records", call-stack mode of Haswell
 * microarchitecture, "Freezing LBR and Performance Counters on PMI"; volume 4, IA32_LBR_CTL.
 */
#include "kernel/memory/string.h"
#include "tests/random/branches/branch_paths.h"

void oracle_open_branches(struct oracle *o)
{
	const struct draw_branches *c = &o->c->branches;
	struct branch_paths *b = o->branches;
	struct branch_stack *stack = &b->path[0];

	b->paths = 0;
	b->frozen = false;
	if (o->c->class != DRAW_BRANCHES || !c->depth || c->depth > ARCH_LBR_MAX_ENTRIES)
		return;
	b->paths = 1;
	b->depth = c->depth;
	b->select = c->select;
	b->control = 0;
	b->met = 0;
	memset(b->looked, 0, sizeof(b->looked));
	memset(b->kept_out, DRAW_CLAIM_LBR_NOT_TAKEN, sizeof(b->kept_out));
	memset(stack, 0, sizeof(*stack));
	stack->top = o->env->branches.legacy ? c->top % c->depth : 0;
	for (unsigned age = 0; age < b->depth; age++) {
		struct branch_entry *e = &stack->entry[(stack->top + b->depth - age) % b->depth];

		if (o->env->branches.architectural)
			e->state = ENTRY_CLEARED;
		if (age < c->old)
			*e = (struct branch_entry){ ENTRY_OLD, (u16)age };
	}
}

bool oracle_branches_on(const struct oracle *o)
{
	const struct branch_paths *b = o->branches;

	if (!b->paths || b->frozen)
		return false;
	return o->env->branches.legacy ? o->debugctl & IA32_DEBUGCTL_LBR :
					 b->control & IA32_LBR_CTL_LBREN;
}

bool branch_calls_only(const struct oracle *o)
{
	const struct branch_paths *b = o->branches;

	return o->env->branches.legacy ? b->select & LBR_SELECT_EN_CALLSTACK :
					 b->control & IA32_LBR_CTL_CALL_STACK;
}

enum draw_claim branch_claim(enum lbr_kind kind)
{
	switch (kind) {
	case LBR_CONDITIONAL:
		return DRAW_CLAIM_LBR_CONDITIONAL;
	case LBR_RELATIVE_CALL:
	case LBR_INDIRECT_CALL:
		return DRAW_CLAIM_LBR_CALLS;
	case LBR_RETURN:
		return DRAW_CLAIM_LBR_RETURNS;
	case LBR_INDIRECT_JUMP:
	case LBR_RELATIVE_JUMP:
		return DRAW_CLAIM_LBR_JUMPS;
	default:
		return DRAW_CLAIM_LBR_FAR;
	}
}

/* ---- filters */

static bool lets_kind_in(const struct oracle *o, enum lbr_kind kind)
{
	const struct branch_paths *b = o->branches;

	if (o->env->branches.legacy)
		return !(b->select & BIT(kind));
	/* "A filter that isn't there excludes nothing." */
	return !(o->env->branches.control & BRANCH_CONTROL_KINDS) ||
	       b->control & branch_kind_get(kind)->control;
}

/* Architectural records: are branches at this level recorded? */
static bool lets_level_in(const struct oracle *o, bool user)
{
	const u64 levels = IA32_LBR_CTL_OS | IA32_LBR_CTL_USR;

	return !(o->env->branches.control & levels) ||
	       o->branches->control & (user ? IA32_LBR_CTL_USR : IA32_LBR_CTL_OS);
}

static bool lets_levels_in(const struct oracle *o, const struct branch *branch)
{
	/* "Branches ending in ring 0", "in ring > 0". */
	if (o->env->branches.legacy)
		return !(o->branches->select &
			 (branch->to_user ? LBR_SELECT_CPL_NEQ_0 : LBR_SELECT_CPL_EQ_0));
	return lets_level_in(o, branch->from_user) || lets_level_in(o, branch->to_user);
}

/* The claim by which a branch makes no entry; DRAW_CLAIMS: it makes one. */
static enum draw_claim kept_out_by(const struct oracle *o, const struct branch *branch)
{
	if (o->branches->frozen)
		return DRAW_CLAIM_LBR_FROZEN;
	if (!oracle_branches_on(o))
		return DRAW_CLAIM_LBR_OFF;
	if (!lets_kind_in(o, branch->kind))
		return branch_claim(branch->kind);
	return lets_levels_in(o, branch) ? DRAW_CLAIMS : DRAW_CLAIM_LBR_LEVEL;
}

/* ---- entries */

/* From here on each path exists twice: with the choice and without it. */
static void meet(struct branch_paths *b, enum branch_choice choice)
{
	if (b->met & BIT(choice))
		return;
	b->met |= (u8)BIT(choice);
	for (unsigned i = 0; i < b->paths; i++) {
		b->path[b->paths + i] = b->path[i];
		b->path[b->paths + i].choices |= (u8)BIT(choice);
	}
	b->paths *= 2;
}

static void push(const struct branch_paths *b, struct branch_stack *stack, enum entry_state state,
		 unsigned step)
{
	stack->top = (stack->top + 1) % b->depth;
	stack->entry[stack->top] = (struct branch_entry){ (u8)state, (u16)step };
}

static void pop(const struct branch_paths *b, struct branch_stack *stack)
{
	stack->entry[stack->top] = (struct branch_entry){ ENTRY_REMOVED, 0 };
	stack->top = (stack->top + b->depth - 1) % b->depth;
}

/* Is this the return from the newest call? */
static bool is_its_return(const struct oracle *o, const struct branch_stack *stack,
			  const struct branch *branch)
{
	const struct branch_entry newest = branch_entry_of(o->branches, stack, 0);
	const struct trace_step *call = &o->trace->step[newest.step];

	return newest.state == ENTRY_BRANCH && call->row->flags & ROW_CALL &&
	       call->ip + call->row->length == branch->to;
}

static bool is_call_of_next(const struct oracle *o, const struct branch *branch, unsigned step)
{
	return branch->kind == LBR_RELATIVE_CALL &&
	       branch->to == branch->from + o->trace->step[step].row->length;
}

static void return_in_call_stack(struct oracle *o, const struct branch *branch)
{
	struct branch_paths *b = o->branches;

	b->looked[DRAW_CLAIM_LBR_STACK] = true;
	for (unsigned i = 0; i < b->paths; i++)
		if (!is_its_return(o, &b->path[i], branch)) {
			meet(b, CHOICE_OTHER_RETURN);
			break;
		}
	for (unsigned i = 0; i < b->paths; i++)
		if (is_its_return(o, &b->path[i], branch) ||
		    !(b->path[i].choices & BIT(CHOICE_OTHER_RETURN)))
			pop(b, &b->path[i]);
}

/* state: ENTRY_BRANCH, or another state of a visible entry. The state of an entry with a hidden
 * FROM is greater by one. */
static void add_entry(struct oracle *o, const struct branch *branch, enum entry_state state,
		      unsigned step)
{
	struct branch_paths *b = o->branches;
	const bool arch = o->env->branches.architectural;
	const bool leaves = arch && !lets_level_in(o, branch->to_user);
	const bool hidden = arch && !lets_level_in(o, branch->from_user);
	const bool of_next = branch_calls_only(o) && state == ENTRY_BRANCH &&
			     is_call_of_next(o, branch, step);

	if (leaves)
		meet(b, CHOICE_LEAVES);
	if (of_next)
		meet(b, CHOICE_CALL_OF_NEXT);
	if (o->freezes_branches)
		meet(b, CHOICE_LAST_BRANCH);
	for (unsigned i = 0; i < b->paths; i++) {
		const u8 choices = b->path[i].choices;

		if ((leaves && !(choices & BIT(CHOICE_LEAVES))) ||
		    (of_next && choices & BIT(CHOICE_CALL_OF_NEXT)) ||
		    (o->freezes_branches && choices & BIT(CHOICE_LAST_BRANCH)))
			continue;
		push(b, &b->path[i], leaves ? ENTRY_ANY : state + hidden, step);
	}
}

/* The manual doesn't say how late a freeze is: only a strict run judges what follows. */
static void freeze(struct oracle *o)
{
	if (!o->env->strict)
		o->vague = true;
	if (o->env->branches.streamlined)
		o->branches->frozen = true;
	else
		o->debugctl &= ~IA32_DEBUGCTL_LBR;
}

void oracle_branch(struct oracle *o, unsigned step)
{
	struct branch_paths *b = o->branches;
	struct branch branch;

	if (!b->paths)
		return;
	if (step != NO_STEP && branch_of(o->env, o->trace, step, &branch)) {
		const enum draw_claim by = kept_out_by(o, &branch);

		b->kept_out[step] = (u8)by;
		b->looked[by == DRAW_CLAIMS ? branch_claim(branch.kind) : by] = true;
		if (by == DRAW_CLAIMS && branch_calls_only(o) && branch.kind == LBR_RETURN)
			return_in_call_stack(o, &branch);
		else if (by == DRAW_CLAIMS)
			add_entry(o, &branch, ENTRY_BRANCH, step);
	} else if (step != NO_STEP && o->trace->step[step].row->flags & ROW_CONDITIONAL &&
		   oracle_branches_on(o)) {
		b->looked[DRAW_CLAIM_LBR_NOT_TAKEN] = true;
	}
	if (o->freezes_branches)
		freeze(o);
	o->freezes_branches = false;
}

/* ---- interrupts */

/* Does recording include branches of the handler other than IRET? */
static bool lets_handler_in(const struct oracle *o)
{
	const struct branch_paths *b = o->branches;
	const u64 near = BRANCH_CONTROL_KINDS & ~IA32_LBR_CTL_OTHER_BRANCH;

	if (o->env->branches.legacy)
		return (b->select & BRANCH_SELECT_NEAR) != BRANCH_SELECT_NEAR &&
		       !(b->select & LBR_SELECT_CPL_EQ_0);
	return lets_level_in(o, false) && (!(o->env->branches.control & near) || b->control & near);
}

static void add_event(struct oracle *o, const struct branch *branch, enum entry_state state)
{
	const enum draw_claim by = kept_out_by(o, branch);

	o->branches->looked[by == DRAW_CLAIMS ? DRAW_CLAIM_LBR_INTERRUPT : by] = true;
	if (by == DRAW_CLAIMS)
		add_entry(o, branch, state, o->interrupt);
}

void oracle_interrupt_branches(struct oracle *o, unsigned step)
{
	const struct branch_paths *b = o->branches;
	const bool user = step < o->trace->steps && o->trace->step[step].user;
	const struct branch there = { .kind = LBR_FAR, .from_user = user };
	const struct branch back = { .kind = LBR_FAR, .to_user = user };

	/* The handler clears LBR_FRZ, and recording continues. */
	if (b->paths && b->frozen && !o->c->keep_status)
		o->vague = true;
	if (!oracle_branches_on(o))
		return;
	if (lets_handler_in(o)) {
		o->vague = true;
		return;
	}
	add_event(o, &there, ENTRY_INTERRUPT);
	add_event(o, &back, ENTRY_IRET);
}

/* ---- the program's own writes and reads */

static void clear(struct branch_paths *b, unsigned depth)
{
	b->depth = depth;
	for (unsigned i = 0; i < b->paths; i++) {
		struct branch_stack *stack = &b->path[i];

		stack->top = 0;
		for (unsigned n = 0; n < ARCH_LBR_MAX_ENTRIES; n++)
			stack->entry[n] = (struct branch_entry){ ENTRY_CLEARED, 0 };
	}
}

void oracle_write_branches(struct oracle *o, u32 msr, u64 value)
{
	struct branch_paths *b = o->branches;

	if (!b->paths)
		return;
	if (msr == MSR_IA32_PERF_GLOBAL_OVF_CTRL && value & IA32_PERF_GLOBAL_OVF_CTRL_CLR_LBR_FRZ)
		b->frozen = false;
	else if (msr == MSR_LBR_SELECT)
		b->select = value;
	else if (msr == MSR_IA32_LBR_CTL)
		b->control = value;
	else if (msr == MSR_IA32_LBR_DEPTH && value && value <= ARCH_LBR_MAX_ENTRIES)
		clear(b, (unsigned)value);
}

/* Keep the paths that agree with the value that was read. false: none agrees, and all are kept. */
static bool keep_paths(struct branch_paths *b, const bool *fits)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < b->paths; i++)
		kept += fits[i];
	if (!kept)
		return false;
	kept = 0;
	for (unsigned i = 0; i < b->paths; i++)
		if (fits[i])
			b->path[kept++] = b->path[i];
	b->paths = kept;
	return true;
}

static void read_top(struct oracle *o, u64 got)
{
	struct branch_paths *b = o->branches;
	bool fits[1 << CHOICES];

	for (unsigned i = 0; i < b->paths; i++)
		fits[i] = b->path[i].top == got;
	(void)keep_paths(b, fits);
	oracle_expect(o, DRAW_CLAIM_LBR_TOP, b->path[0].top, 0, got,
		      "MSR_LASTBRANCH_TOS (%#lx) in the program", MSR_LASTBRANCH_TOS);
}

static void read_entry(struct oracle *o, unsigned n, unsigned which, u64 got)
{
	struct branch_paths *b = o->branches;
	const struct lbr_raw raw = { .from = got, .to = got };
	bool fits[1 << CHOICES];

	if (n >= b->depth)
		return;
	for (unsigned i = 0; i < b->paths; i++)
		fits[i] = !branch_compare(o, &b->path[i], n, which, &raw, false);
	(void)keep_paths(b, fits);
	(void)branch_compare(o, &b->path[0], n, which, &raw, true);
}

void oracle_read_branches(struct oracle *o, u32 msr, u64 got)
{
	const bool legacy = o->env->branches.legacy;
	const u32 from = legacy ? MSR_LASTBRANCH_0_FROM_IP : MSR_IA32_LBR_0_FROM_IP;
	const u32 to = legacy ? MSR_LASTBRANCH_0_TO_IP : MSR_IA32_LBR_0_TO_IP;
	struct branch_paths *b = o->branches;

	if (!b->paths)
		return;
	if (msr == MSR_LASTBRANCH_TOS)
		read_top(o, got);
	else if (msr == MSR_LBR_SELECT)
		oracle_expect(o, DRAW_CLAIM_REGISTER, b->select, 0, got, "MSR_LBR_SELECT (%#lx)",
			      msr);
	else if (msr == MSR_IA32_LBR_CTL)
		oracle_expect(o, DRAW_CLAIM_REGISTER, b->control, 0, got, "IA32_LBR_CTL (%#lx)",
			      msr);
	else if (msr == MSR_IA32_LBR_DEPTH)
		oracle_expect(o, DRAW_CLAIM_REGISTER, b->depth, 0, got, "IA32_LBR_DEPTH (%#lx)",
			      msr);
	else if (msr - from < b->depth)
		read_entry(o, msr - from, BRANCH_FROM, got);
	else if (msr - to < b->depth)
		read_entry(o, msr - to, BRANCH_TO, got);
}
