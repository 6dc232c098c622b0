/* SPDX-License-Identifier: MIT */
/*
 * The program's own reads and writes of the PMU's registers: SDM "Architectural Performance
 * Monitoring Version 2 Facilities", volume 2 "RDMSR", "RDPMC", "WRMSR".
 */
#include "tests/random/arch/oracle_arch.h"
#include "tests/random/oracle_internal.h"

#define NARROW	64	/* a narrow range of counts: not of cycles */

/* ---- writes to the PMU's own registers by the program */

/* A write starts or stops counter i. The manual doesn't say whether that instruction counts, nor
 * what its microcode adds. */
static void switched(struct oracle *o, const struct oracle *as, unsigned i)
{
	const struct draw_event *event = oracle_event_of(as, i);
	struct span n = { 0, 0 };

	if (!event)
		return;
	n.most = event->whole + (event->kind == EK_INSTRUCTIONS) + trace_exit_adds(o->env, event);
	if (oracle_is_cycles(event))
		n.most = CYCLES_MOST;
	oracle_advance(o, i, oracle_filtered(as, i, n, true));
}

/* The closing write adds the events that the opening write hasn't added. */
static void stopped(struct oracle *o, unsigned i)
{
	const struct draw_event *event = oracle_event_of(o, i);

	if (!event)
		return;
	if (oracle_is_cycles(event))
		switched(o, o, i);
	else
		oracle_advance(o, i,
			       oracle_filtered(o, i,
					       (struct span){ event->whole - event->open_most,
						       event->whole - event->open_least +
							       trace_exit_adds(o->env, event) },
					       true));
}

static void set_counter(struct oracle *o, unsigned i, u64 value, bool on)
{
	struct counter *k = &o->counter[i];
	const struct draw_event *event = oracle_event_of(o, i);
	bool itself = on && oracle_selects_level(o, i, false) && event;
	u64 most = 0;

	oracle_load(o, i, value);
	k->written = k->written || on;
	/* The manual doesn't say whether the write counts itself. */
	if (itself)
		most = (event->kind == EK_INSTRUCTIONS) + trace_exit_adds(o->env, event);
	if (most)
		oracle_advance(o, i, oracle_filtered(o, i, (struct span){ 0, most }, true));
	if (itself && oracle_is_cycles(event))
		oracle_advance(o, i, (struct span){ 0, CYCLES_MOST });
}

static u64 sign_extended(u64 value)
{
	return (u64)(int64_t)(int32_t)(u32)value;
}

/* The counter to which a register belongs; DRAW_COUNTERS: none. */
static unsigned counter_of_msr(u32 msr)
{
	if (msr - MSR_IA32_PMC0 < DRAW_GP)
		return msr - MSR_IA32_PMC0;
	if (msr - MSR_IA32_A_PMC0 < DRAW_GP)
		return msr - MSR_IA32_A_PMC0;
	if (msr - MSR_IA32_FIXED_CTR0 < DRAW_FIXED)
		return DRAW_GP + msr - MSR_IA32_FIXED_CTR0;
	return DRAW_COUNTERS;
}

/* It is only inferred that a counter that was off in the meantime is still armed. */
static void write_global(struct oracle *o, u64 value)
{
	if (o->armed & value & ~o->global && !o->env->strict)
		o->vague = true;
	o->global = value;
}

static void write_register(struct oracle *o, u32 msr, u64 value)
{
	if (msr - MSR_IA32_PERFEVTSEL0 < DRAW_GP)
		o->select[msr - MSR_IA32_PERFEVTSEL0] = value;
	else if (msr == MSR_IA32_FIXED_CTR_CTRL)
		o->fixed_control = value;
	else if (msr == MSR_IA32_PERF_GLOBAL_CTRL)
		write_global(o, value);
	else if (msr == MSR_IA32_PEBS_ENABLE)
		o->pebs_enable = value;
	else if (msr == MSR_IA32_DEBUGCTL)
		o->debugctl = value;
	else if (msr != MSR_IA32_PERF_GLOBAL_OVF_CTRL)
		oracle_write_branches(o, msr, value);
	oracle_arch_write(o, msr, value);
}

/*
 * Clearing the PEBS enable or changing the event select disarms a counter. This is an inference
 * ("asks for a quiescent period"), so only a strict run judges what follows.
 */
