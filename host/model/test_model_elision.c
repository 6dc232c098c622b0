/* SPDX-License-Identifier: MIT */
/*
 * Hardware lock elision: its begin and end, the state that an abort restores, the counts and the
 * records. Volume 1, "Hardware Lock Elision"; "Intel TSX and PEBS Support", Table 18-51.
 */
#include "host/check.h"
#include "host/model/fixture.h"

#define OUTER	(FIXTURE_MEMORY_BASE + 0x3000)
#define INNER	(FIXTURE_MEMORY_BASE + 0x3040)
#define DATA	(FIXTURE_MEMORY_BASE + 0x3080)
#define HIGH(value) ((value) & ~BITS(0, 31))
#define TAKEN	1
#define LENGTH	4		/* bytes of XACQUIRE XCHG */

static struct fixture r;
static u64 begun_at;

static void open(void)
{
	const struct model_config config = {
		.generation = GEN_BROADWELL, .hyper_threading = true,
	};

	fixture_open_config(&r, &config);
	fixture_ds(&r, 8, 8);
}

static void access(u64 linear, bool store)
{
	CHECK_EQ(TX_FINE, model_tx_compare(&r.m));
	CHECK_EQ(TX_FINE, model_tx_access(&r.m, linear, 8, store));
}

/* false: the lock isn't elided, but taken. */
static bool acquire(u64 lock)
{
	bool elided = model_in_tx(&r.m);

	if (!elided && !model_tx_declines(&r.m, r.ip)) {
		begun_at = r.regs.rip = r.ip;
		model_tx_elide(&r.m, &r.regs, r.ip, r.ip + LENGTH);
		elided = true;
	}
	if (elided) {
		access(lock, true);
		model_tx_acquire(&r.m, lock, 8, r.ip, r.ip + LENGTH);
	}
	fixture_poke(&r, lock, TAKEN);
	fixture_retire(&r, &(struct model_retired){ .loads = 1, .stores = 1, .locked_loads = 1 });
	return elided;
}

static void release(u64 lock, u64 value)
{
	access(lock, true);
	model_tx_release(&r.m, lock, 8);
	fixture_poke(&r, lock, value);
	fixture_retire(&r, &(struct model_retired){ .stores = 1 });
}

static void store(u64 linear, u64 value)
{
	access(linear, true);
	fixture_poke(&r, linear, value);
	fixture_store(&r, linear);
}

static void abort_now(void)
{
	model_tx_abort(&r.m, TX_INSTRUCTION, 0, r.ip, 0);
	CHECK(!model_in_tx(&r.m));
}

static void it_ends_with_the_outermost_lock(void)
{
	open();
	fixture_poke(&r, OUTER, 0);
	fixture_poke(&r, INNER, 5);
	CHECK(acquire(OUTER));
	CHECK(model_tx_is_elided(&r.m));
	CHECK(acquire(INNER));
	store(DATA, 7);
	release(INNER, 5);
	CHECK(model_in_tx(&r.m));
	release(DATA, 0);
	CHECK(model_in_tx(&r.m), "no lock");
	release(OUTER, 0);
	CHECK(!model_in_tx(&r.m));
	CHECK_EQ(0, fixture_peek(&r, DATA), "committed");
	CHECK(acquire(OUTER), "elided again");
}

static void an_abort_goes_back_to_the_lock(void)
{
	struct model_registers before;

	open();
	fixture_poke(&r, OUTER, 0);
	fixture_poke(&r, DATA, 3);
	r.regs.gpr[REG_RAX] = 0x1234;
	before = r.regs;
	acquire(OUTER);
	r.regs.gpr[REG_RAX] = 0;
	store(DATA, 7);
	abort_now();
	CHECK_EQ(0, fixture_peek(&r, OUTER));
	CHECK_EQ(3, fixture_peek(&r, DATA));
	CHECK_EQ(begun_at, r.regs.rip, "the lock comes again");
	CHECK_EQ(before.gpr[REG_RAX], r.regs.gpr[REG_RAX], "no status");
	r.ip = begun_at;
	CHECK(!acquire(OUTER), "once without elision");
	CHECK(!model_in_tx(&r.m));
	r.ip = begun_at;
	CHECK(acquire(OUTER));
}

static void so_does_a_lock_in_it(void)
{
	u64 inner_at;

	open();
	acquire(OUTER);
	inner_at = r.ip;
	acquire(INNER);
	abort_now();
	r.ip = begun_at;
	CHECK(!acquire(OUTER));
	r.ip = inner_at;
	CHECK(!acquire(INNER));
	r.ip = inner_at;
	CHECK(acquire(INNER));
}

static void what_must_be_in_the_lock(void)
{
	open();
	fixture_poke(&r, OUTER, 0);
	acquire(OUTER);
	release(OUTER, 2);
	CHECK(model_in_tx(&r.m));
	CHECK_EQ(TX_INSTRUCTION, model_tx_compare(&r.m));
}

static void no_transaction_in_it(void)
{
	open();
	acquire(OUTER);
	CHECK_EQ(TX_INSTRUCTION, model_tx_begin(&r.m, &r.regs, 0x600000));
}

static void it_counts(void)
{
	static const u32 event[4] = {
		EVENT_HLE_RETIRED_START, EVENT_HLE_RETIRED_COMMIT, EVENT_HLE_RETIRED_ABORTED,
		EVENT_RTM_RETIRED_ABORTED,
	};
	static const u64 want[4] = { 5, 3, 2, 0 };

	open();
	fixture_poke(&r, OUTER, 0);
	for (unsigned i = 0; i < 4; i++)
		fixture_program(&r, i, event[i], 0, 0);
	fixture_start(&r, BITS(0, 3));
	for (unsigned i = 0; i < 3; i++) {
		CHECK(acquire(OUTER));
		release(OUTER, 0);
	}
	for (unsigned i = 0; i < 2; i++) {
		CHECK(acquire(OUTER));
		abort_now();
		r.ip = begun_at;
		CHECK(!acquire(OUTER));
	}
	for (unsigned i = 0; i < 4; i++)
		CHECK_EQ(want[i], fixture_get(&r, MSR_IA32_PMC0 + i), "event %#x", event[i]);
}

static void it_is_recorded(void)
{
	u64 ip;

	open();
	fixture_poke(&r, OUTER, 0);
	fixture_program_pebs(&r, 0, EVENT_HLE_RETIRED_ABORTED, 0, 1);
	fixture_start(&r, BIT(0));
	acquire(OUTER);
	abort_now();
	acquire(OUTER);
	acquire(INNER);
	ip = r.ip;
	abort_now();
	if (!CHECK_EQ(1, fixture_records(&r)))
		return;
	CHECK_EQ(begun_at + LENGTH, fixture_record(&r, 0, 0x08), "after the outermost XACQUIRE");
	CHECK_EQ(ip, fixture_record(&r, 0, 0xb0));
	CHECK_EQ(BIT(32) | BIT(34), HIGH(fixture_record(&r, 0, 0xb8)));
}

int main(void)
{
	RUN(it_ends_with_the_outermost_lock);
	RUN(an_abort_goes_back_to_the_lock);
	RUN(so_does_a_lock_in_it);
	RUN(what_must_be_in_the_lock);
	RUN(no_transaction_in_it);
	RUN(it_counts);
	RUN(it_is_recorded);
	return check_end();
}
