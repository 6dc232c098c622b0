/* SPDX-License-Identifier: MIT */
/* Last branch records of drawn cases, compared with entries written by hand. */
#include "host/check.h"
#include "host/random_env.h"
#include "spec/lbr.h"
#include "tests/random/branches/branch.h"
#include "tests/random/branches/draw_branches.h"

static struct draw_env env;
static struct draw_case c;
static struct trace trace;
static struct draw_observation seen;
static struct draw_verdict verdict;

/* A program between the writes that begin and end recording. */
static void program(bool architectural, const char *const names[])
{
	const u64 on = architectural ? IA32_LBR_CTL_LBREN | BRANCH_CONTROL_KINDS | IA32_LBR_CTL_OS |
					       IA32_LBR_CTL_USR :
				       IA32_DEBUGCTL_LBR;

	env = architectural ? random_env_architectural() : random_env();
	memset(&c, 0, sizeof(c));
	memset(&seen, 0, sizeof(seen));
	c.class = DRAW_BRANCHES;
	c.branches.depth = env.branches.deepest;
	c.operation[DRAW_SLOT_BEGIN].msr = architectural ? MSR_IA32_LBR_CTL : MSR_IA32_DEBUGCTL;
	c.operation[DRAW_SLOT_BEGIN].low = (u32)on;
	c.operation[DRAW_SLOT_END].msr = c.operation[DRAW_SLOT_BEGIN].msr;
	seen.branches.depth = c.branches.depth;
	c.piece[c.pieces++] = (u16)piece_find("start", 0);
	c.piece[c.pieces++] = (u16)piece_find("write6", 0);
	for (; *names; names++)
		c.piece[c.pieces++] = (u16)piece_find(*names, 0);
	c.piece[c.pieces++] = (u16)piece_find("write7", 0);
	c.piece[c.pieces++] = (u16)piece_find("stop", 0);
	CHECK(trace_make(&env, &c, &trace));
}
#define PROGRAM(architectural, ...) \
	program(architectural, (const char *const[]){ __VA_ARGS__, NULL })

static unsigned judge(void)
{
	oracle_judge(&env, &c, &trace, &seen, &verdict);
	return verdict.wrongs;
}

static const struct draw_piece *piece_named(const char *name)
{
	return piece_get((unsigned)piece_find(name, 0));
}

/* The address of an instruction of a piece, by its row; of the jump at its end; of its
 * beginning. */
static u64 ip_of(const char *name, unsigned row)
{
	return env.code + draw_rows[piece_named(name)->first + row].offset;
}

static u64 next_of(const char *name)
{
	return env.code + piece_named(name)->next + DRAW_NEXT_ADD;
}

static u64 begin_of(const char *name)
{
	return env.code + piece_named(name)->begin;
}

static void saw(unsigned n, u64 from, u64 to, u64 info)
{
	seen.branches.looked |= BIT(n);
	seen.branches.entry[n] = (struct lbr_raw){ from, to, info };
}

static void taken_branches_follow_the_top(void)
{
	PROGRAM(false, "jump_taken");
	c.branches.top = LBR5_ENTRIES - 2;
	seen.branches.top = 2;
	saw(LBR5_ENTRIES - 1, next_of("write6"), begin_of("jump_taken"), 0);
	saw(0, ip_of("jump_taken", 1), ip_of("jump_taken", 2), 0);
	saw(1, ip_of("jump_taken", 3), ip_of("jump_taken", 4), 0);
	saw(2, next_of("jump_taken"), begin_of("write7"), 0);
	CHECK_EQ(0, judge());
	CHECK(!verdict.vague);
	CHECK(verdict.looked[DRAW_CLAIM_LBR_FROM] && verdict.looked[DRAW_CLAIM_LBR_NOT_TAKEN]);
	seen.branches.top = 1;
	CHECK_EQ(1, judge());
	CHECK_EQ(DRAW_CLAIM_LBR_TOP, verdict.wrong[0].claim);
	seen.branches.top = 2;
	seen.branches.entry[1].to++;
	CHECK_EQ(1, judge());
	CHECK_EQ(DRAW_CLAIM_LBR_TO, verdict.wrong[0].claim);
	saw(1, ip_of("jump_taken", 2), ip_of("jump_taken", 4), 0);
	CHECK_EQ(1, judge());
	CHECK_EQ(DRAW_CLAIM_LBR_NOT_TAKEN, verdict.wrong[0].claim);
}

