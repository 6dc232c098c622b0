/* SPDX-License-Identifier: MIT */
/*
 * Transactions: the state that an abort restores, the counts, and the abort information in a
 * record. "Intel TSX and PEBS Support", Table 18-51, "Performance Monitoring and Intel TSX"; volume
 * 1, "RTM Abort Status Definition".
 */
#include "host/check.h"
#include "host/model/fixture.h"

#define DATA	(FIXTURE_MEMORY_BASE + 0x3000)
#define AREA	(FIXTURE_MEMORY_BASE + 0x1000)	/* 192 lines, where no records are made */
#define FALLBACK 0x600000ULL
#define INNER	0x700000ULL
#define IN_TX	IA32_PERFEVTSEL_IN_TX
#define IN_TXCP	IA32_PERFEVTSEL_IN_TXCP
#define TX_FIELD(n) fixture_record(&r, n, 0xb8)
#define HIGH(value) ((value) & ~BITS(0, 31))
#define EAX	((u32)r.regs.gpr[REG_RAX])

static struct fixture r;

static void open(void)
{
	const struct model_config config = {
		.generation = GEN_BROADWELL, .hyper_threading = true,
	};

	fixture_open_config(&r, &config);
	fixture_ds(&r, 8, 8);
}

static enum tx_cause begin_at(u64 fallback)
{
	struct model_registers before = r.regs;
	bool outermost = !model_in_tx(&r.m);

	fixture_retire(&r,
		       &(struct model_retired){ .tx = outermost ? TX_STARTS : TX_STARTS_INNER });
	return model_tx_begin(&r.m, &before, fallback);
}

static void begin(void)
{
	CHECK_EQ(TX_FINE, begin_at(FALLBACK));
}

static void load(u64 linear)
{
	CHECK_EQ(TX_FINE, model_tx_compare(&r.m));
	CHECK_EQ(TX_FINE, model_tx_access(&r.m, linear, 8, false));
	fixture_load(&r, linear);
}

static void store(u64 linear, u64 value)
{
	CHECK_EQ(TX_FINE, model_tx_compare(&r.m));
	CHECK_EQ(TX_FINE, model_tx_access(&r.m, linear, 8, true));
	fixture_poke(&r, linear, value);
	fixture_store(&r, linear);
}

static void end(void)
{
	CHECK_EQ(TX_FINE, model_tx_may_end(&r.m));
	fixture_retire(&r, &(struct model_retired){ .tx = model_tx_outermost(&r.m) ?
								  TX_COMMITS :
								  TX_COMMITS_INNER });
	if (model_in_tx(&r.m))
		model_tx_end(&r.m);
}

static void abort_for(enum tx_cause cause, u8 code)
{
	model_tx_abort(&r.m, cause, code, r.ip, 0);
	CHECK(!model_in_tx(&r.m));
}

static void memory_and_registers(void)
{
	struct model_registers before;

	open();
	CHECK(model_has_tx(&r.m));
	CHECK(!model_needs_retire(&r.m), "with every counter off");
	for (unsigned i = 0; i < 64; i++)
		fixture_poke(&r, DATA + 8 * i, i);
	begin();
	CHECK(model_needs_retire(&r.m), "in a transaction");
	store(DATA + 8, 100);
	end();
	CHECK(!model_in_tx(&r.m) && !model_needs_retire(&r.m));
	CHECK_EQ(100, fixture_peek(&r, DATA + 8), "committed");

	before = r.regs;
	begin();
	store(DATA + 8, 200);
	store(DATA + 60, ~0ULL);
	store(DATA + 8, 300);
	abort_for(TX_EXPLICIT, 0x5a);
	for (unsigned i = 0; i < 64; i++)
		CHECK_EQ(i == 1 ? 100 : i, fixture_peek(&r, DATA + 8 * i));
	CHECK_EQ(FALLBACK, r.ip);
	CHECK_EQ(0x5a000001, r.regs.gpr[REG_RAX]);
	for (unsigned i = 1; i < REG_COUNT; i++)
		CHECK_EQ(before.gpr[i], r.regs.gpr[i]);
	CHECK_EQ(before.rflags, r.regs.rflags);
}

