/* SPDX-License-Identifier: MIT */
/*
 * State that each logical processor has separately: the registers with the scope "Thread" in Tables
 * 35-13, 35-18 and 35-22; also the overflow status, the interrupt ("Local Vector Table") and the
 * freeze ("Freezing LBR and Performance Counters on PMI"). The first processor is paired with a
 * thread of its own core and with one of another core, if they exist.
 */
#include "kernel/interrupt/fault.h"
#include "pmu/pebs.h"
#include "pmu/pmi.h"
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/measure/overflow.h"
#include "tests/measure/sampling.h"
#include "tests/measure/register_bits.h"
#include "tests/measure/two_cpus.h"

/* No test here expects a value of CondChgd or Ovf_Uncore. */
#define STATUS_LOOKED_AT (~(IA32_PERF_GLOBAL_STATUS_COND_CHGD | \
			    IA32_PERF_GLOBAL_STATUS_OVF_UNCORE))

/* ------------------------------------------------------------------ registers */
struct registers {
	struct two_cpus both;
	u32 msr;
	u64 value[2];			/* the value that each side writes */
	u64 first[2], later[2];		/* each reads: after both wrote; after the first wrote 0 */
};

static void write_and_read(void *arg)
{
	struct registers *r = arg;
	unsigned side = two_cpus_side();

	if (side == 1)
		msr_write(r->msr, r->value[1]);
	two_cpus_barrier(&r->both);
	if (side == 0)
		msr_write(r->msr, r->value[0]);
	two_cpus_barrier(&r->both);
	r->first[side] = msr_read(r->msr);
	two_cpus_barrier(&r->both);
	if (side == 0)
		msr_write(r->msr, 0);
	two_cpus_barrier(&r->both);
	r->later[side] = msr_read(r->msr);
	two_cpus_barrier(&r->both);
	msr_write(r->msr, 0);
}

/* Write different values on both processors, then 0 on this one. No counter counts meanwhile. */
static bool check_own(struct test *t, struct test_claim claim, unsigned cpu, const char *name,
		      u32 msr, u64 here, u64 there)
{
	struct registers r = { .msr = msr, .value = { here, there } };

	if (!two_cpus_run(t, &r.both, cpu, write_and_read, &r))
		return false;
	test_check_eq(t, claim, here, r.first[0],
		      "%s (MSR 0x%x) of the first processor, after %s "
		      "had 0x%lx written",
		      name, msr, two_cpus_name(cpu), there);
	test_check_eq(t, claim, there, r.first[1],
		      "%s (MSR 0x%x) of %s, after the first processor "
		      "had 0x%lx written",
		      name, msr, two_cpus_name(cpu), here);
	test_check_eq(t, claim, 0, r.later[0], "%s of the first processor after writing 0", name);
	test_check_eq(t, claim, there, r.later[1],
		      "%s of %s after 0 was written on the first "
		      "processor",
		      name, two_cpus_name(cpu));
	return true;
}

/* The values are legal on every generation, without EN. */
static void check_counters(struct test *t, unsigned cpu)
{
	FOR_EACH_COUNTER (i, counters_gp().bits) {
		if (register_reads_back(t, MSR_IA32_PERFEVTSEL0 + i))
			check_own(t, AT(MSR_37), cpu, "IA32_PERFEVTSELx", MSR_IA32_PERFEVTSEL0 + i,
				  EVENT_INST_RETIRED_ANY_P | COUNT_OS,
				  EVENT_BR_INST_RETIRED_ALL_BRANCHES | COUNT_USR);
		check_own(t, AT(MSR_37), cpu, "IA32_PMCx", MSR_IA32_PMC0 + i, 0x12345678 + i,
			  0x0fedcba9 - i);
	}
	FOR_EACH_COUNTER (i, counter_caps()->fixed_mask)
		check_own(t, AT(MSR_37), cpu, "IA32_FIXED_CTRx", MSR_IA32_FIXED_CTR0 + i,
			  0x12345678 + i, 0x0fedcba9 - i);
	if (counter_caps()->fixed)
		check_own(t, AT(MSR_37), cpu, "IA32_FIXED_CTR_CTRL", MSR_IA32_FIXED_CTR_CTRL, 0x1,
			  0x2);
	check_own(t, AT(MSR_37), cpu, "IA32_PERF_GLOBAL_CTRL", MSR_IA32_PERF_GLOBAL_CTRL, 1, 2);
}

