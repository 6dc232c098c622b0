/* SPDX-License-Identifier: MIT */
/*
 * Last branch records beside the other bits of IA32_DEBUGCTL, and what a debug exception and HLT
 * leave of it and of MSR_LBR_SELECT: SDM "IA32_DEBUGCTL MSR".
 */
#include "kernel/interrupt/apic.h"
#include "kernel/interrupt/fault.h"
#include "kernel/interrupt/intr.h"
#include "kernel/processor/cpu.h"
#include "pmu/counter.h"
#include "pmu/pmi.h"
#include "spec/x86.h"
#include "tests/frame/test.h"
#include "tests/lbr/branches.h"
#include "tests/measure/overflow.h"

#define LBR		IA32_DEBUGCTL_LBR
/* None of these is about last branch records. BTINT and the two after it act on branch trace
 * messages and stores, which TR and BTS enable. */
static const u64 other_bits = IA32_DEBUGCTL_BTINT | IA32_DEBUGCTL_BTS_OFF_OS |
			      IA32_DEBUGCTL_BTS_OFF_USR | BOTH_FREEZES |
			      IA32_DEBUGCTL_ENABLE_UNCORE_PMI | IA32_DEBUGCTL_FREEZE_WHILE_SMM;

/* IA32_DEBUGCTL in the handler, and the records after it. */
static u64 found;
static struct lbr_stack recorded;

static void keep_debugctl(struct trap_frame *frame)
{
	found = msr_read(MSR_IA32_DEBUGCTL);
	frame->rflags &= ~RFLAGS_TF;
	dr7_write(DR7_FIXED);
	if (frame->vector == VECTOR_UD)
		lbr_skip_ud2(frame);
}

/* An exception, by the kind of its cause. */
struct cause {
	u8 vector;
	const struct lbr_piece *piece;
	const char *name;
	bool user, breakpoint;		/* at CPL 3; by DR0, at the piece's last branch */
};

/* IA32_DEBUGCTL in the exception's handler. Before it: LBR and `beside`. */
static u64 debugctl_in_handler(const struct cause *cause, u64 select, u64 beside)
{
	intr_handler before = intr_set_handler(cause->vector, keep_debugctl);

	found = ~0ULL;
	lbr_open(select, 0);
	if (cause->breakpoint) {
		dr6_write(DR6_FIXED);
		dr0_write((cause->piece->end - 1)->from);
		dr7_write(DR7_FIXED | DR7_G0);
	}
	msr_write(MSR_IA32_DEBUGCTL, LBR | beside);
	if (cause->user)
		workload_run_user(cause->piece->workload, 0);
	else
		workload_run_uncounted(cause->piece->workload, 0);
	msr_write(MSR_IA32_DEBUGCTL, 0);
	lbr_read(&recorded);
	lbr_close();
	dr7_write(DR7_FIXED);
	dr0_write(0);
	dr6_write(DR6_FIXED);
	intr_set_handler(cause->vector, before);
	return found;
}

static void check_debug_exception(struct test *t, const struct cause *cause, u64 select, u64 beside)
{
	const u64 after = debugctl_in_handler(cause, select, beside);

	CHECK_EQ(t, LBR_08, 0, after & LBR,
		 "IA32_DEBUGCTL[0] in the handler of %s, MSR_LBR_SELECT = %#lx, "
		 "IA32_DEBUGCTL[12:11] = %#lx before",
		 cause->name, select, beside >> 11);
	CHECK_EQ(t, MSR_28, beside, after & BOTH_FREEZES,
		 "IA32_DEBUGCTL[12:11] in the handler of %s, MSR_LBR_SELECT = %#lx", cause->name,
		 select);
}

