/* SPDX-License-Identifier: MIT */
/*
 * Adaptive records, typed by hand from what Linux (setup_pebs_adaptive_sample_data, struct
 * pebs_basic, pebs_meminfo, pebs_gprs, pebs_xmm, lbr_entry, pebs_cntr_header) and kvm-unit-tests
 * (get_pebs_record_size) say of them; nothing here comes from spec/.
 */
#include "host/check.h"

#include "pmu/adaptive.h"
#include "pmu/record.h"
#include "spec/msr.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* With 32 entries of the LBR group. */
static void sizes_of_the_16_combinations(void)
{
	static const u16 want[16] = {
		0x20, 0x40, 0xb0, 0xd0, 0x120, 0x140, 0x1b0, 0x1d0,
		0x320, 0x340, 0x3b0, 0x3d0, 0x420, 0x440, 0x4b0, 0x4d0,
	};

	for (unsigned i = 0; i < 16; i++) {
		struct adaptive_layout layout;

		if (CHECK(adaptive_lay_out(0x1f000000 | i, &layout)))
			CHECK_EQ(want[i], layout.size, "MSR_PEBS_DATA_CFG[3:0] = %x", i);
	}
	CHECK_EQ(0x5b0, RECORD_ADAPTIVE_MAX_SIZE);
	CHECK_EQ(0x20, record_size(RECORD_ADAPTIVE_BASIC));
	CHECK_EQ(0xd0, record_size(RECORD_ADAPTIVE));
}

static void registers_of_adaptive_records(void)
{
	CHECK_EQ(0x3f2, MSR_PEBS_DATA_CFG);
	CHECK_EQ(1, PEBS_DATA_CFG_MEMORY);
	CHECK_EQ(2, PEBS_DATA_CFG_GPR);
	CHECK_EQ(4, PEBS_DATA_CFG_XMM);
	CHECK_EQ(8, PEBS_DATA_CFG_LBR);
	CHECK_EQ(0xff000000, PEBS_DATA_CFG_LBR_ENTRIES);
	CHECK_EQ(0x10, PEBS_DATA_CFG_CNTR);
	CHECK_EQ(0x20, PEBS_DATA_CFG_METRICS);
	CHECK_EQ(0x0000ffff00000000, PEBS_DATA_CFG_CNTR_GP);
	CHECK_EQ(0x00ff000000000000, PEBS_DATA_CFG_CNTR_FIXED);
	CHECK_EQ(0x0000000400000000, IA32_PERFEVTSEL_ADAPTIVE);
	CHECK_EQ(0x0000000100000000, IA32_FIXED_CTR_CTRL_ADAPTIVE0);
	CHECK_EQ(0x0000001000000000, IA32_FIXED_CTR_CTRL_ADAPTIVE1);
	CHECK_EQ(0x0000010000000000, IA32_FIXED_CTR_CTRL_ADAPTIVE2);
	CHECK_EQ(0x0000100000000000, IA32_FIXED_CTR_CTRL_ADAPTIVE3);
	CHECK_EQ(0x4000, IA32_PERF_CAPABILITIES_PEBS_BASELINE);
	CHECK_EQ(0x8000, IA32_PERF_CAPABILITIES_PERF_METRICS);
	CHECK_EQ(0x80000, IA32_PERF_CAPABILITIES_RDPMC_METRICS_CLEAR);
	CHECK_EQ(0x329, MSR_PERF_METRICS);
	CHECK_EQ(0x0001000000000000, IA32_PERF_GLOBAL_CTRL_EN_PERF_METRICS);
}

/* Every group, two LBR entries: 20H + 20H + 90H + 100H + 30H = 200H bytes. A load of 3 bytes at
 * 401000H of counter 5, 1234H the newest branch's INFO. Big numbers for what is read as one. */
