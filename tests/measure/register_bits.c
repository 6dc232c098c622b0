/* SPDX-License-Identifier: MIT */
/* See register_bits.h. */
#include "tests/measure/register_bits.h"

#include "kernel/processor/cpuid.h"
#include "pmu/counter.h"
#include "pmu/lbr/arch.h"
#include "spec/adaptive.h"
#include "spec/msr.h"
#include "tests/frame/test.h"

/* ANY of fixed counters 0 to 2 */
#define ANY_OF_FIXED (IA32_FIXED_CTR_CTRL_ANY0 | IA32_FIXED_CTR_CTRL_ANY0 << 4 | \
		      IA32_FIXED_CTR_CTRL_ANY0 << 8)

/* SDM 18.2.3: AnyThread is "supported in architectural performance monitoring version 3 for
 * processor core comprising of two or more logical processors". Silvermont has version 3 and no
 * second logical processor. Generations of the table have one, although it may be switched off. */
static bool any_thread_is_open(void)
{
	return !counter_caps()->generation && cpuid_get(CPUID_LEVEL0_PROCESSORS) < 2;
}

/* AnyThread exists from version 3 on, until CPUID.0AH:EDX[15] says that it is deprecated. A
 * hypervisor may leave it out, because it counts the events of another logical processor. */
static bool any_thread(void)
{
	return counter_caps()->any_thread && !counter_caps()->hypervisor && !any_thread_is_open();
}

/* CPUID.(23H,0):EBX: 0 for 47:40, 1 for 36, 2 for 37. */
static u64 version6_event_select(void)
{
	const struct version6 *v = &counter_caps()->v6;

	return (v->umask2 ? BITS(40, 47) : 0) | (v->equal ? BIT(36) : 0) |
	       (v->rdpmc_user_disable ? BIT(37) : 0);
}

/*
 * Figure 18-6: 7:0 event, 15:8 umask, USR, OS, E, PC, INT, ANY (version 3), EN, INV, 31:24 CMASK.
 * PC toggles pins that later processors don't have, so it isn't written. "Performance Monitoring
 * and Intel TSX": 32 IN_TX, and 33 IN_TXCP, which "may only be set for IA32_PERFEVTSEL2"; both only
 * "if the processor supports HLE or RTM".
 */
struct register_bits bits_of_event_select(u32 i)
{
	const u64 of_tsx = i == 2 ? BITS(32, 33) : BIT(32);
	u64 filters = counter_caps()->tsx ? of_tsx : 0;
	/* KVM looks at other bits of CPUID.07H:EBX than those of HLE and RTM (intel_pmu_refresh),
	 * so a guest without these may set the filters where its host has TSX. */
	const u64 open = counter_caps()->hypervisor ? of_tsx : 0;

	if (counter_caps()->baseline)
		filters |= BIT(34);	/* Adaptive_Record */
	if (i < 4 && arch_lbr_leaf().event_logging & BIT(i))
		filters |= BIT(35);	/* EN_LBR_LOG */
	filters |= version6_event_select();
	return (struct register_bits){ "IA32_PERFEVTSELx", MSR_IA32_PERFEVTSEL0 + i, 0,
				       (any_thread() ? 0xfff7ffff : 0xffd7ffff) | filters,
				       BITS(32, 63) & ~(filters | open), REQ_MSR_29 };
}

struct register_bits bits_of_counter(u32 i)
{
	return (struct register_bits){ "IA32_PMCx", MSR_IA32_PMC0 + i, 0, BITS(0, 30), 0, 0 };
}

struct register_bits bits_of_fixed_counter(u32 i)
{
	const u64 all = BIT(counter_caps()->fixed_width) - 1;

	return (struct register_bits){ "IA32_FIXED_CTRx", MSR_IA32_FIXED_CTR0 + i, 0, all, ~all,
				       REQ_MSR_30 };
}

/* Figure 18-7: for each counter two enable bits, ANY (version 3; not of fixed counter 3 and
 * later), PMI. */
struct register_bits bits_of_fixed_control(void)
{
	const u64 levels = IA32_FIXED_CTR_CTRL_EN0 | IA32_FIXED_CTR_CTRL_PMI0;
	const struct pmu_caps *caps = counter_caps();
	u64 all = 0, reserved;

	FOR_EACH_COUNTER (i, caps->fixed_mask & BITS(0, 15))
		all |= (levels | (i < 3 && any_thread() ? IA32_FIXED_CTR_CTRL_ANY0 : 0)) << 4 * i;
	reserved = caps->version <= 4 && !caps->baseline && !caps->told_less ? ~all : 0;
	if (caps->any_thread && any_thread_is_open())
		reserved &= ~(u64)ANY_OF_FIXED;