static void kind_that_is_kept_out_is_missing(void)
{
	PROGRAM(false, "jump_taken");
	c.branches.select = LBR_SELECT_JCC;
	c.branches.old = 1;
	seen.branches.top = 3;
	saw(0, branch_old(&c, 0).from, branch_old(&c, 0).to, 0);
	saw(2, ip_of("jump_taken", 3), ip_of("jump_taken", 4), 0);
	CHECK_EQ(0, judge());
	saw(2, ip_of("jump_taken", 1), ip_of("jump_taken", 4), 0);
	CHECK_EQ(1, judge());
	CHECK_EQ(DRAW_CLAIM_LBR_CONDITIONAL, verdict.wrong[0].claim);
	saw(2, ip_of("jump_taken", 3), ip_of("jump_taken", 4), LBR5_INFO_IN_TX);
	CHECK_EQ(1, judge());
	CHECK_EQ(DRAW_CLAIM_LBR_INFO, verdict.wrong[0].claim);
	seen.branches.entry[2].info = 0;
	seen.branches.entry[0].to++;
	CHECK_EQ(1, judge());
	CHECK_EQ(DRAW_CLAIM_LBR_OLD, verdict.wrong[0].claim);
}

/* No source says whether a call to the next instruction makes an entry in call-stack mode. */
static void return_removes_its_call(void)
{
	PROGRAM(false, "call_return", "call_next", "call_left");
	c.branches.select = LBR_SELECT_EN_CALLSTACK | LBR_SELECT_JCC | LBR_SELECT_NEAR_IND_JMP |
			    LBR_SELECT_NEAR_REL_JMP | LBR_SELECT_FAR_BRANCH;
	seen.branches.top = 2;
	saw(1, ip_of("call_next", 0), ip_of("call_next", 1), 0);
	saw(2, ip_of("call_left", 0), ip_of("call_left", 1), 0);
	CHECK_EQ(0, judge());
	CHECK(!verdict.vague);
	seen.branches.top = 1;
	seen.branches.looked = 0;
	saw(1, ip_of("call_left", 0), ip_of("call_left", 1), 0);
	CHECK_EQ(0, judge());
	saw(1, ip_of("call_return", 0), ip_of("call_return", 1), 0);
	CHECK(judge());
	CHECK_EQ(DRAW_CLAIM_LBR_STACK, verdict.wrong[0].claim);
}

static void level_is_where_a_legacy_branch_ends(void)
{
	PROGRAM(false, "to_user", "jump_near", "to_kernel");
	c.branches.select = LBR_SELECT_CPL_EQ_0;
	seen.branches.top = 4;
	saw(1, ip_of("to_user", 7), ip_of("to_user", 8), 0);
	saw(2, next_of("to_user"), begin_of("jump_near"), 0);
	saw(4, ip_of("jump_near", 4), ip_of("jump_near", 5), 0);
	/* The jump to INT too; INT itself ends at CPL 0. */
	CHECK(judge(), "one entry too few");
	CHECK_EQ(DRAW_CLAIM_LBR_TOP, verdict.wrong[0].claim);
	seen.branches.top = 5;
	saw(5, next_of("jump_near"), begin_of("to_kernel"), 0);
	CHECK_EQ(0, judge());
	c.branches.select = LBR_SELECT_CPL_NEQ_0;
	seen.branches.looked = 0;
	seen.branches.top = 4;
	saw(1, next_of("write6"), begin_of("to_user"), 0);
	saw(2, begin_of("to_kernel"), env.branches.gate, 0);
	saw(3, env.branches.gate_return, ip_of("to_kernel", 11), 0);
	CHECK_EQ(0, judge());
}

static void overflow_freezes_with_or_without_its_own_branch(void)
{
	PROGRAM(false, "jump_taken", "jump_near");
	c.branches.freeze = 1;
	c.operation[DRAW_SLOT_BEGIN].low |= (u32)IA32_DEBUGCTL_FREEZE_LBRS_ON_PMI;
	c.operation[DRAW_SLOT_END].low |= (u32)IA32_DEBUGCTL_FREEZE_LBRS_ON_PMI;
	c.lvt = DRAW_LVT_MASKED;
	c.select[0] = EVENT_BR_INST_RETIRED_ALL_BRANCHES | IA32_PERFEVTSEL_OS | IA32_PERFEVTSEL_EN |
		      IA32_PERFEVTSEL_INT;
	/* Before it are the jumps of start and write6. */
	c.preset[0] = BIT(48) - 3;
	c.global = BIT(0);
	seen.value[0] = 8;	/* eleven branches in all */
	seen.status = BIT(0);
	seen.debugctl = IA32_DEBUGCTL_FREEZE_LBRS_ON_PMI;
	seen.branches.top = 2;
	saw(2, ip_of("jump_taken", 1), ip_of("jump_taken", 2), 0);
	CHECK_EQ(0, judge());
	CHECK(!verdict.vague);
	seen.branches.top = 1;
	seen.branches.looked = 0;
	CHECK_EQ(0, judge());
	seen.branches.top = 3;
	saw(3, ip_of("jump_taken", 3), ip_of("jump_taken", 4), 0);
	CHECK(judge());
}