/*
 * MSR-37  Each logical processor must have event selects, counters, global control and status,
 *         IA32_PEBS_ENABLE, IA32_DS_AREA and IA32_DEBUGCTL of its own.
 *         SDM Tables 35-13, 35-18 and 35-22 (scope: Thread)
 *
 * Given  two processors; values that are legal on every generation, without EN
 * When   each counter register is written with one value on either, then with 0 on the first
 * Then   each processor reads its own value, and the other's 0 changes nothing
 */
TEST(msr, each_logical_processor_has_its_own_counter_registers, REQS(MSR_37),
     NEEDS(need_perfmon, need_two_counters, need_partner))
{
	FOR_EACH_PARTNER (cpu)
		check_counters(t, cpu);
}

/*
 * MSR-37  Each logical processor must have event selects, counters, global control and status,
 *         IA32_PEBS_ENABLE, IA32_DS_AREA and IA32_DEBUGCTL of its own.
 *         SDM Tables 35-13, 35-18 and 35-22 (scope: Thread)
 *
 * Given  two processors
 * When   IA32_PEBS_ENABLE and IA32_DS_AREA are written with one value on either, then with 0 on
 *        the first
 * Then   each processor reads its own value, and the other's 0 changes nothing
 */
TEST(msr, each_logical_processor_has_its_own_pebs_enable_and_ds_area, REQS(MSR_37),
     NEEDS(need_perfmon, need_pebs, need_partner))
{
	FOR_EACH_PARTNER(cpu) {
		check_own(t, AT(MSR_37), cpu, "IA32_PEBS_ENABLE", MSR_IA32_PEBS_ENABLE, 1, 2);
		check_own(t, AT(MSR_37), cpu, "IA32_DS_AREA", MSR_IA32_DS_AREA, 0x12340000,
			  0x56780000);
	}
}

/*
 * MSR-37  Each logical processor must have event selects, counters, global control and status,
 *         IA32_PEBS_ENABLE, IA32_DS_AREA and IA32_DEBUGCTL of its own.
 *         SDM Tables 35-13, 35-18 and 35-22 (scope: Thread)
 *
 * Given  two processors; IA32_DEBUGCTL[11] and [12] are the freeze bits
 * When   [12] is written on the first, [11] on the other, then 0 on the first
 * Then   each processor reads its own value, and the other's 0 changes nothing
 */
TEST(msr, each_logical_processor_has_its_own_debug_control, REQS(MSR_37),
     NEEDS(need_perfmon, need_debug_control, need_freeze, need_partner))
{
	FOR_EACH_PARTNER (cpu)
		check_own(t, AT(MSR_37), cpu, "IA32_DEBUGCTL", MSR_IA32_DEBUGCTL, BIT(12), BIT(11));
}

/*
 * MSR-38  Each logical processor must have a latency threshold and off-core response registers of
 *         its own.
 *         SDM Tables 35-13 and 35-18 (scope: Thread) against Linux, which takes them as shared by
 *         the threads of a core
 *
 * Given  two processors
 * When   MSR_PEBS_LD_LAT_THRESHOLD is written with one value on either, then with 0 on the first
 * Then   each processor reads its own value, and the other's 0 changes nothing
 */
TEST(msr, each_logical_processor_has_its_own_latency_threshold, REQS(MSR_38),
     NEEDS(need_perfmon, need_pebs, need_load_latency, need_partner))
{
	FOR_EACH_PARTNER (cpu)
		check_own(t, AT(MSR_38), cpu, "MSR_PEBS_LD_LAT_THRESHOLD",
			  MSR_PEBS_LD_LAT_THRESHOLD, 0x100, 0x200);
}

