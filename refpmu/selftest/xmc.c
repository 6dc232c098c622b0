/* SPDX-License-Identifier: MIT */
/*
 * See xmc.h. SDM volume 3, "Handling Self- and Cross-Modifying Code": the executing processor waits
 * for a message, then serialises; then the new code must run. Without these steps, an aligned store
 * to an immediate, which doesn't change instructions and their lengths, takes effect as a whole at
 * some time: the processor may run the old value for a while, but never again after a newer value.
 * How often it runs each depends on both processors. So the code counts its iterations itself, and
 * the counts must be exact for these.
 *
 * The last value is stored repeatedly until it takes effect, because QEMU's TCG may lose a store
 * while another processor is translating that code (docs/TRICKS.md).
 */
#include "refpmu/selftest/xmc.h"

#include "refpmu/hv/architecture.h"
#include "refpmu/launch/print.h"
#include "refpmu/selftest/smc.h"
#include "refpmu/selftest/machine.h"
#include "refpmu/selftest/timeout.h"
#include "refpmu/selftest/second.h"
#include "refpmu/selftest/init_storm.h"
#include "spec/msr.h"

#define PAGE		4096ULL
#define ENTRIES		512
#define WINDOW		(1ULL << 39)	/* linear */
#define ENTRY		(PTE_P | PTE_W | PTE_U)
#define PACE		2000000ULL	/* and between two stores */
#define ROUNDS		40
#define TAIL		4		/* bytes of the function on its first page */
#define IMMEDIATE	4		/* offset in the page: aligned */

/* xmc_plain, and the code that it calls, besides its turns. */
#define PLAIN_INSTRUCTIONS 10
#define PLAIN_BRANCHES	3
#define PLAIN_TURN_INSTRUCTIONS	9	/* and the store, if there is one */
#define PLAIN_TURN_BRANCHES 3
/* xmc_protocol. */
#define PROTOCOL_INSTRUCTIONS 12
#define PROTOCOL_BRANCHES 1
#define ROUND_INSTRUCTIONS 8		/* besides the code and what serialises */
#define ROUND_BRANCHES	5
#define WAIT_INSTRUCTIONS 5
#define WAIT_BRANCHES	2

/* The part that smc.asm knows. */
struct meeting {
	u64 code;
	volatile u32 seen, told, stop;
	u32 rounds;
	u64 waits;
	void (*fresh)(void);
};

u64 xmc_plain(void *meeting);
u64 xmc_protocol(void *meeting);
void xmc_fresh_cpuid(void);
void xmc_fresh_invlpg(void);
void xmc_fresh_iret(void);

static struct meeting meeting;

/* What the other processor does, once for each `order`. */
static struct job {
	void (*work)(void);
	bool counts;
	volatile bool failed, over;
	volatile u32 order, done, came;
} job;

static u8 pages[4][4096] __attribute__((aligned(4096)));
static u64 tables[3][ENTRIES] __attribute__((aligned(4096)));

/* ---- the other processor ---- */

static bool give_up(void)
{
	job.failed = true;
	meeting.stop = 1;
	return false;
}

static bool ask(u32 round)
{
	return wait_for(&meeting.seen, round) || give_up();
}

static void pace(void)
{
	u64 begin = tsc();

	while (tsc() - begin < PACE)
		;
}

static void store_immediate(u32 value)
{
	*(volatile u32 *)(void *)(pages[0] + IMMEDIATE) = value;
}

/* The next value when the one before has been seen. */
static void stores_answered(void)
{
	for (u32 value = 1; value <= ROUNDS; value++) {
		u64 begin = tsc(), last = begin;

		store_immediate(value);
		while (meeting.seen < value) {
			if (tsc() - begin > TIMEOUT_TICKS) {
				give_up();
				return;
			}
			if (tsc() - last > PACE) {
				store_immediate(value);
				last = tsc();
			}
		}
	}
}

