/* SPDX-License-Identifier: MIT */
/*
 * See engines.h. A program is random and the same for both engines. It is run with an overflow
 * of one counter at a random place, whose interrupt keeps all registers, and a PEBS record of
 * another one's; afterwards everything is compared: registers at the interrupt and at the end,
 * flags, memory with the program itself, counters, the DS area with its record.
 */
#include "refpmu/selftest/engines.h"

#include "refpmu/hypercall.h"
#include "refpmu/launch_print.h"
#include "refpmu/selftest/blobs.h"
#include "refpmu/selftest/machine.h"
#include "spec/event.h"
#include "spec/msr.h"

#define CODE		2048
#define DATA		4096
#define COUNTERS	5
#define RECORD		0xc0
#define RECORDS		4
#define LVTPC		0x340
#define DS_WORDS	12

extern u64 engine_begin[16], engine_end[18], engine_seen[18], engine_pmis, engine_enable;
extern u8 *engine_code;
void engine_go(void);
void engine_done(void);
void engine_loop_short(u64 times);
void engine_loop_mixed(u64 times);

static u8 code[CODE] __attribute__((aligned(4096)));
static u8 data[DATA] __attribute__((aligned(4096)));
static struct {
	u64 area[DS_WORDS];
	u8 records[RECORD * RECORDS];
} ds __attribute__((aligned(4096)));

/* What is left behind: all of it must be the same. */
static struct outcome {
	u64 end[18], seen[18], pmis, count[COUNTERS], status, handled;
	u64 code, data, ds;		/* hashes */
} outcome[2];

static u64 random_state;

static u32 draw(u32 below)
{
	u64 z = random_state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return (u32)((z ^ z >> 31) % below);
}

static u64 hash(const u8 *bytes, size_t n)
{
	u64 h = 0xcbf29ce484222325ULL;

	while (n--)
		h = (h ^ *bytes++) * 0x100000001b3ULL;
	return h;
}

/* ---- a program ---- */

static u8 *at;

static void put(u8 value)
{
	*at++ = value;
}

static void put32(u64 value)
{
	for (unsigned i = 0; i < 4; i++, value >>= 8)
		put((u8)value);
}

/* RAX, RCX or RDX, or R8 to R11. */
static u8 scratch_register(void)
{
	u8 n = (u8)draw(7);

	return (u8)(n < 3 ? n : n + 5);
}

static void memory_operand(u8 reg)
{
	u8 r = (u8)((reg & 7) << 3);

	switch (draw(3)) {
	case 0:
		put((u8)(0x83 | r));			/* [RBX + n] */
		put32(draw(DATA - 64));
		break;
	case 1:
		put((u8)(0x05 | r));			/* [RIP + n] */
		put32((u64)(data + draw(DATA - 64)) - (u64)(at + 4));
		break;
	default:
		put((u8)(0x44 | r));			/* [RBX + RBP + n] */
		put(0x2b);
		put((u8)draw(100));
		break;
	}
}

static void one_instruction(void)
{
	static const u8 operations[] = { 0x01, 0x03, 0x29, 0x2b, 0x31, 0x33, 0x21, 0x0b, 0x13,
					 0x1b, 0x39, 0x3b, 0x89, 0x8b, 0x87, 0x85, 0x8b, 0x89 };
	u8 reg = scratch_register();
	u8 rex = (u8)(0x48 | (reg >= 8 ? 4 : 0));

	switch (draw(12)) {
	case 0:
	case 1:
	case 2:
	case 3:
		put(rex);
		put(operations[draw((u32)sizeof(operations))]);
		memory_operand(reg);
		break;
	case 4:
	case 5:
		put(rex);
		put((u8)(draw(8) << 3 | 3));
		put((u8)(0xc0u | (u32)(reg & 7) << 3 | draw(7)));
		break;
	case 6:
		put(0xf0);				/* LOCK XADD */
		put(rex);
		put(0x0f);
		put(0xc1);
		memory_operand(reg);
		break;
	case 7:
		put((u8)(0x50 | draw(3)));		/* PUSH, POP */
		put((u8)(0x58 | draw(3)));
		break;
	case 8:
		if (draw(2)) {				/* PUSHF, POP */
			put(0x9c);
			put(0x58);
			break;
		}
		/* LEA RDI, [RBX + n]; LEA RSI, [RBX + n]; MOV ECX, n; REP MOVSB or STOSQ */
		put(0x48), put(0x8d), put(0xbb), put32(draw(1000));
		put(0x48), put(0x8d), put(0xb3), put32(draw(1000));
		put(0xb9), put32(draw(9));
		put(0xf3), put(draw(2) ? 0xa4 : 0xaa);
		break;
	case 9:
		put(0xf3), put(0x0f), put(draw(2) ? 0x6f : 0x7f);	/* MOVDQU */
		memory_operand((u8)draw(8));
		put(0x66), put(0x0f), put(0xef), put((u8)(0xc0 | draw(64)));	/* PXOR */
		break;
	case 10:
		/* MOV byte [RIP + 2], n; ADD EAX, imm32: into the immediate */
		put(0xc6), put(0x05), put32(1), put((u8)draw(256));
		put(0x05), put32(draw(1000));
		break;
	default:
		switch (draw(5)) {
		case 0:
			put(0x0f), put(0x0b);		/* UD2, which its handler skips */
			break;
		case 1:
			put(0xfa), put(0xfb);		/* CLI, STI */
			break;
		case 2:
			put(0x9c), put(0x9d);		/* PUSHF, POPF */
			break;
		case 3:
			put(0x0f), put(0xa2);		/* CPUID, which changes RBX */
			put(0x48), put(0xbb);
			put32((u64)data), put32((u64)data >> 32);
			break;
		default:
			put(0xf3), put(0x90);		/* PAUSE */
			break;
		}
		break;
	}
}