/*
 * MSR-38  Each logical processor must have a latency threshold and off-core response registers of
 *         its own.
 *         SDM Tables 35-13 and 35-18 (scope: Thread) against Linux, which takes them as shared by
 *         the threads of a core
 *
 * Given  two processors; bits that request something on each generation
 * When   each MSR_OFFCORE_RSP_x is written with one value on either, then with 0 on the first
 * Then   each processor reads its own value, and the other's 0 changes nothing
 */
TEST(msr, each_logical_processor_has_its_own_off_core_registers, REQS(MSR_38),
     NEEDS(need_perfmon, need_offcore, need_partner))
{
	u32 count = counter_caps()->facilities & FAC_OFFCORE_2 ? 2 : 1;

	FOR_EACH_PARTNER (cpu)
		for (u32 k = 0; k < count; k++)
			check_own(t, AT(MSR_38), cpu, "MSR_OFFCORE_RSP_x", MSR_OFFCORE_RSP_0 + k,
				  0x101, 0x202);
}

/*
 * MSR-44  Each logical processor must have MSR_PEBS_DATA_CFG and MSR_PERF_METRICS of its own.
 *         Linux: keeps and writes both for each logical processor
 *
 * Given  two processors; nothing counts or makes records
 * When   MSR_PEBS_DATA_CFG, and MSR_PERF_METRICS where it is there, are written with one value on
 *        either, then with 0 on the first
 * Then   each processor reads its own value, and the other's 0 changes nothing
 */
TEST(msr, each_logical_processor_has_its_own_data_configuration_and_metrics, REQS(MSR_44),
     NEEDS(need_perfmon, need_baseline, need_partner))
{
	FOR_EACH_PARTNER (cpu) {
		check_own(t, AT(MSR_44), cpu, "MSR_PEBS_DATA_CFG", MSR_PEBS_DATA_CFG,
			  PEBS_DATA_CFG_GPR, PEBS_DATA_CFG_XMM);
		if (counter_caps()->perf_capabilities & IA32_PERF_CAPABILITIES_PERF_METRICS)
			check_own(t, AT(MSR_44), cpu, "MSR_PERF_METRICS", MSR_PERF_METRICS,
				  PERF_METRICS_RETIRING, PERF_METRICS_BACKEND_BOUND);
	}
}

/* ------------------------------------------------------------------ overflow */
struct overflow {
	struct two_cpus both;
	bool wraps[2];			/* which side's IA32_PMC0 wraps */
	void (*make)(u64 flags);	/* how, while both listen */
	u64 flags;
	u64 status[2], kept[2];		/* after the wraps; after the first side cleared its own */
	unsigned interrupts[2];
	u64 at_entry[2];		/* status in the first interrupt's handler */
};

static u64 status(void)
{
	return counters_status() & STATUS_LOOKED_AT;
}

static void wrap(u64 flags)
{
	counter_program(0, EVENT_BR_INST_RETIRED_ALL_BRANCHES, COUNT_BOTH | flags);
	counter_preset(0, PERIOD);
	workload_run(&workload_sled, PERIOD, pmc_one(0));
	counter_program_disabled(0, 0, 0);
}

static void wrap_and_look(void *arg)
{
	struct overflow *o = arg;
	unsigned side = two_cpus_side();

	two_cpus_barrier(&o->both);
	if (o->wraps[side])
		wrap(o->flags);
	two_cpus_barrier(&o->both);
	o->status[side] = status();
	two_cpus_barrier(&o->both);
	if (side == 0)
		counters_clear(1);
	two_cpus_barrier(&o->both);
	o->kept[side] = status();
	counters_clear(1);
}

