/* SPDX-License-Identifier: MIT */
/*
 * Drawn accesses to the PMU's registers while nothing counts: legal values, values with a reserved
 * bit, every address of a register, and after each write reads of this register and of others. The
 * shadow (shadow.h) has the expected value of each.
 */
#include "tests/random/registers/shadow.h"

#include "kernel/interrupt/fault.h"
#include "kernel/interrupt/guard.h"
#include "kernel/processor/time.h"
#include "pmu/counter.h"
#include "pmu/lbr/lbr.h"
#include "tests/frame/draw_options.h"
#include "tests/frame/needs.h"
#include "tests/frame/test.h"

#define STREAM		0x5e6157e6ULL	/* stream number for prng_begin() */
#define WRITES		48		/* writes in a case */
#define LOOKS		3		/* reads of other registers after each write */
#define TOLD		4		/* log lines about wrong values */
#define RENEW_EVERY	8		/* cases between two renewals */
#define PEBS_COUNTERS	4		/* with bits in IA32_PEBS_ENABLE, no baseline */
/* Bits of IA32_FIXED_CTR_CTRL: the enables, and the interrupts, of each counter. */
#define FIXED_ENABLES	0x3333333333333333ULL
#define FIXED_PMIS	0x8888888888888888ULL
/* Of an event select: Adaptive_Record, EN_LBR_LOG, and what keeps RDPMC from CPL 3 (V6-10). */
#define SELECT_BY_PRACTICE	(BITS(34, 35) | BIT(37))

struct tally {
	unsigned looked, wrong;
};

/* The requirements about reserved bits: values of register_bits.refuses. */
static const enum requirement_id refusals[] = {
	REQ_MSR_29, REQ_MSR_30, REQ_MSR_31, REQ_MSR_33, REQ_MSR_34, REQ_MSR_35, REQ_MSR_36,
	REQ_MSR_05, REQ_MSR_16, REQ_MSR_25, REQ_LBR_17, REQ_ALBR_05,
	REQ_APEBS_09,
};
#define REFUSALS	(sizeof(refusals) / sizeof(refusals[0]))

static struct drawn_registers {
	struct shadow shadow;
	struct tally holds, sign, rdpmc, status, in_use, in_use_later, refused[REFUSALS];
	unsigned told;
	bool strict;
	u64 number;		/* number of the case */
} drawn;

static struct shadow_row *add(struct shadow *s, struct register_bits bits, enum shadow_kind kind)
{
	struct shadow_row *row = &s->row[s->rows++];

	*row = (struct shadow_row){ .bits = bits, .kind = kind, .of = SHADOW_NONE };
	return row;
}

/* Another address of the register that was added last. */
static void add_address(struct shadow *s, const char *name, u32 msr, u64 writable, u64 reserved)
{
	const u8 of = (u8)(s->rows - 1);
	const enum shadow_kind kind = s->row[of].kind;
	struct register_bits bits = { name, msr, 0, writable, reserved, REQ_MSR_05 };

	add(s, bits, kind == SHADOW_COUNTER ? SHADOW_PLAIN : kind)->of = of;
}

/*
 * Bits that a case leaves out. Either event selects and IA32_FIXED_CTR_CTRL have no enable bits, or
 * IA32_PERF_GLOBAL_CTRL stays 0. And either they have no interrupt bits, or no status bit is set:
 * the manual doesn't say whether both together interrupt.
 */
struct left_out {
	bool enables, interrupts;
};

/* The addresses from 1900H on. */
static bool has_version6(void)
{
	return drawn.strict && counter_caps()->version >= 6;
}