static void disarm(struct oracle *o, u64 counters)
{
	oracle_arch_disturb(o, counters);
	if (o->armed & counters && !o->env->strict)
		o->vague = true;
	o->armed &= ~counters;
	o->held &= ~counters;
}

/* Count the write on counter i, which the write doesn't set. */
static void count_write(struct oracle *o, const struct oracle *before, unsigned i, bool changed,
			const struct trace_step *step)
{
	bool was = oracle_is_on(before, i) && oracle_selects_level(before, i, false);
	bool is = oracle_is_on(o, i) && oracle_selects_level(o, i, false);

	if (was && step->row->flags & ROW_STOP)
		stopped(o, i);
	else if (was && is && !changed)
		oracle_advance(o, i, oracle_counted(o, i, step));
	else if (was)
		switched(o, before, i);
	if (is && (!was || changed))
		switched(o, o, i);
	o->counter[i].ran |= was || is;
}

/* The counter overflows, or may overflow, on the write that changes its INT or PEBS enable. The
 * manual doesn't say which of the two settings applies to the overflow. */
static bool is_between(const struct oracle *before, const struct oracle *o, unsigned i)
{
	if (!(o->wrapped & oracle_bit(i)) && !o->counter[i].cut)
		return false;
	return oracle_has_interrupt(before, i) != oracle_has_interrupt(o, i) ||
	       oracle_records(before, i) != oracle_records(o, i);
}

void oracle_write(struct oracle *o, const struct trace_step *step)
{
	const struct draw_operation *op = &o->c->operation[step->slot];
	bool stop = step->row->flags & ROW_STOP;
	u64 value = stop ? 0 : (u64)op->high << 32 | op->low;
	u32 msr = stop ? MSR_IA32_PERF_GLOBAL_CTRL : op->msr;
	unsigned target = counter_of_msr(msr);
	u32 select = msr - MSR_IA32_PERFEVTSEL0;
	bool changed = select < DRAW_GP && o->select[select] != value;
	struct oracle before = *o;

	write_register(o, msr, value);
	for (unsigned i = 0; i < DRAW_COUNTERS; i++)
		if (oracle_exists(o, i) && i != target) {
			count_write(o, &before, i, changed && select == i, step);
			o->vague = o->vague || is_between(&before, o, i);
		}
	if (changed)
		disarm(o, BIT(select));
	disarm(o, before.pebs_enable & ~o->pebs_enable);
	if (msr == MSR_IA32_FIXED_CTR_CTRL)
		oracle_loosen(o, o->armed & BIT(draw_status_bit(DRAW_GP)));
	/* With an overflow bit set, enabling PEBS may write a record at once (a hypervisor's
	 * measurements). */
	if (o->env->adaptive.baseline && !o->env->strict)
		oracle_loosen(o, (o->must | o->may) & o->pebs_enable & ~before.pebs_enable);
	if (target < DRAW_COUNTERS)
		oracle_arch_disturb(o, oracle_bit(target));
	if (target < DRAW_COUNTERS)
		set_counter(o, target, msr - MSR_IA32_PMC0 < DRAW_GP ? sign_extended(value) : value,
			    oracle_is_on(o, target));
	if (msr == MSR_IA32_PERF_GLOBAL_OVF_CTRL) {
		u64 fresh;

		/* The manual doesn't say whether an overflow on this very write is cleared. */
		fresh = o->may_wrap & value;
		oracle_clear_status(o, value);
		o->may |= fresh;
		oracle_write_branches(o, msr, value);
	}
}

/* ---- reads by the program */

void oracle_expect_counter(struct oracle *o, enum draw_claim claim, unsigned i, u64 got,
			   const char *what)
{
	const struct counter *k = &o->counter[i];
	u64 mask = oracle_width_mask(o, i);

	if (k->lost)
		return;
	/* Modulo the counter's width; a bit above that is always wrong. */
	if (got & ~mask)
		oracle_expect(o, claim, k->least & mask, k->room, got, what, i);
	else
		oracle_expect(o, claim, k->least, k->room, k->least + ((got - k->least) & mask),
			      what, i);
}

/*
 * The manual doesn't say whether a reading instruction counts itself in the value that it reads. A
 * value with a wide range is known exactly from here on, but not whether a record is due.
 */