static const u8 golden_adaptive[0x200] = {
	/* 000 format */	0x0f, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x02,
	/* 008 EventingIP */	0x00, 0x10, 0x40, 0x00, 0x00, 0x00, 0x00, 0x00,
	/* 010 applicable */	0x20, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00,
	/* 018 TSC */		0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11,
	/* 020 address */	0x90, 0x91, 0x92, 0x93, 0x94, 0x0f, 0x00, 0x00,
	/* 028 source */	0x21, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	/* 030 latency */	0x07, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	/* 038 TX */		0x34, 0x12, 0x00, 0x00, 0x4a, 0x00, 0x00, 0x00,
	/* 040 RFLAGS */	0x47, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	/* 048 RIP */		0x03, 0x10, 0x40, 0x00, 0x00, 0x00, 0x00, 0x00,
	/* 050 RAX */		0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7,
	/* 058 RCX */		0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7,
	/* 060 RDX */		0xd0, 0xd1, 0xd2, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7,
	/* 068 RBX */		0xb0, 0xb1, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7,
	/* 070 RSP */		0x60, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67,
	/* 078 RBP */		0x50, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57,
	/* 080 RSI */		0xe0, 0xe1, 0xe2, 0xe3, 0xe4, 0xe5, 0xe6, 0xe7,
	/* 088 RDI */		0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7,
	/* 090 R8 */		0x08, 0x18, 0x28, 0x38, 0x48, 0x58, 0x68, 0x78,
	/* 098 R9 */		0x09, 0x19, 0x29, 0x39, 0x49, 0x59, 0x69, 0x79,
	/* 0a0 R10 */		0x0a, 0x1a, 0x2a, 0x3a, 0x4a, 0x5a, 0x6a, 0x7a,
	/* 0a8 R11 */		0x0b, 0x1b, 0x2b, 0x3b, 0x4b, 0x5b, 0x6b, 0x7b,
	/* 0b0 R12 */		0x0c, 0x1c, 0x2c, 0x3c, 0x4c, 0x5c, 0x6c, 0x7c,
	/* 0b8 R13 */		0x0d, 0x1d, 0x2d, 0x3d, 0x4d, 0x5d, 0x6d, 0x7d,
	/* 0c0 R14 */		0x0e, 0x1e, 0x2e, 0x3e, 0x4e, 0x5e, 0x6e, 0x7e,
	/* 0c8 R15 */		0x0f, 0x1f, 0x2f, 0x3f, 0x4f, 0x5f, 0x6f, 0x7f,
	/* 0d0 XMM0 63:0 */	0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,
	/* 0d8 XMM0 127:64 */	0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,
	[0x1c0] =		/* XMM15 63:0 */
				0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8,
	/* 1c8 XMM15 127:64 */	0xe1, 0xe2, 0xe3, 0xe4, 0xe5, 0xe6, 0xe7, 0xe8,
	/* 1d0 FROM 0 */	0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0xff, 0xff,
	/* 1d8 TO 0 */		0x11, 0x21, 0x31, 0x41, 0x51, 0x61, 0xff, 0xff,
	/* 1e0 INFO 0 */	0x34, 0x12, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80,
	/* 1e8 FROM 1 */	0x12, 0x22, 0x32, 0x42, 0x52, 0x62, 0x00, 0x00,
	/* 1f0 TO 1 */		0x13, 0x23, 0x33, 0x43, 0x53, 0x63, 0x00, 0x00,
	/* 1f8 INFO 1 */	0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
};