/* Bits of EAX: 0 XABORT, 1 retry, 2 conflict, 3 overflow, 4 debug, 5 nested, 31:24 code. */
static void what_software_is_told(void)
{
	static const struct {
		enum tx_cause cause;
		u32 eax;
		u64 high;
	} told[] = {
		{ TX_EXPLICIT, 0xff000001, BIT(33) | BIT(34) },
		{ TX_INSTRUCTION, 0, BIT(33) | BIT(34) },
		{ TX_EXCEPTION, 0, BIT(33) | BIT(34) },
		{ TX_DEBUG, 0x10, BIT(33) | BIT(34) },
		{ TX_MEMORY_TYPE, 0, BIT(33) | BIT(34) },
		{ TX_EVENT, 2, BIT(33) | BIT(35) | BIT(36) },
		{ TX_CONFLICT, 6, BIT(33) | BIT(35) | BIT(36) | BIT(37) },
		{ TX_CAPACITY_WRITES, 8, BIT(33) | BIT(35) | BIT(38) },
		{ TX_CAPACITY_READS, 8, BIT(33) | BIT(35) | BIT(39) },
	};

	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
		open();
		fixture_program_pebs(&r, 2, EVENT_RTM_RETIRED_ABORTED, 0, 1);
		fixture_start(&r, BIT(2));
		begin();
		abort_for(TX_EXPLICIT, 0);
		begin();
		fixture_nops(&r, 3);
		abort_for(told[i].cause, 0xff);
		CHECK_EQ(told[i].eax, EAX, "cause %u", told[i].cause);
		if (CHECK_EQ(1, fixture_records(&r)))
			CHECK_EQ(told[i].high | 3, TX_FIELD(0), "cause %u", told[i].cause);
	}
}

static void nesting(void)
{
	open();
	begin();
	CHECK_EQ(TX_FINE, begin_at(INNER));
	end();
	CHECK(model_in_tx(&r.m), "the inner one has ended only");
	store(DATA, 1);
	CHECK_EQ(TX_FINE, begin_at(INNER));
	abort_for(TX_INSTRUCTION, 0);
	CHECK_EQ(0x20, EAX, "nested");
	CHECK_EQ(FALLBACK, r.ip, "of the outermost");
	CHECK_EQ(0, fixture_peek(&r, DATA));

	for (unsigned i = 0; i < TX_DEPTH; i++)
		CHECK_EQ(TX_FINE, begin_at(INNER + i));
	CHECK_EQ(TX_NESTING, begin_at(INNER));
	abort_for(TX_NESTING, 0);
	CHECK_EQ(INNER, r.ip);
}

static bool read_zeros(void *ctx, u64 linear, void *to, size_t bytes)
{
	(void)ctx;
	(void)linear;
	memset(to, 0, bytes);
	return true;
}

static void capacity(void)
{
	open();
	begin();
	for (unsigned i = 0; i < TX_WRITES; i++)
		CHECK_EQ(TX_FINE, model_tx_access(&r.m, AREA + 64 * i, 8, true));
	CHECK_EQ(TX_FINE, model_tx_access(&r.m, AREA, 64, true), "again");
	CHECK_EQ(TX_CAPACITY_WRITES, model_tx_access(&r.m, AREA + 64 * TX_WRITES, 8, true));
	abort_for(TX_CAPACITY_WRITES, 0);

	r.host.read = read_zeros;
	begin();
	for (unsigned i = 0; i < TX_LINES; i++)
		CHECK_EQ(TX_FINE, model_tx_access(&r.m, 4096ULL * i, 1, false));
	CHECK_EQ(TX_FINE, model_tx_access(&r.m, 4096, 8, false));
	CHECK_EQ(TX_CAPACITY_READS, model_tx_access(&r.m, 64, 1, false));
	abort_for(TX_CAPACITY_READS, 0);
}

/* An access across a line's end accesses both lines. */
static void split(void)
{
	open();
	fixture_poke(&r, DATA + 60, 0x1122334455667788);
	begin();
	store(DATA + 60, 0);
	abort_for(TX_EVENT, 0);
	CHECK_EQ(0x1122334455667788, fixture_peek(&r, DATA + 60));
}

static enum tx_cause compare_after_some_instructions(void)
{
	enum tx_cause cause = TX_FINE;

	for (unsigned n = 0; n < TX_COMPARE_EVERY && cause == TX_FINE; n++)
		cause = model_tx_compare(&r.m);
	return cause;
}

