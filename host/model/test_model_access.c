/* SPDX-License-Identifier: MIT */
/* Loads and stores from the hierarchy to counters and records, and whether their sums agree. */
#include "host/check.h"
#include "host/model/fixture.h"
#include "host/random.h"

#define A	0x700000ULL
#define LL_EN(n) (BIT(n) | BIT(32 + (n)))

static struct fixture r;
static struct random random_numbers = { 99 };

static u64 below(u64 n)
{
	return random_next(&random_numbers) % n;
}

static void open(enum generation_id generation, u64 seed, bool all_tagged)
{
	struct model_config config = {
		.generation = generation, .hyper_threading = true, .latitude.seed = seed,
		/* No windows in which other code counts, and no such microcode. */
		.latitude.set = BIT(LAT_SMI_RATE) | BIT(LAT_PREEMPTION_RATE) | BIT(LAT_OPEN_LOADS) |
				BIT(LAT_CLOSE_LOADS) | BIT(LAT_DIRTY_MSRS) |
				(all_tagged ? BIT(LAT_TAG_GAP) : 0),
	};

	fixture_open_config(&r, &config);
}

static void act(enum memory_act what, u64 linear)
{
	fixture_retire(&r, &(struct model_retired){ .act = what, .act_linear = linear });
}

/* The same random walk for each seed: a few lines often, and many lines of one set of the
 * caches. */
static void walk(u64 seed, unsigned steps)
{
	random_numbers.state = seed + 1;
	for (unsigned i = 0; i < steps; i++) {
		u64 linear = A + (below(4) ? below(0x800) : below(16) * 0x8000 + below(0x40));

		switch (below(8)) {
		case 0:
			fixture_store(&r, linear);
			break;
		case 1:
			fixture_locked_add(&r, linear & ~7ULL);
			break;
		case 2:
			act((enum memory_act)(1 + below(MEMORY_ACTS - 1)), linear);
			break;
		case 3:
			/* A string instruction with more accesses than there is room for. */
			{
				struct model_retired retired = { 0 };
				struct model_access a = { linear, 8, false, false };

				for (unsigned n = 0; n < 12; n++) {
					a.linear = linear + 64 * n;
					retired.loads++;
					if (n < 4)
						model_spill_access(&r.m, &retired, &a);
					else
						retired.access[retired.n_access++] = a;
				}
				fixture_retire(&r, &retired);
			}
			break;
		default:
			fixture_load(&r, linear);
		}
	}
}

/* The count of one counter over the walk. */
static u64 count(enum generation_id generation, u64 seed, u32 event)
{
	open(generation, seed, true);
	fixture_set(&r, MSR_PEBS_LD_LAT_THRESHOLD, 3);
	fixture_program(&r, 0, event, 0, 0);
	/* Another counter watches too, so that the hierarchy has the same accesses with every
	 * event. */
	fixture_program(&r, 1, EVENT_MEM_LOAD_UOPS_RETIRED_L1_HIT, 0, 0);
	fixture_start(&r, BIT(0) | BIT(1));
	walk(seed, 400);
	return fixture_get(&r, MSR_IA32_PMC0);
}

#define COUNT(event) count(GEN_HASWELL, seed, EVENT_##event)

static void sums_agree(void)
{
	u64 lfb = 0, l2 = 0, l3 = 0, dram = 0, split = 0, stlb = 0;

	for (u64 seed = 0; seed < 40; seed++) {
		u64 loads = COUNT(MEM_UOPS_RETIRED_ALL_LOADS);
		u64 l1_hit = COUNT(MEM_LOAD_UOPS_RETIRED_L1_HIT);
		u64 l1_miss = COUNT(MEM_LOAD_UOPS_RETIRED_L1_MISS);
		u64 pending = COUNT(MEM_LOAD_UOPS_RETIRED_HIT_LFB);
		u64 l2_hit = COUNT(MEM_LOAD_UOPS_RETIRED_L2_HIT);
		u64 l2_miss = COUNT(MEM_LOAD_UOPS_RETIRED_L2_MISS);
		u64 l3_hit = COUNT(MEM_LOAD_UOPS_RETIRED_L3_HIT);
		u64 l3_miss = COUNT(MEM_LOAD_UOPS_RETIRED_L3_MISS);

		CHECK_EQ(loads, l1_hit + l1_miss + pending, "seed %" PRIu64, seed);
		CHECK_EQ(l1_miss, l2_hit + l2_miss, "seed %" PRIu64, seed);
		CHECK_EQ(l2_miss, l3_hit + l3_miss, "seed %" PRIu64, seed);
		CHECK_EQ(l3_hit, COUNT(MEM_LOAD_UOPS_L3_HIT_RETIRED_XSNP_NONE));
		CHECK_EQ(l3_miss, COUNT(MEM_LOAD_UOPS_LLC_MISS_RETIRED_LOCAL_DRAM));
		CHECK_EQ(loads, COUNT(MEM_TRANS_RETIRED_LOAD_LATENCY), "all above 3, all tagged");
		lfb += pending;
		l2 += l2_hit;
		l3 += l3_hit;
		dram += l3_miss;
		split += COUNT(MEM_UOPS_RETIRED_SPLIT_LOADS) + COUNT(MEM_UOPS_RETIRED_SPLIT_STORES);
		stlb += COUNT(MEM_UOPS_RETIRED_STLB_MISS_LOADS) +
			COUNT(MEM_UOPS_RETIRED_STLB_MISS_STORES);
	}
	CHECK(lfb && l2 && l3 && dram && split && stlb);
}

