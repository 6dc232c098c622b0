/* SPDX-License-Identifier: MIT */
/* The decoder must read the golden bytes as their numbers. */
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
	static const struct {
		const char *name;
		u64 value;
	} want[] = {
		{ "rflags", GOLDEN_RFLAGS },
		{ "rip", GOLDEN_NEXT_IP },
		{ "rax", GOLDEN_RAX },
		{ "rbx", GOLDEN_RBX },
		{ "rcx", GOLDEN_RCX },
		{ "rdx", GOLDEN_RDX },
		{ "rsi", GOLDEN_RSI },
		{ "rdi", GOLDEN_RDI },
		{ "rbp", GOLDEN_RBP },
		{ "rsp", GOLDEN_RSP },
		{ "r8", GOLDEN_R8 },
		{ "r9", GOLDEN_R9 },
		{ "r10", GOLDEN_R10 },
		{ "r11", GOLDEN_R11 },
		{ "r12", GOLDEN_R12 },
		{ "r13", GOLDEN_R13 },
		{ "r14", GOLDEN_R14 },
		{ "r15", GOLDEN_R15 },
		{ "status", GOLDEN_STATUS },
		{ "data_linear_address", GOLDEN_ADDRESS },
		{ "data_source", 0 },
		{ "latency", 0 },
		{ "eventing_ip", GOLDEN_EVENTING_IP },
		{ "tx_abort", 0 },
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

/*
 * Table 18-51 at B8H: 31:0 cycles, 32 HLE_Abort, 33 RTM_Abort, 34 Instruction_Abort, 35
 * Non_Instruction_Abort, 36 Retry, 37 Data_Conflict, 38 Capacity_Writes, 39 Capacity_Reads. An RTM
 * abort by too many stores, which isn't assigned to an instruction, after 4660 cycles: bits 33, 35,
 * 38.
 */
static void decoder_reads_an_abort(void)
{
	static const u8 abort[8] = { 0x34, 0x12, 0x00, 0x00, 0x4a, 0x00, 0x00, 0x00 };
	u8 bytes[sizeof(golden_record)];
	struct pebs_record record;
	enum record_format format;

	memcpy(bytes, golden_record, sizeof(bytes));
	memcpy(bytes + 0xb8, abort, sizeof(abort));
	if (!CHECK(record_format_from_caps(2, &format)) ||
	    !CHECK(record_decode(format, bytes, sizeof(bytes), &record)))
		return;
	CHECK_EQ(0x0000004a00001234ULL, field(&record, "tx_abort"));
	CHECK_EQ(GOLDEN_EVENTING_IP, field(&record, "eventing_ip"));
	CHECK_EQ(0, field(&record, "latency"));
}

int main(void)
{
	RUN(decoder_reads_the_golden_bytes);
	RUN(decoder_reads_an_abort);
	return check_end();
}
