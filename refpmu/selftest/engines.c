/* SPDX-License-Identifier: MIT */
/*
 * See engines.h. A program is the same for both engines. It is run with an overflow
 * of one counter at a random place, whose interrupt keeps all registers, and a PEBS record of
 * another one's; afterwards everything is compared: registers at the interrupt and at the end,
 * flags, memory with the program itself, counters, the DS area with its record.
 */
#include "refpmu/selftest/engines.h"

#include "refpmu/hypercall.h"
#include "refpmu/launch_print.h"
#include "refpmu/selftest/blobs.h"
#include "refpmu/selftest/machine.h"
#include "refpmu/selftest/program.h"
#include "refpmu/selftest/workload.h"
#include "spec/event.h"
#include "spec/generation.h"
#include "spec/msr.h"

#define COUNTERS	5
#define C_INSTRUCTIONS	20000		/* of compiled C, and a few more */
#define RECORD		0xc0
#define RECORDS		4
#define LVTPC		0x340
#define DS_WORDS	12

void engine_loop_short(u64 times);
void engine_loop_mixed(u64 times);

static struct {
	u64 area[DS_WORDS];
	u8 records[RECORD * RECORDS];
} ds __attribute__((aligned(4096)));

/* What is left behind: all of it must be the same. */
static struct outcome {
	u64 end[18], seen[18], pmis, count[COUNTERS], status, handled;
	u64 code, data;			/* hashes */
	u64 ds[sizeof(ds) / sizeof(u64)];
} outcome[2];

static u64 hash(const u8 *bytes, size_t n)
{
	u64 h = 0xcbf29ce484222325ULL;

	while (n--)
		h = (h ^ *bytes++) * 0x100000001b3ULL;
	return h;
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
	u64 sampled = 1 + program_draw(200);

	/* At reset they are on. */
	msr_write(MSR_IA32_PERF_GLOBAL_CTRL, 0);
	msr_write(MSR_IA32_PERF_GLOBAL_OVF_CTRL, BITS(0, 3) | BITS(32, 34) | BITS(62, 63));
	for (u32 i = 0; i < 4; i++) {
		u64 select = i ? selects[program_draw(sizeof(selects) / sizeof(selects[0]))] :
			selects[program_draw(2) ? 1 : 2];

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

static struct statistics earlier;		/* of processors that were replaced */

void engines_statistics(struct statistics *total)
{
	const u64 *from = (const u64 *)&earlier;
	u64 *to = (u64 *)total;

	*total = (struct statistics){ 0 };
	hypercall(HYPERCALL_STATISTICS, total);
	for (unsigned i = 0; i < sizeof(earlier) / sizeof(u64); i++)
		to[i] += from[i];
}

/* A fresh processor: what it has cached shows in records. */
static void use(enum hypercall_engine engine)
{
	static struct hypercall_configure configure = {
		.generation = GEN_HASWELL,
		.hyper_threading = true,
		.counter = HYPERCALL_ANY_COUNTER,
	};
	static struct statistics total;

	engines_statistics(&total);
	earlier = total;
	hypercall(HYPERCALL_CONFIGURE, &configure);
	hypercall(HYPERCALL_ENGINE, (void *)(u64)engine);
}

static void run(u64 seed, enum hypercall_engine engine, struct outcome *o)
{
	use(engine);
	if (seed % 4)
		program_generate(seed, false);
	else
		program_call(seed, workload_c_little, 1);
	for (u64 *v = observed; v < observed_end; v++)
		*v = 0;
	for (unsigned i = 0; i < 18; i++)
		engine_seen[i] = engine_end[i] = 0;
	engine_pmis = 0;
	skip = 2;
	program_counters(1 + program_draw(seed % 4 ? 3000 : C_INSTRUCTIONS));
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
	o->code = hash(program_code, PROGRAM_CODE);
	o->data = hash(program_data, PROGRAM_DATA);
	for (unsigned i = 0; i < sizeof(ds) / sizeof(u64); i++)
		o->ds[i] = ((const u64 *)&ds)[i];
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

u64 engines_compare(u64 first, u64 programs)
{
	u64 different = 0, interrupts = 0;

	for (u64 seed = first; seed < first + programs; seed++) {
		run(seed, HYPERCALL_STEP, &outcome[0]);
		run(seed, HYPERCALL_FAST, &outcome[1]);
		different += !same(seed);
		interrupts += outcome[0].pmis != 0;
	}
	print("# %u programs from %u, %u of them interrupted, %u different", programs, first,
	      interrupts, different);
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
