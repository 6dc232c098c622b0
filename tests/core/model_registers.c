/* SPDX-License-Identifier: MIT */
/*
 * Model-specific registers, mostly of Skylake: MSR_PEBS_FRONTEND, the uncore's global registers of
 * client parts, IA32_TSX_FORCE_ABORT, IN_TX and IN_TXCP. SDM Tables 35-37 and 35-39, volume 4 Table
 * 2-2.
 */
#include "kernel/interrupt/fault.h"
#include "kernel/output/fmt.h"
#include "kernel/processor/cpuid.h"
#include "pmu/counter.h"
#include "tests/frame/needs.h"
#include "tests/frame/test.h"
#include "tests/measure/register_bits.h"

static bool need_skylake_facility(char *reason, size_t size, u32 facility)
{
	const struct pmu_caps *c = counter_caps();

	if ((c->facilities & facility) && !c->hypervisor)
		return true;
	fmt_print(reason, size, "not known for family %02x model %02x, or a hypervisor's guest",
		  c->family, c->model);
	return false;
}

static bool need_frontend(char *reason, size_t size)
{
	return need_skylake_facility(reason, size, FAC_FRONTEND);
}

static bool need_client_uncore(char *reason, size_t size)
{
	return need_skylake_facility(reason, size, FAC_UNCORE_CLIENT);
}

static bool need_tsx(char *reason, size_t size)
{
	if (counter_caps()->tsx)
		return true;
	fmt_print(reason, size, "neither RTM nor HLE (CPUID.7H:EBX = %#x)",
		  cpuid_get(CPUID_MAX_LEAF) >= 7 ? cpuid_read(7, 0).ebx : 0);
	return false;
}

#define LAST_FIELD_BIT	22	/* of MSR_PEBS_FRONTEND, Table 18-59 */

/*
 * SKL-14  MSR_PEBS_FRONTEND must accept exactly the bits 7FFF17H.
 *         SDM Table 35-37 MSR_PEBS_FRONTEND; Linux intel_skl_extra_regs; Table 18-59 has bits 3
 *         and 7:5 in EVTSEL
 * MSR-25  A write that sets a reserved bit of MSR_PEBS_FRONTEND must raise #GP.
 *         SDM Table 18-59 MSR_PEBS_FRONTEND
 * HYB-21  MSR_PEBS_FRONTEND must accept exactly the bits 7FFF1FH.
 *         Linux intel_glc_extra_regs
 *
 * Given  MSR_PEBS_FRONTEND = 0
 * When   all bits of Table 35-37, and bit 3 from Golden Cove on, each of them, and each other bit
 *        is written
 * Then   these are read back; each other one raises #GP, and the register stays 0
 */
TEST(msr, pebs_frontend_holds_its_bits_and_refuses_all_others, REQS(SKL_14, MSR_25, HYB_21),
     NEEDS(need_perfmon, need_frontend, need_refused_msrs))
{
	const u64 bits = bits_of_frontend().writable;

	(void)msr_try_write(MSR_PEBS_FRONTEND, bits);
	CHECK_EQ(t, IDS(SKL_14, HYB_21), bits, msr_read(MSR_PEBS_FRONTEND),
		 "MSR_PEBS_FRONTEND, all of its bits");
	msr_write(MSR_PEBS_FRONTEND, 0);
	for (unsigned bit = 0; bit < 64; bit++) {
		bool refused = msr_try_write(MSR_PEBS_FRONTEND, BIT(bit)).raised;

		if (bits & BIT(bit)) {
			CHECK_EQ(t, IDS(SKL_14, HYB_21), BIT(bit), msr_read(MSR_PEBS_FRONTEND),
				 "MSR_PEBS_FRONTEND, bit %u written", bit);
			msr_write(MSR_PEBS_FRONTEND, 0);
		} else {
			CHECK(t, IDS(SKL_14, HYB_21), refused, "#GP of bit %u of MSR_PEBS_FRONTEND",
			      bit);
			if (bit > LAST_FIELD_BIT)
				CHECK(t, MSR_25, refused, "#GP of bit %u, above the fields", bit);
		}
	}
	CHECK_EQ(t, IDS(SKL_14, MSR_25, HYB_21), 0, msr_read(MSR_PEBS_FRONTEND),
		 "MSR_PEBS_FRONTEND after what was refused");
}

