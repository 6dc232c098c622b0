/* SPDX-License-Identifier: MIT */
/*
 * See engines.h. A program is the same for all engines. It runs with an overflow of one counter at
 * a random place, whose interrupt handler saves all registers, and with a PEBS record of another
 * counter. Afterwards everything is compared: registers at the interrupt and at the end, flags,
 * memory including the program itself, counters, the DS area with its record, and in every second
 * program the last branch records. All processors run programs at the same time, each with its own
 * memory.
 */
#include "refpmu/selftest/engines.h"

#include "refpmu/hv/apic.h"
#include "refpmu/vmm/hypercall.h"
#include "refpmu/launch/print.h"
#include "refpmu/selftest/blobs.h"
#include "refpmu/selftest/machine.h"
#include "refpmu/selftest/timeout.h"
#include "refpmu/selftest/program.h"
#include "refpmu/selftest/second.h"
#include "refpmu/selftest/init_storm.h"
#include "refpmu/selftest/workload.h"
#include "spec/event.h"
#include "spec/generation.h"
#include "spec/msr.h"

#define COUNTERS	5
#define C_INSTRUCTIONS	20000		/* of compiled C, and a few more */
#define RECORD		0xc0
#define RECORDS		4
#define LVT_MASKED	0x10000
#define DS_WORDS	12
#define LAST_BRANCHES	16		/* entries that Haswell has */
#define LANES		(1 + MACHINE_OTHERS)

void engine_loop_short(u64 times);
void engine_loop_mixed(u64 times);

struct ds {
	u64 area[DS_WORDS];
	u8 records[RECORD * RECORDS];
} __attribute__((aligned(4096)));

/* What is left at the end: all of it must be the same. */
struct outcome {
	u64 end[18], seen[18], pmis, count[COUNTERS], status, faults;
	u64 code, data;			/* hashes */
	u64 ds[sizeof(struct ds) / sizeof(u64)];
	u64 from[LAST_BRANCHES], to[LAST_BRANCHES];	/* newest first */
};

static struct lane {
	u8 memory[PROGRAM_CODE + PROGRAM_DATA];
	struct ds ds;
	struct program program;
	u64 select[4], sampled, distance;	/* counters: events, periods */
	struct outcome outcome[ENGINES];
	bool records_branches;
	volatile u32 came, ready, finished;	/* rounds; came is one of them */
} lanes[LANES] __attribute__((aligned(4096)));

/* All that counted so far. */
static struct statistics earlier;

/* Where the lanes meet, without anything locked: the round that is prepared, and that may begin. */
static volatile u32 told, begun;

static u64 hash(const u8 *bytes, size_t n)
{
	u64 h = 0xcbf29ce484222325ULL;

	while (n--)
		h = (h ^ *bytes++) * 0x100000001b3ULL;
	return h;
}

/* ---- what is run: the first processor draws it for all ---- */

/*
 * Core cycles are the same on all engines for a program that runs alone only: the latency of its
 * loads passes on the clock, and with others beside it the caches that they share hold what the
 * order of all their loads has left there.
 */
static void draw_counters(struct lane *lane, u64 most, bool alone)
{
	static const u64 selects[] = {
		EVENT_BR_INST_RETIRED_ALL_BRANCHES, EVENT_MEM_UOPS_RETIRED_ALL_LOADS,
		EVENT_MEM_UOPS_RETIRED_ALL_STORES, EVENT_MEM_UOPS_RETIRED_LOCK_LOADS,
		EVENT_BR_INST_RETIRED_NEAR_TAKEN, EVENT_BR_INST_RETIRED_CONDITIONAL,
		EVENT_BR_INST_RETIRED_NEAR_CALL, EVENT_BR_INST_RETIRED_NEAR_RETURN,
		EVENT_BR_MISP_RETIRED_ALL_BRANCHES,
		EVENT_INST_RETIRED_ANY_P | 1ULL << IA32_PERFEVTSEL_CMASK_SHIFT,
		EVENT_UNHALTED_CORE_CYCLES,	/* the last one */
	};
	const u32 n = (u32)(sizeof(selects) / sizeof(selects[0])) - !alone;

	lane->distance = 1 + program_draw((u32)most);
	lane->sampled = 1 + program_draw(200);
	for (u32 i = 0; i < 4; i++)
		lane->select[i] = i ? selects[program_draw(n)] : selects[program_draw(2) ? 1 : 2];
}