static void golden_bytes_are_read(void)
{
	static const struct {
		enum adaptive_group group;
		unsigned offset;
		u64 value;
	} want[] = {
		{ GROUP_BASIC, 0x00, 0x020000000100000f },
		{ GROUP_BASIC, 0x08, 0x401000 },
		{ GROUP_BASIC, 0x10, 0x0000000800000020 },
		{ GROUP_BASIC, 0x18, 0x1122334455667788 },
		{ GROUP_MEMORY, 0x00, 0x00000f9493929190 },
		{ GROUP_MEMORY, 0x08, 0x21 },
		{ GROUP_MEMORY, 0x10, 0x107 },
		{ GROUP_MEMORY, 0x18, 0x0000004a00001234 },
		{ GROUP_GPR, 0x00, 0x247 },
		{ GROUP_GPR, 0x08, 0x401003 },
		{ GROUP_GPR, 0x10, 0xa7a6a5a4a3a2a1a0 },
		{ GROUP_GPR, 0x18, 0xc7c6c5c4c3c2c1c0 },
		{ GROUP_GPR, 0x28, 0xb7b6b5b4b3b2b1b0 },
		{ GROUP_GPR, 0x88, 0x7f6f5f4f3f2f1f0f },
		{ GROUP_XMM, 0x00, 0x0807060504030201 },
		{ GROUP_XMM, 0x08, 0x1817161514131211 },
		{ GROUP_XMM, 0xf0, 0xf8f7f6f5f4f3f2f1 },
		{ GROUP_XMM, 0xf8, 0xe8e7e6e5e4e3e2e1 },
		{ GROUP_LBR, 0x00, 0xffff605040302010 },
		{ GROUP_LBR, 0x08, 0xffff615141312111 },
		{ GROUP_LBR, 0x10, 0x8000000000001234 },
		{ GROUP_LBR, 0x18, 0x0000625242322212 },
		{ GROUP_LBR, 0x20, 0x0000635343332313 },
		{ GROUP_LBR, 0x28, 0xffff },
	};
	struct adaptive_layout layout;

	if (!CHECK_EQ(ADAPTIVE_WHOLE, adaptive_read(golden_adaptive, 0x200, &layout)))
		return;
	CHECK_EQ(0x200, layout.size);
	CHECK_EQ(0x0100000f, layout.config);
	CHECK_EQ(2, layout.entries);
	for (size_t i = 0; i < COUNT(want); i++) {
		u64 value;

		memcpy(&value, golden_adaptive + layout.offset[want[i].group] + want[i].offset,
		       sizeof(value));
		CHECK_EQ(want[i].value, value, "group %u offset %x", want[i].group, want[i].offset);
	}
}

/* The memory and GPR groups, with the field names of older formats. */
static void golden_bytes_have_the_names_of_older_formats(void)
{
	static const struct {
		enum record_field field;
		u64 value;
	} want[] = {
		{ RECORD_eventing_ip, 0x401000 },
		{ RECORD_applicable, 0x0000000800000020 },
		{ RECORD_tsc, 0x1122334455667788 },
		{ RECORD_data_linear_address, 0x00000f9493929190 },
		{ RECORD_data_source, 0x21 },
		{ RECORD_latency, 0x107 },
		{ RECORD_tx_abort, 0x0000004a00001234 },
		{ RECORD_rflags, 0x247 },
		{ RECORD_rip, 0x401003 },
		{ RECORD_rax, 0xa7a6a5a4a3a2a1a0 },
		{ RECORD_rcx, 0xc7c6c5c4c3c2c1c0 },
		{ RECORD_rdx, 0xd7d6d5d4d3d2d1d0 },
		{ RECORD_rbx, 0xb7b6b5b4b3b2b1b0 },
		{ RECORD_rsp, 0x6766656463626160 },
		{ RECORD_rbp, 0x5756555453525150 },
		{ RECORD_rsi, 0xe7e6e5e4e3e2e1e0 },
		{ RECORD_rdi, 0xf7f6f5f4f3f2f1f0 },
		{ RECORD_r8, 0x7868584838281808 },
		{ RECORD_r15, 0x7f6f5f4f3f2f1f0f },
	};
	enum record_format format;
	struct pebs_record record;
	u64 value;

	CHECK_EQ(3, RECORD_ADAPTIVE_CONFIG);
	for (unsigned number = 4; number <= 6; number++)
		if (CHECK(record_format_from_caps(number, &format), "%u", number))
			CHECK_EQ(RECORD_ADAPTIVE_BASIC, format, "%u", number);
	CHECK(!record_format_from_caps(7, &format) && !record_format_from_caps(15, &format));
	if (CHECK(record_decode(RECORD_ADAPTIVE, golden_adaptive, 0xd0, &record)))
		for (size_t i = 0; i < COUNT(want); i++)
			CHECK(record_get(&record, want[i].field, &value) && value == want[i].value,
			      "%s", record_field_name(want[i].field));
	if (CHECK(record_decode(RECORD_ADAPTIVE_BASIC, golden_adaptive, 0x20, &record)))
		for (size_t i = 0; i < COUNT(want); i++)
			CHECK_EQ(i < 3, record_get(&record, want[i].field, &value), "%s",
				 record_field_name(want[i].field));
}

