/* SPDX-License-Identifier: MIT */
/*
 * The exerciser's registers and commands, with the numbers from the tables of docs/EXERCISER.md:
 * the source that a load of the line finds afterwards.
 */
#include "host/check.h"
#include "host/model/fixture.h"
#include "refpmu/model/exerciser.h"

#define LOW		0x20
#define HIGH		0x24
#define LENGTH		0x28
#define PROCESSOR	0x2c
#define STATE		0x30
#define STATUS		0x34
#define LINES		0x38
#define DONE		2
#define A		(FIXTURE_MEMORY_BASE + 0x3000)
#define REMOTE		0x7000000000ULL

static struct fixture r;
static struct exerciser page;

/* Here addresses are physical, except for their upper bits. */
static bool translate(void *ctx, u64 linear, struct memory_page *found)
{
	(void)ctx;
	*found = (struct memory_page){ .physical = linear & BITS(0, 39), .bits = 12 };
	return true;
}

static bool cacheable(void *ctx, u64 physical, u64 bytes)
{
	(void)ctx;
	return physical < BIT(40) && physical + bytes <= BIT(40);
}

static void open_config(struct model_config *config)
{
	fixture_open_config(&r, config);
	page = (struct exerciser){ .word = { 0xffffffff, 0xffffffff } };
	r.host.exerciser = &page;
	r.host.cacheable = cacheable;
	r.host.translate = translate;
	r.host.remote_base = REMOTE;
	r.host.remote_bytes = 0x10000;
	model_init(&r.m, config, &r.host);
	fixture_stop(&r);
}

static void open_fault(enum fault_id fault)
{
	open_config(&(struct model_config){
		.generation = GEN_HASWELL, .fault = fault, .hyper_threading = true });
}

static void put(u32 offset, u64 value)
{
	model_exerciser_write(&r.m, offset, (u32)value);
}

static u32 get(u32 offset)
{
	return page.word[offset / 4];
}

static u32 command(u64 physical, u32 bytes, u32 processor, u32 state)
{
	put(LOW, physical);
	put(HIGH, physical >> 32);
	put(LENGTH, bytes);
	put(PROCESSOR, processor);
	put(STATE, state);
	return get(STATUS);
}

/* The data source of a load according to the events: exactly one of these counts. */
static const u16 events[] = {
	EVENT_MEM_LOAD_UOPS_RETIRED_HIT_LFB,
	EVENT_MEM_LOAD_UOPS_RETIRED_L3_HIT, EVENT_MEM_LOAD_UOPS_L3_HIT_RETIRED_XSNP_HITM,
	EVENT_MEM_LOAD_UOPS_RETIRED_L3_MISS,
};

static unsigned found_as(u64 linear)
{
	unsigned found = 0;

	for (unsigned i = 0; i < 4; i++)
		fixture_program(&r, i, events[i], 0, 0);
	fixture_start(&r, BITS(0, 3));
	fixture_nops(&r, 100);
	fixture_load(&r, linear);
	fixture_stop(&r);
	for (unsigned i = 0; i < 4; i++)
		found |= fixture_get(&r, MSR_IA32_PMC0 + i) ? 1U << i : 0;
	return found;
}

static void what_it_says_of_itself(void)
{
	open_fault(FAULT_NONE);
	CHECK_EQ(0x52584d50, get(0));
	CHECK_EQ(1, get(4));
	CHECK_EQ(0x1fe, get(8), "states 1 to 8");
	CHECK_EQ(64, get(0xc));
	CHECK_EQ(0x10000, get(0x10));
	CHECK_EQ((u32)REMOTE, get(0x14));
	CHECK_EQ(REMOTE >> 32, get(0x18));
	CHECK_EQ(0x10000, get(0x1c));
	CHECK_EQ(0, get(STATUS), "no command yet");
	for (u32 offset = 0; offset < 0x40; offset += 4) {
		u32 before = get(offset);
		bool writable = offset >= LOW && offset <= STATE;

		put(offset, 0x12345678);
		CHECK_EQ(writable	  ? 0x12345678 :
			 offset == STATUS ? get(STATUS) :
					    before,
			 get(offset), "register %#x", offset);
	}
	put(0x40, 1);
	put(0xffc, 1);
}