static void prepare(struct lane *lane, u64 seed, bool alone)
{
	struct ds *ds = &lane->ds;

	lane->program.memory = lane->memory;
	lane->records_branches = seed % 2;
	if (seed % 4)
		program_generate(&lane->program, seed, false);
	else
		program_call(&lane->program, seed, workload_c_little, 1);
	draw_counters(lane, seed % 4 ? 3000 : C_INSTRUCTIONS, alone);
	for (unsigned i = 0; i < sizeof(*ds); i++)
		((u8 *)ds)[i] = 0;
	ds->area[4] = ds->area[5] = (u64)ds->records;
	ds->area[6] = ds->area[7] = (u64)(ds->records + sizeof(ds->records)) + 1;
	ds->area[8] = -lane->sampled & BITS(0, 47);
}

/* ---- running it, each processor its own ---- */

static const u32 counter[COUNTERS] = {
	MSR_IA32_PMC0, MSR_IA32_PMC0 + 1, MSR_IA32_PMC0 + 2, MSR_IA32_PMC0 + 3,
	MSR_IA32_FIXED_CTR0,
};

static void set_up(struct lane *lane)
{
	/* At reset they are on. */
	msr_write(MSR_IA32_PERF_GLOBAL_CTRL, 0);
	msr_write(MSR_IA32_PERF_GLOBAL_OVF_CTRL, BITS(0, 3) | BITS(32, 34) | BITS(62, 63));
	for (u32 i = 0; i < 4; i++) {
		msr_write(MSR_IA32_PERFEVTSEL0 + i, lane->select[i] | IA32_PERFEVTSEL_OS |
							    IA32_PERFEVTSEL_USR |
							    IA32_PERFEVTSEL_EN);
		msr_write(MSR_IA32_A_PMC0 + i, i ? 0 : -lane->sampled & BITS(0, 47));
	}
	msr_write(MSR_IA32_DS_AREA, (u64)&lane->ds);
	msr_write(MSR_IA32_PEBS_ENABLE, 1);
	msr_write(MSR_IA32_FIXED_CTR_CTRL, 3 | IA32_FIXED_CTR_CTRL_PMI0);
	msr_write(MSR_IA32_FIXED_CTR0, -lane->distance & BITS(0, 47));
	lane->program.context.enable = BITS(0, 3) | BIT(32);
	*apic_register(APIC_LVTPC) = VECTOR_PMI;
	msr_write(MSR_IA32_DEBUGCTL, lane->records_branches ? IA32_DEBUGCTL_LBR : 0);
}

static void selftest_engines_keep(struct lane *lane, struct outcome *o)
{
	const struct engine_context *context = &lane->program.context;

	msr_write(MSR_IA32_DEBUGCTL, 0);
	*apic_register(APIC_LVTPC) = LVT_MASKED;
	*o = (struct outcome){ .pmis = context->pmis, .faults = context->faults };
	for (unsigned i = 0; i < 18; i++) {
		o->end[i] = context->end[i];
		o->seen[i] = context->seen[i];
	}
	for (unsigned i = 0; i < COUNTERS; i++)
		o->count[i] = msr_read(counter[i]);
	o->status = msr_read(MSR_IA32_PERF_GLOBAL_STATUS);
	o->code = hash(lane->memory, PROGRAM_CODE);
	o->data = hash(lane->memory + PROGRAM_CODE, PROGRAM_DATA);
	for (unsigned i = 0; i < sizeof(lane->ds) / sizeof(u64); i++)
		o->ds[i] = ((const u64 *)&lane->ds)[i];
	msr_write(MSR_IA32_PEBS_ENABLE, 0);
	/* How many there were while processors waited for each other differs. */
	for (u32 i = 0, tos = (u32)msr_read(MSR_LASTBRANCH_TOS); i < LAST_BRANCHES; i++) {
		o->from[i] = msr_read(MSR_LASTBRANCH_0_FROM_IP + (tos - i) % LAST_BRANCHES);
		o->to[i] = msr_read(MSR_LASTBRANCH_0_TO_IP + (tos - i) % LAST_BRANCHES);
	}
}

static enum engine_name engine;

/* Rounds take turns with the engines. */
static void take_part(struct lane *lane, u32 round)
{
	set_up(lane);
	lane->ready = round;
	while (begun < round)
		__asm__ volatile("pause");
	program_run(&lane->program);
	selftest_engines_keep(lane, &lane->outcome[engine]);
	lane->finished = round;
}