/* Of formats 5 and 6: Linux's struct pebs_cntr_header, PEBS_DATACFG_* and struct debug_store. */
static void later_formats_are_as_linux_has_them(void)
{
	enum record_format format;

	for (unsigned f = 4; f <= 6; f++)
		if (CHECK(record_format_from_caps(f, &format), "format %u", f))
			CHECK_EQ(RECORD_ADAPTIVE_BASIC, format, "format %u", f);
	CHECK(!record_format_from_caps(7, &format));
	CHECK_EQ(5, PEBS_FORMAT_MORE_RESETS);
	CHECK_EQ(6, PEBS_FORMAT_SNAPSHOT);
	CHECK_EQ(0x10, PEBS_DATA_CFG_CNTR);
	CHECK_EQ(0x20, PEBS_DATA_CFG_METRICS);
	CHECK_EQ(0x0000ffff00000000, PEBS_DATA_CFG_CNTR_GP);
	CHECK_EQ(0x00ff000000000000, PEBS_DATA_CFG_CNTR_FIXED);
	CHECK_EQ(16, ADAPTIVE_COUNTERS_BYTES);
	CHECK_EQ(0, ADAPTIVE_COUNTERS_gp);
	CHECK_EQ(4, ADAPTIVE_COUNTERS_fixed);
	CHECK_EQ(8, ADAPTIVE_COUNTERS_metrics);
	CHECK_EQ(12, ADAPTIVE_COUNTERS_reserved);
	CHECK_EQ(3, ADAPTIVE_COUNTERS_METRICS);
	CHECK_EQ(0x78, ADAPTIVE_DS_pebs_counter7_reset);
	CHECK_EQ(0x80, ADAPTIVE_DS_MORE_pebs_counter8_reset);
	CHECK_EQ(0x88, ADAPTIVE_DS_MORE_pebs_counter9_reset);
	CHECK_EQ(0x140, ADAPTIVE_DS_5_pebs_fixed_counter0_reset);
	CHECK_EQ(0x158, ADAPTIVE_DS_5_pebs_fixed_counter3_reset);
	CHECK_EQ(0x160, ADAPTIVE_DS_MORE_pebs_fixed_counter4_reset);
	CHECK_EQ(0x170, ADAPTIVE_DS_MORE_pebs_fixed_counter6_reset);
}

/*
 * Format 6. Linux struct pebs_cntr_header and __setup_pebs_counter_group: the group's head says
 * which counters follow, those of the first word first; 3 at 08H: two values more. 20H bytes of the
 * basic group, 18H of one LBR entry, 10H of the head; IA32_PMC1 and IA32_PMC9, fixed counters 0 and
 * 2, slots and metrics: 30H. A retire latency of 5555H.
 */