/*
 * SKL-17  MSRs 391H and 392H must be the performance-monitoring registers, and the client uncore's
 *         global registers must be at E01H and E02H.
 *         SDM Table 35-39 MSRs of the 6th generation
 *
 * Given  a client part of Skylake
 * When   bit 0 is written to 391H, IA32_PERFEVTSEL0 to an event; E01H and E02H are read
 * Then   391H sets bit 0 of the status, 392H shows IA32_PERFEVTSEL0 in use, and the uncore's
 *        registers are there
 */
TEST(msr, status_set_is_no_register_of_the_client_uncore, REQS(SKL_17),
     NEEDS(need_perfmon, need_version_4, need_client_uncore))
{
	u64 value = 0;

	msr_write(MSR_IA32_PERF_GLOBAL_STATUS_SET, 1);
	CHECK_EQ(t, SKL_17, 1, counters_status() & 1, "status after bit 0 was written to 391H");
	counters_clear(1);
	counter_program_disabled(0, EVENT_INST_RETIRED_ANY_P, 0);
	CHECK_EQ(t, SKL_17, 1, msr_read(MSR_IA32_PERF_GLOBAL_INUSE) & 1,
		 "392H, IA32_PERFEVTSEL0 in use");
	CHECK(t, SKL_17, !msr_try_read(MSR_UNC_PERF_GLOBAL_CTRL, &value).raised,
	      "MSR_UNC_PERF_GLOBAL_CTRL, E01H, can be read");
	CHECK(t, SKL_17, !msr_try_read(MSR_UNC_PERF_GLOBAL_STATUS, &value).raised,
	      "MSR_UNC_PERF_GLOBAL_STATUS, E02H, can be read");
}

/*
 * SKL-18  IA32_TSX_FORCE_ABORT must exist if and only if CPUID.07H:EDX[13] is 1.
 *         SDM volume 4, Table 2-2; Linux
 *
 * Given  CPUID.07H:EDX[13]
 * When   IA32_TSX_FORCE_ABORT is read
 * Then   #GP if and only if that bit is 0
 */
TEST(msr, tsx_force_abort_exists_if_cpuid_sets_its_bit, REQS(SKL_18),
     NEEDS(need_perfmon, need_frontend, need_refused_msrs))
{
	bool has = cpuid_get(CPUID_TSX_FORCE_ABORT);
	u64 value;

	CHECK_EQ(t, SKL_18, has, !msr_try_read(MSR_IA32_TSX_FORCE_ABORT, &value).raised,
		 "IA32_TSX_FORCE_ABORT can be read, CPUID.7H:EDX[13] = %u", has);
}

#define LEAST_COUNTERS	4u	/* general-purpose counters of one of two logical processors */
#define MOST_COUNTERS	8u	/* of a logical processor that has its core alone */
#define LATEST_COUNTERS	10u	/* from Lion Cove on */
#define SLOTS_COUNTER	3	/* fixed counter 3, from Ice Lake on */