/* A branch over some instructions, a call of them, or a loop of them by R12. */
static void one_group(unsigned depth)
{
	unsigned n = 1 + draw(5);
	u8 *place;

	switch (draw(depth ? 4 : 5)) {
	case 0:
		put((u8)(0x70 | draw(16)));
		place = at;
		put(0);
		while (n-- && at - place < 60)
			one_instruction();
		*place = (u8)(at - place - 1);
		break;
	case 1:
		put(0xe8), put32(5);			/* CALL over JMP; body; RET */
		put(0xe9);
		place = at;
		put32(0);
		while (n--)
			one_instruction();
		put(0xc3);
		for (u32 i = 0; i < 4; i++)
			place[i] = (u8)((u64)(at - place - 4) >> 8 * i);
		break;
	case 2:
		put(0x48), put(0x8d), put(0x05), put32(2);	/* LEA RAX, [RIP + 2]; JMP RAX */
		put(0xff), put(0xe0);
		break;
	case 3:
		one_instruction();
		break;
	default:
		put(0x41), put(0xbc), put32(2 + draw(60));	/* MOV R12D, n; ...; DEC; JNZ */
		place = at;
		while (n--)
			one_group(depth + 1);
		put(0x49), put(0xff), put(0xcc);
		put(0x0f), put(0x85), put32((u64)place - (u64)(at + 4));
		break;
	}
}

static void generate(u64 seed)
{
	random_state = seed;
	for (unsigned i = 0; i < sizeof(code); i++)
		code[i] = 0x90;
	for (unsigned i = 0; i < DATA; i++)
		data[i] = (u8)draw(256);
	at = code;
	while (at < code + CODE - 700 - seed % 5 * 250)
		one_group(0);
	put(0xff), put(0x25), put32(0);			/* JMP [RIP] */
	put32((u64)engine_done), put32((u64)engine_done >> 32);
	for (unsigned i = 0; i < 16; i++)
		engine_begin[i] = (u64)draw(0xffffffff) << 32 | draw(0xffffffff);
	engine_begin[3] = (u64)data;
	engine_begin[4] = (u64)(data + DATA);
	engine_begin[5] = draw(200);
	engine_code = code;
}

/* ---- running it ---- */

static const u32 counter[COUNTERS] = {
	MSR_IA32_PMC0, MSR_IA32_PMC0 + 1, MSR_IA32_PMC0 + 2, MSR_IA32_PMC0 + 3,
	MSR_IA32_FIXED_CTR0,
};

static void program_counters(u64 distance)
{
	static const u64 selects[] = {
		EVENT_BR_INST_RETIRED_ALL_BRANCHES, EVENT_MEM_UOPS_RETIRED_ALL_LOADS,
		EVENT_MEM_UOPS_RETIRED_ALL_STORES, EVENT_MEM_UOPS_RETIRED_LOCK_LOADS,
		EVENT_BR_INST_RETIRED_NEAR_TAKEN, EVENT_BR_INST_RETIRED_CONDITIONAL,
		EVENT_BR_INST_RETIRED_NEAR_CALL, EVENT_BR_INST_RETIRED_NEAR_RETURN,
		EVENT_UNHALTED_CORE_CYCLES,
	};
	u64 sampled = 1 + draw(200);

	msr_write(MSR_IA32_PERF_GLOBAL_OVF_CTRL, BITS(0, 3) | BITS(32, 34) | BITS(62, 63));
	for (u32 i = 0; i < 4; i++) {
		u64 select = i ? selects[draw(sizeof(selects) / sizeof(selects[0]))] :
			selects[draw(2) ? 1 : 2];

		msr_write(MSR_IA32_PERFEVTSEL0 + i, select | IA32_PERFEVTSEL_OS |
			  IA32_PERFEVTSEL_USR | IA32_PERFEVTSEL_EN);
		msr_write(MSR_IA32_A_PMC0 + i, i ? 0 : -sampled & BITS(0, 47));
	}
	for (unsigned i = 0; i < sizeof(ds); i++)
		((u8 *)&ds)[i] = 0;
	ds.area[4] = ds.area[5] = (u64)ds.records;
	ds.area[6] = ds.area[7] = (u64)(ds.records + sizeof(ds.records)) + 1;
	ds.area[8] = -sampled & BITS(0, 47);
	msr_write(MSR_IA32_DS_AREA, (u64)&ds);
	msr_write(MSR_IA32_PEBS_ENABLE, 1);
	msr_write(MSR_IA32_FIXED_CTR_CTRL, 3 | IA32_FIXED_CTR_CTRL_PMI0);
	msr_write(MSR_IA32_FIXED_CTR0, -distance & BITS(0, 47));
	engine_enable = BITS(0, 3) | BIT(32);
}