static void add_general(struct shadow *s, unsigned c, const struct left_out *out)
{
	const struct pmu_caps *caps = counter_caps();
	const u64 all = BIT(caps->gp_width) - 1;
	struct register_bits select = bits_of_event_select(c);
	struct shadow_row *row;

	if (!drawn.strict)
		select.writable &= ~SELECT_BY_PRACTICE;
	if (out->enables)
		select.writable &= ~IA32_PERFEVTSEL_EN;
	if (out->interrupts)
		select.writable &= ~IA32_PERFEVTSEL_INT;
	row = add(s, select, SHADOW_SELECT);
	row->number = (u8)c;
	if (has_version6())
		add_address(s, "IA32_PMC_GPn_CFG_A", version6_cfg_a(c), select.writable, 0);
	row = add(s, bits_of_counter(c), SHADOW_COUNTER);
	row->has_rdpmc = true;
	row->rdpmc = c;
	if (caps->full_width) {
		const u8 of = (u8)(s->rows - 1);

		add_address(s, "IA32_A_PMCx", MSR_IA32_A_PMC0 + c, all, ~all);
		if (has_version6()) {
			add_address(s, "IA32_PMC_GPn_CTR", version6_ctr(c), all, 0);
			s->row[s->rows - 1].of = of;
		}
	}
}

static void add_fixed(struct shadow *s, unsigned i)
{
	const struct register_bits bits = bits_of_fixed_counter(i);
	struct shadow_row *row = add(s, bits, SHADOW_PLAIN);

	row->has_rdpmc = true;
	row->rdpmc = (u32)RDPMC_FIXED + i;
	if (has_version6())
		add_address(s, "IA32_PMC_FXm_CTR", version6_ctr(PMC_FIXED(i)), bits.writable, 0);
}

/* CFG_B and CFG_C of a counter, if it has them. No source says which bits of CFG_B are refused. */
static void add_configuration(struct shadow *s, unsigned c)
{
	const struct version6 *v = &counter_caps()->v6;
	const u64 bits = version6_cfg_c_bits(v, c);
	const struct register_bits b = { "CFG_B", version6_cfg_b(c), 0, v->causes, 0, 0 };
	const struct register_bits all = {
		"CFG_C", version6_cfg_c(c), 0, bits, ~bits, REQ_APEBS_09
	};

	if (v->reloadable & BIT(c))
		add(s, b, SHADOW_PLAIN);
	if (version6_has_cfg_c(v, c))
		add(s, all, SHADOW_PLAIN);
}

/* Are the bits of IA32_PEBS_ENABLE known? A processor that doesn't enumerate all that its
 * generation has may have other bits. */
static bool has_pebs_enable(const struct pmu_caps *caps)
{
	const u32 known = FAC_LOAD_LATENCY | FAC_PEBS_BASELINE;

	if (!caps->pebs || !caps->record_known || caps->arch_pebs || caps->gp < PEBS_COUNTERS)
		return false;
	return caps->baseline || (caps->facilities & known) == FAC_LOAD_LATENCY;
}

/* Bits of the status that this test sets and clears. Others may be set by what ran before it: ASCI
 * by an enclave, Trace_ToPA_PMI, Ovf_Uncore; CondChgd by itself (Linux, handle_pmi_common()). */
static u64 written_status(void)
{
	return counters_all().bits | IA32_PERF_GLOBAL_STATUS_LBR_FRZ |
	       IA32_PERF_GLOBAL_STATUS_CTR_FRZ;
}

/*
 * Each register that software writes and reads. What Linux and KVM alone tell of is judged by tests
 * of its own requirements, and here only where every requirement is: registers from 1900H on,
 * MSR_PEBS_DATA_CFG, and bits of event selects.
 */
