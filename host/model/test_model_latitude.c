/* SPDX-License-Identifier: MIT */
/* The effect of each knob of refpmu/model/latitude.def at both ends, and the ranges of the
 * profiles. */
#include "host/check.h"
#include "host/model/fixture.h"

#define INST	EVENT_INST_RETIRED_ANY_P
#define LOADS	EVENT_MEM_UOPS_RETIRED_ALL_LOADS
#define BRANCHES EVENT_BR_INST_RETIRED_ALL_BRANCHES_PEBS
#define INT	IA32_PERFEVTSEL_INT
#define MASKED	((u32)BIT(16))
#define ADDRESS	(FIXTURE_MEMORY_BASE + 0x3000)
#define PMC(n)	fixture_get(&r, MSR_IA32_PMC0 + (n))

static struct fixture r;

static void open(enum latitude_id knob, u32 value)
{
	fixture_open_knob(&r, knob, value);
	fixture_ds(&r, 8, 8);
}

static void open_profile(enum profile_id profile, u64 seed)
{
	const struct model_config config = {
		.generation = GEN_HASWELL, .hyper_threading = true,
		.latitude = { .profile = profile, .seed = seed },
	};

	fixture_open_config(&r, &config);
}

static void loads(unsigned n)
{
	while (n--)
		fixture_load(&r, ADDRESS);
}

/* Two loads arm the counter, the third one makes the record. */
static void one_record(u64 bits)
{
	fixture_program_pebs(&r, 0, LOADS, bits, 2);
	fixture_start(&r, BIT(0));
	loads(3);
}

static void the_least_skid(void)
{
	const u32 wanted[] = { 7, 7, 3 }, bound[] = { 7, 7, 3 }, least[] = { 7, 7, 9 };

	for (unsigned i = 0; i < 3; i++) {
		struct model_config config = { .generation = GEN_HASWELL };

		config.latitude.set = BIT(LAT_PMI_SKID) | BIT(LAT_PMI_SKID_LEAST);
		config.latitude.value[LAT_PMI_SKID] = bound[i];
		config.latitude.value[LAT_PMI_SKID_LEAST] = least[i];
		fixture_open_config(&r, &config);
		fixture_program(&r, 0, INST, INT, 5);
		fixture_start(&r, BIT(0));
		fixture_nops(&r, 30);
		CHECK_EQ(1, r.n_interrupts);
		/* The starting write counts 0; the fifth instruction after it overflows. */
		CHECK_EQ(r.now - 30 + 4 + wanted[i], r.interrupt[0].at);
	}
}

static void interrupts_merge(void)
{
	for (u32 merge = 0; merge < 2; merge++) {
		open(LAT_PMI_MERGE, merge);
		fixture_ds(&r, 8, 1);
		r.unmasks = true;
		one_record(INT);
		CHECK_EQ(merge ? 1 : 2, r.n_interrupts);
		CHECK(r.interrupt[0].status & BIT(62));
	}
}

/* LVTPC is unmasked by the handler before the status is cleared, and after it; it is unmasked at
 * first. */
static void spurious_interrupts(void)
{
	for (u32 spurious = 0; spurious < 2; spurious++) {
		open(LAT_SPURIOUS_PMI, spurious);
		fixture_program(&r, 0, INST, INT, 3);
		fixture_start(&r, BIT(0));
		fixture_nops(&r, 3);
		fixture_stop(&r);
		CHECK_EQ(1, r.n_interrupts);
		fixture_write_lvtpc(&r, FIXTURE_VECTOR);
		CHECK_EQ(1 + spurious, r.n_interrupts);
		fixture_set(&r, MSR_IA32_PERF_GLOBAL_OVF_CTRL, BIT(0));
		fixture_write_lvtpc(&r, FIXTURE_VECTOR);
		CHECK_EQ(1 + spurious, r.n_interrupts);
	}
	open(LAT_SPURIOUS_PMI, 1);
	fixture_program(&r, 0, INST, 0, 3);
	fixture_start(&r, BIT(0));
	fixture_nops(&r, 3);
	fixture_write_lvtpc(&r, FIXTURE_VECTOR | MASKED);
	fixture_write_lvtpc(&r, FIXTURE_VECTOR);
	CHECK_EQ(0, r.n_interrupts);
}

