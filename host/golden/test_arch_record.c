/* SPDX-License-Identifier: MIT */
/*
 * A record of architectural PEBS, typed by hand from what Linux says of it (struct
 * arch_pebs_header, arch_pebs_basic, arch_pebs_aux, arch_pebs_gprs, arch_pebs_xer_header,
 * arch_pebs_lbr_header, arch_pebs_cntr_header); nothing here comes from spec/.
 */
#include "host/check.h"

#include "pmu/version6/arch_record.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Two fragments. BASIC, AUX and GPR: 10H + 30H + 40H + A0H = 120H bytes, CONT. Then XER with XMM,
 * LBR with two entries by DEPTH, and three counters: 10H + 110H + 60H + 28H = 1A8H, to 1B0H. */
static const u8 golden_arch[0x2d0] = {
	/* 000 header */	0x20, 0x01, 0x00, 0xc0, 0x00, 0x00, 0x00, 0xe0,
	[0x10] =		/* BASIC: EventingIP */
				0x00, 0x10, 0x40, 0x00, 0x00, 0x00, 0x00, 0x00,
	/* 018 applicable */	0x20, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00,
	/* 020 TSC */		0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11,
	/* 028 retire latency */ 0x34, 0x12, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00,
	[0x40] =		/* AUX: address */
				0x90, 0x91, 0x92, 0x93, 0x94, 0x0f, 0x00, 0x00,
	[0x68] =		/* data source */
				0x21, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	/* 070 latencies */	0x07, 0x01, 0x00, 0x00, 0x05, 0x00, 0x00, 0x00,
	/* 078 TX */		0x34, 0x12, 0x00, 0x00, 0x4a, 0x00, 0x00, 0x00,
	/* 080 GPR: RFLAGS */	0x47, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	/* 088 RIP */		0x03, 0x10, 0x40, 0x00, 0x00, 0x00, 0x00, 0x00,
	/* 090 RAX */		0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7,
	[0x108] =		/* R15 */
				0x0f, 0x1f, 0x2f, 0x3f, 0x4f, 0x5f, 0x6f, 0x7f,
	/* 110 SSP */		0x55, 0x50, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	[0x120] =		/* the second header */
				0xb0, 0x01, 0x00, 0x40, 0x30, 0x03, 0x02, 0x00,
	[0x130] =		/* XER: XSTATE_BV */
				0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	[0x140] =		/* XMM0 */
				0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,
	[0x230] =		/* XMM15 */
				0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8,
	[0x248] =		/* LBR, from 240H: IA32_LBR_CTL */
				0x07, 0x00, 0x7f, 0x00, 0x00, 0x00, 0x00, 0x00,
	/* 250 depth */		0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	[0x270] =		/* FROM 0 */
				0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0xff, 0xff,
	[0x288] =		/* FROM 1 */
				0x12, 0x22, 0x32, 0x42, 0x52, 0x62, 0x00, 0x00,
	[0x2a0] =		/* counters 1 and 9, fixed counter 4 */
				0x02, 0x02, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00,
	[0x2b0] =		/* IA32_PMC1 */
				0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	/* 2b8 IA32_PMC9 */	0x09, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	/* 2c0 fixed 4 */	0x44, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
};

static u64 quadword(unsigned at)
{
	u64 value;

	memcpy(&value, golden_arch + at, sizeof(value));
	return value;
}