/* Registers that some processors have, by the tables of chapter 35. */
static const struct {
	const char *name;
	u32 msr, facility;	/* 0: no processor that this program knows */
} listed[] = {
	{ "MSR_OFFCORE_RSP_1", MSR_OFFCORE_RSP_1, FAC_OFFCORE_2 },
	{ "MSR_PEBS_FRONTEND", MSR_PEBS_FRONTEND, FAC_FRONTEND },
	{ "MSR_UNC_PERF_GLOBAL_CTRL", MSR_UNC_PERF_GLOBAL_CTRL, FAC_UNCORE_CLIENT },
	{ "MSR_UNC_PERF_GLOBAL_STATUS", MSR_UNC_PERF_GLOBAL_STATUS, FAC_UNCORE_CLIENT },
	{ "MSR_UNCORE_PERF_GLOBAL_OVF_CTRL", MSR_UNCORE_PERF_GLOBAL_OVF_CTRL, FAC_UNCORE },
	{ "MSR_UNCORE_FIXED_CTR0", MSR_UNCORE_FIXED_CTR0, FAC_UNCORE },
	{ "MSR_UNCORE_FIXED_CTR_CTRL", MSR_UNCORE_FIXED_CTR_CTRL, FAC_UNCORE },
	{ "MSR_UNCORE_ADDR_OPCODE_MATCH", MSR_UNCORE_ADDR_OPCODE_MATCH, FAC_UNCORE },
	{ "MSR_UNCORE_PMC0", MSR_UNCORE_PMC0, FAC_UNCORE },
	{ "MSR_UNCORE_PMC7", MSR_UNCORE_PMC0 + 7, FAC_UNCORE },
	{ "MSR_UNCORE_PERFEVTSEL0", MSR_UNCORE_PERFEVTSEL0, FAC_UNCORE },
	{ "MSR_UNCORE_PERFEVTSEL7", MSR_UNCORE_PERFEVTSEL0 + 7, FAC_UNCORE },
	{ "MSR_LASTBRANCH_0_FROM_IP of Core 2", MSR_LBR_CORE_FROM, 0 },
	{ "MSR_LASTBRANCH_3_TO_IP of Core 2", MSR_LBR_CORE_TO + 3, 0 },
};

/* has: this processor has the register; if not, accesses must raise #GP. */
static void check_listed(struct test *t, const char *name, u32 msr, bool has)
{
	u64 value;

	CHECK_EQ(t, MSR_45, has, !msr_try_read(msr, &value).raised, "%s, MSR %#x, can be read",
		 name, msr);
	if (!has)
		CHECK(t, MSR_45, msr_try_write(msr, 0).raised, "#GP of a write to %s, MSR %#x",
		      name, msr);
}

/* Check the registers of counters that only later processors have, or processors with more
 * counters. */
static void check_later(struct test *t)
{
	const struct pmu_caps *caps = counter_caps();

	if (!caps->told_less)
		for (u32 c = LEAST_COUNTERS; c < MOST_COUNTERS; c++)
			check_listed(t, "IA32_A_PMCx", MSR_IA32_A_PMC0 + c,
				     caps->full_width && caps->gp_mask & BIT(c));
	if (!caps->metrics_open)
		check_listed(t, "MSR_PERF_METRICS", MSR_PERF_METRICS, caps->metrics);
	check_listed(t, "IA32_FIXED_CTR3", MSR_IA32_FIXED_CTR0 + SLOTS_COUNTER,
		     caps->fixed_mask & BIT(SLOTS_COUNTER));
	check_listed(t, "MSR_PEBS_DATA_CFG", MSR_PEBS_DATA_CFG, caps->baseline);
}

/* Check IA32_PMC8 and 9, and their event selects. Other processors have no register there. */
static void check_latest(struct test *t)
{
	const u64 set = counter_caps()->gp_mask;

	for (u32 c = MOST_COUNTERS; c < LATEST_COUNTERS; c++) {
		check_listed(t, "IA32_PMCx", MSR_IA32_PMC0 + c, set & BIT(c));
		check_listed(t, "IA32_PERFEVTSELx", MSR_IA32_PERFEVTSEL0 + c, set & BIT(c));
	}
}

/*
 * MSR-45  A read or write of a PMU register that the tables list for other processors alone must
 *         raise #GP.
 *         SDM volume 2 RDMSR, Protected Mode Exceptions; tables of chapter 35
 *
 * Given  registers that the tables of chapter 35 list for some processors, IA32_PMC8 and 9 among
 *        them; on Nehalem to Skylake those of IA32_A_PMC4 to 7, fixed counter 3, the metrics and
 *        adaptive records too
 * When   each is read; where it isn't this processor's, 0 is written to it
 * Then   it can be read if and only if the table is this processor's; the write raises #GP
 */