	/* With baseline a counter has further bits in the upper half. There only the bits of
	 * counters that aren't there are refused for certain. */
	if (caps->baseline && !caps->told_less)
		FOR_EACH_COUNTER (i, ~(u64)caps->fixed_mask & BITS(0, 7))
			reserved |= (BITS(0, 3) | BITS(32, 35))
				    << i * IA32_FIXED_CTR_CTRL_EN1_SHIFT;
	return (struct register_bits){
		"IA32_FIXED_CTR_CTRL", MSR_IA32_FIXED_CTR_CTRL, 0, all, reserved, REQ_MSR_31
	};
}

struct register_bits bits_of_global_control(void)
{
	const struct pmu_caps *caps = counter_caps();
	u64 all = counters_all().bits, reserved = ~all;

	/* IA32_PERF_CAPABILITIES enumerates the metrics; the version doesn't. */
	if (caps->metrics || caps->metrics_open)
		reserved &= ~IA32_PERF_GLOBAL_CTRL_EN_PERF_METRICS;
	return (struct register_bits){ "IA32_PERF_GLOBAL_CTRL", MSR_IA32_PERF_GLOBAL_CTRL, 0, all,
				       caps->version <= 4 && !caps->told_less ? reserved : 0,
				       REQ_MSR_36 };
}

/* Figure 18-21: bits 3:0 and 35:32; with precise store bit 63. With baseline the bits of all
 * counters. */
struct register_bits bits_of_pebs_enable(void)
{
	const struct pmu_caps *c = counter_caps();
	bool precise_store = c->facilities & FAC_PRECISE_STORE;
	/* The bits of load latency, or with baseline those of fixed counters. */
	u64 upper = c->baseline ? c->pebs_fixed_mask : 0xf;
	u64 lower = c->baseline ? c->pebs_mask : 0xf;

	return (struct register_bits){ "IA32_PEBS_ENABLE", MSR_IA32_PEBS_ENABLE, 0,
				       lower | upper << 32 | (precise_store ? BIT(63) : 0), 0, 0 };
}

/* Figure 18-23: bits 15:0; the smallest legal value is 3. */
struct register_bits bits_of_load_latency(void)
{
	return (struct register_bits){ "MSR_PEBS_LD_LAT_THRESHOLD", MSR_PEBS_LD_LAT_THRESHOLD, 3,
				       0xfffc, BITS(16, 63), REQ_MSR_33 };
}

/* Canonical addresses of the lower half have bits 46:0. */
struct register_bits bits_of_ds_area(void)
{
	return (struct register_bits){ "IA32_DS_AREA", MSR_IA32_DS_AREA, 0, BITS(3, 46), 0, 0 };
}

/* Bit 2 of IA32_DEBUGCTL enables bus-lock detection where CPUID.(07H,0):ECX[24] is 1. */
static bool bus_lock_detection(void)
{
	enum { LEAF = 7, BUS_LOCK_DETECT = 24 };

	return cpuid_get(CPUID_MAX_LEAF) >= LEAF && cpuid_read(LEAF, 0).ecx >> BUS_LOCK_DETECT & 1;
}

/*
 * "IA32_DEBUGCTL MSR": LBR 0, BTINT 8, BTS_OFF_OS 9, BTS_OFF_USR 10, the two freeze bits 11, 12.
 * With architectural LBRs bit 0 may be written and reads 0 (SDM volume 4, 1D9H).
 */
struct register_bits bits_of_debug_control(void)
{
	bool freeze = counter_caps()->pdcm && counter_caps()->version >= 2;
	u64 lbr = BIT(0);

	if (counter_caps()->arch_lbr)
		lbr = 0;
	return (struct register_bits){ "IA32_DEBUGCTL", MSR_IA32_DEBUGCTL, 0,
				       lbr | (freeze ? BIT(11) | BIT(12) : 0),
				       BITS(3, 5) | BITS(16, 63) |
					       (bus_lock_detection() ? 0 : BIT(2)),
				       REQ_MSR_34 };
}

/*
 * "Off-core Response Performance Monitoring". Nehalem, Westmere: 7:0 request, 15:8 response, bit 11
 * reserved. Sandy Bridge and later: 15:0 request, 16 any response, 30:17 supplier, 37:31 snoop;
 * here only the bits that the manual names for every part. From Lion Cove on, and on Darkmont,
 * suppliers and snoops are other bits, or unknown.
 */
struct register_bits bits_of_off_core(const struct test *t, u32 i)
{
	const struct generation *g = counter_caps()->generation;
	bool later = counter_caps()->facilities & FAC_OFFCORE_SNB;
	bool moved = g && g->set & (GENS_FROM_LNC | GENS_CLEARWATERFOREST) && !test_is_strict(t);
	u64 held = moved ? 0x18fff : later ? 0x3f803f8fff : 0xf7ff;

	return (struct register_bits){ i ? "MSR_OFFCORE_RSP_1" : "MSR_OFFCORE_RSP_0",
				       MSR_OFFCORE_RSP_0 + i, 0, held,
				       later ? BITS(38, 63) : BITS(16, 63), REQ_MSR_35 };
}

