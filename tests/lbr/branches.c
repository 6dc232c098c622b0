/* SPDX-License-Identifier: MIT */
/* See branches.h. */
#include "tests/lbr/branches.h"

#include "kernel/interrupt/apic.h"
#include "kernel/interrupt/descriptor.h"
#include "kernel/interrupt/fault.h"
#include "kernel/interrupt/intr.h"
#include "kernel/output/fmt.h"
#include "kernel/processor/cpuid.h"
#include "pmu/counter.h"
#include "pmu/lbr/any.h"
#include "pmu/pmi.h"
#include "tests/lbr/arch.h"

bool need_lbr(char *reason, size_t size)
{
	const struct pmu_caps *c = counter_caps();
	u64 value;

	if (!need_debug_control_write(reason, size))
		return false;
	if (lbr_depth() && !msr_try_read(MSR_LASTBRANCH_TOS, &value).raised)
		return true;
	fmt_print(reason, size,
		  "no last branch records that are known here (family %02x model %02x, "
		  "IA32_PERF_CAPABILITIES = %#lx)",
		  c->family, c->model, c->perf_capabilities);
	return false;
}

bool need_any_lbr(char *reason, size_t size)
{
	return counter_caps()->arch_lbr ? need_arch_lbr(reason, size) : need_lbr(reason, size);
}

bool need_any_lbr_info(char *reason, size_t size)
{
	return counter_caps()->arch_lbr ? need_arch_lbr(reason, size) : need_lbr_info(reason, size);
}

static bool need_format(bool has, const char *what, char *reason, size_t size)
{
	if (!need_lbr(reason, size))
		return false;
	if (has)
		return true;
	fmt_print(reason, size, "records without %s (IA32_PERF_CAPABILITIES = %#lx)", what,
		  counter_caps()->perf_capabilities);
	return false;
}

bool need_lbr_info(char *reason, size_t size)
{
	return need_format(lbr_format_has_info(lbr_format()), "MSR_LBR_INFO_n", reason, size);
}

bool need_lbr_transaction_flags(char *reason, size_t size)
{
	return need_format(lbr_format_has_transactions(lbr_format()), "flags of transactions",
			   reason, size);
}

bool need_lbr_transactions(char *reason, size_t size)
{
	if (!need_lbr_transaction_flags(reason, size))
		return false;
	if (cpuid_get(CPUID_RTM) && !counter_caps()->rtm_always_abort)
		return true;
	fmt_print(reason, size, "no RTM, or each transaction aborts (CPUID.7H:EBX, EDX[11] = %u)",
		  counter_caps()->rtm_always_abort);
	return false;
}

bool need_lbr_elision(char *reason, size_t size)
{
	if (!need_lbr(reason, size))
		return false;
	if (cpuid_get(CPUID_HLE))
		return true;
	fmt_print(reason, size, "no HLE (CPUID.7H:EBX[4] = 0)");
	return false;
}

bool need_lbr_call_stack(char *reason, size_t size)
{
	if (!need_lbr(reason, size))
		return false;
	if (counter_caps()->facilities & FAC_LBR_CALL_STACK)
		return true;
	fmt_print(reason, size, "no call-stack mode known for family %02x model %02x",
		  counter_caps()->family, counter_caps()->model);
	return false;
}

void lbr_go_on(const struct lbr_piece *piece, u64 n, u64 debugctl, struct lbr_stack *stack)
{
	const struct workload_switch by = { MSR_IA32_DEBUGCTL, debugctl, 0, 0 };

	workload_run_switched(piece->workload, n, &by);
	lbr_read(stack);
}

void lbr_any_go_on(const struct lbr_piece *piece, u64 n, struct lbr_stack *stack)
{
	lbr_any_go_on_above(piece, n, 0, stack);
}

void lbr_any_go_on_above(const struct lbr_piece *piece, u64 n, u64 above, struct lbr_stack *stack)
{
	const struct lbr_switch recording = lbr_any_switch();
	const struct workload_switch by = { recording.msr, recording.on, 0, above };

	workload_run_switched(piece->workload, n, &by);
	lbr_any_read(stack);
}

