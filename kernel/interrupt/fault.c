/* SPDX-License-Identifier: MIT */
/*
 * Expected faults. The instructions and their rows are in fault.asm; this file has the lookup and
 * the interface for C. The table is short and unsorted, and a linear search is fast enough.
 */
#include "kernel/interrupt/extable.h"
#include "kernel/interrupt/fault.h"

void fault_rdmsr(struct fault *fault, u32 msr, u64 *value);
void fault_wrmsr(struct fault *fault, u32 msr, u64 value);
void fault_rdmsr_row(struct fault *fault, u32 first, u64 *values, u32 count);
void fault_wrmsr_row(struct fault *fault, u32 first, u64 value, u32 count, u32 stride);
void fault_rdpmc(struct fault *fault, u32 ecx, u64 *value);

struct extable_row {
	int32_t rip, fixup;
}; /* each offset is relative to its own address */

extern const struct extable_row extable_begin[] __asm__("__extable_begin")
	__attribute__((visibility("hidden")));
extern const struct extable_row extable_end[] __asm__("__extable_end")
	__attribute__((visibility("hidden")));

static u64 target(const int32_t *distance)
{
	return (u64)(uintptr_t)distance + (u64)(int64_t)*distance;
}

/* A trap (#DB, #BP) or an abort arrives *at* a listed instruction without being raised by it. */
static bool is_fault(u64 vector)
{
	return vector == VECTOR_UD || vector == VECTOR_GP || vector == VECTOR_PF;
}

#define OPCODE_WRMSR	0x300fu		/* 0F 30 */

void (*fault_on_refused_write)(u32 msr, u64 value);

bool fault_is_wrmsr(const struct trap_frame *frame, u32 *msr, u64 *value)
{
	const u8 *code = (const u8 *)(uintptr_t)frame->rip;

	if (frame->vector != VECTOR_GP || (code[0] | code[1] << 8) != OPCODE_WRMSR)
		return false;
	*msr = (u32)frame->reg.rcx;
	*value = (u32)frame->reg.rax | frame->reg.rdx << 32;
	return true;
}

static void tell_of_refused_write(const struct trap_frame *frame)
{
	u64 value;
	u32 msr;

	if (fault_on_refused_write && fault_is_wrmsr(frame, &msr, &value))
		fault_on_refused_write(msr, value);
}

bool extable_fix(struct trap_frame *frame, u64 cr2)
{
	if (!is_fault(frame->vector))
		return false;
	for (const struct extable_row *row = extable_begin; row < extable_end; row++) {
		if (target(&row->rip) != frame->rip)
			continue;
		tell_of_refused_write(frame);
		*(struct fault *)frame->reg.rdi = (struct fault){
			.raised = true,
			.vector = (u8)frame->vector,
			.error = (u32)frame->error,
			.rip = frame->rip,
			.cr2 = frame->vector == VECTOR_PF ? cr2 : 0,
		};
		frame->rip = target(&row->fixup);
		return true;
	}
	return false;
}

struct fault msr_try_read(u32 msr, u64 *value)
{
	struct fault fault = { .raised = false };

	fault_rdmsr(&fault, msr, value);
	return fault;
}

struct fault msr_try_write(u32 msr, u64 value)
{
	struct fault fault = { .raised = false };

	fault_wrmsr(&fault, msr, value);
	return fault;
}

void msr_read_row(u32 first, unsigned count, u64 *values)
{
	struct fault fault = { .raised = false };

	if (count)
		fault_rdmsr_row(&fault, first, values, count);
	for (unsigned i = 0; fault.raised && i < count; i++)
		values[i] = msr_read(first + i);
}

void msr_write_row(u32 first, unsigned count, u64 value)
{
	const bool raised = msr_try_write_row(first, 1, count, value).raised;

	for (unsigned i = 0; raised && i < count; i++)
		msr_write(first + i, value);
}

struct fault msr_try_write_row(u32 first, unsigned stride, unsigned count, u64 value)
{
	struct fault fault = { .raised = false };

	if (count)
		fault_wrmsr_row(&fault, first, value, count, stride);
	return fault;
}

struct fault rdpmc_try(u32 ecx, u64 *value)
{
	struct fault fault = { .raised = false };

	fault_rdpmc(&fault, ecx, value);
	return fault;
}

u64 msr_read(u32 msr)
{
	u32 low, high;

	__asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(msr) : "memory");
	return (u64)high << 32 | low;
}

void msr_write(u32 msr, u64 value)
{
	__asm__ volatile("wrmsr" ::"c"(msr), "a"((u32)value), "d"((u32)(value >> 32)) : "memory");
}

u64 rdpmc(u32 ecx)
{
	u32 low, high;

	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(ecx) : "memory");
	return (u64)high << 32 | low;
}
