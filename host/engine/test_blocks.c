/* SPDX-License-Identifier: MIT */
/* Compares blocks with the processor itself: the same state at any instruction, and the same
 * counts. */
#include <stdlib.h>

#include "host/check.h"
#include "host/engine/generate.h"

static struct machine_result want, got;
static struct machine_state begin;
static u64 n_stepped, n_blocks, n_faults, n_runs, n_emulated, n_not_emulated, n_interrupts, n_taken,
	n_mispredicted, n_kept;

#define INTERRUPTS	20	/* in each program */

static const char *const register_name[REG_COUNT] = {
	"RAX", "RCX", "RDX", "RBX", "RSP", "RBP", "RSI", "RDI",
	"R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15",
};

/* To the reference, a branch to the next instruction looks not taken, and so well predicted. */
static void check_directions(const char *what, u64 seed)
{
	u64 taken = got.events.taken - want.events.taken;
	u64 mispredicted = got.events.mispredicted - want.events.mispredicted;

	CHECK(taken <= want.to_next, "%s, program %" PRIu64 ": %" PRIu64 " taken, %" PRIu64, what,
	      seed, want.events.taken, got.events.taken);
	CHECK_EQ(taken, mispredicted, "%s, program %" PRIu64, what, seed);
	n_taken += want.events.taken;
	n_mispredicted += want.events.mispredicted;
}

/* All branches in their order, including those of stepped instructions. */
static void check_branches(const char *what, u64 seed)
{
	const struct model_taken *a = want.taken, *b = got.taken;

	CHECK_EQ(want.n_taken, got.n_taken, "%s, program %" PRIu64, what, seed);
	for (unsigned i = 0; i < want.n_taken && i < got.n_taken && i < MACHINE_BRANCHES; i++)
		if (!CHECK(a[i].instructions == b[i].instructions && a[i].ip == b[i].ip &&
				   a[i].next_ip == b[i].next_ip && a[i].target == b[i].target &&
				   a[i].branch == b[i].branch && a[i].indirect == b[i].indirect,
			   "%s, program %" PRIu64 ": branch %u, %#" PRIx64 " to %#" PRIx64
			   " after %" PRIu64 ", got %#" PRIx64 " to %#" PRIx64 " after %" PRIu64,
			   what, seed, i, a[i].ip, a[i].target, a[i].instructions, b[i].ip,
			   b[i].target, b[i].instructions))
			break;
	n_kept += got.n_taken;
}

static bool same(const char *what, u64 seed, u64 stop)
{
	unsigned before = check_errors;

	CHECK(!got.wrong, "%s, program %" PRIu64 " at %" PRIu64 ": %s", what, seed, stop,
	      got.wrong);
	for (unsigned i = 0; i < REG_COUNT; i++)
		CHECK_EQ(want.state.gpr[i], got.state.gpr[i],
			 "%s, program %" PRIu64 " at %" PRIu64 ": %s", what, seed, stop,
			 register_name[i]);
	CHECK_EQ(want.state.rip, got.state.rip, "%s, program %" PRIu64 " at %" PRIu64, what, seed,
		 stop);
	CHECK_EQ(want.state.rflags, got.state.rflags, "%s, program %" PRIu64 " at %" PRIu64, what,
		 seed, stop);
	CHECK(!memcmp(want.state.xmm, got.state.xmm, sizeof(want.state.xmm)),
	      "%s, program %" PRIu64 " at %" PRIu64, what, seed, stop);
	CHECK(!memcmp(want.state.x87, got.state.x87, sizeof(want.state.x87)),
	      "%s, program %" PRIu64 " at %" PRIu64, what, seed, stop);
	CHECK(!memcmp(want.state.ymm, got.state.ymm, sizeof(want.state.ymm)),
	      "%s, program %" PRIu64 " at %" PRIu64, what, seed, stop);
	CHECK(!memcmp(want.memory, got.memory, sizeof(want.memory)),
	      "%s, program %" PRIu64 " at %" PRIu64, what, seed, stop);
	CHECK_EQ(want.events.instructions, got.events.instructions);
	CHECK_EQ(want.events.loads, got.events.loads);
	CHECK_EQ(want.events.stores, got.events.stores);
	CHECK_EQ(want.events.locked_loads, got.events.locked_loads);
	CHECK_EQ(want.events.loading, got.events.loading);
	CHECK_EQ(want.events.storing, got.events.storing);
	CHECK_EQ(want.events.locking, got.events.locking);
	for (unsigned i = BRANCH_CONDITIONAL; i <= BRANCH_FAR; i++)
		CHECK_EQ(want.events.branches[i], got.events.branches[i], "kind %u", i);
	if (machine_cache.count_taken)
		check_directions(what, seed);
	if (machine_cache.keep_branches)
		check_branches(what, seed);
	CHECK_EQ(want.faults, got.faults);
	return check_errors == before;
}