/* Another processor writes a word that the transaction has read, and a word next to a written one,
 * which must keep its new value. */
static void conflicts(void)
{
	open();
	begin();
	load(DATA);
	fixture_poke(&r, DATA + 8, 5);
	CHECK_EQ(TX_CONFLICT, compare_after_some_instructions(), "read");
	abort_for(TX_CONFLICT, 0);
	CHECK_EQ(6, EAX);

	begin();
	store(DATA, 1);
	store(DATA + 128, 1);
	fixture_poke(&r, DATA + 8, 6);
	CHECK_EQ(TX_CONFLICT, model_tx_may_end(&r.m), "written");
	abort_for(TX_CONFLICT, 0);
	CHECK_EQ(0, fixture_peek(&r, DATA));
	CHECK_EQ(6, fixture_peek(&r, DATA + 8), "the other processor's");
	CHECK_EQ(0, fixture_peek(&r, DATA + 128));
}

static bool uncached(void *ctx, u64 linear, struct memory_page *page)
{
	(void)ctx;
	*page = (struct memory_page){ .physical = linear, .bits = 12, .type = MEMORY_UNCACHED };
	return true;
}

static void memory_types(void)
{
	open();
	begin();
	r.host.translate = uncached;
	CHECK_EQ(TX_MEMORY_TYPE, model_tx_access(&r.m, DATA, 8, false));
	abort_for(TX_MEMORY_TYPE, 0);
}

static void filters(void)
{
	open();
	fixture_program(&r, 0, EVENT_INST_RETIRED_ANY_P, IN_TX, 0);
	fixture_program(&r, 1, EVENT_INST_RETIRED_ANY_P, 0, 0);
	fixture_program(&r, 2, EVENT_INST_RETIRED_ANY_P, IN_TXCP, 0);
	fixture_start(&r, BITS(0, 2));
	fixture_nops(&r, 10);
	begin();
	fixture_nops(&r, 5);
	end();
	CHECK_EQ(6, fixture_get(&r, MSR_IA32_PMC0), "and XEND");
	CHECK_EQ(17, fixture_get(&r, MSR_IA32_PMC0 + 1));
	CHECK_EQ(17, fixture_get(&r, MSR_IA32_PMC0 + 2));
	begin();
	fixture_nops(&r, 5);
	abort_for(TX_EXPLICIT, 0);
	CHECK_EQ(11, fixture_get(&r, MSR_IA32_PMC0), "whether aborted or committed");
	CHECK_EQ(23, fixture_get(&r, MSR_IA32_PMC0 + 1));
	CHECK_EQ(18, fixture_get(&r, MSR_IA32_PMC0 + 2), "what came before the transaction");
	CHECK_EQ(MSR_GP, fixture_wrmsr(&r, MSR_IA32_PERFEVTSEL0, IN_TXCP), "PMC2 only");
}

static void begins_and_ends_are_counted(void)
{
	static const u32 event[4] = {
		EVENT_RTM_RETIRED_START, EVENT_RTM_RETIRED_COMMIT, EVENT_RTM_RETIRED_ABORTED,
		EVENT_TX_MEM_ABORT_CAPACITY_WRITE,
	};
	static const u64 want[4] = { 6, 2, 4, 1 };

	open();
	for (unsigned i = 0; i < 4; i++)
		fixture_program(&r, i, event[i], 0, 0);
	fixture_start(&r, BITS(0, 3));
	for (unsigned i = 0; i < 2; i++) {
		begin();
		CHECK_EQ(TX_FINE, begin_at(INNER));
		end();
		end();
	}
	for (unsigned i = 0; i < 3; i++) {
		begin();
		abort_for(TX_EXPLICIT, 0);
	}
	begin();
	abort_for(TX_CAPACITY_WRITES, 0);
	for (unsigned i = 0; i < 4; i++)
		CHECK_EQ(want[i], fixture_get(&r, MSR_IA32_PMC0 + i), "event %#x", event[i]);
}