static void status_of_a_held_interrupt(void)
{
	for (u32 held = 0; held < 2; held++) {
		open(LAT_HELD_STATUS, held);
		one_record(INT);
		CHECK_EQ(1, r.n_interrupts);
		CHECK_EQ(held, r.interrupt[0].status);
		CHECK_EQ(1, fixture_record(&r, 0, 0x90));
	}
}

/* Records are delayed by a number of loads, not of other instructions. */
static void tagging_delays(void)
{
	unsigned most = 0;

	for (u32 delay = 0; delay <= 8; delay += 8)
		for (unsigned i = 0; i < 30; i++) {
			unsigned extra = 0;

			open(LAT_TAG_DELAY, delay);
			r.m.random = i;
			fixture_program_pebs(&r, 0, LOADS, 0, 2);
			fixture_start(&r, BIT(0));
			loads(2);
			for (fixture_nops(&r, 20); !fixture_records(&r); extra++)
				loads(1);
			CHECK(extra >= 1 && extra <= 1 + delay);
			most = extra > most ? extra : most;
		}
	CHECK(most > 4);
}

static u64 tagged(u32 which, u64 random)
{
	struct model_retired several = {
		.loads = 2, .stores = 2, .n_access = 4,
		.access = { { ADDRESS + 8, 8, true, false }, { ADDRESS + 0x10, 8, false, false },
			    { ADDRESS + 0x18, 8, false, false }, { ADDRESS, 8, true, false } },
	};

	open(LAT_TAG_ACCESS, which);
	r.m.random = random;
	fixture_program_pebs(&r, 0, LOADS, 0, 2);
	fixture_start(&r, BIT(0));
	fixture_retire(&r, &several);
	fixture_retire(&r, &several);
	CHECK_EQ(1, fixture_records(&r));
	return fixture_record(&r, 0, 0x98);
}

static void tagged_accesses(void)
{
	unsigned first = 0;

	CHECK_EQ(ADDRESS + 0x18, tagged(0, 0));
	CHECK_EQ(ADDRESS + 0x10, tagged(1, 0));
	for (u64 i = 0; i < 40; i++) {
		u64 address = tagged(2, i);

		CHECK(address == ADDRESS + 0x10 || address == ADDRESS + 0x18);
		first += address == ADDRESS + 0x10;
	}
	CHECK(first > 5 && first < 35);
}

static void a_counter_that_wraps_on_the_assist(void)
{
	for (u32 skips = 0; skips < 2; skips++) {
		open(LAT_ASSIST_SKIPS_NEW, skips);
		fixture_program_pebs(&r, 0, LOADS, 0, 2);
		fixture_program_pebs(&r, 1, LOADS, 0, 3);
		fixture_start(&r, BIT(0) | BIT(1));
		loads(3);
		CHECK_EQ(1, fixture_records(&r));
		CHECK_EQ(skips ? BIT(1) : 0, fixture_status(&r));
		loads(1);
		CHECK_EQ(1 + skips, fixture_records(&r));
	}
}

static void a_full_buffer(void)
{
	for (u32 signal = 0; signal < 2; signal++) {
		open(LAT_FULL_BUFFER_SIGNAL, signal);
		fixture_ds(&r, 0, 8);
		one_record(0);
		CHECK_EQ(BIT(0) | (signal ? BIT(62) : 0), fixture_status(&r));
		CHECK_EQ(0, r.requests);
		CHECK_EQ(1, PMC(0));
	}
}

static void undefined_fields(void)
{
	unsigned ones = 0;

	for (unsigned i = 0; i < 20; i++) {
		open(LAT_UNDEFINED_FIELDS, 1);
		r.m.random = i;
		one_record(0);
		CHECK_EQ(ADDRESS, fixture_record(&r, 0, 0x98));
		CHECK(fixture_record(&r, 0, 0xa0) <= 1);
		CHECK_EQ(0, fixture_record(&r, 0, 0xa8));
		CHECK_EQ(0, fixture_record(&r, 0, 0xb8));
		ones += fixture_record(&r, 0, 0xa0) == 1;

		open(LAT_UNDEFINED_FIELDS, 1);
		r.m.random = i;
		fixture_program_pebs(&r, 0, BRANCHES, 0, 2);
		fixture_start(&r, BIT(0));
		for (int n = 0; n < 3; n++)
			fixture_branch(&r, BRANCH_JUMP, true);
		CHECK(fixture_record(&r, 0, 0x98) && fixture_record(&r, 0, 0xa0));
		CHECK_EQ(r.ip - 4, fixture_record(&r, 0, 0xb0));
	}
	CHECK(ones > 2 && ones < 18);
}