/*
 * LBR-08  The processor must clear IA32_DEBUGCTL[0] before a debug exception handler runs, and
 *         keep the stack.
 *         SDM 17.4.1 IA32_DEBUGCTL MSR: debug exceptions and the LBR flag
 * MSR-28  A read/write register of the PMU must read back the legal value that was written to it.
 *         SDM Table 35-2 IA-32 Architectural MSRs (Read/Write registers), Table 35-13
 *
 * Given  IA32_DEBUGCTL[0] is 1, and with it both freeze bits or none, those that it has.
 *        MSR_LBR_SELECT is 0, or keeps far branches or those that end at CPL 0 out, or is that of
 *        call-stack mode where there is one
 * When   a single-step trap or a breakpoint of DR0 comes, at CPL 0 or at CPL 3
 * Then   in its handler IA32_DEBUGCTL[0] is 0, and the freeze bits are as they were written
 * Control: in the handler of UD2 IA32_DEBUGCTL[0] is 1; with MSR_LBR_SELECT = 0 there
 *          are entries
 */
TEST(lbr, debug_exception_clears_lbr_alone_whatever_is_filtered, REQS(LBR_08, MSR_28),
     NEEDS(need_lbr))
{
	static const struct cause undefined = { VECTOR_UD, &lbr_piece_lbr_undefined, "UD2", true,
						false };
	static const struct cause each[] = {
		{ VECTOR_DB, &lbr_piece_lbr_step, "a single-step trap at CPL 0", false, false },
		{ VECTOR_DB, &lbr_piece_lbr_step, "a single-step trap at CPL 3", true, false },
		{ VECTOR_DB, &lbr_piece_lbr_kinds, "a breakpoint at CPL 0", false, true },
		{ VECTOR_DB, &lbr_piece_lbr_kinds, "a breakpoint at CPL 3", true, true },
	};
	static const u64 selects[] = { 0, LBR_SELECT_FAR_BRANCH, LBR_SELECT_CPL_EQ_0,
				       LBR_SELECT_CALL_STACK };
	const u64 freezes = overflow_debugctl_takes(BOTH_FREEZES);
	char reason[96];

	for (unsigned s = 0; s < sizeof(selects) / sizeof(selects[0]); s++) {
		const u64 select = selects[s];

		if (select == LBR_SELECT_CALL_STACK && !need_lbr_call_stack(reason, sizeof(reason)))
			continue;
		CONTROL_EQ(t, LBR_08, LBR, debugctl_in_handler(&undefined, select, 0) & LBR,
			   "IA32_DEBUGCTL[0] in the handler of UD2, MSR_LBR_SELECT = %#lx", select);
		if (!select) {
			if (lbr_is_lost(t, &recorded))
				return;
			CONTROL(t, LBR_08, recorded.branch[0].from,
				"a branch is recorded, MSR_LBR_SELECT = 0");
		}
		for (unsigned i = 0; i < sizeof(each) / sizeof(each[0]); i++) {
			check_debug_exception(t, &each[i], select, 0);
			check_debug_exception(t, &each[i], select, freezes);
		}
	}
}

/*
 * LBR-15  With MSR_LBR_SELECT = 0 every kind of branch must be recorded.
 *         SDM 17.6.2 Filtering of Last Branch Records, Table 17-11
 *
 * Given  IA32_DEBUGCTL[0] is 1, and with it each bit of BTINT, BTS_OFF_OS, BTS_OFF_USR, the
 *        freezes on a PMI, ENABLE_UNCORE_PMI and FREEZE_WHILE_SMM that the register has, alone;
 *        no PMI comes
 * When   a branch of each kind is executed, at CPL 0 and at CPL 3
 * Then   each is recorded
 * Control: with IA32_DEBUGCTL[0] alone each is recorded too
 */