bool lbr_vanished(const struct lbr_stack *stack)
{
	u64 bits = 0;

	for (unsigned i = 0; i < stack->depth; i++)
		bits |= stack->raw[i].from | stack->raw[i].to;
	return counter_caps()->host.id == HYPERVISOR_KVM && !bits;
}

bool lbr_try_again(struct test *t, unsigned n, const struct lbr_stack *stack)
{
	if (test_is_strict(t) || !lbr_vanished(stack))
		return false;
	if (n + 1 == LBR_TRIES)
		test_inconclusive(t, "under KVM all entries read 0, %u times", LBR_TRIES);
	return true;
}

bool lbr_is_lost(struct test *t, const struct lbr_stack *stack)
{
	return lbr_try_again(t, LBR_TRIES - 1, stack);
}

void lbr_record_from(const struct lbr_piece *piece, u64 n, u64 select, unsigned top,
		     struct lbr_stack *stack)
{
	for (unsigned i = 0; i < LBR_TRIES; i++) {
		lbr_open(select, top);
		lbr_go_on(piece, n, IA32_DEBUGCTL_LBR, stack);
		lbr_close();
		if (!lbr_vanished(stack))
			break;
	}
}

void lbr_record(const struct lbr_piece *piece, u64 n, u64 select, struct lbr_stack *stack)
{
	lbr_record_from(piece, n, select, 0, stack);
}

void lbr_record_above(const struct lbr_piece *piece, u64 n, u64 above, u64 select,
		      struct lbr_stack *stack)
{
	const struct workload_switch by = { MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_LBR, 0, above };

	for (unsigned i = 0; i < LBR_TRIES; i++) {
		lbr_open(select, 0);
		workload_run_switched(piece->workload, n, &by);
		lbr_read(stack);
		lbr_close();
		if (!lbr_vanished(stack))
			break;
	}
}

void lbr_record_at_cpl_3(const struct lbr_piece *piece, u64 n, u64 select, struct lbr_stack *stack)
{
	for (unsigned i = 0; i < LBR_TRIES; i++) {
		lbr_open(select, 0);
		msr_write(MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_LBR);
		workload_run_user(piece->workload, n);
		msr_write(MSR_IA32_DEBUGCTL, 0);
		lbr_read(stack);
		lbr_close();
		if (!lbr_vanished(stack))
			break;
	}
}

u64 lbr_address_bits(void)
{
	if (lbr_format_has_info(lbr_format()))
		return ~0ULL;
	return lbr_format_has_transactions(lbr_format()) ? BITS(0, 60) : BITS(0, 62);
}

struct lbr_row lbr_chain_row(u64 n, unsigned age)
{
	const struct workload *w = lbr_piece_lbr_chain.workload;
	unsigned link = LBR_LINKS - age;	/* the jump's target */
	struct lbr_row row = lbr_piece_lbr_chain.rows[0];

	row.to = workload_mark(w, link);
	if (age < n)
		row = (struct lbr_row){ workload_mark(w, link - 1), row.to, LBR_RELATIVE_JUMP };
	return row;
}

void lbr_check_chain(struct test *t, struct test_claim claim, const struct lbr_stack *stack, u64 n,
		     unsigned entries)
{
	for (unsigned age = 0; age < entries; age++) {
		struct lbr_row row = lbr_chain_row(n, age);

		test_check_eq(t, claim, row.from, stack->branch[age].from,
			      "FROM of the branch %u before the newest, of %lu", age, n + 1);
		test_check_eq(t, claim, row.to, stack->branch[age].to,
			      "TO of the branch %u before the newest, of %lu", age, n + 1);
	}
}

bool lbr_is(const struct lbr_stack *stack, unsigned i, const struct lbr_row *row)
{
	return i < stack->depth && stack->branch[i].from == row->from &&
	       stack->branch[i].to == row->to;
}

void lbr_return_at_once(struct trap_frame *frame)
{
	(void)frame;
}