/* Run up to `stop`, or to where it isn't a reference any more. Returns the number of steps. */
static u64 run_reference(u64 stop)
{
	machine_step(&begin, stop, &want);
	if (want.open) {
		stop = want.events.instructions;
		machine_step(&begin, stop, &want);
	}
	return stop;
}

static bool compare(u64 seed, u64 stop, u64 quantum, bool request_exit)
{
	stop = run_reference(stop);
	machine_blocks(&begin, stop, quantum, request_exit, &got);
	n_stepped += got.stepped;
	n_blocks += got.events.instructions - got.stepped;
	n_faults += got.faults;
	n_runs += got.runs;
	return same(request_exit ? "interrupted" : "undisturbed", seed, stop);
}

/* Compare the state that an interrupt finds, at any end of a run. Directly after a faulting
 * instruction, the reference ends before that instruction. */
static bool compare_interrupted(u64 seed, u64 most)
{
	machine_interrupted(&begin, most, &got);
	machine_step(&begin, got.events.instructions, &want);
	if (want.open || want.faults != got.faults)
		return true;
	n_interrupts++;
	return same("interrupt", seed, got.events.instructions);
}

static bool compare_emulated(u64 seed, u64 stop)
{
	stop = run_reference(stop);
	machine_emulate(&begin, stop, &got);
	n_emulated += got.emulated;
	n_not_emulated += got.events.instructions - got.emulated;
	return same("alone", seed, stop);
}

static u64 programs(void)
{
	const char *wanted = getenv("PROGRAMS");

	return wanted ? strtoull(wanted, NULL, 0) : 30;
}

static u64 first_program(void)
{
	const char *wanted = getenv("FIRST");

	return wanted ? strtoull(wanted, NULL, 0) : 1;
}

static void programs_stop_anywhere(void)
{
	u64 first = first_program();

	for (u64 seed = first; seed < first + programs(); seed++) {
		generate(seed, &begin);
		machine_holds = seed & 1;
		if (seed % 8 == 0) {
			machine_cache.count_taken = !machine_cache.count_taken;
			block_flush(&machine_cache);
		}
		if (seed % 5 == 0) {
			machine_cache.keep_branches = !machine_cache.keep_branches;
			block_flush(&machine_cache);
		}
		for (u64 i = 0; i < 5; i++)
			if (!compare(seed, 1 + (seed * 2654435761u + i * 40503u) % 3000,
				     i & 1 ? 1000000 : 64, false))
				return;
		for (u64 i = 0; i < INTERRUPTS; i++)
			if (!compare_interrupted(seed, 3000 + i))
				return;
		if (!compare(seed, 1 + seed * 977 % 500, 1000000, true) ||
		    !compare_emulated(seed, 1 + seed * 2654435761u % 3000))
			return;
	}
	CHECK(n_emulated > n_not_emulated, "%" PRIu64 " instructions emulated, %" PRIu64 " not",
	      n_emulated, n_not_emulated);
	CHECK(n_blocks > n_stepped, "%" PRIu64 " instructions in blocks, %" PRIu64 " stepped",
	      n_blocks, n_stepped);
	CHECK(n_interrupts > programs() * INTERRUPTS / 2, "%" PRIu64 " interrupts", n_interrupts);
	/* Directions are compared from the eighth program on. */
	CHECK(programs() < 30 || (n_taken && n_mispredicted),
	      "%" PRIu64 " taken, %" PRIu64 " mispredicted", n_taken, n_mispredicted);
	CHECK(programs() < 30 || n_kept > 1000, "%" PRIu64 " branches kept", n_kept);
	CHECK(n_faults > programs(), "%" PRIu64 " faults", n_faults);
	printf("# in blocks %" PRIu64 ", stepped %" PRIu64 ", faults %" PRIu64 ", runs %" PRIu64
	       ", blocks made %" PRIu64 ", dropped %" PRIu64 "\n",
	       n_blocks, n_stepped, n_faults, n_runs, machine_cache.translated,
	       machine_cache.dropped);
	printf("# alone %" PRIu64 ", not emulated %" PRIu64 "\n", n_emulated, n_not_emulated);
}

int main(void)
{
	machine_open();
	RUN(programs_stop_anywhere);
	return check_end();
}
