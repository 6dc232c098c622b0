/* SPDX-License-Identifier: MIT */
/*
 * A record across two pages, for every position of the boundary in the record: "BTS and DS Save
 * Area" requires only that the buffer's linear addresses are contiguous.
 */
#include "kernel/interrupt/fault.h"
#include "tests/adaptive/adaptive.h"

#define PAGE		0x1000u
#define STEP		0x28u	/* between two positions: each group has some */
#define GPR_AT		BASIC_BYTES
#define XMM_AT		(GPR_AT + ADAPTIVE_GPR_BYTES)

/* Registers at their offsets in the GPR group: struct pebs_gprs. */
static const struct {
	unsigned offset;
	const char *name;
	u64 value;
} registers[] = {
	{ 0x18, "RCX", SAMPLE_RCX },	{ 0x20, "RDX", SAMPLE_RDX },   { 0x28, "RBX", SAMPLE_RBX },
	{ 0x38, "RBP", SAMPLE_RBP },	{ 0x48, "RDI", SAMPLE_RDI },   { 0x50, "R8", SAMPLE_R(8) },
	{ 0x58, "R9", SAMPLE_R(9) },   { 0x60, "R10", SAMPLE_R(10) }, { 0x68, "R11", SAMPLE_R(11) },
	{ 0x70, "R12", SAMPLE_R(12) }, { 0x78, "R13", SAMPLE_R(13) }, { 0x80, "R14", SAMPLE_R(14) },
	{ 0x88, "R15", SAMPLE_R(15) },
};

static u64 exchanged(u64 value)
{
	return value << 32 | value >> 32;
}

/*
 * ADP-04  The GPR group must hold RFLAGS, RIP, RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI and R8 to
 *         R15 in this order.
 * ADP-06  The XMM group must hold the XMM registers of the program that was sampled.
 *         Linux setup_pebs_adaptive_sample_data
 * DS-02   A record must be written at the address in the PEBS index field, also where that isn't
 *         the buffer base.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS): Programming PEBS Facility
 *
 * Given  registers with different values; a record with the GPR and the XMM group
 * When   the index is such that a page begins in the record: at each place in turn
 * Then   the index moves by the record's size, and each register is at its place
 * Control: the same is true of a record within a page
 */
TEST(adaptive, record_across_two_pages_is_whole_wherever_the_second_begins,
     REQS(ADP_04, ADP_06, DS_02), NEEDS(need_perfmon, need_baseline, need_events))
{
	const struct adaptive_run run = { .config = CONFIG_GPR | CONFIG_XMM, .capacity = 32 };
	const unsigned size = adaptive_bytes(run.config);
	const u64 period = calibration_period(LOADS, PERIOD) + pebs_has_pdist(0);

	for (unsigned before = 0; before < size; before += STEP) {
		struct adaptive_layout layout;
		struct ds_setup setup = adaptive_setup(&run, &layout);
		unsigned at;

		ds_open(&setup);
		at = PAGE - (unsigned)(ds_buffer() % PAGE) + PAGE - before;
		ds_set_maximum_bytes(DS_BUFFER_BYTES);
		ds_set_threshold_bytes(DS_BUFFER_BYTES);
		ds_set_index_bytes(at);
		pebs_arm(0, LOADS, COUNT_BOTH, period);
		workload_run(&workload_xmm_sample, PERIOD, pmc_one(0));
		pebs_disarm();
		counter_reset();
		if (ds_bytes() == at && !test_is_strict(t)) {
			test_inconclusive(t, "no record");
			return;
		}
		if (!CHECK_EQ(t, DS_02, at + size, (u64)ds_bytes(),
			      "index after a record of %#x bytes, %#x of them before a page", size,
			      before))
			return;
		for (unsigned i = 0; i < sizeof(registers) / sizeof(registers[0]); i++)
			test_check_eq(t, before ? AT(ADP_04, DS_02) : CONTROL_AT(ADP_04, DS_02),
				      registers[i].value,
				      adaptive_at(at + GPR_AT + registers[i].offset),
				      "%s, %#x bytes of the record before a page",
				      registers[i].name, before);
		for (unsigned i = 0; i < 16; i++) {
			test_check_eq(t, before ? AT(ADP_06, DS_02) : CONTROL_AT(ADP_06, DS_02),
				      SAMPLE_XMM(i), adaptive_at(at + XMM_AT + 0x10 * i),
				      "bits 63:0 of XMM%u, %#x bytes of the record before a page",
				      i, before);
			test_check_eq(t, before ? AT(ADP_06, DS_02) : CONTROL_AT(ADP_06, DS_02),
				      exchanged(SAMPLE_XMM(i)),
				      adaptive_at(at + XMM_AT + 0x10 * i + 8),
				      "bits 127:64 of XMM%u, %#x bytes of the record before a page",
				      i, before);
		}
	}
}