TEST(lbr, branches_are_recorded_beside_each_other_bit_of_debugctl, REQS(LBR_15), NEEDS(need_lbr))
{
	const struct lbr_piece *piece = &lbr_piece_lbr_kinds;
	const unsigned rows = (unsigned)(piece->end - piece->rows);
	const u64 bits = overflow_debugctl_takes(other_bits);
	struct lbr_stack stack;

	lbr_record(piece, 0, 0, &stack);
	if (lbr_is_lost(t, &stack))
		return;
	CONTROL_EQ(t, LBR_15, rows, stack.top, "branches recorded, IA32_DEBUGCTL[0] alone");
	lbr_record_at_cpl_3(piece, 0, LBR_SELECT_CPL_EQ_0, &stack);
	if (lbr_is_lost(t, &stack))
		return;
	CONTROL_RANGE(t, LBR_15, 0, stack.depth - 1, lbr_find(&stack, piece->rows[0].from),
		      "entry of the first branch at CPL 3, IA32_DEBUGCTL[0] alone");
	for (unsigned bit = 0; bit < 64; bit++) {
		if (!(bits & BIT(bit)))
			continue;
		lbr_open(0, 0);
		lbr_go_on(piece, 0, LBR | BIT(bit), &stack);
		if (lbr_is_lost(t, &stack))
			return;
		CHECK_EQ(t, LBR_15, rows, stack.top,
			 "branches recorded at CPL 0 beside IA32_DEBUGCTL[%u]", bit);
		lbr_open(LBR_SELECT_CPL_EQ_0, 0);
		msr_write(MSR_IA32_DEBUGCTL, LBR | BIT(bit));
		workload_run_user(piece->workload, 0);
		msr_write(MSR_IA32_DEBUGCTL, 0);
		lbr_read(&stack);
		if (lbr_is_lost(t, &stack)) {
			lbr_close();
			return;
		}
		for (const struct lbr_row *row = piece->rows; row < piece->end; row++)
			CHECK_RANGE(t, LBR_15, 0, stack.depth - 1, lbr_find(&stack, row->from),
				    "entry of a branch of kind %lu at CPL 3 beside "
				    "IA32_DEBUGCTL[%u]",
				    row->kind, bit);
		lbr_close();
	}
}

/*
 * MSR-28  A read/write register of the PMU must read back the legal value that was written to it.
 *         SDM Table 35-2 IA-32 Architectural MSRs (Read/Write registers), Table 35-13
 *
 * Given  IA32_DEBUGCTL[0] is 1, and MSR_LBR_SELECT keeps conditional and far branches out
 * When   HLT is executed, and ended by an interrupt; then a branch of each kind
 * Then   both registers read as before, and the relative jump, which is the last one, is recorded
 * Control: there was one interrupt
 */
TEST(lbr, hlt_keeps_recording_on_and_its_filter, REQS(MSR_28), NEEDS(need_lbr))
{
	const u64 select = LBR_SELECT_JCC | LBR_SELECT_FAR_BRANCH;
	const struct lbr_piece *piece = &lbr_piece_lbr_kinds;
	u64 debugctl, filter;
	unsigned interrupts;

	lbr_open(select, 0);
	pmi_open(NULL);
	intr_disable();
	apic_self_ipi(VECTOR_PMI);	/* ends HLT */
	msr_write(MSR_IA32_DEBUGCTL, LBR);
	__asm__ volatile("sti; hlt" ::: "memory");
	debugctl = msr_read(MSR_IA32_DEBUGCTL);
	filter = msr_read(MSR_LBR_SELECT);
	workload_run_uncounted(piece->workload, 0);
	msr_write(MSR_IA32_DEBUGCTL, 0);
	lbr_read(&recorded);
	interrupts = pmi_settle()->count;
	pmi_close();
	lbr_close();
	CONTROL_EQ(t, MSR_28, 1, interrupts, "interrupts that ended HLT");
	if (!filter && counter_caps()->hypervisor) {
		test_inconclusive(t,
				  "MSR_LBR_SELECT reads 0: the hypervisor has taken it meanwhile");
		return;
	}
	if (lbr_is_lost(t, &recorded))
		return;
	CHECK_EQ(t, MSR_28, LBR, debugctl, "IA32_DEBUGCTL after HLT");
	CHECK_EQ(t, MSR_28, select, filter, "MSR_LBR_SELECT after HLT");
	CHECK_RANGE(t, MSR_28, 0, recorded.depth - 1, lbr_find(&recorded, (piece->end - 1)->from),
		    "entry of a relative jump after HLT");
}

