/* SPDX-License-Identifier: MIT */
/*
 * PEBS in compatibility mode: SDM "PEBS Data Format" of the 4th generation ("the same in 64-bit and
 * compatibility mode"), "64 Bit Format of the DS Save Area" (DTES64). Compatibility mode is a
 * submode of IA-32e mode, in which records have 64-bit fields and R8 to R15. The upper halves of
 * the other registers aren't defined in this mode (volume 1, "General-Purpose Registers in 64-Bit
 * Mode"), so they aren't compared. Adaptive records have either R8 to R15 or 0: the SDM says 0 for
 * "non 64-bit mode" ("Adaptive PEBS", GPRs), but no test judges this.
 */
#include "kernel/output/fmt.h"
#include "kernel/interrupt/intr.h"
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/measure/sampling.h"
#include "tests/pebs/compat.h"

#define LOW_HALF	0xffffffffULL
#define EBP_THERE	0x7f5f0f5fULL	/* set by tests/pebs/compat.asm, as the following */
#define COMPAT_R(n)	(0x6000000000000040ULL | (u64)(n) << 8 | (u64)(n))
#define EAX_LOADED	0x4a5b6c7dULL
/* Bit 1, TF, IF and DF: interrupts are disabled there. */
#define FLAGS_KNOWN	(BIT(1) | BIT(8) | BIT(9) | BIT(10))

extern const u64 compat_rsp __attribute__((visibility("hidden")));

static struct compat_call call;
static volatile u64 memory[8];

static u64 address(const volatile void *p)
{
	return (u64)(uintptr_t)p;
}

bool compat_in_reach(u64 data, char *reason, size_t size)
{
	if (!((address(compat_end) | data) >> 32))
		return true;
	fmt_print(reason, size,
		  "the program is above 4 GiB (%#lx), out of reach of "
		  "compatibility mode",
		  address(compat_end));
	return false;
}

static bool need_low_memory(char *reason, size_t size)
{
	return compat_in_reach(address(&call + 1) | address(memory + 8), reason, size);
}

/* Check all registers in the record of a load in the loop. */
static void check_compat_registers(struct test *t, unsigned c, const struct pebs_record *record)
{
	const struct {
		enum record_field field;
		u64 mask, value;
		const char *name;
	} table[] = {
		{ RECORD_rax, LOW_HALF, EAX_LOADED, "EAX, which was loaded" },
		{ RECORD_rbx, LOW_HALF, address(&call), "EBX" },
		{ RECORD_rcx, LOW_HALF, MSR_IA32_PERF_GLOBAL_CTRL, "ECX" },
		{ RECORD_rdx, LOW_HALF, 0, "EDX" },
		{ RECORD_rsi, LOW_HALF, address(memory), "ESI" },
		{ RECORD_rbp, LOW_HALF, EBP_THERE, "EBP" },
		{ RECORD_rsp, LOW_HALF, compat_rsp & LOW_HALF, "ESP" },
		{ RECORD_r8, ~0ULL, COMPAT_R(8), "R8" },
		{ RECORD_r9, ~0ULL, COMPAT_R(9), "R9" },
		{ RECORD_r10, ~0ULL, COMPAT_R(10), "R10" },
		{ RECORD_r11, ~0ULL, COMPAT_R(11), "R11" },
		{ RECORD_r12, ~0ULL, COMPAT_R(12), "R12" },
		{ RECORD_r13, ~0ULL, COMPAT_R(13), "R13" },
		{ RECORD_r14, ~0ULL, COMPAT_R(14), "R14" },
		{ RECORD_r15, ~0ULL, COMPAT_R(15), "R15" },
	};

	const bool zero_too = !test_is_strict(t);

	for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		const u64 got = sampling_field(record, table[i].field) & table[i].mask;

		if (!got && zero_too && table[i].field >= RECORD_r8)
			continue;
		CHECK_EQ(t, REC_04, table[i].value, got,
			 "%s of a record of compatibility mode, IA32_PMC%u", table[i].name, c);
	}
	CHECK_RANGE(t, REC_04, 1, call.n, sampling_field(record, RECORD_rdi) & LOW_HALF,
		    "EDI, which counts down from n, IA32_PMC%u", c);
	CHECK_EQ(t, REC_11, BIT(1), sampling_field(record, RECORD_rflags) & FLAGS_KNOWN,
		 "bit 1, TF, IF and DF of the flags, IA32_PMC%u", c);
	if (counter_caps()->facilities & FAC_DATALA)
		CHECK_EQ(t, DLA_02, address(memory),
			 sampling_field(record, RECORD_data_linear_address),
			 "data linear address of the loads, IA32_PMC%u", c);
}

