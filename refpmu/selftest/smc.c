/* SPDX-License-Identifier: MIT */
/*
 * See smc.h. SDM volume 3, "Invalidation of TLBs and Paging-Structure Caches": the ways to make a
 * change of the page tables take effect. Each is used once for each change, so that the result is
 * defined. Stores through another linear address take effect with the next jump at the latest on
 * the processors presented ("Self-Modifying Code" asks for a serialising instruction; IRET is one).
 */
#include "refpmu/selftest/smc.h"

#include "refpmu/hv/architecture.h"
#include "refpmu/launch/print.h"
#include "refpmu/selftest/blobs.h"
#include "refpmu/selftest/machine.h"
#include "spec/event.h"
#include "spec/msr.h"

#define PAGE		4096ULL
#define ENTRIES		512
#define TOP_STEP	(1ULL << 39)	/* linear memory of a top-level entry */
#define GIGABYTE	(1ULL << 30)
#define BEYOND_MEMORY	(1ULL << 39)	/* physical */
#define WINDOW		TOP_STEP	/* linear: the second entry of the top level is ours */
#define ENTRY		(PTE_P | PTE_W | PTE_U)
#define ENTRY_LARGE	(ENTRY | PTE_PS)
#define LEAF_FEATURES	7
#define INVPCID		BIT(10)		/* of EBX */
#define TIMES		25
#define TURNS_INSTRUCTIONS 11
#define TURNS_BRANCHES	1
#define TURN_INSTRUCTIONS 12
#define TURN_BRANCHES	5		/* besides the code's and the changes' */
#define FAULT_INSTRUCTIONS 13		/* of error_handler */
#define PROBE_INSTRUCTIONS 4
#define PROBE_TURN	3
#define PROBE_LENGTH	3		/* bytes of the instruction that faults */
#define FUNCTION_BYTES	48
#define TAIL		3		/* bytes of a function that are on a page before the rest */

/* smc.asm; `value` makes the two states, at `place` if it is memory. */
struct turns {
	u64 code;
	void (*change)(void);
	u64 times, value[2];
	volatile u64 *place;
	u64 pcid, invalid;
} __attribute__((packed));

u64 smc_count(u64 (*code)(void *), void *argument);
u64 smc_nothing(void *argument);
u64 smc_turns(void *turns);
u64 smc_probe(void *probe);
void change_cr3(void);
void change_by_store(void);
void change_table_invlpg(void);
void change_table_cr3(void);
void change_table_invpcid(void);

static u64 top_level[ENTRIES] __attribute__((aligned(4096)));
static u64 tables[6][ENTRIES] __attribute__((aligned(4096)));
static u8 pages[4][4096] __attribute__((aligned(4096)));
static u8 elsewhere[FUNCTION_BYTES];

/* The window's tables, and a second set for other ones of each level. */
#define LEVEL3		tables[0]
#define LEVEL2		tables[1]
#define LEVEL1		tables[2]
#define OTHER_LEVEL3	tables[3]
#define OTHER_LEVEL2	tables[4]
#define OTHER_LEVEL1	tables[5]

void smc_write(volatile u8 *to, u32 value, unsigned nops)
{
	while (nops--)
		*to++ = 0x90;
	*to++ = 0xb8;				/* MOV EAX, value; RET */
	for (unsigned i = 0; i < 4; i++, value >>= 8)
		*to++ = (u8)value;
	*to = 0xc3;
}

static u64 *guest_top(void)
{
	u64 cr3;

	__asm__ volatile("mov %%cr3, %0" : "=r"(cr3));
	return (u64 *)(cr3 & ~(PAGE - 1));
}

static void load_top(const u64 *top)
{
	__asm__ volatile("mov %0, %%cr3" ::"r"(top) : "memory");
}

static void one_measure(u64 (*code)(void *), void *argument, struct smc_counts *counts)
{
	msr_write(MSR_IA32_PERF_GLOBAL_CTRL, 0);
	msr_write(MSR_IA32_PERFEVTSEL0, EVENT_BR_INST_RETIRED_ALL_BRANCHES | IA32_PERFEVTSEL_OS |
						IA32_PERFEVTSEL_USR | IA32_PERFEVTSEL_EN);
	msr_write(MSR_IA32_FIXED_CTR_CTRL, 3);
	msr_write(MSR_IA32_A_PMC0, 0);
	msr_write(MSR_IA32_FIXED_CTR0, 0);
	counts->result = smc_count(code, argument);
	counts->instructions = msr_read(MSR_IA32_FIXED_CTR0);
	counts->branches = msr_read(MSR_IA32_PMC0);
}

