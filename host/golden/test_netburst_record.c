/* SPDX-License-Identifier: MIT */
/* The decoder must read NetBurst's golden bytes as their numbers, and must find no other field. */
#include "host/check.h"

#include "host/golden/netburst_bytes.h"
#include "pmu/record.h"

struct want {
	const char *name;
	u64 value;
};

static const struct want want_32[] = {
	{ "rflags", 0x246 },	{ "rip", 0x87654321 },
	{ "rax", 0xa3a2a1a0 },	{ "rbx", 0xb3b2b1b0 },
	{ "rcx", 0xc3c2c1c0 },	{ "rdx", 0xd3d2d1d0 },
	{ "rsi", 0xe3e2e1e0 },	{ "rdi", 0xf3f2f1f0 },
	{ "rbp", 0x53525150 },	{ "rsp", 0x63626160 },
};

static const struct want want_64[] = {
	{ "rflags", 0x247 },		{ "rip", 0x401003 },
	{ "rax", 0xa7a6a5a4a3a2a1a0 },	{ "rbx", 0xb7b6b5b4b3b2b1b0 },
	{ "rcx", 0xc7c6c5c4c3c2c1c0 },	{ "rdx", 0xd7d6d5d4d3d2d1d0 },
	{ "rsi", 0xe7e6e5e4e3e2e1e0 },	{ "rdi", 0xf7f6f5f4f3f2f1f0 },
	{ "rbp", 0x5756555453525150 },	{ "rsp", 0x6766656463626160 },
	{ "r8", 0x7868584838281808 },	{ "r9", 0x7969594939291909 },
	{ "r10", 0x7a6a5a4a3a2a1a0a },	{ "r11", 0x7b6b5b4b3b2b1b0b },
	{ "r12", 0x7c6c5c4c3c2c1c0c },	{ "r13", 0x7d6d5d4d3d2d1d0d },
	{ "r14", 0x7e6e5e4e3e2e1e0e },	{ "r15", 0x7f6f5f4f3f2f1f0f },
};

static void is_read(enum record_format format, const u8 *bytes, size_t size,
		    const struct want *want, size_t fields)
{
	struct pebs_record record;
	size_t found = 0, present = 0;

	CHECK_EQ(size, record_size(format));
	if (!CHECK(record_decode(format, bytes, size, &record)))
		return;
	for (unsigned f = 0; f < RECORD_FIELDS; f++) {
		u64 value = 0;

		if (!record_get(&record, (enum record_field)f, &value))
			continue;
		present++;
		for (size_t i = 0; i < fields; i++) {
			if (strcmp(want[i].name, record_field_name((enum record_field)f)))
				continue;
			CHECK_EQ(want[i].value, value, "%s", want[i].name);
			found++;
		}
	}
	CHECK_EQ(fields, found);
	CHECK_EQ(fields, present);
}

static void decoder_reads_the_record_of_40_bytes(void)
{
	is_read(RECORD_NB32, golden_netburst_32, sizeof(golden_netburst_32), want_32,
		sizeof(want_32) / sizeof(want_32[0]));
}

static void decoder_reads_the_record_of_144_bytes(void)
{
	is_read(RECORD_NB64, golden_netburst_64, sizeof(golden_netburst_64), want_64,
		sizeof(want_64) / sizeof(want_64[0]));
}

int main(void)
{
	RUN(decoder_reads_the_record_of_40_bytes);
	RUN(decoder_reads_the_record_of_144_bytes);
	return check_end();
}
