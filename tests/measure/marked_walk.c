/* SPDX-License-Identifier: MIT */
/*
 * Computes the walks. In each round each register changes once, after its mark, by a fixed amount.
 * Loads add to RAX, so its value and the flags depend on all earlier loads; stores change neither.
 */
#include "tests/measure/marked_walk.h"

#include "kernel/processor/cpu.h"

#define ACCESSES	(MARKED_WALK_ROUNDS * MARKED_WALK_MARKS)
#define RSI_MARK	12
#define RSI_STEP	40
#define FITS		9	/* a record matches if so many of the 19 compared fields agree */

/* As in tests/measure/workload_marked_walk.asm: the register that changes after each mark, its
 * first value, and the amount. */
static const struct {
	enum record_field field;
	u64 first, step;
} steps[MARKED_WALK_MARKS] = {
	{RECORD_rbx, SAMPLE_RBX, 0x10101},   {RECORD_rcx, SAMPLE_RCX, 0x20203},
	{RECORD_rdx, SAMPLE_RDX, 0x30307},   {RECORD_rbp, SAMPLE_RBP, 0x4040b},
	{RECORD_r8, SAMPLE_R(8), 0x5050d},   {RECORD_r9, SAMPLE_R(9), 0x60611},
	{RECORD_r10, SAMPLE_R(10), 0x70713}, {RECORD_r11, SAMPLE_R(11), 0x80817},
	{RECORD_r12, SAMPLE_R(12), 0x9091d}, {RECORD_r13, SAMPLE_R(13), 0xa0a1f},
	{RECORD_r14, SAMPLE_R(14), 0xb0b25}, {RECORD_r15, SAMPLE_R(15), 0xc0c29},
	{RECORD_rsi, 0, RSI_STEP},	     {RECORD_rsp, 0, 0 - 16ULL},
};
_Static_assert(SAMPLE_OFFSET / 8 + 5 * (MARKED_WALK_ROUNDS + 1) + MARKED_WALK_MARKS <=
		       WORKLOAD_WORDS,
	       "the last access is inside the memory");

static struct {
	const struct workload *workload;
	u64 rounds, other_flags;
	u64 rax[ACCESSES];
	u16 flags[ACCESSES];
} walk;

u64 flags_of_add(u64 a, u64 b)
{
	u64 sum = a + b, flags = 0;
	u8 low = (u8)sum;

	if (sum < a)
		flags |= RFLAGS_CF;
	if (!(__builtin_popcount(low) & 1))
		flags |= RFLAGS_PF;
	if ((a ^ b ^ sum) & BIT(4))
		flags |= RFLAGS_AF;
	if (!sum)
		flags |= RFLAGS_ZF;
	if (sum & BIT(63))
		flags |= RFLAGS_SF;
	if ((a ^ sum) & (b ^ sum) & BIT(63))
		flags |= RFLAGS_OF;
	return flags;
}

static u64 stepped(unsigned register_, u64 first, u64 access)
{
	u64 round = access / MARKED_WALK_MARKS,
	    times = round + (register_ < access % MARKED_WALK_MARKS);

	return first + steps[register_].step * times;
}

static u64 address(u64 access)
{
	return stepped(RSI_MARK, (u64)(uintptr_t)workload_memory(), access) + SAMPLE_OFFSET +
	       8 * (access % MARKED_WALK_MARKS);
}

void marked_walk_prepare(const struct workload *w, u64 rounds)
{
	u64 *memory = workload_memory(), base = (u64)(uintptr_t)memory, rax = SAMPLE_RAX;

	walk.workload = w;
	walk.rounds = rounds;
	walk.other_flags = rflags_read() & FLAGS_LOOKED_AT & ~RFLAGS_STATUS;
	for (u64 i = 0; i < WORKLOAD_WORDS; i++)
		memory[i] = (i + 1) * 0x9e3779b97f4a7c15ULL;
	for (u64 access = 0; access < rounds * MARKED_WALK_MARKS; access++) {
		u64 operand = memory[(address(access) - base) / 8];

		if (w == &workload_marked_walk_loads) {
			walk.flags[access] = (u16)flags_of_add(rax, operand);
			rax += operand;
		}
		walk.rax[access] = rax;
	}
}

u64 marked_walk_field(u64 access, enum record_field field)
{
	u64 mark = workload_mark(walk.workload, (unsigned)(access % MARKED_WALK_MARKS));

	for (unsigned i = 0; i < MARKED_WALK_MARKS; i++)
		if (steps[i].field == field && steps[i].first)
			return stepped(i, steps[i].first, access);
	switch (field) {
	case RECORD_eventing_ip:
		return mark;
	case RECORD_rip:
		return mark + walk.workload->mark_length;
	case RECORD_rax:
		return walk.rax[access];
	case RECORD_rflags:
		return walk.other_flags | walk.flags[access];
	case RECORD_rdi:
		return walk.rounds - access / MARKED_WALK_MARKS;
	case RECORD_rsi:
		return stepped(RSI_MARK, (u64)(uintptr_t)workload_memory(), access);
	case RECORD_rsp:
		return stepped(MARKED_WALK_MARKS - 1, workload_stack(), access);
	case RECORD_data_linear_address:
		return address(access);
	default:
		return 0;
	}
}

static unsigned fit(const struct pebs_record *record, u64 access)
{
	static const enum record_field fields[] = {
		RECORD_eventing_ip, RECORD_rip, RECORD_rax, RECORD_rbx, RECORD_rcx, RECORD_rdx,
		RECORD_rsi, RECORD_rdi, RECORD_rbp, RECORD_rsp, RECORD_r8, RECORD_r9, RECORD_r10,
		RECORD_r11, RECORD_r12, RECORD_r13, RECORD_r14, RECORD_r15,
		RECORD_data_linear_address,
	};
	unsigned good = 0;

	for (unsigned i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		good += sampling_field(record, fields[i]) == marked_walk_field(access, fields[i]);
	return good;
}

int64_t marked_walk_place(const struct pebs_record *record, int64_t previous, u64 reach)
{
	u64 first = (u64)(previous + 1), end = first + reach;
	unsigned best = FITS - 1;
	int64_t place = -1;

	if (end > walk.rounds * MARKED_WALK_MARKS)
		end = walk.rounds * MARKED_WALK_MARKS;
	for (u64 access = first; access < end; access++) {
		unsigned good = fit(record, access);

		if (good > best) {
			best = good;
			place = (int64_t)access;
		}
	}
	return place;
}