/*
 * MSR-37  Each logical processor must have event selects, counters, global control and status,
 *         IA32_PEBS_ENABLE, IA32_DS_AREA and IA32_DEBUGCTL of its own.
 *         SDM Tables 35-13, 35-18 and 35-22 (scope: Thread)
 *
 * Given  two processors
 * When   IA32_PMC0 wraps on the first, on the other, on both; then the first clears its bit
 * Then   the status of each shows its own wrap alone, and the first one's write leaves the other's
 */
TEST(msr, each_logical_processor_has_its_own_overflow_status, REQS(MSR_37),
     NEEDS(need_perfmon, need_branches, need_partner))
{
	FOR_EACH_PARTNER (cpu)
		for (unsigned which = 1; which < 4; which++) {
			struct overflow o = { .wraps = { which & 1, which & 2 } };

			if (!two_cpus_run(t, &o.both, cpu, wrap_and_look, &o))
				return;
			CHECK_EQ(t, MSR_37, which & 1, o.status[0],
				 "status of the first processor, IA32_PMC0 wrapped here %u, on %s "
				 "%u",
				 which & 1, two_cpus_name(cpu), which >> 1);
			CHECK_EQ(t, MSR_37, which >> 1, o.status[1],
				 "status of %s, IA32_PMC0 wrapped there %u, on the first processor "
				 "%u",
				 two_cpus_name(cpu), which >> 1, which & 1);
			CHECK_EQ(t, MSR_37, 0, o.kept[0], "status here after it was cleared here");
			CHECK_EQ(t, MSR_37, which >> 1, o.kept[1],
				 "status of %s after it was cleared here", two_cpus_name(cpu));
		}
}

struct status_bits {
	struct two_cpus both;
	u64 bits;
	u64 set[2], stuck[2];	/* bits that could be set; bits that then couldn't be cleared */
	u64 beside[2];		/* bits that were set while the other side set and cleared each */
};

/* First one side, then the other, sets and clears each bit, while the other side has all bits
 * set. */
static void each_bit(void *arg)
{
	struct status_bits *s = arg;
	const unsigned side = two_cpus_side();

	for (unsigned turn = 0; turn < 2; turn++) {
		if (side != turn)
			msr_write(MSR_IA32_PERF_GLOBAL_STATUS_SET, s->bits);
		two_cpus_barrier(&s->both);
		for (unsigned bit = 0; bit < 64 && side == turn; bit++) {
			if (!(s->bits & BIT(bit)))
				continue;
			msr_write(MSR_IA32_PERF_GLOBAL_STATUS_SET, BIT(bit));
			s->set[side] |= counters_status() & BIT(bit);
			counters_clear(BIT(bit));
			s->stuck[side] |= counters_status() & BIT(bit);
		}
		two_cpus_barrier(&s->both);
		if (side != turn) {
			s->beside[side] = counters_status() & s->bits;
			counters_clear(s->bits);
		}
		two_cpus_barrier(&s->both);
	}
}

/*
 * STS-04  IA32_PERF_GLOBAL_STATUS_RESET must clear LBR_Frz, CTR_Frz and ASCI on version 4.
 *         SDM 18.2.4.2 IA32_PERF_GLOBAL_STATUS_RESET and IA32_PERF_GLOBAL_STATUS_SET
 * MSR-37  Each logical processor must have event selects, counters, global control and status,
 *         IA32_PEBS_ENABLE, IA32_DS_AREA and IA32_DEBUGCTL of its own.
 *         SDM Tables 35-13, 35-18 and 35-22 (scope: Thread)
 *
 * Given  two processors, of one core and of two
 * When   each in turn sets and clears CTR_Frz, LBR_Frz and each counter's overflow bit, one by one,
 *        while all of these are set on the other
 * Then   each bit is cleared on the processor that clears it, and the other processor's bits stay
 *        set
 * Control: each was set
 */