/* The handler's own branches are filtered out; the address of its IRET isn't known. */
static void interrupt_and_its_return_are_entries(void)
{
	PROGRAM(false, "nops");
	c.branches.select = (u16)BRANCH_SELECT_NEAR;
	c.select[0] = EVENT_BR_INST_RETIRED_ALL_BRANCHES | IA32_PERFEVTSEL_OS | IA32_PERFEVTSEL_EN |
		      IA32_PERFEVTSEL_INT;
	/* The overflow is on the jump from write6. */
	c.preset[0] = BIT(48) - 2;
	c.global = BIT(0);
	seen.interrupts = 1;
	seen.interrupt[0] = (struct draw_interrupt){ .vector = env.pmi_vector, .lvtpc = 1 << 16,
						     .status = BIT(0), .global = BIT(0),
						     .rip = ip_of("nops", 0) };
	seen.branches.top = 2;
	saw(1, ip_of("nops", 0), env.branches.pmi_gate, 0);
	saw(2, env.branches.pmi_gate + 8, ip_of("nops", 0), 0);
	CHECK_EQ(0, judge());
	CHECK(!verdict.vague && verdict.looked[DRAW_CLAIM_LBR_INTERRUPT]);
	seen.branches.entry[1].from++;
	CHECK_EQ(1, judge());
	seen.branches.entry[1].from--;
	seen.branches.top = 0;
	CHECK_EQ(1, judge());
	CHECK_EQ(DRAW_CLAIM_LBR_TOP, verdict.wrong[0].claim);
	c.branches.select = 0;
	judge();
	CHECK(verdict.vague, "the handler's branches are recorded");
}

static void entry_0_of_architectural_records_is_the_newest(void)
{
	const u64 type = ARCH_LBR_BR_TYPE_SHIFT;

	PROGRAM(true, "jump_taken");
	c.branches.old = 1;
	saw(0, next_of("jump_taken"), begin_of("write7"), 1ULL << type);
	saw(2, ip_of("jump_taken", 1), ip_of("jump_taken", 2), 0);
	saw(4, branch_old(&c, 0).from, branch_old(&c, 0).to, 0);
	saw(5, 0, 0, 0);
	CHECK_EQ(0, judge());
	seen.branches.entry[0].info = 2ULL << type;
	CHECK_EQ(1, judge());
	CHECK_EQ(DRAW_CLAIM_LBR_TYPE, verdict.wrong[0].claim);
	seen.branches.entry[0].info = 1ULL << type;
	seen.branches.entry[5].info = 1;
	CHECK_EQ(1, judge());
	CHECK_EQ(DRAW_CLAIM_LBR_CLEARED, verdict.wrong[0].claim);
}

/* INT comes from a level that is filtered out. The IRET to that level may or may not make an
 * entry. */
static void from_at_a_level_that_is_kept_out_is_all_ones(void)
{
	PROGRAM(true, "to_user", "to_kernel");
	c.operation[DRAW_SLOT_BEGIN].low &= ~(u32)IA32_LBR_CTL_USR;
	saw(2, ~0ULL, env.branches.gate, 8ULL << ARCH_LBR_BR_TYPE_SHIFT);
	CHECK_EQ(0, judge());
	saw(3, next_of("write6"), begin_of("to_user"), 1ULL << ARCH_LBR_BR_TYPE_SHIFT);
	CHECK_EQ(0, judge());
	seen.branches.entry[2].from = begin_of("to_kernel");
	CHECK(judge());
	CHECK_EQ(DRAW_CLAIM_LBR_HIDDEN, verdict.wrong[0].claim);
}

int main(void)
{
	RUN(taken_branches_follow_the_top);
	RUN(kind_that_is_kept_out_is_missing);
	RUN(return_removes_its_call);
	RUN(level_is_where_a_legacy_branch_ends);
	RUN(overflow_freezes_with_or_without_its_own_branch);
	RUN(interrupt_and_its_return_are_entries);
	RUN(entry_0_of_architectural_records_is_the_newest);
	RUN(from_at_a_level_that_is_kept_out_is_all_ones);
	return check_end();
}