/*
 * Bits 3:0 and 31:24; in format 6 also the bits of counters and metrics that exist. No source says
 * whether the bit of an absent counter raises #GP (KVM; Linux).
 */
struct register_bits bits_of_data_cfg(void)
{
	const struct pmu_caps *c = counter_caps();
	const u64 snapshot = PEBS_DATA_CFG_CNTR | PEBS_DATA_CFG_METRICS | PEBS_DATA_CFG_CNTR_GP |
			     PEBS_DATA_CFG_CNTR_FIXED;
	u64 all = PEBS_DATA_CFG_MEMORY | PEBS_DATA_CFG_GPR | PEBS_DATA_CFG_XMM | PEBS_DATA_CFG_LBR |
		  PEBS_DATA_CFG_LBR_ENTRIES;
	u64 open = 0;

	if (c->pebs_format >= PEBS_FORMAT_SNAPSHOT) {
		all |= PEBS_DATA_CFG_CNTR | (c->metrics ? PEBS_DATA_CFG_METRICS : 0) |
		       ((u64)c->gp_mask << PEBS_DATA_CFG_CNTR_GP_SHIFT & PEBS_DATA_CFG_CNTR_GP) |
		       ((u64)c->fixed_mask << PEBS_DATA_CFG_CNTR_FIXED_SHIFT &
			PEBS_DATA_CFG_CNTR_FIXED);
		open = snapshot & ~all;
	}
	return (struct register_bits){ "MSR_PEBS_DATA_CFG", MSR_PEBS_DATA_CFG, 0, all,
				       ~(all | open), REQ_MSR_16 };
}

/* Table 35-37: event code 2:0 and 4, bubble length 19:8, width 22:20; bit 3 (MS_FLOWS) from Golden
 * Cove on. Only bits 63:23 must be refused. */
struct register_bits bits_of_frontend(void)
{
	const u64 later = counter_caps()->facilities & FAC_FRONTEND_MS ? PEBS_FRONTEND_EVTSEL_MS :
									 0;
	const u64 all = PEBS_FRONTEND_EVTSEL | PEBS_FRONTEND_EVTSEL_HIGH |
			PEBS_FRONTEND_BUBBLE_LENGTH | PEBS_FRONTEND_BUBBLE_WIDTH;

	return (struct register_bits){ "MSR_PEBS_FRONTEND", MSR_PEBS_FRONTEND, 0,
				       all | later, BITS(23, 63), REQ_MSR_25 };
}

/* Table 17-11: bits 8:0; bit 9 with the call-stack mode (Table 17-13). */
struct register_bits bits_of_lbr_select(void)
{
	const bool call_stack = counter_caps()->facilities & FAC_LBR_CALL_STACK;
	const u64 all = BITS(0, LBR_SELECT_EN_CALLSTACK_SHIFT);

	return (struct register_bits){ "MSR_LBR_SELECT", MSR_LBR_SELECT, 0,
				       call_stack ? all : all & ~LBR_SELECT_EN_CALLSTACK,
				       call_stack ? ~all : 0, REQ_LBR_17 };
}

struct register_bits bits_of_lbr_control(void)
{
	const struct lbr_leaf leaf = arch_lbr_leaf();
	const u64 all = lbr_leaf_control(&leaf);

	return (struct register_bits){
		"IA32_LBR_CTL", MSR_IA32_LBR_CTL, 0, all, ~all, REQ_ALBR_05
	};
}

u32 bits_off_core_registers(void)
{
	return counter_caps()->facilities & FAC_OFFCORE_2 ? 2 : 1;
}

unsigned bits_of_all(const struct test *t, struct register_bits r[REGISTERS_MOST])
{
	const struct pmu_caps *caps = counter_caps();
	unsigned n = 0;

	FOR_EACH_COUNTER (i, counters_gp().bits)
		r[n++] = bits_of_event_select(i);
	FOR_EACH_COUNTER (i, counters_gp().bits)
		r[n++] = bits_of_counter(i);
	FOR_EACH_COUNTER (i, caps->fixed_mask)
		r[n++] = bits_of_fixed_counter(i);
	if (caps->fixed)
		r[n++] = bits_of_fixed_control();
	if (caps->pebs && !caps->hypervisor) {
		r[n++] = bits_of_ds_area();
		if (caps->facilities & FAC_LOAD_LATENCY)
			r[n++] = bits_of_load_latency();
	}
	if (caps->facilities & FAC_OFFCORE && !caps->hypervisor)
		for (u32 i = 0; i < bits_off_core_registers(); i++)
			r[n++] = bits_of_off_core(t, i);
	return n;
}

bool register_reads_back(struct test *t, u32 msr)
{
	return msr < MSR_IA32_PERFEVTSEL0 + 4 || msr > MSR_IA32_PERFEVTSEL0 + 7 ||
	       !test_erratum(t, ERRATUM_READ_EVENT_SELECT);
}