TEST(msr, each_logical_processor_clears_each_bit_of_its_own_status, REQS(STS_04, MSR_37),
     NEEDS(need_perfmon, need_version_4, need_partner))
{
	const u64 frozen = IA32_PERF_GLOBAL_STATUS_CTR_FRZ | IA32_PERF_GLOBAL_STATUS_LBR_FRZ;

	FOR_EACH_PARTNER (cpu) {
		struct status_bits s = { .bits = frozen | counters_gp().bits |
						 counters_fixed().bits };

		if (!two_cpus_run(t, &s.both, cpu, each_bit, &s))
			return;
		for (unsigned side = 0; side < 2; side++) {
			const char *whose = two_cpus_whose(cpu, side);

			CONTROL_EQ(t, IDS(STS_04, MSR_37), s.bits, s.set[side],
				   "status bits that %s could set", whose);
			CHECK_EQ(t, STS_04, 0, s.stuck[side], "status bits that %s couldn't clear",
				 whose);
			CHECK_EQ(t, MSR_37, s.bits, s.beside[side],
				 "status of %s while the other processor cleared its own", whose);
		}
	}
}

/* Both sides listen; each side in wraps[] causes an interrupt. */
static void listen(void *arg)
{
	struct overflow *o = arg;
	unsigned side = two_cpus_side();
	const struct pmi_log *log;

	pmi_open(NULL);
	two_cpus_barrier(&o->both);	/* both listen */
	if (o->wraps[side])
		o->make(o->flags);
	pmi_settle();
	two_cpus_barrier(&o->both);	/* every interrupt has been requested */
	log = pmi_settle();
	o->interrupts[side] = log->count;
	o->at_entry[side] = log->entry[0].status & STATUS_LOOKED_AT;
	pmi_close();
	counters_clear(counters_status());
}

/* A record that reaches the threshold causes the interrupt, in place of an overflow. */
static void sample(u64 flags)
{
	struct ds_setup setup = sampling_setup(8);

	setup.threshold = 1;
	sampling_run(&setup, 0, LOADS, COUNT_BOTH | flags, &workload_again, NO_OTHERS);
	pmi_settle();
	ds_close();
}

struct interrupting {
	void (*make)(u64 flags);
	u64 flags;
	const char *name;
	/* Of these bits each handler must find `status`; none: not checked. */
	u64 looked_at, status;
	struct test_claim status_claim;
};

/*
 * Cause the event on the first processor, on the other, and on both: a processor must be
 * interrupted exactly if the event was there.
 */
static void check_interrupts(struct test *t, struct test_claim claim, struct interrupting event)
{
	FOR_EACH_PARTNER (cpu)
		for (unsigned which = 1; which < 4; which++) {
			struct overflow o = { .wraps = { which & 1, which & 2 }, .make = event.make,
					      .flags = event.flags };

			if (!two_cpus_run(t, &o.both, cpu, listen, &o))
				return;
			for (unsigned side = 0; side < 2; side++) {
				const char *whose = two_cpus_whose(cpu, side);
				const u64 want = o.wraps[side];

				test_check_eq(t, claim,
					      want ? overflow_allowed(t, want, o.interrupts[side]) :
						     0,
					      o.interrupts[side],
					      "interrupts of %s, %s here %u, there %u", whose,
					      event.name, o.wraps[0], o.wraps[1]);
				if (event.looked_at && o.wraps[side] && o.interrupts[side])
					test_check_eq(t, event.status_claim, event.status,
						      o.at_entry[side] & event.looked_at,
						      "status in the handler of %s", whose);
			}
		}
}

/*
 * PMI-22  The interrupt of a counter must go to the local APIC of the logical processor whose
 *         counter it is, and to no other.
 *         SDM volume 3A, Local Vector Table; 18.2 Architectural Performance Monitoring
 *
 * Given  two processors that both listen
 * When   IA32_PMC0 overflows with INT on the first, on the other, on both
 * Then   each is interrupted once exactly if its own counter overflowed, and its handler finds
 *        that status
 */