static void other_processor(void *argument)
{
	struct lane *lane = argument;

	machine_enter_other((unsigned)(lane - lanes) - 1);
	lane->came = 1;
	for (u32 round = told + 1;; round++) {
		while (told < round)
			__asm__ volatile("pause");
		take_part(lane, round);
	}
}

void engines_statistics(struct statistics *total)
{
	const u64 *from = (const u64 *)&earlier;
	u64 *to = (u64 *)total;

	*total = (struct statistics){ 0 };
	hypercall(HYPERCALL_STATISTICS, total);
	for (unsigned i = 0; i < sizeof(earlier) / sizeof(u64); i++)
		to[i] += from[i];
}

/* Fresh processors: what they have cached shows in records. */
static void use(enum engine_name which)
{
	static struct model_config config = { .generation = GEN_HASWELL, .hyper_threading = true };
	static struct statistics total;

	engines_statistics(&total);
	earlier = total;
	hypercall(HYPERCALL_CONFIGURE, &config);
	hypercall(HYPERCALL_ENGINE, (void *)(u64)which);
	engine = which;
}

/* A program on each of the first n processors. false: one of them doesn't come. */
static bool selftest_engines_run(u64 seed, enum engine_name which, unsigned n)
{
	u32 round = told + 1;

	use(which);
	for (unsigned i = 0; i < n; i++)
		prepare(&lanes[i], seed + i, n == 1);
	told = round;
	for (unsigned i = 1; i < n; i++)
		if (!wait_for(&lanes[i].ready, round))
			return false;
	begun = round;
	take_part(&lanes[0], round);
	for (unsigned i = 1; i < n; i++)
		if (!wait_for(&lanes[i].finished, round))
			return false;
	return true;
}

static bool same(const struct lane *lane, u64 seed, enum engine_name other)
{
	const u64 *a = (const u64 *)&lane->outcome[ENGINE_STEP];
	const u64 *b = (const u64 *)&lane->outcome[other];

	for (unsigned i = 0; i < sizeof(lane->outcome[0]) / sizeof(u64); i++)
		if (a[i] != b[i]) {
			print("# program %u, word %u: stepped %x, engine %u %x", seed, (u64)i, a[i],
			      (u64)other, b[i]);
			return false;
		}
	return true;
}

enum engine_name engines_fastest(void)
{
	return hypercall(HYPERCALL_ENGINE, (void *)(u64)ENGINE_FAST) == HYPERCALL_DONE ?
		       ENGINE_FAST :
		       ENGINE_DIRECT;
}

/* Each program of a round, on each engine that there is. */
static bool run_all(u64 seed, unsigned n, enum engine_name last)
{
	for (enum engine_name which = ENGINE_STEP; which <= last; which++)
		if (!selftest_engines_run(seed, which, n))
			return false;
	return true;
}

static bool all_same(const struct lane *lane, u64 seed, enum engine_name last)
{
	for (enum engine_name which = ENGINE_DIRECT; which <= last; which++)
		if (!same(lane, seed, which))
			return false;
	return true;
}

static bool start_others(unsigned n)
{
	for (unsigned i = 1; i < n; i++) {
		lanes[i].came = 0;
		second_start(i - 1, other_processor, &lanes[i]);
		if (!wait_for(&lanes[i].came, 1))
			return false;
	}
	return true;
}

u64 engines_compare(u64 first, u64 programs, unsigned processors)
{
	unsigned n = processors < LANES ? processors : LANES;
	u64 different = 0, interrupts = 0, ran = 0;
	enum engine_name last = engines_fastest();
	bool came = start_others(n);

	machine_use_programs(true);
	for (u64 seed = first; seed < first + programs && came; seed += n) {
		came = run_all(seed, n, last);
		for (unsigned i = 0; i < n && came; i++, ran++) {
			different += !all_same(&lanes[i], seed + i, last);
			interrupts += lanes[i].outcome[0].pmis != 0;
		}
	}
	machine_use_programs(false);
	for (unsigned i = 1; i < n; i++)
		init_storm_send_init(init_storm_apic_id(i - 1));
	if (!came)
		print("# a processor doesn't come, program %u and those after it", first + ran);
	print("# %u programs from %u, %u at once, %u of them interrupted, %u different", ran, first,
	      (u64)n, interrupts, different);
	return came && interrupts * 2 >= programs ? different : programs;
}

/* ---- speed ---- */

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
	engines_fastest();
	one_speed("loop of 2", engine_loop_short, 2, 20000000);
	one_speed("loop of 12", engine_loop_mixed, 12, 5000000);
}