static void registers_that_read_otherwise(void)
{
	open(LAT_OVF_CTRL_READS, 1);
	fixture_set(&r, MSR_IA32_PERF_GLOBAL_OVF_CTRL, 5);
	CHECK_EQ(5, fixture_get(&r, MSR_IA32_PERF_GLOBAL_OVF_CTRL));
	CHECK_EQ(MSR_GP, fixture_wrmsr(&r, MSR_IA32_PERF_GLOBAL_OVF_CTRL, BIT(20)));
	CHECK_EQ(5, fixture_get(&r, MSR_IA32_PERF_GLOBAL_OVF_CTRL));
	open(LAT_MISC_ENABLE_OTHERS, 1);
	CHECK_EQ(BIT(7) | BIT(11), fixture_get(&r, MSR_IA32_MISC_ENABLE) & (BIT(7) | BITS(11, 12)));
	CHECK(fixture_get(&r, MSR_IA32_MISC_ENABLE) & 1);
}

#define MILLION		1000000
#define STEAL_RATE	5	/* windows in a million instructions; an SMI's greatest */

/* Windows are about as frequent as configured, and leave their evidence. */
static void stolen_windows(void)
{
	const u64 told = 4 * STEAL_RATE;

	for (unsigned kind = 0; kind < 3; kind++) {
		struct model_config config = { .generation = GEN_HASWELL };
		u32 *value = config.latitude.value;
		u64 smis, windows = 0, retired = 0;

		config.latitude.set = BIT(LAT_SMI_RATE) | BIT(LAT_PREEMPTION_RATE) |
				      BIT(LAT_SMM_EVENTS);
		value[LAT_SMI_RATE] = kind == 1 ? STEAL_RATE : 0;
		value[LAT_PREEMPTION_RATE] = kind == 2 ? STEAL_RATE : 0;
		value[LAT_SMM_EVENTS] = 1000;
		fixture_open_config(&r, &config);
		fixture_program(&r, 0, INST, 0, 0);
		fixture_start(&r, BIT(0));
		for (; retired < 4 * MILLION; retired++) {
			u64 ticks;

			fixture_nops(&r, 1);
			ticks = model_stolen_tsc(&r.m);
			CHECK(!ticks || ticks >= 20000);
			windows += ticks != 0;
		}
		smis = fixture_get(&r, MSR_SMI_COUNT);
		CHECK_EQ(kind == 1 ? windows : 0, smis);
		CHECK(kind ? windows > told / 2 && windows < 2 * told : !windows);
		if (kind == 1)
			CHECK(PMC(0) > retired && PMC(0) <= retired + 1000 * windows);
		else
			CHECK_EQ(retired, PMC(0));
	}
}

static void smm_can_be_frozen(void)
{
	struct model_config config = { .generation = GEN_HASWELL };

	config.latitude.set = BIT(LAT_SMI_RATE) | BIT(LAT_SMM_EVENTS);
	config.latitude.value[LAT_SMI_RATE] = STEAL_RATE;
	config.latitude.value[LAT_SMM_EVENTS] = 1000;
	fixture_open_config(&r, &config);
	fixture_set(&r, MSR_IA32_DEBUGCTL, IA32_DEBUGCTL_FREEZE_WHILE_SMM);
	fixture_program(&r, 0, INST, 0, 0);
	fixture_start(&r, BIT(0));
	fixture_nops(&r, 500000);
	CHECK_EQ(500000, PMC(0));
	CHECK(fixture_get(&r, MSR_SMI_COUNT));
}