TEST(pmi, overflow_interrupts_its_own_processor_only, REQS(PMI_22),
     NEEDS(need_perfmon, need_branches, need_partner))
{
	check_interrupts(t, AT(PMI_22),
			 (struct interrupting){ .make = wrap,
						.flags = COUNT_INT,
						.name = "an overflow",
						.looked_at = ~0ULL,
						.status = BIT(0),
						.status_claim = AT(PMI_22) });
}

/*
 * PMI-22  The interrupt of a counter must go to the local APIC of the logical processor whose
 *         counter it is, and to no other.
 *         SDM volume 3A, Local Vector Table; 18.2 Architectural Performance Monitoring
 * DS-21   When a record has brought the index to the threshold, OvfBuf
 *         (IA32_PERF_GLOBAL_STATUS[62]) must be set.
 *         SDM 18.4.2, 18.9.1; Goldmont: Enhancements to IA32_PERF_GLOBAL_STATUS.OvfDSBuffer[62]
 *
 * Given  two processors that both listen, each with a PEBS buffer whose threshold is one record
 * When   a record reaches the threshold on the first, on the other, on both
 * Then   each is interrupted once exactly if its own record did, and its handler finds OvfBuf
 */
TEST(pmi, pebs_threshold_interrupts_its_own_processor_only, REQS(PMI_22, DS_21),
     NEEDS(need_perfmon, need_pebs, need_events, need_partner))
{
	if (sampling_shadow_fits(t))
		check_interrupts(t, AT(PMI_22),
				 (struct interrupting){ .make = sample,
					 .name = "a record at the threshold",
					 .looked_at = IA32_PERF_GLOBAL_STATUS_OVF_BUF,
					 .status = IA32_PERF_GLOBAL_STATUS_OVF_BUF,
					 .status_claim = AT(DS_21) });
}

/* ------------------------------------------------------------------ freeze */
#define FREEZE_PERFMON IA32_DEBUGCTL_FREEZE_PERFMON_ON_PMI

struct freeze {
	struct two_cpus both;
	unsigned freezer;	/* the side that overflows with its freeze bit set */
	u64 other;		/* IA32_DEBUGCTL of the other side */
	u64 control[2], status[2], counted;
};

/* Both count; the freezer overflows; then the other side continues to work. */
static void freeze_and_count(void *arg)
{
	static const struct pmi_options leave = {
		.keep_status = true, .keep_counting = true, .stay_masked = true,
	};
	struct freeze *f = arg;
	unsigned side = two_cpus_side();

	if (side == f->freezer) {
		pmi_open(&leave);
		msr_write(MSR_IA32_DEBUGCTL, FREEZE_PERFMON);
		counter_program(0, EVENT_INST_RETIRED_ANY_P, COUNT_USR | COUNT_INT);
		counter_preset(0, PERIOD);
	} else {
		msr_write(MSR_IA32_DEBUGCTL, f->other);
		counter_program(0, EVENT_INST_RETIRED_ANY_P, COUNT_USR);
		counter_write(0, 0);
	}
	counters_enable(pmc_one(0));
	two_cpus_barrier(&f->both);
	if (side == f->freezer) {
		workload_run_user(&workload_branch, PERIOD);
		pmi_settle();
	}
	two_cpus_barrier(&f->both);
	f->control[side] = msr_read(MSR_IA32_PERF_GLOBAL_CTRL);
	f->status[side] = overflow_status();
	if (side != f->freezer)
		workload_run_user(&workload_branch, PERIOD);
	two_cpus_barrier(&f->both);
	counters_disable();
	msr_write(MSR_IA32_DEBUGCTL, 0);
	if (side != f->freezer) {
		f->counted = counter_read(0);
		counters_clear(overflow_status());
		return;
	}
	counter_program_disabled(0, 0, 0);
	counters_clear(overflow_status());
	pmi_end();
}

