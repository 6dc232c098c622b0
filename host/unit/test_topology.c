/* SPDX-License-Identifier: MIT */
/* Threads, cores and packages, from the CPUID data of machines of each kind. */
#include "host/check.h"

#include "kernel/processor/topology.h"

/* A machine with leaf 0BH: threads in a core and cores in a package, each rounded up to a power of
 * two. */
static struct topology leaf_0b(u32 id, unsigned thread_bits, unsigned core_bits)
{
	struct topology_cpuid cpuid = {
		.htt = 1, .logical_processors = 16, .initial_apic_id = id & 0xff, .cores = 7,
		.level = { { thread_bits, 1u << thread_bits, 1 },
			   { thread_bits + core_bits, 1u << (thread_bits + core_bits), 2 } },
		.x2apic_id = id,
	};

	return topology_of(&cpuid);
}

static struct topology leaf_4(u32 id, u32 processors, u32 cores)
{
	struct topology_cpuid cpuid = { .htt = processors > 1, .logical_processors = processors,
					.initial_apic_id = id, .cores = cores - 1 };

	return topology_of(&cpuid);
}

static void siblings_share_a_core(void)
{
	struct topology a = leaf_0b(4, 1, 2), b = leaf_0b(5, 1, 2), c = leaf_0b(6, 1, 2);

	CHECK(topology_same_core(&a, &b) && !topology_same_core(&a, &c));
	CHECK_EQ(0, a.thread);
	CHECK_EQ(1, b.thread);
	CHECK_EQ(5, b.apic_id);
}

/* Core 3 of package 0 and core 0 of package 1 have neighbouring ids. */
static void packages_end_where_the_leaf_says(void)
{
	struct topology a = leaf_0b(7, 1, 2), b = leaf_0b(8, 1, 2), c = leaf_0b(0, 1, 2);

	CHECK(topology_same_package(&a, &c) && !topology_same_package(&a, &b));
	CHECK(!topology_same_core(&a, &b));
}

static void one_thread_a_core_has_no_siblings(void)
{
	struct topology a = leaf_0b(0, 0, 1), b = leaf_0b(1, 0, 1);

	CHECK(!topology_same_core(&a, &b) && topology_same_package(&a, &b));
}

/* Only leaf 0BH has ids above 255. */
static void wide_ids_are_those_of_the_leaf(void)
{
	struct topology a = leaf_0b(0x104, 1, 5), b = leaf_0b(0x004, 1, 5);

	CHECK_EQ(0x104, a.apic_id);
	CHECK(!topology_same_core(&a, &b) && !topology_same_package(&a, &b));
}

/* A processor of 2002: two logical processors, no leaf 4. */
static void hyper_threading_without_leaf_4(void)
{
	struct topology a = leaf_4(6, 2, 1), b = leaf_4(7, 2, 1), c = leaf_4(0, 2, 1);

	CHECK(topology_same_core(&a, &b) && !topology_same_core(&a, &c));
	CHECK(topology_same_package(&a, &b) && !topology_same_package(&a, &c));
	CHECK_EQ(1, b.thread);
}

/* Two cores without Hyper-Threading; three cores use the ids of four. */
static void cores_of_leaf_4(void)
{
	struct topology a = leaf_4(0, 2, 2), b = leaf_4(1, 2, 2);

	CHECK(!topology_same_core(&a, &b) && topology_same_package(&a, &b));
	a = leaf_4(4, 6, 3);
	b = leaf_4(5, 6, 3);
	CHECK(topology_same_core(&a, &b));
	b = leaf_4(6, 6, 3);
	CHECK(!topology_same_core(&a, &b) && topology_same_package(&a, &b));
	b = leaf_4(8, 6, 3);
	CHECK(!topology_same_package(&a, &b));
}

/* HTT = 0: the number of logical processors has no meaning. */
static void a_single_processor(void)
{
	struct topology_cpuid cpuid = { .htt = 0, .logical_processors = 4, .initial_apic_id = 1 };
	struct topology a = topology_of(&cpuid);

	cpuid.initial_apic_id = 0;
	CHECK_EQ(0, a.thread);
	CHECK(a.core != topology_of(&cpuid).core);
}

/* More cores than processors, which no manual allows, must not cause a negative shift. */
static void contradictions_are_survived(void)
{
	struct topology a = leaf_4(3, 2, 8);

	CHECK_EQ(3, a.core);
	a = leaf_4(255, 255, 64);
	CHECK_EQ(63, a.core);
}

int main(void)
{
	RUN(siblings_share_a_core);
	RUN(packages_end_where_the_leaf_says);
	RUN(one_thread_a_core_has_no_siblings);
	RUN(wide_ids_are_those_of_the_leaf);
	RUN(hyper_threading_without_leaf_4);
	RUN(cores_of_leaf_4);
	RUN(a_single_processor);
	RUN(contradictions_are_survived);
	return check_end();
}