/* 1: only the enables are set; 2: the counters count. */
static void smm_may_arm_fixed_counters(void)
{
	for (u32 arms = 0; arms <= 2; arms++) {
		struct model_config config = { .generation = GEN_HASWELL };

		config.latitude.set = BIT(LAT_SMI_RATE) | BIT(LAT_SMM_ARMS);
		config.latitude.value[LAT_SMI_RATE] = STEAL_RATE;
		config.latitude.value[LAT_SMM_ARMS] = arms;
		fixture_open_config(&r, &config);
		fixture_program(&r, 0, INST, 0, 0);
		fixture_start(&r, BIT(0));
		fixture_nops(&r, 500000);
		CHECK(fixture_get(&r, MSR_SMI_COUNT));
		CHECK_EQ(arms ? 0x330 : 0, fixture_get(&r, MSR_IA32_FIXED_CTR_CTRL));
		CHECK_EQ(arms == 2 ? 6ULL << 32 | BIT(0) : BIT(0),
			 fixture_get(&r, MSR_IA32_PERF_GLOBAL_CTRL));
		CHECK_EQ(0, fixture_get(&r, MSR_IA32_FIXED_CTR0));
		CHECK_EQ(arms == 2, fixture_get(&r, MSR_IA32_FIXED_CTR0 + 1) > 1000);
	}
}

static void without_a_seed_nothing_is_drawn(void)
{
	static const u32 low[LAT_COUNT] = {
#define LATITUDE(token, name, low, high, source) low,
#include "refpmu/model/latitude.def"
	};

	fixture_open(&r, FAULT_NONE, 0, true);
	CHECK(!memcmp(low, r.m.latitude, sizeof(low)));
}

static bool power_of_two(u32 n)
{
	return n && !(n & (n - 1));
}

/* Does a shape obey the limits of model_memory.h? */
static bool fits(const struct memory_shape *s)
{
	for (unsigned i = 0; i < MEMORY_SOURCES; i++)
		if (s->latency[i] < MEMORY_LEAST_LATENCY)
			return false;
	return power_of_two(s->l1_sets) && s->l1_sets * MEMORY_L1_WAYS <= MEMORY_L1_MOST &&
	       power_of_two(s->l2_sets) && s->l2_sets * MEMORY_L2_WAYS <= MEMORY_L2_MOST &&
	       power_of_two(s->l3_sets) && s->l3_sets * MEMORY_L3_WAYS <= MEMORY_L3_MOST &&
	       power_of_two(s->dtlb_sets) && s->dtlb_sets * MEMORY_TLB_WAYS <= MEMORY_DTLB_MOST &&
	       power_of_two(s->stlb_sets) && s->stlb_sets * MEMORY_TLB_WAYS <= MEMORY_STLB_MOST &&
	       s->replacement < SETS_REPLACEMENTS;
}

static void every_hierarchy_fits_its_tables(void)
{
	for (u64 seed = 0; seed <= 100; seed++) {
		fixture_open(&r, FAULT_NONE, seed, true);
		CHECK(fits(&r.hierarchy.shape), "seed %llu", (unsigned long long)seed);
	}
}

static void seeds_reach_every_end(void)
{
	/* Knobs that no seed draws have their lowest value. */
	static const struct {
		u32 low, high;
	} knobs[LAT_COUNT] = {
#define LATITUDE(token, name, low, high, source) { low, high },
#define TROUBLE(token, name, low, high, source) { low, low },
#include "refpmu/model/latitude.def"
	};
	u32 least[LAT_COUNT], most[LAT_COUNT] = { 0 };

	memset(least, 0xff, sizeof(least));
	for (u64 seed = 1; seed <= 100; seed++) {
		fixture_open(&r, FAULT_NONE, seed, true);
		for (unsigned i = 0; i < LAT_COUNT; i++) {
			u32 value = r.m.latitude[i];

			CHECK(value >= knobs[i].low && value <= knobs[i].high);
			least[i] = value < least[i] ? value : least[i];
			most[i] = value > most[i] ? value : most[i];
		}
	}
	for (unsigned i = 0; i < LAT_COUNT; i++) {
		u32 tenth = (knobs[i].high - knobs[i].low) / 10;

		CHECK(least[i] <= knobs[i].low + tenth, "knob %u", i);
		CHECK(most[i] >= knobs[i].high - tenth, "knob %u", i);
	}
}