static void run(u64 seed, enum hypercall_engine engine, struct outcome *o)
{
	hypercall(HYPERCALL_ENGINE, (void *)(u64)engine);
	generate(seed);
	for (u64 *v = observed; v < observed_end; v++)
		*v = 0;
	for (unsigned i = 0; i < 18; i++)
		engine_seen[i] = engine_end[i] = 0;
	engine_pmis = 0;
	skip = 2;
	program_counters(1 + draw(3000));
	*(volatile u32 *)(APIC_BASE + LVTPC) = VECTOR_PMI;
	engine_go();
	*(volatile u32 *)(APIC_BASE + LVTPC) = 0x10000;
	*o = (struct outcome){ .pmis = engine_pmis, .handled = observed[0] };
	for (unsigned i = 0; i < 18; i++) {
		o->end[i] = engine_end[i];
		o->seen[i] = engine_seen[i];
	}
	for (unsigned i = 0; i < COUNTERS; i++)
		o->count[i] = msr_read(counter[i]);
	o->status = msr_read(MSR_IA32_PERF_GLOBAL_STATUS);
	o->code = hash(code, sizeof(code));
	o->data = hash(data, sizeof(data));
	o->ds = hash((const u8 *)&ds, sizeof(ds));
	msr_write(MSR_IA32_PEBS_ENABLE, 0);
}

static bool same(u64 seed)
{
	const u64 *a = (const u64 *)&outcome[0], *b = (const u64 *)&outcome[1];

	for (unsigned i = 0; i < sizeof(outcome[0]) / sizeof(u64); i++)
		if (a[i] != b[i]) {
			print("# program %u, word %u: stepped %x, fast %x", seed, (u64)i, a[i],
			      b[i]);
			return false;
		}
	return true;
}

unsigned engines_compare(unsigned programs)
{
	unsigned different = 0, interrupts = 0;

	for (u64 seed = 1; seed <= programs; seed++) {
		run(seed, HYPERCALL_STEP, &outcome[0]);
		run(seed, HYPERCALL_FAST, &outcome[1]);
		different += !same(seed);
		interrupts += outcome[0].pmis != 0;
	}
	print("# %u programs, %u of them interrupted", (u64)programs, (u64)interrupts);
	return interrupts * 2 > programs ? different : programs;
}

/* ---- speed ---- */

static u64 tsc(void)
{
	u32 low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (u64)high << 32 | low;
}

static void one_speed(const char *name, void (*loop)(u64), u64 length, u64 times)
{
	u64 start, plain, counted;

	start = tsc();
	loop(times);
	plain = tsc() - start;
	msr_write(MSR_IA32_FIXED_CTR0, 0);
	msr_write(MSR_IA32_FIXED_CTR_CTRL, 3);
	msr_write(MSR_IA32_PERF_GLOBAL_CTRL, BITS(0, 3) | BIT(32));
	start = tsc();
	loop(times);
	counted = tsc() - start;
	msr_write(MSR_IA32_PERF_GLOBAL_CTRL, 0);
	print("# %s: %u instructions counted, %u cycles of the TSC a thousand; plain %u", name,
	      msr_read(MSR_IA32_FIXED_CTR0), counted / (length * times / 1000),
	      plain / (length * times / 1000));
}

void engines_speed(void)
{
	for (u32 i = 0; i < 4; i++)
		msr_write(MSR_IA32_PERFEVTSEL0 + i, 0);
	hypercall(HYPERCALL_ENGINE, (void *)(u64)HYPERCALL_FAST);
	one_speed("loop of 2", engine_loop_short, 2, 20000000);
	one_speed("loop of 12", engine_loop_mixed, 12, 5000000);
}