#define LATE_ROUNDS	20000u

void lbr_break_late(struct trap_frame *frame)
{
	(void)frame;
	intr_set_handler(VECTOR_BP, lbr_return_at_once);
	for (unsigned i = 0; i < LATE_ROUNDS; i++)
		__asm__ volatile("" ::: "memory");
	__asm__ volatile("int3" ::: "memory");
	intr_set_handler(VECTOR_BP, lbr_break_late);
}

void lbr_check_late(struct test *t, struct test_claim claim, const struct lbr_stack *stack)
{
	const unsigned late = stack->branch[2].cycles;

	test_check_eq(t, test_control(claim), descriptor_gate(VECTOR_BP), stack->branch[2].to,
		      "TO of the entry two before the newest");
	test_check_range(t, test_control(claim), LATE_ROUNDS / 4, CYCLES_MOST, late,
			 "INFO[15:0] of INT3 after a loop of %u rounds", LATE_ROUNDS);
	for (unsigned i = 0; i < 2; i++)
		test_check_range(t, claim, 0, late / 2, stack->branch[i].cycles,
				 "INFO[15:0] of the %s return after it", i ? "first" : "second");
}

void lbr_skip_ud2(struct trap_frame *frame)
{
	frame->rip += lbr_piece_lbr_undefined.workload->mark_length;
}

void lbr_skip_load(struct trap_frame *frame)
{
	frame->rip += lbr_piece_lbr_protection.workload->mark_length;
}

unsigned lbr_take_interrupt(u32 msr, u64 recording)
{
	unsigned interrupts;

	pmi_open(NULL);
	intr_disable();
	apic_self_ipi(VECTOR_PMI);
	msr_write(msr, recording);
	intr_window();
	msr_write(msr, 0);
	intr_enable();
	interrupts = pmi_settle()->count;
	pmi_close();
	return interrupts;
}

unsigned lbr_entries_to(const struct lbr_stack *stack, u64 target)
{
	unsigned count = 0;

	for (unsigned i = 0; i < stack->depth; i++)
		count += stack->branch[i].to == target;
	return count;
}

u64 lbr_most_cycles(const struct test *t, u64 counted)
{
	enum { STRICT_MARGIN = 256 };

	return 2 * counted + (test_is_strict(t) ? STRICT_MARGIN : CYCLES_MOST / 4);
}

/* false: under KVM all entries read 0 in every try. */
static bool write_and_read(struct test *t, u32 msr, unsigned entries, const u64 *value, u64 *read)
{
	for (unsigned n = 0; n < LBR_TRIES; n++) {
		u64 seen = 0, written = 0;

		for (unsigned i = 0; i < entries; i++) {
			written |= value[i];
			msr_write(msr + i, value[i]);
		}
		for (unsigned i = 0; i < entries; i++)
			seen |= read[i] = msr_read(msr + i);
		if (seen || !written || test_is_strict(t) ||
		    counter_caps()->host.id != HYPERVISOR_KVM)
			return true;
	}
	test_inconclusive(t, "under KVM MSR %#x and those after it read 0, %u times", msr,
			  LBR_TRIES);
	return false;
}

void lbr_check_each_bit(struct test *t, struct test_claim claim, u32 msr, unsigned entries,
			u64 base, u64 bits)
{
	u64 value[64] = { 0 }, turn[64], read[64];
	unsigned n = 0;

	for (unsigned bit = 0; bit < 64; bit++)
		if (bits & BIT(bit))
			value[n++] = base ^ BIT(bit);
	for (unsigned first = 0; first < n; first += entries) {
		for (unsigned i = 0; i < entries; i++)
			turn[i] = value[(first + i) % n];
		if (!write_and_read(t, msr, entries, turn, read))
			break;
		for (unsigned i = 0; i < entries; i++)
			test_check_eq(t, claim, turn[i], read[i], "MSR %#x as it was written",
				      msr + i);
	}
	for (unsigned i = 0; i < entries; i++)
		msr_write(msr + i, 0);
}