void smc_measure(u64 (*code)(void *), void *argument, struct smc_counts *counts)
{
	struct smc_counts none;

	one_measure(smc_nothing, NULL, &none);
	one_measure(code, argument, counts);
	counts->instructions -= none.instructions - 1;
	counts->branches -= none.branches - 1;
}

/* ---- the cases: values v0 and v1, after n0 and n1 NOPs ---- */

struct functions {
	u32 value[2];
	unsigned nops[2];
	unsigned faults;		/* of the second one: the handler goes on at `elsewhere` */
};

static void open_window(u64 physical)
{
	u64 *all[] = { LEVEL3, LEVEL2, LEVEL1, OTHER_LEVEL3, OTHER_LEVEL2, OTHER_LEVEL1 };

	for (unsigned i = 0; i < 6; i++)
		for (unsigned k = 0; k < ENTRIES; k++)
			all[i][k] = 0;
	LEVEL3[0] = (u64)LEVEL2 | ENTRY;
	LEVEL2[0] = (u64)LEVEL1 | ENTRY;
	OTHER_LEVEL3[0] = (u64)OTHER_LEVEL2 | ENTRY;
	OTHER_LEVEL2[0] = (u64)OTHER_LEVEL1 | ENTRY;
	LEVEL1[0] = physical | ENTRY;
	guest_top()[1] = (u64)LEVEL3 | ENTRY;
	load_top(guest_top());
}

static bool turn(const char *name, struct turns *turns, const struct functions *f,
		 unsigned change_instructions)
{
	u64 *top = guest_top(), wanted = 0, instructions, branches;
	struct smc_counts counts;

	turns->times = TIMES;
	for (unsigned i = 0; i < TIMES; i++)
		wanted = (3 * wanted + f->value[0]) * 3 + f->value[1];
	instructions = TURNS_INSTRUCTIONS +
		       TIMES * (TURN_INSTRUCTIONS + 2 * change_instructions + f->nops[0] +
				f->nops[1] + 4u + f->faults * FAULT_INSTRUCTIONS);
	branches = TURNS_BRANCHES + TIMES * (TURN_BRANCHES + 4u + f->faults);
	smc_measure(smc_turns, turns, &counts);
	if (turns->place)
		*turns->place = turns->value[0];
	load_top(top);
	if (counts.result == wanted && counts.instructions == instructions &&
	    counts.branches == branches)
		return true;
	print("# %s: result %x, wanted %x", name, counts.result, wanted);
	print("# %u instructions, wanted %u; %u branches, wanted %u", counts.instructions,
	      instructions, counts.branches, branches);
	return false;
}

static const struct functions two = { { 3, 70 }, { 0, 9 }, 0 };

static void write_two(u8 *first, u8 *second)
{
	smc_write(first, two.value[0], two.nops[0]);
	smc_write(second, two.value[1], two.nops[1]);
}

static bool by_cr3(void)
{
	struct turns turns = { .code = WINDOW, .change = change_cr3 };

	write_two(pages[0], pages[1]);
	open_window((u64)pages[0]);
	OTHER_LEVEL1[0] = (u64)pages[1] | ENTRY;
	for (unsigned i = 0; i < ENTRIES; i++)
		top_level[i] = guest_top()[i];
	top_level[1] = (u64)OTHER_LEVEL3 | ENTRY;
	turns.value[0] = (u64)guest_top();
	turns.value[1] = (u64)top_level;
	return turn("CR3", &turns, &two, 3);
}

static bool by_table(const char *name, void (*change)(void), volatile u64 *place, u64 first,
		     u64 second, const struct functions *f)
{
	struct turns turns = {
		.code = WINDOW, .change = change, .place = place, .value = { first, second },
		.invalid = WINDOW,
	};

	return turn(name, &turns, f, 6);
}