static void check_compat(struct test *t, unsigned c)
{
	struct ds_setup setup = sampling_setup(8);
	u64 begin = address(compat_begin), end = address(compat_end), reload = setup.reset[c];
	u64 bytes = record_size(setup.format), eventing_ip;
	struct pebs_record record;

	/* Take as many loads in 64-bit mode. */
	ds_open(&setup);
	pebs_arm(c, LOADS, COUNT_BOTH, ROUNDS_PERIOD);
	workload_run(&workload_load, ROUNDS_FOR(1), pmc_one(c));
	if (!sampling_one_record(t, CONTROL_AT(REC_06), &record))
		return;
	counters_clear(counters_status());

	memory[0] = EAX_LOADED;
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
		CHECK_EQ(t, REC_06, begin, eventing_ip, "EventingIP: the only load of the loop");
	CHECK_EQ(t, REC_06, address(memory), sampling_field(&record, RECORD_rsi) & LOW_HALF,
		 "ESI at 30H");
	CHECK_EQ(t, REC_06, EBP_THERE, sampling_field(&record, RECORD_rbp) & LOW_HALF,
		 "EBP at 40H");
	check_compat_registers(t, c, &record);
	CHECK_EQ(t, DS_16, ds_buffer() + bytes, ds_index(), "the PEBS index at 28H of the DS area");
	CHECK_RANGE(t, DS_16, reload & (BIT(counter_width(c)) - 1),
		    (reload & (BIT(counter_width(c)) - 1)) + ROUNDS_FOR(1), counter_read(c),
		    "IA32_PMC%u, reloaded from %xH of the DS area", c, 0x40 + 8 * c);
}

/*
 * REC-04  The register fields must hold the values after the causing instruction retired, a
 *         register that it loaded included.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS)
 * REC-06  A record must have the same size and layout in compatibility mode as in 64-bit mode.
 *         SDM 18.11.2 4th Generation Intel Core: PEBS Data Format
 * REC-11  The flags field must hold RFLAGS after the causing instruction.
 *         SDM 18.8.1.1 Processor Event Based Sampling (PEBS)
 * DLA-02  Offset 98H must hold the linear address of the load, or of the destination of the store.
 *         SDM 18.11.3 PEBS Data Address Profiling, Table 18-46
 * DS-16   With CPUID's DTES64 set the 64-bit layout of the DS area must be used in every mode.
 *         SDM 17.4.9.1 64 Bit Format of the DS Save Area
 *
 * Given  a loop of loads in compatibility mode, below 4 GiB, with different values in all registers
 * When   each PEBS counter overflows in it
 * Then   the index moves by a record of 64-bit mode, R/EIP is in the loop, EventingIP is its load,
 *        ESI and EBP are at 30H and 40H. The lower halves of the other registers, R8 to R15, the
 *        flags IF, DF and TF, and the data linear address, where there is one, are those of the
 *        loop; where adaptive records' R8 to R15 aren't judged they may be 0. Index and reload are
 *        where the 64-bit DS area has them
 * Control: as many loads in 64-bit mode make a record
 */
TEST(record, pebs_record_in_compatibility_mode_is_that_of_64_bit_mode,
     REQS(REC_04, REC_06, REC_11, DLA_02, DS_16),
     NEEDS(need_perfmon, need_pebs, need_events, need_low_memory))
{
	if (!sampling_shadow_fits(t))
		return;
	for (unsigned c = 0; c < PEBS_COUNTERS; c++) {
		check_compat(t, c);
		counter_reset();
	}
}