static const u8 golden_counters[0x78] = {
	/* 000 format */	0x38, 0x00, 0x00, 0x00, 0x55, 0x55, 0x78, 0x00,
	/* 008 EventingIP */	0x00, 0x10, 0x40, 0x00, 0x00, 0x00, 0x00, 0x00,
	/* 010 applicable */	0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	/* 018 TSC */		0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11,
	/* 020 FROM 0 */	0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0xff, 0xff,
	/* 028 TO 0 */		0x11, 0x21, 0x31, 0x41, 0x51, 0x61, 0xff, 0xff,
	/* 030 INFO 0 */	0x34, 0x12, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80,
	/* 038 GP, fixed */	0x02, 0x02, 0x00, 0x00, 0x05, 0x00, 0x00, 0x00,
	/* 040 metrics */	0x03, 0x00, 0x00, 0x00, 0xa5, 0xa5, 0xa5, 0xa5,
	/* 048 IA32_PMC1 */	0x01, 0x11, 0x21, 0x31, 0x41, 0xff, 0x00, 0x00,
	/* 050 IA32_PMC9 */	0x09, 0x19, 0x29, 0x39, 0x49, 0x59, 0x00, 0x00,
	/* 058 fixed 0 */	0x0a, 0x1a, 0x2a, 0x3a, 0x4a, 0x5a, 0x00, 0x00,
	/* 060 fixed 2 */	0x0c, 0x1c, 0x2c, 0x3c, 0x4c, 0x5c, 0x00, 0x00,
	/* 068 slots */		0x00, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	/* 070 metrics */	0x80, 0x20, 0x30, 0x2f, 0x10, 0x10, 0x18, 0x08,
};

static void golden_counters_are_read(void)
{
	static const struct {
		unsigned offset;
		u64 value;
	} want[] = {
		{ 0x00, 0x0000000500000202 },
		{ 0x10, 0x0000ff4131211101 },
		{ 0x18, 0x0000594939291909 },
		{ 0x20, 0x00005a4a3a2a1a0a },
		{ 0x28, 0x00005c4c3c2c1c0c },
		{ 0x30, 0x1000 },
		{ 0x38, 0x081810102f302080 },
	};
	struct adaptive_layout layout;

	if (!CHECK_EQ(ADAPTIVE_WHOLE, adaptive_read(golden_counters, 0x78, &layout)))
		return;
	CHECK_EQ(0x78, layout.size);
	CHECK_EQ(0x0005020200000038, layout.config);
	CHECK_EQ(0x202, layout.gp);
	CHECK_EQ(5, layout.fixed);
	CHECK_EQ(1, layout.metrics);
	CHECK_EQ(1, layout.entries);
	CHECK_EQ(0x38, layout.offset[GROUP_COUNTERS]);
	for (size_t i = 0; i < COUNT(want); i++) {
		u64 value;

		memcpy(&value, golden_counters + layout.offset[GROUP_COUNTERS] + want[i].offset,
		       sizeof(value));
		CHECK_EQ(want[i].value, value, "offset %x", want[i].offset);
	}
}

/* MSR_PEBS_DATA_CFG and the size of its record in bytes. */
static void sizes_with_counters(void)
{
	static const struct {
		u64 config;
		u16 size;
	} want[] = {
		{ 0x0000000000000010, 0x30 },
		{ 0x0000000000000020, 0x40 },
		{ 0x0000000000000030, 0x40 },
		{ 0x0000000100000010, 0x38 },
		{ 0x0000020000000010, 0x38 },
		{ 0x0080000000000010, 0x38 },
		{ 0x0001000100000010, 0x40 },
		{ 0x000f03ff00000010, 0xa0 },
		{ 0x000f03ff00000030, 0xb0 },
		{ 0x000f03ff00000033, 0x160 },
		{ 0x00ffffff00000010, 0xf0 },
		{ 0x00ffffff1f00003f, 0x5b0 },
	};

	for (size_t i = 0; i < COUNT(want); i++) {
		struct adaptive_layout layout;

		if (CHECK(adaptive_lay_out(want[i].config, &layout)))
			CHECK_EQ(want[i].size, layout.size, "MSR_PEBS_DATA_CFG = %llx",
				 (unsigned long long)want[i].config);
	}
}

int main(void)
{
	RUN(sizes_of_the_16_combinations);
	RUN(registers_of_adaptive_records);
	RUN(golden_bytes_are_read);
	RUN(golden_counters_are_read);
	RUN(sizes_with_counters);
	RUN(golden_bytes_have_the_names_of_older_formats);
	RUN(later_formats_are_as_linux_has_them);
	return check_end();
}