static bool by_tables(void)
{
	u64 first = (u64)pages[0] | ENTRY, second = (u64)pages[1] | ENTRY;
	u32 regs[4];

	write_two(pages[0], pages[1]);
	open_window((u64)pages[0]);
	OTHER_LEVEL1[0] = second;
	cpuid(LEAF_FEATURES, 0, regs);
	return by_table("entry and INVLPG", change_table_invlpg, LEVEL1, first, second, &two) &&
	       by_table("entry and CR3", change_table_cr3, LEVEL1, first, second, &two) &&
	       (!(regs[1] & INVPCID) ||
		by_table("entry and INVPCID", change_table_invpcid, LEVEL1, first, second, &two)) &&
	       by_table("table and INVLPG", change_table_invlpg, LEVEL2, (u64)LEVEL1 | ENTRY,
			(u64)OTHER_LEVEL1 | ENTRY, &two) &&
	       by_table("directory and CR3", change_table_cr3, LEVEL3, (u64)LEVEL2 | ENTRY,
			(u64)OTHER_LEVEL2 | ENTRY, &two) &&
	       by_table("top-level entry and CR3", change_table_cr3, &guest_top()[1],
			(u64)LEVEL3 | ENTRY, (u64)OTHER_LEVEL3 | ENTRY, &two);
}

/* The 2 MiB around the first page, as one page or in small ones. */
static bool by_splitting(void)
{
	u64 base = (u64)pages[0] & ~(TWO_MIB - 1), offset = (u64)pages[0] - base;
	struct turns turns = {
		.code = WINDOW + offset, .change = change_table_invlpg, .place = LEVEL2,
		.value = { base | ENTRY_LARGE, (u64)LEVEL1 | ENTRY }, .invalid = WINDOW + offset,
	};

	write_two(pages[0], pages[1]);
	open_window((u64)pages[0]);
	for (u64 i = 0; i < ENTRIES; i++)
		LEVEL1[i] = (base + i * PAGE) | ENTRY;
	LEVEL1[offset / PAGE] = (u64)pages[1] | ENTRY;
	return turn("splitting a large page", &turns, &two, 6);
}

/* Its first bytes are on a page that stays. */
static bool by_second_page(void)
{
	static const struct functions tails = { { 5, 6 }, { 5, 5 }, 0 };
	struct turns turns = {
		.code = WINDOW + PAGE - TAIL, .change = change_table_invlpg, .place = &LEVEL1[1],
		.value = { (u64)pages[1] | ENTRY, (u64)pages[2] | ENTRY },
		.invalid = WINDOW + PAGE,
	};
	u8 whole[FUNCTION_BYTES];

	for (unsigned side = 0; side < 2; side++) {
		smc_write(whole, tails.value[side], tails.nops[side]);
		for (unsigned i = 0; i < FUNCTION_BYTES; i++)
			*(i < TAIL ? &pages[0][PAGE - TAIL + i] :
				     &pages[1 + side][i - TAIL]) = whole[i];
	}
	open_window((u64)pages[0]);
	return turn("the second page of a function", &turns, &tails, 6);
}

/* MOV EAX, n; RET, and NOP; MOV EAX, n; RET: eight bytes that are one store. */
static bool by_alias(const char *name, u64 offset)
{
	static const struct functions stored = { { 0x11, 0x22 }, { 0, 1 }, 0 };
	struct turns turns = {
		.code = WINDOW + offset, .change = change_by_store,
		.value = { 0x9090c300000011b8ULL, 0x90c300000022b890ULL },
		.place = (u64 *)(void *)(pages[2] + offset),
	};

	open_window((u64)pages[2]);
	LEVEL1[1] = (u64)pages[3] | ENTRY;
	return turn(name, &turns, &stored, 4);
}

/* The second state is a fault, and a handler that goes on elsewhere. */
static bool by_faults(void)
{
	static const struct functions faulting = { { 3, 70 }, { 0, 9 }, 1 };
	u64 efer = msr_read(MSR_IA32_EFER), there = (u64)pages[0] | ENTRY;
	bool good;

	write_two(pages[0], elsewhere);
	open_window((u64)pages[0]);
	skip = (u64)elsewhere - WINDOW;
	msr_write(MSR_IA32_EFER, efer | EFER_NXE);
	good = by_table("absent", change_table_invlpg, LEVEL1, there, 0, &faulting) &&
	       by_table("absent table", change_table_cr3, LEVEL2, (u64)LEVEL1 | ENTRY, 0,
			&faulting);
	good = good &&
	       by_table("not executable", change_table_invlpg, LEVEL1, there, there | PTE_NX,
			&faulting) &&
	       by_table("not executable, by CR3", change_table_cr3, LEVEL2, (u64)LEVEL1 | ENTRY,
			(u64)LEVEL1 | ENTRY | PTE_NX, &faulting);
	msr_write(MSR_IA32_EFER, efer);
	return good;
}