/* Knobs with a row have values in its range, with and without a seed. */
static void profiles_narrow(void)
{
	static const struct {
		unsigned profile, knob;
		u32 low, high;
	} rows[] = {
#define PROFILE_KNOB(profile, knob, low, high, source) \
		{ PROFILE_##profile, LAT_##knob, low, high },
#include "refpmu/model/profile.def"
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (u64 seed = 0; seed < 20; seed++) {
			u32 value;

			open_profile((enum profile_id)rows[i].profile, seed);
			value = r.m.latitude[rows[i].knob];
			CHECK(value >= rows[i].low && value <= rows[i].high &&
				      (seed || value == rows[i].low),
			      "profile %u, knob %u", rows[i].profile, rows[i].knob);
		}
}

static void set_up_counters(bool last_from_0)
{
	static const u32 selects[] = {
#define SETUP_SELECT(counter, value) [counter] = value,
#include "spec/setup.def"
	};

	for (u32 i = 0; i < 4; i++) {
		fixture_set(&r, MSR_IA32_PERFEVTSEL0 + i, selects[i]);
		fixture_set(&r, MSR_IA32_PMC0 + i, i == 3 && !last_from_0);
	}
	fixture_set(&r, MSR_IA32_PERF_GLOBAL_CTRL, 0xf);
	fixture_set(&r, MSR_IA32_PERF_GLOBAL_CTRL, 0);
}

static u64 counted(u32 counter)
{
	fixture_program(&r, counter, INST, 0, 1000);
	fixture_start(&r, BIT(counter));
	fixture_nops(&r, 100);
	fixture_stop(&r);
	return PMC(counter) - (BIT(48) - 1000);
}

/* Nehalem and Westmere only; the stopping write counts as well. */
static void counters_that_need_a_set_up(void)
{
	for (unsigned generation = 0; generation < GEN_ARCH_COUNT; generation++)
		for (u32 needed = 0; needed < 2; needed++) {
			struct model_config config = { .generation = (u8)generation };
			bool miscounts = needed && generation <= GEN_WESTMERE;

			config.latitude.set = BIT(LAT_COUNTERS_NEED_SETUP);
			config.latitude.value[LAT_COUNTERS_NEED_SETUP] = needed;
			fixture_open_config(&r, &config);
			CHECK_EQ(miscounts ? 50 : 101, counted(3));
			set_up_counters(false);
			CHECK(miscounts == (counted(0) < 60));
			set_up_counters(true);
			CHECK_EQ(101, counted(0));
			CHECK_EQ(101, counted(3));
		}
}

#define REF_TSC		MSR_IA32_FIXED_CTR0 + 2
#define REF_BIT		BIT(34)
#define REF_ON		0x300ULL	/* both levels */
#define REF_PMI		0x800ULL

static void a_slow_reference_counter(void)
{
	open(LAT_REF_TSC_SLOW, 16);
	fixture_set(&r, MSR_IA32_FIXED_CTR_CTRL, REF_ON);
	fixture_start(&r, REF_BIT);
	fixture_nops(&r, 15);
	CHECK_EQ(0, fixture_get(&r, REF_TSC));
	for (unsigned i = 0; i < 40; i++) {
		CHECK_EQ(0, fixture_get(&r, REF_TSC) % 16);
		fixture_nops(&r, 1);
	}
	CHECK_EQ(48, fixture_get(&r, REF_TSC));
}

/* Once, with its interrupt; not for a counter that is off. */
static void a_sticky_reference_counter(void)
{
	for (unsigned off = 0; off < 2; off++) {
		open(LAT_REF_TSC_STICKY, 5);
		r.unmasks = true;
		fixture_set(&r, REF_TSC, BIT(48) - 2);
		fixture_set(&r, MSR_IA32_FIXED_CTR_CTRL, REF_ON | REF_PMI);
		fixture_start(&r, REF_BIT);
		fixture_nops(&r, 3);
		fixture_stop(&r);
		CHECK_EQ(1, r.n_interrupts);
		CHECK_EQ(REF_BIT, fixture_status(&r));
		if (off)
			fixture_set(&r, MSR_IA32_FIXED_CTR_CTRL, 0);
		for (unsigned again = 0; again < 2; again++) {
			fixture_set(&r, MSR_IA32_PERF_GLOBAL_OVF_CTRL, REF_BIT);
			CHECK_EQ(0, fixture_status(&r));
			fixture_nops(&r, 20);
			CHECK_EQ(again || off ? 0 : REF_BIT, fixture_status(&r));
			CHECK_EQ(off ? 1 : 2, r.n_interrupts);
		}
	}
}

static void cpuid(u32 leaf, u32 regs[4])
{
	memset(regs, 0, 4 * sizeof(*regs));
	model_cpuid(&r.m, leaf, 0, regs);
}

static void a_guest_of_kvm(void)
{
	static const u32 absent[] = { 0x3f1, 0x3f6, 0x600 };
	u32 regs[4];

	open_profile(PROFILE_KVM, 1);
	for (unsigned i = 0; i < 3; i++) {
		CHECK_EQ(MSR_GP, model_rdmsr(&r.m, absent[i]).status);
		CHECK_EQ(MSR_GP, fixture_wrmsr(&r, absent[i], 0));
	}
	CHECK(fixture_get(&r, 0x1a0) & BIT(12));
	CHECK_EQ(0x2000, fixture_get(&r, 0x345));
	cpuid(1, regs);
	CHECK_EQ(r.m.latitude[LAT_HYPERVISOR_HIDDEN] ? 0 : BIT(31), regs[2] & (BIT(31) | BIT(2)));
	CHECK_EQ(0, regs[3] & BIT(21));
	cpuid(0xa, regs);
	CHECK_EQ(2, regs[0] & 0xff);
	CHECK(regs[3] & BIT(15));
	CHECK_EQ(MSR_GP, model_rdmsr(&r.m, 0x1a6).status);
	cpuid(0x40000000 + 0x100 * r.m.latitude[LAT_HYPERVISOR_LEAF], regs);
	CHECK(!memcmp(regs + 1, "KVMKVMKVM\0\0\0", 12));
	CHECK_EQ(MSR_GP, fixture_wrmsr(&r, 0x186, BIT(21)));
	CHECK_EQ(MSR_GP, fixture_wrmsr(&r, 0x38d, BIT(6)));
	CHECK_EQ(MSR_GP, fixture_wrmsr(&r, 0x390, BIT(61)));
	CHECK_EQ(MSR_GP, fixture_wrmsr(&r, 0x1d9, BIT(12)));
	fixture_set(&r, 0x1d9, 1);
	CHECK_EQ(0, fixture_get(&r, 0x1d9));
	fixture_set(&r, 0x309, BIT(60) | 5);
	CHECK_EQ(5, fixture_get(&r, 0x309));
	CHECK_EQ(MSR_GP, model_rdpmc(&r.m, (u32)(BIT(31) | BIT(30))).status, "6.12");
	CHECK_EQ(MSR_DONE, model_rdpmc(&r.m, 0x10002).status);
	CHECK_EQ(MSR_GP, model_rdpmc(&r.m, 0x10003).status);
	CHECK_EQ(MSR_GP, fixture_wrmsr(&r, 0x1a0, fixture_get(&r, 0x1a0) ^ BIT(11)));
	fixture_set(&r, 0x1a0, fixture_get(&r, 0x1a0));
	fixture_program(&r, 0, INST, INT, 5);
	fixture_start(&r, BIT(0));
	fixture_nops(&r, 2100);
	CHECK_EQ(1, r.n_interrupts);
}

static void kvm_of_linux_6_1(void)
{
	open_profile(PROFILE_KVM_6_1, 0);
	fixture_set(&r, 0x309, 5);
	CHECK_EQ(5, model_rdpmc(&r.m, (u32)(BIT(31) | BIT(30))).value);
	fixture_program(&r, 0, INST, INT, 5);
	fixture_start(&r, BIT(0));
	fixture_nops(&r, 2100);
	CHECK_EQ(1, r.n_interrupts);
	CHECK(!(r.lvtpc & BIT(16)), "delivery leaves LVTPC unmasked");
}

/* The behaviour of the host's processor for registers that are passed through. */
static void kvm_with_counters_passed_through(void)
{
	struct model_config config = {
		.generation = GEN_SKYLAKE, .latitude.profile = PROFILE_KVM_7_3_MEDIATED,
	};

	fixture_open_config(&r, &config);
	CHECK_EQ(MSR_GP, fixture_wrmsr(&r, 0x309, BIT(60)));
	CHECK_EQ(MSR_DONE, fixture_wrmsr(&r, 0x390, BIT(58) | BIT(59) | BIT(62)));
	CHECK_EQ(MSR_GP, fixture_wrmsr(&r, 0x390, BIT(50)));
	CHECK_EQ(MSR_GP, fixture_wrmsr(&r, 0x391, 0));
	CHECK_EQ(MSR_GP, model_rdpmc(&r.m, 0x10000).status);
	CHECK_EQ(0x2000, fixture_get(&r, 0x345));
}

/* Its signature is in a later leaf, after that of Hyper-V; the bit in CPUID.01H can be hidden. */
static void a_signature_that_is_not_the_first(void)
{
	struct model_config config = {
		.generation = GEN_HASWELL,
		.latitude = { .profile = PROFILE_KVM,
			      .set = BIT(LAT_HYPERVISOR_LEAF) | BIT(LAT_HYPERVISOR_HIDDEN) },
	};
	u32 regs[4];

	config.latitude.value[LAT_HYPERVISOR_LEAF] = 2;
	config.latitude.value[LAT_HYPERVISOR_HIDDEN] = 1;
	fixture_open_config(&r, &config);
	cpuid(1, regs);
	CHECK(!(regs[2] & BIT(31)));
	cpuid(0x40000000, regs);
	CHECK(!memcmp(regs + 1, "Microsoft Hv", 12));
	cpuid(0x40000100, regs);
	CHECK(!regs[0] && !regs[1]);
	cpuid(0x40000200, regs);
	CHECK(!memcmp(regs + 1, "KVMKVMKVM\0\0\0", 12));
}

static void guests_without_a_pmu(void)
{
	u32 regs[4];

	open_profile(PROFILE_HYPERV_WITHOUT, 0);
	cpuid(0xa, regs);
	CHECK(!regs[0] && !regs[3]);
	CHECK_EQ(MSR_GP, model_rdmsr(&r.m, 0x38f).status);
	CHECK_EQ(MSR_GP, model_rdmsr(&r.m, 0x345).status);
	open_profile(PROFILE_VMWARE_WITHOUT, 0);
	cpuid(0xa, regs);
	CHECK_EQ(1, regs[0]);
	open_profile(PROFILE_KVM_IGNORING, 0);
	CHECK_EQ(MSR_DONE, model_rdmsr(&r.m, 0x1a6).status);
	CHECK_EQ(MSR_DONE, fixture_wrmsr(&r, 0x1a6, 5));
	CHECK_EQ(0, model_rdmsr(&r.m, 0x1a6).value);
}

static void a_haswell_shows_no_hypervisor(void)
{
	u32 regs[4];

	open_profile(PROFILE_SILICON_HSW, 1);
	cpuid(1, regs);
	CHECK_EQ(BIT(2), regs[2] & (BIT(31) | BIT(2)));
	cpuid(0x40000000, regs);
	CHECK(!regs[0] && !regs[1]);
	CHECK_EQ(MSR_DONE, model_rdmsr(&r.m, 0x3f1).status);
}

/* DisplayModel is FFH, and everything else is unchanged. */
static void a_model_that_no_table_names(void)
{
	u32 regs[4], named[4];

	open_profile(PROFILE_NONE, 0);
	cpuid(1, named);
	open_profile(PROFILE_UNNAMED, 0);
	cpuid(1, regs);
	CHECK_EQ((named[0] & ~0xf00f0u) | 0xf00f0, regs[0]);
	CHECK(!memcmp(regs + 1, named + 1, 3 * sizeof(*regs)));
	cpuid(0x80000002, regs);
	CHECK(!memcmp(regs, "Genuine Intel(R)", 16));
}

int main(void)
{
	RUN(the_least_skid);
	RUN(interrupts_merge);
	RUN(spurious_interrupts);
	RUN(status_of_a_held_interrupt);
	RUN(tagging_delays);
	RUN(tagged_accesses);
	RUN(a_counter_that_wraps_on_the_assist);
	RUN(a_full_buffer);
	RUN(undefined_fields);
	RUN(registers_that_read_otherwise);
	RUN(stolen_windows);
	RUN(smm_can_be_frozen);
	RUN(smm_may_arm_fixed_counters);
	RUN(without_a_seed_nothing_is_drawn);
	RUN(seeds_reach_every_end);
	RUN(every_hierarchy_fits_its_tables);
	RUN(profiles_narrow);
	RUN(counters_that_need_a_set_up);
	RUN(a_slow_reference_counter);
	RUN(a_sticky_reference_counter);
	RUN(a_guest_of_kvm);
	RUN(kvm_of_linux_6_1);
	RUN(kvm_with_counters_passed_through);
	RUN(a_signature_that_is_not_the_first);
	RUN(guests_without_a_pmu);
	RUN(a_haswell_shows_no_hypervisor);
	RUN(a_model_that_no_table_names);
	return check_end();
}