static void stores_unanswered(void)
{
	u64 begin = tsc();

	for (u32 value = 1; !job.over; value += value < ROUNDS) {
		store_immediate(value);
		pace();
		if (tsc() - begin > TIMEOUT_TICKS) {
			give_up();
			return;
		}
	}
}

static u32 value_of(u32 round)
{
	return 7 * round + 1;
}

static unsigned nops_of(u32 round)
{
	return round % 9;
}

static void new_code(void)
{
	for (u32 round = 1; round <= ROUNDS && ask(round); round++) {
		smc_write(pages[0] + PAGE - TAIL, value_of(round), nops_of(round));
		meeting.told = round;
	}
}

/* The same in other memory, by turns. */
static void new_table(void)
{
	for (u32 round = 1; round <= ROUNDS && ask(round); round++) {
		u8 *page = pages[2 + round % 2];

		smc_write(page, value_of(round), nops_of(round));
		*(volatile u64 *)&tables[2][0] = (u64)page | ENTRY;
		meeting.told = round;
	}
}

static void other_processor(void *argument __attribute__((unused)))
{
	job.came = 1;
	for (u32 order = 1;; order++) {
		while (job.order < order)
			__asm__ volatile("pause");
		msr_write(MSR_IA32_PERF_GLOBAL_CTRL, 0);
		msr_write(MSR_IA32_FIXED_CTR_CTRL, 3);
		if (job.counts)
			msr_write(MSR_IA32_PERF_GLOBAL_CTRL, BIT(32));
		job.work();
		msr_write(MSR_IA32_PERF_GLOBAL_CTRL, 0);
		job.done = order;
	}
}

/* ---- the first one ---- */

static bool order(const char *name, void (*work)(void), u64 (*code)(void *),
		  struct smc_counts *counts)
{
	meeting.seen = meeting.told = meeting.stop = 0;
	meeting.waits = 0;
	meeting.rounds = ROUNDS;
	job.work = work;
	job.failed = job.over = false;
	job.order++;
	smc_measure(code, &meeting, counts);
	job.over = true;
	if (wait_for(&job.done, job.order) && !job.failed)
		return true;
	print("# %s: what was written isn't seen", name);
	return false;
}

static bool good(const char *name, const struct smc_counts *counts, u64 result, u64 instructions,
		 u64 branches)
{
	if (counts->result == result && counts->instructions == instructions &&
	    counts->branches == branches)
		return true;
	print("# %s: result %x, wanted %x", name, counts->result, result);
	print("# %u instructions, wanted %u; %u branches, wanted %u", counts->instructions,
	      instructions, counts->branches, branches);
	return false;
}

static void selftest_xmc_put(u8 **to, const u8 *from, unsigned n)
{
	while (n--)
		*(*to)++ = *from++;
}

/* Till the last value is there: RCX = turns; or all ones if a value comes again after a later
 * one. With RBX = RCX = 0, RDX = the meeting. */
static void write_plain(bool stores)
{
	u8 *to = pages[0] + IMMEDIATE - 1, *again = to, *bad, *out;

	meeting.code = (u64)to;
	selftest_xmc_put(&to, (const u8[]){ 0xb8, 0, 0, 0, 0 }, 5);	/* MOV EAX, value */
	selftest_xmc_put(&to, (const u8[]){ 0x39, 0xd8, 0x72, 0 }, 4);	/* CMP EAX, EBX; JB bad */
	bad = to;
	selftest_xmc_put(&to, (const u8[]){ 0x89, 0xc3 }, 2);	/* MOV EBX, EAX */
	if (stores)
		selftest_xmc_put(&to, (const u8[]){ 0x89, 0x42, 8 }, 3); /* MOV [seen], EAX */
	selftest_xmc_put(&to, (const u8[]){ 0x48, 0xff, 0xc1 }, 3);	/* INC RCX */
	selftest_xmc_put(&to, (const u8[]){ 0x83, 0x7a, 16, 0 }, 4);	/* CMP [stop], 0 */
	selftest_xmc_put(&to, (const u8[]){ 0x75, 0 }, 2);	/* JNE out */
	out = to;
	/* CMP EAX, last; JNE */
	selftest_xmc_put(&to, (const u8[]){ 0x3d, ROUNDS, 0, 0, 0, 0x75, 0 }, 7);
	to[-1] = (u8)(again - to);
	out[-1] = (u8)(to - out);
	selftest_xmc_put(&to, (const u8[]){ 0x48, 0x89, 0xc8, 0xc3 }, 4); /* MOV RAX, RCX; RET */
	bad[-1] = (u8)(to - bad);
	/* OR RAX, -1; RET */
	selftest_xmc_put(&to, (const u8[]){ 0x48, 0x83, 0xc8, 0xff, 0xc3 }, 5);
}

