/* SPDX-License-Identifier: MIT */
/* The register page: only aligned 32-bit loads and stores, by MOV. */
#include "pmu/exerciser.h"

#include "kernel/processor/cpuid.h"
#include "kernel/processor/time.h"

#define DONE_US	100000u		/* the longest time of a command */

static uintptr_t page;

static u32 exerciser_get(enum exerciser_register offset)
{
	u32 value;

	__asm__ volatile("movl %1, %0" : "=r"(value) : "m"(*(const volatile u32 *)(page + offset)));
	return value;
}

static void exerciser_set(enum exerciser_register offset, u32 value)
{
	__asm__ volatile("movl %1, %0"
			 : "=m"(*(volatile u32 *)(page + offset))
			 : "r"(value)
			 : "memory");
}

void exerciser_use(u64 registers)
{
	page = (uintptr_t)registers;
}

bool exerciser_listed(void)
{
	return page;
}

bool exerciser_is_here(void)
{
	return page && exerciser_get(EXERCISER_SIGNATURE) == EXERCISER_HERE &&
	       exerciser_get(EXERCISER_VERSION) >= EXERCISER_NUMBER;
}

bool exerciser_offers(enum exerciser_state state, u64 bytes)
{
	return exerciser_get(EXERCISER_STATES) >> state & 1 &&
	       bytes <= exerciser_get(EXERCISER_MOST_BYTES);
}

void *exerciser_remote(u64 bytes)
{
	u64 base = (u64)exerciser_get(EXERCISER_REMOTE_HIGH) << 32 |
		   exerciser_get(EXERCISER_REMOTE_LOW);

	return exerciser_get(EXERCISER_REMOTE_BYTES) >= bytes ? (void *)(uintptr_t)base : NULL;
}

static bool has_ended(void *arg)
{
	(void)arg;
	return exerciser_get(EXERCISER_STATUS) != EXERCISER_IS_BUSY;
}

struct exerciser_answer exerciser_put(enum exerciser_state state, const void *memory, u64 bytes)
{
	u64 first = (u64)(uintptr_t)memory;
	u32 line = exerciser_get(EXERCISER_LINE_BYTES);
	struct exerciser_answer answer;

	exerciser_set(EXERCISER_ADDRESS_LOW, (u32)first);
	exerciser_set(EXERCISER_ADDRESS_HIGH, (u32)(first >> 32));
	exerciser_set(EXERCISER_LENGTH, (u32)bytes);
	exerciser_set(EXERCISER_PROCESSOR, cpuid_get(CPUID_INITIAL_APIC_ID));
	exerciser_set(EXERCISER_STATE, state);
	wait_until(has_ended, NULL, DONE_US);
	answer.status = exerciser_get(EXERCISER_STATUS);
	answer.lines = exerciser_get(EXERCISER_LINES);
	answer.done = answer.status == EXERCISER_IS_DONE && line &&
		      answer.lines == (first + bytes - 1) / line - first / line + 1;
	return answer;
}