/* IA32_PMC0 overflows with its interrupt, whose handler doesn't clear the status. IA32_DEBUGCTL
 * stays as it is then; the caller closes the stack. Returns the interrupts. */
static unsigned interrupts_with(u64 select, u64 debugctl)
{
	static const struct pmi_options leave = { .keep_status = true, .stay_masked = true };
	unsigned count;

	lbr_open(select, 0);
	pmi_open(&leave);
	msr_write(MSR_IA32_DEBUGCTL, debugctl);
	overflow_in(&workload_long_sled, 0, COUNT_INT);
	count = pmi_settle()->count;
	pmi_close();
	return count;
}

/* Is a call at CPL 3 recorded, with IA32_DEBUGCTL as it is? There are as many calls as entries, and
 * none returns: those branches of the way back that are recorded replace or remove only a few. */
static bool calls_are_recorded(void)
{
	const struct lbr_piece *calls = &lbr_piece_lbr_deep;

	workload_run_user(calls->workload, lbr_depth());
	msr_write(MSR_IA32_DEBUGCTL, 0);
	lbr_read(&recorded);
	return lbr_find(&recorded, (calls->end - 1)->from) < recorded.depth;
}

static void check_end_of_recording(struct test *t, u64 select)
{
	for (unsigned with = 0; with < 2; with++) {
		const u64 freeze = with ? IA32_DEBUGCTL_FREEZE_LBRS_ON_PMI : 0;
		const unsigned interrupts = interrupts_with(select, LBR | freeze);
		const u64 debugctl = msr_read(MSR_IA32_DEBUGCTL);
		const bool later = calls_are_recorded();

		lbr_close();
		overflow_off(0);
		CONTROL_EQ(t, PMI_19, 1, interrupts, "interrupts, MSR_LBR_SELECT = %#lx", select);
		if (freeze) {
			CHECK_EQ(t, PMI_19, freeze, debugctl,
				 "IA32_DEBUGCTL after the interrupt, MSR_LBR_SELECT = %#lx",
				 select);
			CHECK(t, PMI_19, !later, "calls after the interrupt, MSR_LBR_SELECT = %#lx",
			      select);
			continue;
		}
		if (lbr_is_lost(t, &recorded))
			return;
		CONTROL_EQ(t, PMI_19, LBR, debugctl,
			   "IA32_DEBUGCTL after the interrupt, MSR_LBR_SELECT = %#lx, no freeze",
			   select);
		CONTROL(t, PMI_19, later,
			"calls after the interrupt are recorded, MSR_LBR_SELECT = %#lx, no freeze",
			select);
	}
}

/*
 * PMI-19  With FREEZE_LBRS_ON_PMI set, a performance-monitoring interrupt must stop branch
 *         recording: versions 2 and 3 clear IA32_DEBUGCTL.LBR, version 4 sets LBR_FRZ.
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI
 *
 * Given  MSR_LBR_SELECT keeps far branches out, or those that end at CPL 0, or is that of
 *        call-stack mode where there is one; IA32_DEBUGCTL[0] is 1
 * When   IA32_PMC0 overflows with its interrupt, IA32_DEBUGCTL[11] = 1; then there are calls at
 *        CPL 3
 * Then   IA32_DEBUGCTL[0] is 0 and [11] still 1, and none of the calls is recorded
 * Control: there is one interrupt, and with IA32_DEBUGCTL[11] = 0 [0] stays 1 and calls are
 *          recorded
 */
TEST(lbr, interrupt_ends_recording_whatever_is_filtered_before_version_4, REQS(PMI_19),
     NEEDS(need_perfmon, need_branches, need_lbr, need_legacy_freeze, need_debug_control_write))
{
	char reason[96];

	check_end_of_recording(t, LBR_SELECT_FAR_BRANCH);
	check_end_of_recording(t, LBR_SELECT_CPL_EQ_0);
	if (need_lbr_call_stack(reason, sizeof(reason)))
		check_end_of_recording(t, LBR_SELECT_CALL_STACK);
}
