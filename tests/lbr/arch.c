/* SPDX-License-Identifier: MIT */
/* See arch.h. */
#include "tests/lbr/arch.h"

#include "kernel/interrupt/fault.h"
#include "kernel/output/fmt.h"
#include "kernel/processor/cpuid.h"
#include "pmu/counter.h"
#include "pmu/reset.h"

bool need_arch_lbr(char *reason, size_t size)
{
	struct reset_refusal refusal;

	if (!counter_caps()->arch_lbr) {
		fmt_print(reason, size,
			  "no architectural last branch records (CPUID.7H:EDX[19] = 0)");
		return false;
	}
	if (reset_leaves_alone(RESET_LBR_CTL, &refusal)) {
		reset_format(&refusal, reason, size);
		return false;
	}
	return true;
}

static bool need_leaf(bool has, const char *what, char *reason, size_t size)
{
	struct cpuid r;

	if (!need_arch_lbr(reason, size))
		return false;
	r = cpuid_read(0x1c, 0);
	if (!has)
		fmt_print(reason, size, "records without %s (CPUID.1CH:EBX = %#x, ECX = %#x)", what,
			  r.ebx, r.ecx);
	return has;
}

bool need_arch_lbr_depths(char *reason, size_t size)
{
	const u8 depths = arch_lbr_leaf().depths;

	if (!need_arch_lbr(reason, size))
		return false;
	if (depths & (depths - 1))
		return true;
	fmt_print(reason, size, "one depth (CPUID.1CH:EAX[7:0] = %#x)", depths);
	return false;
}

bool need_arch_lbr_levels(char *reason, size_t size)
{
	return need_leaf(arch_lbr_leaf().cpl_filtering, "a filter by level", reason, size);
}

bool need_arch_lbr_kinds(char *reason, size_t size)
{
	return need_leaf(arch_lbr_leaf().branch_filtering, "a filter by kind", reason, size);
}

bool need_arch_lbr_call_stack(char *reason, size_t size)
{
	return need_leaf(arch_lbr_leaf().call_stack, "call-stack mode", reason, size);
}

bool need_arch_lbr_mispredict(char *reason, size_t size)
{
	return need_leaf(arch_lbr_leaf().mispredict, "a mispredict flag", reason, size);
}

bool need_arch_lbr_timed(char *reason, size_t size)
{
	return need_leaf(arch_lbr_leaf().timed, "cycles", reason, size);
}

bool need_arch_lbr_types(char *reason, size_t size)
{
	return need_leaf(arch_lbr_leaf().branch_type, "the kind of a branch", reason, size);
}

bool need_arch_lbr_events(char *reason, size_t size)
{
	return need_leaf(arch_lbr_leaf().event_logging, "events of counters", reason, size);
}

u64 arch_lbr_filter(u64 kind)
{
	static const u64 filters[LBR_KINDS_END] = {
		[LBR_CONDITIONAL] = IA32_LBR_CTL_JCC,
		[LBR_RELATIVE_JUMP] = IA32_LBR_CTL_NEAR_REL_JMP,
		[LBR_INDIRECT_JUMP] = IA32_LBR_CTL_NEAR_IND_JMP,
		[LBR_RELATIVE_CALL] = IA32_LBR_CTL_NEAR_REL_CALL,
		[LBR_INDIRECT_CALL] = IA32_LBR_CTL_NEAR_IND_CALL,
		[LBR_RETURN] = IA32_LBR_CTL_NEAR_RET,
		[LBR_FAR] = IA32_LBR_CTL_OTHER_BRANCH,
	};

	return filters[kind];
}

u64 arch_lbr_only(u64 kinds)
{
	return arch_lbr_everything() & ~(ARCH_LBR_EVERY_KIND & ~kinds);
}

void arch_lbr_run(const struct lbr_piece *piece, u64 n, u64 control)
{
	const struct workload_switch by = { MSR_IA32_LBR_CTL, control, 0, 0 };

	workload_run_switched(piece->workload, n, &by);
}

void arch_lbr_go_on(const struct lbr_piece *piece, u64 n, u64 control, struct lbr_stack *stack)
{
	arch_lbr_run(piece, n, control);
	arch_lbr_read(stack);
}

void arch_lbr_record(const struct lbr_piece *piece, u64 n, u64 control, struct lbr_stack *stack)
{
	arch_lbr_close();
	arch_lbr_go_on(piece, n, control, stack);
	arch_lbr_close();
}