static void aborts_are_recorded(void)
{
	u64 ip;

	open();
	fixture_program_pebs(&r, 1, EVENT_RTM_RETIRED_ABORTED, 0, 2);
	fixture_start(&r, BIT(1));
	for (unsigned i = 0; i < 2; i++) {
		begin();
		abort_for(TX_EXPLICIT, 1);
	}
	CHECK_EQ(0, fixture_records(&r));
	begin();
	fixture_nops(&r, 3);
	ip = r.ip;
	abort_for(TX_EXPLICIT, 1);
	CHECK_EQ(1, fixture_records(&r));
	CHECK_EQ(FALLBACK, fixture_record(&r, 0, 0x08));
	CHECK_EQ(ip, fixture_record(&r, 0, 0xb0));
	CHECK_EQ(BIT(33) | BIT(34) | 3, TX_FIELD(0));
	CHECK_EQ(0x01000001, fixture_record(&r, 0, 0x10), "EAX, with the code");
	begin();
	end();
	CHECK_EQ(1, fixture_records(&r), "a commit is no abort");
}

/* A record of another event inside a transaction aborts it. A record outside has the duration of
 * the last transaction, and no abort. */
static void a_record_aborts(void)
{
	open();
	fixture_program_pebs(&r, 0, EVENT_MEM_UOPS_RETIRED_ALL_LOADS, 0, 2);
	fixture_program(&r, 1, EVENT_RTM_RETIRED_ABORTED, 0, 0);
	fixture_start(&r, BIT(0) | BIT(1));
	begin();
	store(DATA, 9);
	load(DATA);
	load(DATA);
	CHECK(model_in_tx(&r.m));
	fixture_load(&r, DATA);
	CHECK(!model_in_tx(&r.m));
	CHECK_EQ(0, fixture_peek(&r, DATA));
	CHECK_EQ(1, fixture_records(&r));
	CHECK_EQ(FALLBACK, fixture_record(&r, 0, 0x08));
	CHECK_EQ(BIT(33) | BIT(35) | BIT(36), HIGH(TX_FIELD(0)));
	CHECK_EQ(1, fixture_get(&r, MSR_IA32_PMC0 + 1));
	begin();
	fixture_nops(&r, 4);
	end();
	for (unsigned i = 0; i < 3; i++)
		fixture_load(&r, DATA);
	if (CHECK_EQ(2, fixture_records(&r)))
		CHECK_EQ(5, TX_FIELD(1), "cycles of the last transaction");
}

static void not_on_other_processors(void)
{
	fixture_open_config(&r, &(struct model_config){ .generation = GEN_IVYBRIDGE });
	CHECK(!model_has_tx(&r.m));
	CHECK(!model_needs_retire(&r.m));
	CHECK_EQ(MSR_GP, fixture_wrmsr(&r, MSR_IA32_PERFEVTSEL0, IN_TX));
}

/* CPUID.07H:EBX[11] and [4] are 0, and the bits of the registers are gone too. */
static void where_it_is_switched_off(void)
{
	u32 on[4] = { 0, ~0u, 0, 0 }, off[4] = { 0, ~0u, 0, 0 };

	open();
	model_cpuid(&r.m, 7, 0, on);
	CHECK_EQ(MSR_DONE, fixture_wrmsr(&r, MSR_IA32_PERFEVTSEL0 + 2, IN_TX | IN_TXCP));
	fixture_open_config(&r, &(struct model_config){
				    .generation = GEN_BROADWELL,
				    .latitude = { .set = BIT(LAT_NO_RTM), .value[LAT_NO_RTM] = 1 },
			    });
	model_cpuid(&r.m, 7, 0, off);
	CHECK_EQ(BIT(11) | BIT(4), on[1] ^ off[1]);
	CHECK((on[1] & BIT(11)) && (on[1] & BIT(4)));
	CHECK(!model_has_tx(&r.m));
	CHECK_EQ(MSR_GP, fixture_wrmsr(&r, MSR_IA32_PERFEVTSEL0 + 2, IN_TX));
}

int main(void)
{
	RUN(memory_and_registers);
	RUN(what_software_is_told);
	RUN(nesting);
	RUN(capacity);
	RUN(split);
	RUN(conflicts);
	RUN(memory_types);
	RUN(filters);
	RUN(begins_and_ends_are_counted);
	RUN(aborts_are_recorded);
	RUN(a_record_aborts);
	RUN(not_on_other_processors);
	RUN(where_it_is_switched_off);
	return check_end();
}