/*
 * PMI-23  Freezing on a PMI must stop the counters of the logical processor that has it, and no
 *         others.
 *         SDM 17.4.7 Freezing LBR and Performance Counters on PMI; Table 35-13 (scope: Thread)
 *
 * Given  two processors count at CPL 3; one has IA32_DEBUGCTL[12] = 1 and a counter near its
 *        overflow, the other one IA32_DEBUGCTL = 0
 * When   the counter overflows; then the other processor runs more code
 * Then   the other one's IA32_PERF_GLOBAL_CTRL is unchanged, and it counts at least the
 *        instructions of that code
 * Control: IA32_PERF_GLOBAL_CTRL of the one that overflowed is 0
 */
TEST(pmi, freeze_on_pmi_stops_its_own_processor_only, REQS(PMI_23),
     NEEDS(need_perfmon, need_instructions, need_legacy_freeze, need_freeze, need_partner))
{
	u64 whole = workload_declared(&workload_branch, WORKLOAD_INSTRUCTIONS, PERIOD);

	FOR_EACH_PARTNER (cpu)
		for (unsigned freezer = 0; freezer < 2; freezer++) {
			struct freeze f = { .freezer = freezer };

			if (!two_cpus_run(t, &f.both, cpu, freeze_and_count, &f))
				return;
			CONTROL_EQ(t, PMI_23, 0, f.control[freezer],
				   "IA32_PERF_GLOBAL_CTRL of %s, which has the interrupt",
				   two_cpus_whose(cpu, freezer));
			CHECK_EQ(t, PMI_23, 1, f.control[!freezer],
				 "IA32_PERF_GLOBAL_CTRL of the other side, paired with %s",
				 two_cpus_name(cpu));
			CHECK_RANGE(t, PMI_23, whole, ~0ULL, f.counted,
				    "instructions at CPL 3 that the other side counts after the "
				    "freeze, paired with %s",
				    two_cpus_name(cpu));
		}
}

/* ------------------------------------------------------------------ CTR_Frz */
#define CTR_FRZ IA32_PERF_GLOBAL_STATUS_CTR_FRZ

struct both_freeze {
	struct two_cpus both;
	unsigned freezer;		/* the side that is frozen */
	u64 status[2], counted[2];
};

/* Both sides count at CPL 3, and work there once one of them is frozen. */
static void freeze_one(void *arg)
{
	struct both_freeze *f = arg;
	unsigned side = two_cpus_side();

	counter_program(0, EVENT_INST_RETIRED_ANY_P, COUNT_USR);
	counter_write(0, 0);
	counters_enable(pmc_one(0));
	two_cpus_barrier(&f->both);
	if (side == f->freezer)
		msr_write(MSR_IA32_PERF_GLOBAL_STATUS_SET, CTR_FRZ);
	two_cpus_barrier(&f->both);
	workload_run_user(&workload_branch, PERIOD);
	f->status[side] = overflow_status();
	two_cpus_barrier(&f->both);
	counters_disable();
	f->counted[side] = counter_read(0);
	if (side == f->freezer)
		counters_clear(CTR_FRZ);
	counter_program_disabled(0, 0, 0);
}

/*
 * FRZ-24  A frozen logical processor must not freeze another one.
 *         SDM Table 35-2 and those of each processor (scope: Thread)
 * PMI-16  While CTR_FRZ is set no core counter may advance, and clearing it must let them go on.
 *         SDM 18.2.4 Architectural Performance Monitoring Version 4
 *
 * Given  two processors count at CPL 3
 * When   software sets CTR_Frz of one, of each in turn; then both work
 * Then   that one counts nothing; the other one's status stays 0, and it counts all its
 *        instructions
 * Control: CTR_Frz of the one is set
 */