static void golden_fragments_are_read(void)
{
	struct arch_fragment first, second;

	if (!CHECK_EQ(ARCH_WHOLE, arch_fragment_read(golden_arch, 0x2d0, &first)))
		return;
	CHECK_EQ(0x120, first.size);
	CHECK_EQ(0x120, first.end);
	CHECK(!first.last, "CONT");
	CHECK_EQ(0x10, first.offset[ARCH_BASIC]);
	CHECK_EQ(0x40, first.offset[ARCH_AUX]);
	CHECK_EQ(0x80, first.offset[ARCH_GPR]);
	CHECK(!arch_has(&first, ARCH_XER) && !arch_has(&first, ARCH_LBR) &&
	      !arch_has(&first, ARCH_COUNTERS));
	CHECK_EQ(0x7f6f5f4f3f2f1f0f, quadword(first.offset[ARCH_GPR] + 0x88), "R15");
	CHECK_EQ(0x5055, quadword(first.offset[ARCH_GPR] + 0x90), "SSP");
	if (!CHECK_EQ(ARCH_WHOLE, arch_fragment_read(golden_arch + 0x120, 0x1b0, &second)))
		return;
	CHECK_EQ(0x1b0, second.size);
	CHECK_EQ(0x1a8, second.end);
	CHECK(second.last);
	CHECK(!arch_has(&second, ARCH_BASIC) && !arch_has(&second, ARCH_AUX) &&
	      !arch_has(&second, ARCH_GPR));
	CHECK_EQ(0x10, second.offset[ARCH_XER]);
	CHECK_EQ(0x20, second.component[1], "XMM");
	CHECK_EQ(0x120, second.offset[ARCH_LBR]);
	CHECK_EQ(2, second.entries);
	CHECK_EQ(0x180, second.offset[ARCH_COUNTERS]);
	CHECK_EQ(0x190, arch_counter_at(&second, 1));
	CHECK_EQ(0x198, arch_counter_at(&second, 9));
	CHECK_EQ(0x1a0, arch_counter_at(&second, ARCH_FIXED(4)));
	CHECK_EQ(0, arch_counter_at(&second, 0));
	CHECK_EQ(0, arch_counter_at(&second, ARCH_FIXED(0)));
	CHECK_EQ(0x44, quadword(0x120 + arch_counter_at(&second, ARCH_FIXED(4))));
	CHECK_EQ(0x2d0, arch_record_bytes(golden_arch, sizeof(golden_arch)));
}

/* The bytes of each group alone, in addition to the header's 10H. */
static void sizes_of_each_group(void)
{
	static const struct {
		unsigned bit, bytes;
		enum arch_group group;
	} want[] = {
		{ 63, 0x30, ARCH_BASIC }, { 62, 0x40, ARCH_AUX }, { 61, 0xa0, ARCH_GPR },
		{ 49, 0x10, ARCH_XER }, { 50, 0x10, ARCH_XER }, { 55, 0x10, ARCH_XER },
		{ 40, 0xf0, ARCH_LBR }, { 41, 0x1b0, ARCH_LBR }, { 36, 0x10, ARCH_COUNTERS },
		{ 37, 0x10, ARCH_COUNTERS }, { 38, 0x10, ARCH_COUNTERS },
	};
	u8 bytes[0x800];

	for (size_t i = 0; i < COUNT(want); i++) {
		u64 header = 1ULL << want[i].bit | (0x10 + want[i].bytes);
		struct arch_fragment f;

		memset(bytes, 0, sizeof(bytes));
		memcpy(bytes, &header, sizeof(header));
		if (!CHECK_EQ(ARCH_WHOLE, arch_fragment_read(bytes, sizeof(bytes), &f), "bit %u",
			      want[i].bit))
			continue;
		CHECK(arch_has(&f, want[i].group) && f.last, "bit %u", want[i].bit);
		CHECK_EQ(0x10 + want[i].bytes, f.end, "bit %u", want[i].bit);
	}
}

/* The components of XER that XSTATE_BV lists: XMM, YMMH, OPMASK, ZMMH, Hi16-ZMM. */
static void components_follow_xstate_bv(void)
{
	static const u16 size[8] = { 0, 0x100, 0x100, 0, 0, 0x40, 0x200, 0x400 };
	static u8 bytes[0x1000];

	for (u64 stored = 0; stored < 0x100; stored++) {
		const u64 asked = 0xe6;
		u64 header = asked << 48, end = 0x20;
		struct arch_fragment f;

		for (unsigned n = 0; n < 8; n++)
			if (stored & asked & 1ULL << n)
				end += size[n];
		header |= end;
		memcpy(bytes, &header, 8);
		memcpy(bytes + 0x10, &stored, 8);
		if (!CHECK_EQ(ARCH_WHOLE, arch_fragment_read(bytes, sizeof(bytes), &f)))
			continue;
		CHECK_EQ(end, f.end);
		CHECK_EQ(!!(stored & 2), f.component[1] == 0x20);
		CHECK_EQ(!!(stored & asked & 0x80), f.component[7] != 0);
	}
}

int main(void)
{
	RUN(golden_fragments_are_read);
	RUN(sizes_of_each_group);
	RUN(components_follow_xstate_bv);
	return check_end();
}
