/* SPDX-License-Identifier: MIT */
/* See trace.h. Each line is written under a lock, because processors run at the same time. */
#include "refpmu/hv/instructions.h"
#include "refpmu/hv/lock.h"
#include "refpmu/vmm/trace.h"

#define PORT		0xe9
#define LINE_SIZE	160

static const char *const trace_names[TRACE_EVENTS] = {
	[TRACE_PMI] = "pmi",
	[TRACE_RDMSR] = "rdmsr",
	[TRACE_WRMSR] = "wrmsr",
	[TRACE_RDPMC] = "rdpmc",
};

static const char *const action_names[] = {
	[ACTION_ARM] = "arm",
	[ACTION_ASSIST] = "record",
	[ACTION_THRESHOLD_INT] = "threshold",
	[ACTION_OVERFLOW_INT] = "overflow",
	[ACTION_UNCORE_INT] = "uncore",
};

static char *put_text(char *to, const char *text)
{
	while (*text)
		*to++ = *text++;
	*to++ = ' ';
	return to;
}

static char *put_hex(char *to, u64 value)
{
	char digits[17], *p = digits + sizeof(digits) - 1;

	*p = 0;
	do
		*--p = "0123456789abcdef"[value & 15];
	while (value >>= 4);
	return put_text(to, p);
}

static void tell(struct cpu *cpu, enum trace_event event, u64 first, u64 second)
{
	char line[LINE_SIZE], *at = put_hex(line, tsc());

	at = put_hex(at, cpu->apic_id);
	at = put_hex(at, cpu->vmcb->save.rip);
	if (event == TRACE_ACTION) {
		at = put_text(at, action_names[first]);
		at = put_hex(at, second);
		at = put_hex(at, 0);
	} else {
		at = put_text(at, trace_names[event]);
		at = put_hex(at, first);
		at = put_hex(at, second);
	}
	at[-1] = '\n';
	lock_take(cpu, &hypervisor.telling);
	for (const char *p = line; p < at; p++)
		__asm__ volatile("outb %0, %1" ::"a"(*p), "Nd"((u16)PORT));
	lock_give(cpu, &hypervisor.telling);
}

void trace_switch(bool on)
{
	hypervisor.trace = on ? tell : NULL;
}

void trace_model(void *ctx, enum model_action action, unsigned counter)
{
	cpu_trace(ctx, TRACE_ACTION, action, counter);
}