static bool plain(const char *name, void (*work)(void), bool stores)
{
	struct smc_counts counts;
	u64 turns;

	write_plain(stores);
	if (!order(name, work, xmc_plain, &counts))
		return false;
	turns = counts.result;
	return good(name, &counts, turns == ~0ULL ? 0 : turns, PLAIN_INSTRUCTIONS +
		    turns * (PLAIN_TURN_INSTRUCTIONS + (u64)stores),
		    PLAIN_BRANCHES + turns * PLAIN_TURN_BRANCHES);
}

static bool protocol(const char *name, void (*work)(void), void (*fresh)(void),
		     unsigned fresh_instructions, unsigned fresh_branches)
{
	u64 result = 0, instructions = PROTOCOL_INSTRUCTIONS, branches = PROTOCOL_BRANCHES;
	struct smc_counts counts;

	meeting.fresh = fresh;
	if (!order(name, work, xmc_protocol, &counts))
		return false;
	for (u32 round = 1; round <= ROUNDS; round++) {
		result = 3 * result + value_of(round);
		instructions += ROUND_INSTRUCTIONS + nops_of(round) + 2 + fresh_instructions;
		branches += ROUND_BRANCHES + fresh_branches;
	}
	return good(name, &counts, result, instructions + WAIT_INSTRUCTIONS * meeting.waits,
		    branches + WAIT_BRANCHES * meeting.waits);
}

static const char *all(bool counts)
{
	job.counts = counts;
	if (!plain("stores, answered", stores_answered, true) ||
	    !plain("stores, unanswered", stores_unanswered, true) ||
	    !plain("stores, unanswered, into a loop that stores nothing", stores_unanswered, false))
		return "stores into a loop that another processor runs";
	meeting.code = (u64)pages[0] + PAGE - TAIL;
	if (!protocol("new code after CPUID", new_code, xmc_fresh_cpuid, 6, 0) ||
	    !protocol("new code after IRET", new_code, xmc_fresh_iret, 11, 1))
		return "code that another processor has written anew";
	meeting.code = WINDOW;
	if (!protocol("another page after INVLPG", new_table, xmc_fresh_invlpg, 3, 0))
		return "page tables that another processor has changed";
	return NULL;
}

static u64 *guest_top(void)
{
	u64 cr3;

	__asm__ volatile("mov %%cr3, %0" : "=r"(cr3));
	return (u64 *)(cr3 & ~(PAGE - 1));
}

static void map_window(u64 entry)
{
	u64 *top = guest_top();

	tables[0][0] = (u64)tables[1] | ENTRY;
	tables[1][0] = (u64)tables[2] | ENTRY;
	top[1] = entry;
	__asm__ volatile("mov %0, %%cr3" ::"r"(top) : "memory");
}

const char *xmc_check(void)
{
	const char *wrong;

	map_window((u64)tables[0] | ENTRY);
	job = (struct job){ .came = 0 };
	second_start(0, other_processor, NULL);
	if (!wait_for(&job.came, 1))
		return "the other processor doesn't come";
	wrong = all(false);
	if (!wrong)
		wrong = all(true);
	init_storm_send_init(init_storm_apic_id(0));
	map_window(0);
	return wrong;
}