static void read_counter(struct oracle *o, enum draw_claim claim, unsigned i, u64 got, bool user,
			 const char *what)
{
	struct counter *k = &o->counter[i], before = *k;
	const struct draw_event *event = oracle_event_of(o, i);
	bool counts = oracle_is_on(o, i) && oracle_selects_level(o, i, user) && event;
	u64 mask = oracle_width_mask(o, i);

	if (counts && event->kind == EK_INSTRUCTIONS)
		k->room++;
	if (counts)
		k->room += trace_exit_adds(o->env, event);
	if (counts && oracle_is_cycles(event))
		k->room += CYCLES_MOST;
	oracle_expect_counter(o, claim, i, got, what);
	if (oracle_has_wrapped(o, i, got))
		o->must |= oracle_bit(i);
	if (before.lost || (before.room > NARROW && ((got - k->least) & mask) <= k->room))
		*k = (struct counter){ .least = got & mask, .written = before.written,
				       .ran = before.ran, .reloaded = before.reloaded,
				       .cut = before.cut && o->c->arch.used };
	else
		*k = before;
}

static void read_register(struct oracle *o, u32 msr, u64 got)
{
	unsigned i = counter_of_msr(msr);

	if (oracle_arch_read(o, msr, got))
		return;
	if (i < DRAW_COUNTERS)
		read_counter(o, DRAW_CLAIM_RDMSR, i, got, false, "RDMSR of counter %lu");
	else if (msr - MSR_IA32_PERFEVTSEL0 < DRAW_GP)
		oracle_expect(o, DRAW_CLAIM_REGISTER, o->select[msr - MSR_IA32_PERFEVTSEL0], 0, got,
			      "IA32_PERFEVTSEL%lu", msr - MSR_IA32_PERFEVTSEL0);
	else if (msr == MSR_IA32_FIXED_CTR_CTRL)
		oracle_expect(o, DRAW_CLAIM_REGISTER, o->fixed_control, 0, got,
			      "IA32_FIXED_CTR_CTRL (%#lx)", msr);
	else if (msr == MSR_IA32_PERF_GLOBAL_CTRL)
		oracle_expect(o, DRAW_CLAIM_REGISTER, o->global, 0, got,
			      "IA32_PERF_GLOBAL_CTRL (%#lx)", msr);
	else if (msr == MSR_IA32_PEBS_ENABLE)
		oracle_expect(o, DRAW_CLAIM_REGISTER, o->pebs_enable, 0, got,
			      "IA32_PEBS_ENABLE (%#lx)", msr);
	else if (msr == MSR_IA32_PERF_GLOBAL_STATUS) {
		oracle_expect(o, DRAW_CLAIM_OVERFLOW, 0, 0,
			      (got ^ o->must) & ~oracle_untold(o) & STATUS_COUNTERS,
			      "bits of IA32_PERF_GLOBAL_STATUS (%#lx) that are wrong in the "
			      "program",
			      msr);
		oracle_expect_ovf_buf(o, got, "OvfBuf in the program (status %#lx)");
		/* If a counter may have overflowed and its bit is set, it has overflowed. */
		o->must |= got & o->may & STATUS_COUNTERS;
	} else if (msr == MSR_IA32_DEBUGCTL) {
		oracle_expect(o, DRAW_CLAIM_REGISTER, oracle_debugctl(o, o->debugctl), 0,
			      oracle_debugctl(o, got), "IA32_DEBUGCTL (%#lx)", msr);
	} else {
		oracle_read_branches(o, msr, got);
	}
}

void oracle_read(struct oracle *o, const struct trace_step *step)
{
	const struct draw_operation *op = &o->c->operation[step->slot];
	const struct draw_result *r = &o->seen->result[step->slot];
	u64 got = r->rdx << 32 | (u32)r->rax;
	unsigned i = op->msr & BIT(30) ? DRAW_GP + (op->msr & 7) : op->msr & 0xf;

	/* "In 64-bit mode RDMSR and RDPMC clear bits 63:32 of RAX and of RDX." */
	oracle_expect(o, DRAW_CLAIM_UPPER, 0, 0, r->rax >> 32, "RAX[63:32] after reading %#lx",
		      op->msr);
	oracle_expect(o, DRAW_CLAIM_UPPER, 0, 0, r->rdx >> 32, "RDX[63:32] after reading %#lx",
		      op->msr);
	if (step->row->flags & ROW_RDMSR)
		read_register(o, op->msr, got);
	else
		read_counter(o, oracle_is_fixed(i) ? DRAW_CLAIM_RDPMC_FIXED : DRAW_CLAIM_RDPMC, i,
			     got, step->user, "RDPMC of counter %lu");
}