/* Every record of load latency is of a load above the threshold, and its fields agree with it. */
static void records_are_sound(void)
{
	static const enum generation_id generations[] = { GEN_NEHALEM, GEN_WESTMERE,
		GEN_SANDYBRIDGE, GEN_IVYBRIDGE, GEN_HASWELL, GEN_BROADWELL };
	u64 records = 0, further = 0;

	for (u64 seed = 0; seed < 240; seed++) {
		enum generation_id generation = generations[seed % 6];
		bool early = generation <= GEN_WESTMERE;
		u64 size = generation < GEN_HASWELL ? 0xb0 : 0xc0;
		u64 threshold = seed / 6 % 3 ? 3 + below(60) : 3;

		open(generation, seed, false);
		fixture_ds(&r, 16, 16);
		fixture_set(&r, MSR_PEBS_LD_LAT_THRESHOLD, threshold);
		fixture_program_pebs(&r, 3,
				     early ? EVENT_MEM_INST_RETIRED_LATENCY_ABOVE_THRESHOLD :
					     EVENT_MEM_TRANS_RETIRED_LOAD_LATENCY,
				     0, 1 + seed % 9);
		fixture_set(&r, MSR_IA32_PEBS_ENABLE, LL_EN(3));
		fixture_start(&r, BIT(3));
		walk(seed, 200);
		for (u64 at = FIXTURE_BUFFER; at < fixture_index(&r); at += size, records++) {
			u64 address = fixture_peek(&r, at + 0x98),
			    source = fixture_peek(&r, at + 0xa0);

			CHECK(fixture_peek(&r, at + 0xa8) > threshold);
			CHECK(address >= A && address < A + 0x81000);
			CHECK(!(source & ~(generation == GEN_NEHALEM ? 0xfULL : 0x3fULL)));
			CHECK((source & 0xf) <= 4 || (source & 0xf) == 0xc, "code %" PRIu64,
			      source & 0xf);
			further |= source >> 4;
		}
	}
	CHECK(records > 500, "only %" PRIu64 " records", records);
	CHECK_EQ(3, further);
}

/*
 * Another processor stores to a line again and again: how often a load finds the line in the other
 * core, and how often in its own L1.
 */
static void check_sharing(unsigned processor, u64 of_another_core, u64 of_this_core)
{
	static struct model other;
	static struct model_host host;
	const struct model_config config = { .generation = GEN_HASWELL, .hyper_threading = true };
	struct model_retired store = { .stores = 1, .n_access = 1,
				       .access = { { A, 8, true, false } } };

	open(GEN_HASWELL, 0, true);
	host = r.host;
	host.processor = processor;
	host.processors = 4;
	model_init(&other, &config, &host);
	model_wrmsr(&other, MSR_IA32_PERF_GLOBAL_CTRL, 1);
	model_wrmsr(&other, MSR_IA32_PERFEVTSEL0,
		    EVENT_MEM_LOAD_UOPS_RETIRED_L1_HIT | IA32_PERFEVTSEL_EN | IA32_PERFEVTSEL_OS);
	fixture_program(&r, 0, EVENT_MEM_LOAD_UOPS_L3_HIT_RETIRED_XSNP_HITM, 0, 0);
	fixture_program(&r, 1, EVENT_MEM_LOAD_UOPS_RETIRED_L1_HIT, 0, 0);
	fixture_start(&r, BIT(0) | BIT(1));
	for (unsigned i = 0; i < 5; i++) {
		model_retire(&other, &store);
		fixture_load(&r, A);
		act(ACT_DRAIN, 0);
		fixture_load(&r, A);
	}
	CHECK_EQ(of_another_core, fixture_get(&r, MSR_IA32_PMC0));
	CHECK_EQ(of_this_core, fixture_get(&r, MSR_IA32_PMC0 + 1));
}

static void processors_share(void)
{
	check_sharing(2, 5, 5);
	check_sharing(1, 0, 10);
}

int main(void)
{
	RUN(sums_agree);
	RUN(records_are_sound);
	RUN(processors_share);
	return check_end();
}
