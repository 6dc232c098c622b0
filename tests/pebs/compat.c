/* SPDX-License-Identifier: MIT */
/*
 * PEBS in compatibility mode: SDM "PEBS Data Format" of the 4th generation ("the same in 64-bit and
 * compatibility mode"), "64 Bit Format of the DS Save Area" (DTES64). What the upper halves of the
 * registers and R8 to R15 hold in that mode isn't looked at.
 */
#include "kernel/output/fmt.h"
#include "kernel/interrupt/intr.h"
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/measure/sampling.h"

#define LOW_HALF	0xffffffffULL
#define EBP_THERE	0x7f5f0f5fULL	/* as tests/pebs/compat.asm sets it */

/* As tests/pebs/compat.asm lays it out. */
struct compat_call {
	u64 memory, n, msr, on;
	u64 back;
};
_Static_assert(offsetof(struct compat_call, back) == 32, "CALL_BACK");

void compat_loads(struct compat_call *call) __attribute__((visibility("hidden")));
extern const u8 compat_begin[] __attribute__((visibility("hidden")));
extern const u8 compat_end[] __attribute__((visibility("hidden")));

static struct compat_call call;
static volatile u64 memory[8];

static u64 address(const volatile void *p)
{
	return (u64)(uintptr_t)p;
}

static bool need_low_memory(char *reason, size_t size)
{
	if (!((address(compat_end) | address(&call + 1) | address(memory + 8)) >> 32))
		return true;
	fmt_print(reason, size,
		  "the program is above 4 GiB (%#lx), out of reach of "
		  "compatibility mode",
		  address(compat_end));
	return false;
}

static void check_compat(struct test *t, unsigned c)
{
	struct ds_setup setup = sampling_setup(8);
	u64 begin = address(compat_begin), end = address(compat_end), reload = setup.reset[c];
	u64 bytes = record_size(setup.format), eventing_ip;
	struct pebs_record record;

	/* As many loads in 64-bit mode. */
	ds_open(&setup);
	pebs_arm(c, LOADS, COUNT_BOTH, ROUNDS_PERIOD);
	workload_run(&workload_load, ROUNDS_FOR(1), pmc_one(c));
	if (!sampling_one_record(t, CONTROL_AT(REC_06), &record))
		return;
	counters_clear(counters_status());

	call = (struct compat_call){ .memory = address(memory), .n = ROUNDS_FOR(1),
				     .msr = MSR_IA32_PERF_GLOBAL_CTRL, .on = pmc_one(c).bits };
	ds_open(&setup);
	pebs_arm(c, LOADS, COUNT_BOTH, ROUNDS_PERIOD);
	intr_disable();
	compat_loads(&call);
	intr_enable();
	pebs_disarm();
	CHECK_EQ(t, REC_06, bytes, (u64)ds_bytes(), "bytes by which the index moved");
	if (!sampling_one_record(t, AT(DS_16), &record))
		return;
	CHECK_RANGE(t, REC_06, begin, end, sampling_field(&record, RECORD_rip),
		    "R/EIP: in the loop in compatibility mode, or right after it");
	if (record_get(&record, RECORD_eventing_ip, &eventing_ip))
		CHECK_RANGE(t, REC_06, begin, end - 1, eventing_ip, "EventingIP: in the loop");
	CHECK_EQ(t, REC_06, address(memory), sampling_field(&record, RECORD_rsi) & LOW_HALF,
		 "ESI at 30H");
	CHECK_EQ(t, REC_06, EBP_THERE, sampling_field(&record, RECORD_rbp) & LOW_HALF,
		 "EBP at 40H");
	CHECK_EQ(t, DS_16, ds_base() + bytes, ds_index(), "the PEBS index at 28H of the DS area");
	CHECK_RANGE(t, DS_16, reload & (BIT(counter_width(c)) - 1),
		    (reload & (BIT(counter_width(c)) - 1)) + ROUNDS_FOR(1), counter_read(c),
		    "IA32_PMC%u, reloaded from %xH of the DS area", c, 0x40 + 8 * c);
}

/*
 * REC-06  A record must have the same size and layout in compatibility mode as in 64-bit mode.
 *         SDM 18.11.2 4th Generation Intel Core: PEBS Data Format
 * DS-16   With CPUID's DTES64 set the 64-bit layout of the DS area must be used in every mode.
 *         SDM 17.4.9.1 64 Bit Format of the DS Save Area
 *
 * Given  a loop of loads in compatibility mode, below 4 GiB
 * When   each PEBS counter overflows in it
 * Then   the index moves by a record of 64-bit mode, R/EIP and EventingIP are in the loop, ESI and
 *        EBP are at 30H and 40H. Index and reload are where the 64-bit DS area has them
 * Control: as many loads in 64-bit mode make a record
 */
TEST(record, pebs_record_in_compatibility_mode_is_that_of_64_bit_mode, REQS(REC_06, DS_16),
     NEEDS(need_perfmon, need_pebs, need_events, need_low_memory))
{
	if (!sampling_shadow_fits(t))
		return;
	for (unsigned c = 0; c < 4; c++) {
		check_compat(t, c);
		counter_reset();
	}
}