/* Each of these reads counts, and faults if any does. */
static bool probe(u64 from, u64 step, u64 times, bool faults)
{
	struct {
		u64 at, step, times;
	} probe = { from, step, times };
	u64 instructions = PROBE_INSTRUCTIONS + times * (PROBE_TURN + 1), branches = 1 + times;
	struct smc_counts counts;

	/* What faults doesn't retire; the handler does. */
	if (faults) {
		instructions += times * FAULT_INSTRUCTIONS - times;
		branches += times;
	}
	skip = PROBE_LENGTH;
	events = 0;
	smc_measure(smc_probe, &probe, &counts);
	if (counts.instructions == instructions && counts.branches == branches &&
	    (u32)events == (faults ? times : 0))
		return true;
	print("# reads from %x on: %u faults of %u; %u instructions, wanted %u", from,
	      (u64)(u32)events, times, counts.instructions, instructions);
	return false;
}

/*
 * Whatever runs the code is nowhere in sight: the top-level entries that aren't used map nothing,
 * at their beginnings and in between, and what isn't canonical raises #GP, which leaves CR2. No
 * fault of refpmu/faults breaks this: those are about the PMU, this is about how it is emulated.
 * One more entry in the upper table of engine_mapping.c does.
 */
static bool nothing_else(void)
{
	static const u64 unused[][2] = {
		{ 2 * TOP_STEP, 254 }, { 2 * TOP_STEP + GIGABYTE + PAGE, 254 },
		{ -1ULL << 47, 256 }, { (-1ULL << 47) + GIGABYTE + PAGE, 256 },
	};
	bool good = true;
	u64 cr2;

	for (unsigned i = 0; i < sizeof(unused) / sizeof(unused[0]); i++)
		good = probe(unused[i][0], TOP_STEP, unused[i][1], true) && good;
	cr2 = seen_cr2;
	/* Just beyond what is canonical, where no page table may be looked up as if it were. */
	good = good && probe(1ULL << 47, TOP_STEP, 256, true) &&
	       probe(-1ULL << 48, TOP_STEP, 256, true) &&
	       probe((1ULL << 48) + PAGE, 1ULL << 54, 1023, true);
	if (good && seen_cr2 != cr2)
		print("# an address that isn't canonical was in CR2: %x", seen_cr2);
	return good && seen_cr2 == cr2;
}

/* Page tables may point beyond all memory, where nothing answers and nothing faults. */
static bool nothing_in_physical_memory(void)
{
	open_window((u64)pages[0]);
	for (u64 i = 0; i < ENTRIES; i++)
		LEVEL3[i] = (BEYOND_MEMORY + (i << 30)) | ENTRY_LARGE;
	load_top(guest_top());
	return probe(WINDOW, GIGABYTE, ENTRIES, false) &&
	       probe(WINDOW + GIGABYTE - PAGE, GIGABYTE, ENTRIES, false);
}

const char *smc_check(void)
{
	const char *wrong = NULL;

	if (!by_cr3())
		wrong = "another CR3";
	else if (!by_tables())
		wrong = "other page tables";
	else if (!by_splitting())
		wrong = "a large page that is split";
	else if (!by_second_page())
		wrong = "code on two pages";
	else if (!by_alias("a store", 0) || !by_alias("a store, further on", 1000) ||
		 !by_alias("a store to two pages", PAGE - 4))
		wrong = "stores through another address";
	else if (!by_faults())
		wrong = "code that isn't there any more";
	else if (!nothing_else())
		wrong = "memory that isn't there";
	else if (!nothing_in_physical_memory())
		wrong = "physical memory that isn't there";
	guest_top()[1] = 0;
	load_top(guest_top());
	return wrong;
}