static void add_all(const struct test *t, struct shadow *s, const struct left_out *out)
{
	const struct pmu_caps *caps = counter_caps();
	struct register_bits control = bits_of_fixed_control();
	struct register_bits all[REGISTERS_MOST];
	unsigned rest = bits_of_all(t, all);
	u64 settable = 0;

	if (caps->version >= 4 && !caps->hypervisor && out->interrupts)
		settable = written_status();
	*s = (struct shadow){ .width = caps->gp_width,
			      .refuses = !caps->hypervisor,
			      .fixed = caps->fixed_mask,
			      .pebs_listed = caps->pebs_mask,
			      .settable = settable };
	FOR_EACH_COUNTER (c, counters_gp().bits)
		add_general(s, c, out);
	FOR_EACH_COUNTER (i, caps->fixed_mask)
		add_fixed(s, i);
	FOR_EACH_COUNTER (c, drawn.strict ? counters_all().bits : 0)
		add_configuration(s, c);
	if (caps->fixed) {
		if (out->enables)
			control.writable &= ~FIXED_ENABLES;
		if (out->interrupts)
			control.writable &= ~FIXED_PMIS;
		add(s, control, SHADOW_FIXED_CONTROL);
	}
	if (out->enables)
		add(s, bits_of_global_control(), SHADOW_PLAIN);
	/* The registers other than counters, event selects and control registers. */
	for (unsigned i = 0; i < rest; i++)
		if (all[i].msr == MSR_IA32_DS_AREA || all[i].msr == MSR_PEBS_LD_LAT_THRESHOLD ||
		    all[i].msr == MSR_OFFCORE_RSP_0 || all[i].msr == MSR_OFFCORE_RSP_1)
			add(s, all[i], SHADOW_PLAIN);
	if (caps->hypervisor)
		return;
	add(s, bits_of_debug_control(), SHADOW_PLAIN);
	/* With an overflow bit set it may write a record at once (a hypervisor's measurements, on
	 * Ice Lake): into a DS area that is anywhere. */
	if (has_pebs_enable(caps) && (drawn.strict || !settable))
		add(s, bits_of_pebs_enable(), SHADOW_PEBS_ENABLE);
	if (caps->baseline && drawn.strict)
		add(s, bits_of_data_cfg(), SHADOW_PLAIN);
	if (caps->facilities & FAC_FRONTEND)
		add(s, bits_of_frontend(), SHADOW_PLAIN);
	if (caps->arch_lbr)
		add(s, bits_of_lbr_control(), SHADOW_PLAIN);
	else if (lbr_depth())
		add(s, bits_of_lbr_select(), SHADOW_PLAIN);
}

/* Make one comparison. The first few wrong ones are printed. */
static void compare(struct test *t, struct tally *tally, u64 want, u64 got, const char *name,
		    u32 msr)
{
	tally->looked++;
	if (want == got)
		return;
	tally->wrong++;
	if (drawn.told++ < TOLD)
		test_note(t, "draw: case %lu of seed %lu: %s (%#x): %#lx, not %#lx", drawn.number,
			  draw_options()->seed, name, msr, got, want);
}

static void look_at(struct test *t, unsigned i)
{
	const struct shadow *s = &drawn.shadow;
	const struct shadow_row *row = &s->row[i];
	u64 got = ~shadow_of(s, i);

	if (!register_reads_back(t, row->bits.msr))
		return;
	msr_try_read(row->bits.msr, &got);
	compare(t, row->kind == SHADOW_COUNTER ? &drawn.sign : &drawn.holds, shadow_of(s, i), got,
		row->bits.name, row->bits.msr);
	if (!row->has_rdpmc)
		return;
	got = ~shadow_of(s, i);
	rdpmc_try(row->rdpmc, &got);
	compare(t, &drawn.rdpmc, shadow_of(s, i), got, "RDPMC", row->rdpmc);
}

/* A hybrid's processor may have counters that it doesn't tell of, and of CFG_C the manual doesn't
 * say whether it is in use: bit 63 isn't looked at there. */