TEST(pmi, ctr_frz_freezes_its_own_processor_only, REQS(FRZ_24, PMI_16),
     NEEDS(need_perfmon, need_instructions, need_version_4, need_partner))
{
	const u64 whole = workload_declared(&workload_branch, WORKLOAD_INSTRUCTIONS, PERIOD);

	FOR_EACH_PARTNER (cpu)
		for (unsigned freezer = 0; freezer < 2; freezer++) {
			struct both_freeze f = { .freezer = freezer };
			const char *whose = two_cpus_whose(cpu, !freezer);

			if (!two_cpus_run(t, &f.both, cpu, freeze_one, &f))
				return;
			CONTROL_EQ(t, IDS(FRZ_24, PMI_16), CTR_FRZ, f.status[freezer],
				   "status of the frozen side (%u)", freezer);
			CHECK_EQ(t, PMI_16, 0, f.counted[freezer],
				 "instructions at CPL 3 that the frozen side (%u) counts", freezer);
			CHECK_EQ(t, FRZ_24, 0, f.status[!freezer], "status of %s", whose);
			CHECK_RANGE(t, FRZ_24, whole, ~0ULL, f.counted[!freezer],
				    "instructions at CPL 3 that %s counts meanwhile", whose);
		}
}

/* One side of each pair freezes. other: IA32_DEBUGCTL of the other side. */
static void check_streamlined(struct test *t, struct test_claim claim, struct test_claim control,
			      u64 other)
{
	const u64 whole = workload_declared(&workload_branch, WORKLOAD_INSTRUCTIONS, PERIOD);

	FOR_EACH_PARTNER (cpu)
		for (unsigned freezer = 0; freezer < 2; freezer++) {
			struct freeze f = { .freezer = freezer, .other = other };
			const char *whose = two_cpus_whose(cpu, !freezer);

			if (!two_cpus_run(t, &f.both, cpu, freeze_and_count, &f))
				return;
			test_check_eq(t, control, CTR_FRZ | 1, f.status[freezer],
				      "status of the side that froze (%u)", freezer);
			test_check_eq(t, claim, 0, f.status[!freezer],
				      "status of %s, which didn't overflow", whose);
			test_check_eq(t, claim, 1, f.control[!freezer],
				      "IA32_PERF_GLOBAL_CTRL of %s", whose);
			test_check_range(t, claim, whole, ~0ULL, f.counted,
					 "instructions at CPL 3 that %s counts after the freeze",
					 whose);
		}
}

/*
 * FRZ-24  A frozen logical processor must not freeze another one.
 *         SDM Table 35-2 and those of each processor (scope: Thread)
 *
 * Given  two processors count at CPL 3, one of them with IA32_DEBUGCTL[12] = 1 and an overflow
 * When   that one overflows; the other one works on
 * Then   the other one's status stays 0, its IA32_PERF_GLOBAL_CTRL is unchanged, and it counts all
 *        its instructions
 * Control: CTR_Frz and the overflow bit of the one that overflowed are set
 */
TEST(pmi, streamlined_freeze_on_pmi_stops_its_own_processor_only, REQS(FRZ_24),
     NEEDS(need_perfmon, need_instructions, need_version_4, need_freeze, need_partner))
{
	check_streamlined(t, AT(FRZ_24), CONTROL_AT(FRZ_24), 0);
}

/*
 * FRZ-24  A frozen logical processor must not freeze another one.
 *         SDM Table 35-2 and those of each processor (scope: Thread)
 *
 * Given  two processors count at CPL 3, both with IA32_DEBUGCTL[12] = 1, one of them with an
 *        overflow
 * When   that one overflows; the other one works on
 * Then   the other one's status stays 0, its IA32_PERF_GLOBAL_CTRL is unchanged, and it counts all
 *        its instructions
 * Control: CTR_Frz and the overflow bit of the one that overflowed are set
 */
TEST(pmi, streamlined_freeze_on_pmi_leaves_a_processor_that_would_freeze_too, REQS(FRZ_24),
     NEEDS(need_perfmon, need_instructions, need_version_4, need_freeze, need_partner))
{
	check_streamlined(t, AT(FRZ_24), CONTROL_AT(FRZ_24), FREEZE_PERFMON);
}
