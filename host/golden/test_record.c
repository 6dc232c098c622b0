/* SPDX-License-Identifier: MIT */
/* The decoder reads the golden bytes as the numbers that they are. */
#include "host/check.h"

#include "host/golden/record_bytes.h"
#include "pmu/record.h"

static u64 field(const struct pebs_record *record, const char *name)
{
	for (unsigned f = 0; f < RECORD_FIELDS; f++) {
		u64 value = 0;

		if (strcmp(record_field_name((enum record_field)f), name))
			continue;
		CHECK(record_get(record, (enum record_field)f, &value), "%s", name);
		return value;
	}
	CHECK(false, "no field %s", name);
	return 0;
}

static void decoder_reads_the_golden_bytes(void)
{
	static const struct { const char *name; u64 value; } want[] = {
		{ "rflags", GOLDEN_RFLAGS },	{ "rip", GOLDEN_NEXT_IP },
		{ "rax", GOLDEN_RAX },		{ "rbx", GOLDEN_RBX },
		{ "rcx", GOLDEN_RCX },		{ "rdx", GOLDEN_RDX },
		{ "rsi", GOLDEN_RSI },		{ "rdi", GOLDEN_RDI },
		{ "rbp", GOLDEN_RBP },		{ "rsp", GOLDEN_RSP },
		{ "r8", GOLDEN_R8 },		{ "r9", GOLDEN_R9 },
		{ "r10", GOLDEN_R10 },		{ "r11", GOLDEN_R11 },
		{ "r12", GOLDEN_R12 },		{ "r13", GOLDEN_R13 },
		{ "r14", GOLDEN_R14 },		{ "r15", GOLDEN_R15 },
		{ "status", GOLDEN_STATUS },	{ "data_linear_address", GOLDEN_ADDRESS },
		{ "data_source", 0 },		{ "latency", 0 },
		{ "eventing_ip", GOLDEN_EVENTING_IP }, { "tx_abort", 0 },
	};
	struct pebs_record record;
	enum record_format format;

	/* "0010B: ... load latency data, and TSX tuning information" is the Haswell format. */
	if (!CHECK(record_format_from_caps(2, &format)))
		return;
	CHECK_EQ(sizeof(golden_record), record_size(format));
	if (!CHECK(record_decode(format, golden_record, sizeof(golden_record), &record)))
		return;
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		CHECK_EQ(want[i].value, field(&record, want[i].name), "%s", want[i].name);
}

int main(void)
{
	RUN(decoder_reads_the_golden_bytes);
	return check_end();
}
