/* SPDX-License-Identifier: MIT */
/*
 * Reserved bits of the registers of another logical processor. The first processor's own are in
 * registers.c.
 */
#include "kernel/interrupt/fault.h"
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/measure/register_bits.h"
#include "tests/measure/two_cpus.h"

struct refusal {
	struct two_cpus both;
	struct register_bits of;
	u64 kept;		/* written before, with none of the reserved bits */
	bool written;		/* that write raised no exception */
	u64 accepted;		/* reserved bits whose write raised no #GP */
	u64 after;		/* the register after these writes */
};

/* On the other processor. */
static void write_reserved_bits(void *arg)
{
	struct refusal *r = arg;
	const u64 other = r->of.always | (r->of.writable & ~r->kept);

	if (!two_cpus_side())
		return;
	r->written = !msr_try_write(r->of.msr, r->kept).raised;
	FOR_EACH_COUNTER (bit, r->of.reserved)
		if (!fault_is_gp(msr_try_write(r->of.msr, other | BIT(bit))))
			r->accepted |= BIT(bit);
	r->after = msr_read(r->of.msr);
	msr_write(r->of.msr, r->of.always);
}

static struct test_claim claim_of(enum requirement_id refuses)
{
	switch (refuses) {
	case REQ_MSR_29:
		return AT(MSR_29);
	case REQ_MSR_30:
		return AT(MSR_30);
	case REQ_MSR_31:
		return AT(MSR_31);
	case REQ_MSR_33:
		return AT(MSR_33);
	case REQ_MSR_34:
		return AT(MSR_34);
	default:
		return AT(MSR_35);
	}
}

static void check_refuses_there(struct test *t, unsigned cpu, const struct register_bits *of)
{
	const struct test_claim claim = claim_of(of->refuses);
	struct refusal r = { .of = *of,
			     .kept = of->always | (of->writable & 0x5555555555555555ULL) };

	if (!of->reserved || !two_cpus_run(t, &r.both, cpu, write_reserved_bits, &r))
		return;
	test_check(t, test_control(claim), r.written, "no exception", "writing %#lx to %s of %s",
		   r.kept, of->name, two_cpus_name(cpu));
	test_check_eq(t, claim, 0, r.accepted, "bits of %s (MSR %#x) of %s written without #GP",
		      of->name, of->msr, two_cpus_name(cpu));
	if (register_reads_back(t, of->msr))
		test_check_eq(t, claim, r.kept, r.after,
			      "%s (MSR %#x) of %s after the refused writes", of->name, of->msr,
			      two_cpus_name(cpu));
}

/*
 * MSR-29  A write that sets a reserved bit of IA32_PERFEVTSELx must raise #GP and keep the old
 *         value.
 *         SDM volume 2 WRMSR, Protected Mode Exceptions; Figure 18-6
 * MSR-30  A write that sets a bit above the width of a fixed counter must raise #GP and keep the
 *         old value.
 *         SDM volume 2 WRMSR, Protected Mode Exceptions; 18.2.2 (width of the fixed counters)
 * MSR-31  A write that sets a reserved bit of IA32_FIXED_CTR_CTRL must raise #GP and keep the old
 *         value.
 *         SDM volume 2 WRMSR, Protected Mode Exceptions; Figure 18-7
 * MSR-33  A write that sets a reserved bit of MSR_PEBS_LD_LAT_THRESHOLD must raise #GP and keep
 *         the old value.
 *         SDM volume 2 WRMSR, Protected Mode Exceptions; Figure 18-23
 * MSR-34  A write that sets a reserved bit of IA32_DEBUGCTL must raise #GP and keep the old value.
 *         SDM volume 2 WRMSR, Protected Mode Exceptions; 17.4.1 IA32_DEBUGCTL MSR
 * MSR-35  A write that sets a reserved bit of an off-core response MSR must raise #GP and keep the
 *         old value.
 *         SDM volume 2 WRMSR, Protected Mode Exceptions; Off-core Response Performance Monitoring
 *
 * Given  another logical processor, whose registers have every other of their bits set
 * When   it writes each reserved bit of them, together with the inverse of the bits that are set
 * Then   each write raises #GP and changes nothing
 * Control: the value that stays was accepted
 */
TEST(msr, another_processor_refuses_reserved_bits_of_its_registers,
     REQS(MSR_29, MSR_30, MSR_31, MSR_33, MSR_34, MSR_35),
     NEEDS(need_perfmon, need_events, need_partner))
{
	char reason[96];
	struct register_bits r[REGISTERS_MOST];
	const struct register_bits debugctl = bits_of_debug_control();
	const unsigned n = bits_of_all(t, r);

	FOR_EACH_PARTNER (cpu) {
		for (unsigned i = 0; i < n; i++)
			check_refuses_there(t, cpu, &r[i]);
		if (need_debug_control_write(reason, sizeof(reason)))
			check_refuses_there(t, cpu, &debugctl);
	}
}
