/* SPDX-License-Identifier: MIT */
/* A generated fault of the record changes the bytes that its sentence names, and no others. */
#include "host/check.h"
#include "host/model/fixture.h"

#define ADDRESS	(FIXTURE_MEMORY_BASE + 0x3000)
#define BYTES	(3 * FIXTURE_RECORD)

static struct fixture r;
static u8 good[BYTES], broken[BYTES];

/* Two records of stores that hit, in a buffer with other old contents. */
static void records(enum fault_id fault, u8 *bytes)
{
	fixture_open(&r, fault, 0, true);
	fixture_ds(&r, 8, 8);
	memset(r.memory + 0x1000, 0x5e, 0x1000);
	fixture_program_pebs(&r, 0, EVENT_MEM_UOPS_RETIRED_ALL_STORES, 0, 2);
	fixture_start(&r, BIT(0));
	for (int i = 0; i < 6; i++)
		fixture_store(&r, ADDRESS + 0x40ULL * (unsigned)(i / 3));
	memcpy(bytes, r.memory + 0x1000, BYTES);
}

/* Every byte that differs is in a field of this set: bit n is the field at 8 * n. */
static void check(const char *name, u64 may)
{
	u64 differs = 0;

	for (unsigned i = 0; i < BYTES; i++)
		if (good[i] != broken[i] && !(may >> i % FIXTURE_RECORD / 8 & 1) &&
		    /* If the last field is shifted, it extends beyond the record. */
		    !(may >> 24 & 1 && i % FIXTURE_RECORD < 8))
			differs |= BIT(i % FIXTURE_RECORD / 8);
	CHECK_EQ(0, differs, "%s", name);
}

static u64 field(const u8 *bytes, unsigned record, unsigned offset)
{
	u64 value;

	memcpy(&value, bytes + record * FIXTURE_RECORD + offset, sizeof(value));
	return value;
}

enum {
#define RECORD_FIELD(format, field, offset, size, title) format##_OFFSET_##field = (offset),
#include "spec/record.def"
};

static void one_field(const char *name, unsigned offset, enum fault_id zero, enum fault_id stale,
		      enum fault_id shifted)
{
	u64 own = BIT(offset / 8);

	records(zero, broken);
	check(name, own);
	CHECK_EQ(0, field(broken, 0, offset), "%s", name);
	records(stale, broken);
	check(name, own);
	CHECK(field(broken, 0, offset) != field(good, 0, offset), "%s", name);
	CHECK_EQ(field(good, 0, offset), field(broken, 1, offset), "%s", name);
	records(shifted, broken);
	check(name, own | own << 1);
	CHECK_EQ(field(good, 1, offset), field(broken, 1, offset + 8), "%s", name);
}

static void fields_alone(void)
{
	records(FAULT_NONE, good);
#define FAULT(token, name, requirements, sentence, ...)
#define FAULT_RECORD_FIELD(token, field, name, requirements, title, ...) \
	one_field(name, FMT2_OFFSET_##field, FAULT_##token##_ZERO, FAULT_##token##_STALE, \
		  FAULT_##token##_SHIFTED);
#include "refpmu/faults/fault_record.def"
#undef FAULT
}

static void two_fields(const char *name, unsigned offset, enum fault_id swapped)
{
	records(swapped, broken);
	check(name, 3ULL << offset / 8);
	for (unsigned n = 0; n < 2; n++) {
		CHECK_EQ(field(good, n, offset + 8), field(broken, n, offset), "%s", name);
		CHECK_EQ(field(good, n, offset), field(broken, n, offset + 8), "%s", name);
	}
}

static void neighbours(void)
{
	records(FAULT_NONE, good);
#define FAULT(token, name, requirements, sentence, ...)
#define FAULT_RECORD_PAIR(token, field, name, requirements, title, ...) \
	two_fields(name, FMT2_OFFSET_##field, FAULT_##token##_SWAPPED);
#include "refpmu/faults/fault_record.def"
#undef FAULT
}

int main(void)
{
	RUN(fields_alone);
	RUN(neighbours);
	return check_end();
}