static void look_at_in_use(struct test *t)
{
	const struct shadow *s = &drawn.shadow;
	const bool pmi = !counter_caps()->told_less && has_pebs_enable(counter_caps());
	const u64 listed = shadow_in_use_listed(s), all = shadow_in_use(s);
	const u64 got = msr_read(MSR_IA32_PERF_GLOBAL_INUSE);
	u64 seen = counters_all().bits | (pmi ? IA32_PERF_GLOBAL_INUSE_PMI : 0);

	if (listed != all) {
		const u64 later = seen & IA32_PERF_GLOBAL_INUSE_PMI;

		seen &= ~later;
		if (later && drawn.strict)
			compare(t, &drawn.in_use_later, all & later, got & later,
				"IA32_PERF_GLOBAL_INUSE[63]", MSR_IA32_PERF_GLOBAL_INUSE);
	}
	compare(t, &drawn.in_use, listed & seen, got & seen, "IA32_PERF_GLOBAL_INUSE",
		MSR_IA32_PERF_GLOBAL_INUSE);
}

static void look_at_status(struct test *t)
{
	const struct shadow *s = &drawn.shadow;

	if (counter_caps()->version < 4 || counter_caps()->hypervisor)
		return;
	compare(t, &drawn.status, s->status,
		counters_status() & (drawn.strict ? ~0ULL : written_status()),
		"IA32_PERF_GLOBAL_STATUS", MSR_IA32_PERF_GLOBAL_STATUS);
	look_at_in_use(t);
}

static struct tally *tally_of_refusal(enum requirement_id id)
{
	for (unsigned i = 0; i < REFUSALS; i++)
		if (refusals[i] == id)
			return &drawn.refused[i];
	return &drawn.holds;
}

static void carry_out(struct test *t, const struct shadow_write *w)
{
	const struct shadow_row *row = &drawn.shadow.row[w->row];
	struct fault fault;

	switch (w->access) {
	case SHADOW_SET:
		msr_write(MSR_IA32_PERF_GLOBAL_STATUS_SET, w->value);
		break;
	case SHADOW_RESET:
		counters_clear(w->value);
		break;
	case SHADOW_WRITE:
	case SHADOW_REFUSED:
		fault = msr_try_write(row->bits.msr, w->value);
		compare(t,
			w->access == SHADOW_WRITE ? &drawn.holds :
						    tally_of_refusal(row->bits.refuses),
			w->access == SHADOW_REFUSED, fault_is_gp(fault), "#GP of a write to",
			row->bits.msr);
		break;
	}
}

static void run_case(struct test *t, u64 number)
{
	struct prng p = prng_begin(draw_options()->seed, STREAM, number);
	const struct left_out out = { prng_one_in(&p, 2), prng_one_in(&p, 2) };
	struct shadow *s = &drawn.shadow;

	drawn.number = number;
	add_all(t, s, &out);
	shadow_begin(s);
	for (unsigned i = 0; i < s->rows; i++)
		if (s->row[i].of == SHADOW_NONE)
			msr_write(s->row[i].bits.msr, s->row[i].bits.always);
	for (unsigned n = 0; n < WRITES; n++) {
		struct shadow_write w = { .row = 0 };

		shadow_draw(s, &p, &w);
		carry_out(t, &w);
		shadow_apply(s, &w);
		look_at(t, w.row);
		look_at_status(t);
		for (unsigned i = 0; i < LOOKS; i++)
			look_at(t, (unsigned)prng_below(&p, s->rows));
	}
	for (unsigned i = 0; i < s->rows; i++)
		look_at(t, i);
	for (unsigned i = 0; i < s->rows; i++)
		if (s->row[i].of == SHADOW_NONE)
			msr_try_write(s->row[i].bits.msr, 0);
	if (s->settable)
		counters_clear(s->settable);
}

/* Returns the number of cases. */
static unsigned run_cases(struct test *t)
{
	const struct draw_options *options = draw_options();
	const u64 deadline = time_deadline(1000ULL * options->ms);
	u64 number = options->only ? options->only - 1 : 0;
	unsigned cases = 0;

	drawn = (struct drawn_registers){ .strict = test_is_strict(t) };
	do {
		if (cases % RENEW_EVERY == 0)
			guard_renew();
		run_case(t, number++);
		cases++;
	} while (!drawn.told && !options->only &&
		 (options->cases ? cases < options->cases : !time_expired(deadline)));
	test_note(t, "draw: %u cases of seed %lu, %u writes each", cases, options->seed, WRITES);
	return cases;
}

