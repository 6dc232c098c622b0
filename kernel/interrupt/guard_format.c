/* SPDX-License-Identifier: MIT */
/* A guard's report as text. Pure. */
#include "kernel/output/fmt.h"
#include "kernel/interrupt/guard.h"

static const char *outcome_name(enum guard_outcome outcome)
{
	switch (outcome) {
	case GUARD_DONE:
		return "done";
	case GUARD_EXCEPTION:
		return "exception";
	case GUARD_INTERRUPT:
		return "unexpected interrupt";
	case GUARD_DEADLINE:
		return "deadline expired";
	case GUARD_RESTARTED:
		return "INIT, started again";
	case GUARD_ABORTED:
		return "aborted";
	}
	return "unknown outcome";
}

void guard_format(const struct guard_report *report, char *text, size_t size)
{
	const struct trap_frame *f = &report->frame;
	const struct all_registers *r = &f->reg;

	if (report->outcome == GUARD_DONE || report->outcome == GUARD_RESTARTED) {
		fmt_print(text, size, "%s", outcome_name(report->outcome));
		return;
	}
	fmt_print(text, size,
		  "%s: vector %llu error %#llx rip %016llx cs %llx rflags %llx rsp %016llx ss %llx "
		  "cr2 %016llx\n"
		  "rax %016llx rbx %016llx rcx %016llx rdx %016llx\n"
		  "rsi %016llx rdi %016llx rbp %016llx r8  %016llx\n"
		  "r9  %016llx r10 %016llx r11 %016llx r12 %016llx\n"
		  "r13 %016llx r14 %016llx r15 %016llx",
		  outcome_name(report->outcome), (unsigned long long)f->vector,
		  (unsigned long long)f->error, (unsigned long long)f->rip,
		  (unsigned long long)f->cs, (unsigned long long)f->rflags,
		  (unsigned long long)f->rsp, (unsigned long long)f->ss,
		  (unsigned long long)report->cr2, (unsigned long long)r->rax,
		  (unsigned long long)r->rbx, (unsigned long long)r->rcx,
		  (unsigned long long)r->rdx, (unsigned long long)r->rsi,
		  (unsigned long long)r->rdi, (unsigned long long)r->rbp,
		  (unsigned long long)r->r8, (unsigned long long)r->r9,
		  (unsigned long long)r->r10, (unsigned long long)r->r11,
		  (unsigned long long)r->r12, (unsigned long long)r->r13,
		  (unsigned long long)r->r14, (unsigned long long)r->r15);
}