static void it_may_be_absent(void)
{
	struct model_config config = { .generation = GEN_HASWELL, .hyper_threading = true };

	config.latitude.set = BIT(LAT_NO_EXERCISER);
	config.latitude.value[LAT_NO_EXERCISER] = 1;
	open_config(&config);
	command(0x3000, 64, 0, 1);
	for (unsigned i = 0; i < EXERCISER_WORDS; i++)
		CHECK_EQ(0, page.word[i], "word %u", i);
	config.latitude.set = 0;
	config.latitude.profile = PROFILE_KVM;
	open_config(&config);
	CHECK_EQ(0, get(0), "KVM has none");
}

static void loads_find_lines_there(void)
{
	static const unsigned found[] = {
		[1] = 8, [2] = 2, [3] = 2, [4] = 2, [5] = 4, [6] = 8, [7] = 8, [8] = 1
	};

	for (u32 state = 1; state <= 8; state++) {
		open_fault(FAULT_NONE);
		CHECK_EQ(0, found_as(A) & 1, "some fetch before");
		CHECK_EQ(0, found_as(A), "it is near");
		CHECK_EQ(DONE, command(A & BITS(0, 39), 1, 0, state));
		CHECK_EQ(1, get(LINES));
		CHECK_EQ(found[state] | (state == 5 ? 2 : 0), found_as(A), "state %u", state);
		CHECK_EQ(0, found_as(A), "and near again");
	}
}

static void all_lines_of_a_range(void)
{
	open_fault(FAULT_NONE);
	CHECK_EQ(DONE, command((A & BITS(0, 39)) + 63, 0x82, 0, 2));
	CHECK_EQ(4, get(LINES), "three lines and a byte of each neighbour");
	for (unsigned i = 0; i < 4; i++)
		CHECK_EQ(2, found_as(A + 64 * i), "line %u", i);
	CHECK_EQ(8, found_as(A + 64 * 4));
	CHECK_EQ(DONE, command(0x10000, 0x10000, 0, 4));
	CHECK_EQ(1024, get(LINES));
}

static void what_it_refuses(void)
{
	open_fault(FAULT_NONE);
	CHECK_EQ(3, command(0x3000, 64, 0, 0), "no such state");
	CHECK_EQ(3, command(0x3000, 64, 0, 9));
	CHECK_EQ(3, command(0x3000, 64, 0, 0x80000001));
	CHECK_EQ(4, command(BIT(40) - 64, 65, 0, 1));
	CHECK_EQ(4, command(~0ULL, 1, 0, 1));
	CHECK_EQ(5, command(0x3000, 0, 0, 1));
	CHECK_EQ(5, command(0x3000, 0x10001, 0, 1));
	CHECK_EQ(5, command(0x3000, 65, 0, 8), "one line only");
	CHECK_EQ(6, command(0x3000, 64, 1, 1), "there is one processor");
	CHECK_EQ(0, get(LINES));
	CHECK_EQ(DONE, command(0x3000, 64, 0, 8));
}

static void how_it_breaks(void)
{
	static const struct {
		enum fault_id fault;
		u32 status, lines, found;
	} faults[] = {
		{ FAULT_EXERCISER_SILENT, 1, 0, 8 }, { FAULT_EXERCISER_REFUSES, 7, 0, 8 },
		{ FAULT_EXERCISER_PARTIAL, DONE, 1, 8 }, { FAULT_EXERCISER_IDLE, DONE, 2, 8 },
		{ FAULT_EXERCISER_MISPLACES, DONE, 2, 2 },
	};

	for (unsigned i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		open_fault(faults[i].fault);
		CHECK_EQ(faults[i].status, command(A & BITS(0, 39), 128, 0, 5));
		CHECK_EQ(faults[i].lines, get(LINES));
		CHECK_EQ(faults[i].found, found_as(A + 64), "not where it was to be");
	}
}

int main(void)
{
	RUN(what_it_says_of_itself);
	RUN(it_may_be_absent);
	RUN(loads_find_lines_there);
	RUN(all_lines_of_a_range);
	RUN(what_it_refuses);
	RUN(how_it_breaks);
	return check_end();
}