TEST(msr, registers_of_other_processors_are_not_there, REQS(MSR_45),
     NEEDS(need_perfmon, need_events, need_refused_msrs))
{
	for (unsigned i = 0; i < sizeof(listed) / sizeof(listed[0]); i++)
		check_listed(t, listed[i].name, listed[i].msr,
			     counter_caps()->facilities & listed[i].facility);
	if (counter_caps()->version < 5)
		check_later(t);
	if (!counter_caps()->told_less)
		check_latest(t);
}

#define TXCP_COUNTER	2	/* the only one that has IN_TXCP */

/*
 * SKL-23  IA32_PERFEVTSELx[33] (IN_TXCP) must be usable on IA32_PMC2 only.
 *         Linux, KVM; SDM 18.11.5 Performance Monitoring and Intel TSX
 *
 * Given  each event select
 * When   its bit 33 is written
 * Then   IA32_PERFEVTSEL2 holds it; each other write raises #GP and changes nothing
 */
TEST(msr, in_txcp_can_be_set_in_event_select_2_only, REQS(SKL_23),
     NEEDS(need_perfmon, need_tsx, need_refused_msrs))
{
	FOR_EACH_COUNTER (c, counters_gp().bits) {
		bool refused = msr_try_write(MSR_IA32_PERFEVTSEL0 + c, IA32_PERFEVTSEL_IN_TXCP)
				       .raised;

		CHECK_EQ(t, SKL_23, c != TXCP_COUNTER, refused, "#GP of IA32_PERFEVTSEL%u[33]", c);
		CHECK_EQ(t, SKL_23, c == TXCP_COUNTER ? IA32_PERFEVTSEL_IN_TXCP : 0,
			 msr_read(MSR_IA32_PERFEVTSEL0 + c), "IA32_PERFEVTSEL%u after it", c);
		msr_write(MSR_IA32_PERFEVTSEL0 + c, 0);
	}
}

static bool need_no_tsx(char *reason, size_t size)
{
	if (!counter_caps()->tsx)
		return true;
	fmt_print(reason, size, "RTM or HLE (CPUID.7H:EBX = %#x)", cpuid_read(7, 0).ebx);
	return false;
}

/*
 * HYB-23  Where CPUID.07H:EBX[11] and [4] are 0, IA32_PERFEVTSELx[33:32] must be reserved.
 *         SDM 18.11.5 Performance Monitoring and Intel TSX: if the processor supports HLE or RTM
 *
 * Given  neither RTM nor HLE; each event select with an event
 * When   its bit 32, IN_TX, and its bit 33, IN_TXCP, are set, each alone and both, with another
 *        event
 * Then   #GP is raised, and the register keeps its value
 * Control: that value was accepted
 */
TEST(msr, event_selects_have_no_in_tx_bits_without_transactions, REQS(HYB_23),
     NEEDS(need_perfmon, need_no_tsx, need_refused_msrs))
{
	const u64 kept = 0x0300c4, other = 0x0100c0;	/* USR and OS, USR */

	FOR_EACH_COUNTER (c, counters_gp().bits) {
		const u32 msr = MSR_IA32_PERFEVTSEL0 + c;

		for (u64 bits = IA32_PERFEVTSEL_IN_TX;
		     bits <= (IA32_PERFEVTSEL_IN_TX | IA32_PERFEVTSEL_IN_TXCP);
		     bits += IA32_PERFEVTSEL_IN_TX) {
			msr_write(msr, kept);
			CONTROL_EQ(t, HYB_23, kept, msr_read(msr), "IA32_PERFEVTSEL%u", c);
			CHECK(t, HYB_23, msr_try_write(msr, other | bits).raised,
			      "#GP of %#lx in IA32_PERFEVTSEL%u", other | bits, c);
			CHECK_EQ(t, HYB_23, kept, msr_read(msr), "IA32_PERFEVTSEL%u after it", c);
		}
		msr_write(msr, 0);
	}
}