#define DECIDE_TALLY(ids, tally, text)							\
	do {										\
		if ((tally).looked)							\
			CHECK_EQ(t, IDS(ids), 0, (tally).wrong, "%u drawn looks: " text,	\
				 (tally).looked);					\
	} while (0)
#define DECIDE_REFUSAL(id)								\
	DECIDE_TALLY(id, *tally_of_refusal(REQ_##id), "writes of reserved bits without #GP")

/*
 * Decides MSR-04, MSR-05, MSR-16, MSR-25, MSR-28, MSR-29, MSR-30, MSR-31, MSR-33, MSR-34, MSR-35,
 * MSR-36, LBR-17, ALBR-05, APEBS-09, CNT-06, STS-01, STS-02, STS-03, STS-07, STS-08, STS-09, STS-20
 * (claims/requirement.def has their sentences).
 *
 * Given  event selects, counters, controls, IA32_PEBS_ENABLE, IA32_DS_AREA, IA32_DEBUGCTL, the
 *        latency threshold, off-core response registers, MSR_PEBS_FRONTEND, MSR_LBR_SELECT or
 *        IA32_LBR_CTL; where every requirement is judged MSR_PEBS_DATA_CFG, registers from 1900H
 *        on, CFG_B and CFG_C too; no counter has both of its enables
 * When   drawn values are written to drawn registers, through each of their addresses; one write of
 *        three has some reserved bits set, where there are such; from version 4 on bits of the
 *        status are set and cleared in between
 * Then   a write with a reserved bit raises #GP and changes nothing; each register holds what was
 *        last written to it by any address; RDPMC, the status and IA32_PERF_GLOBAL_INUSE agree
 * Control: writes of legal values are accepted, also after a refused one
 */
TEST(random, drawn_register_writes_change_what_they_name_alone,
     REQS(MSR_04, MSR_05, MSR_16, MSR_25, MSR_28, MSR_29, MSR_30, MSR_31, MSR_33, MSR_34, MSR_35,
	  MSR_36, LBR_17, ALBR_05, APEBS_09, CNT_06, STS_01, STS_02, STS_03, STS_07, STS_08,
	  STS_09, STS_20),
     NEEDS(need_perfmon, need_events, need_refused_msrs))
{
	run_cases(t);
	DECIDE_TALLY(MSR_28, drawn.holds, "registers that hold something else");
	DECIDE_TALLY(IDS(MSR_04, MSR_28), drawn.sign,
		     "values of IA32_PMCx that aren't EAX and its sign");
	DECIDE_TALLY(CNT_06, drawn.rdpmc, "RDPMC of another value");
	DECIDE_TALLY(IDS(STS_01, STS_02, STS_03), drawn.status,
		     "status bits otherwise than written");
	DECIDE_TALLY(IDS(STS_07, STS_08, STS_09), drawn.in_use, "IA32_PERF_GLOBAL_INUSE otherwise");
	DECIDE_TALLY(STS_20, drawn.in_use_later,
		     "IA32_PERF_GLOBAL_INUSE[63] otherwise, beyond the manual's list");
	DECIDE_REFUSAL(MSR_29);
	DECIDE_REFUSAL(MSR_30);
	DECIDE_REFUSAL(MSR_31);
	DECIDE_REFUSAL(MSR_33);
	DECIDE_REFUSAL(MSR_34);
	DECIDE_REFUSAL(MSR_35);
	DECIDE_REFUSAL(MSR_36);
	DECIDE_REFUSAL(MSR_05);
	DECIDE_REFUSAL(MSR_16);
	DECIDE_REFUSAL(MSR_25);
	DECIDE_REFUSAL(LBR_17);
	DECIDE_REFUSAL(ALBR_05);
	DECIDE_REFUSAL(APEBS_09);
}
