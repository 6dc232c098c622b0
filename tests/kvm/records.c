/* SPDX-License-Identifier: MIT */
/*
 * PEBS in KVM's guests. On Ice Lake servers and later guests have the host's record format without
 * baseline. Linux arch/x86/kvm/vmx/pmu_intel.c, pmu.c, intel_guest_get_msrs. The host may suppress
 * any record, so a missing record is neither a breach nor evidence.
 */
#include "kernel/interrupt/fault.h"
#include "pmu/pmi.h"
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/kvm/guest.h"
#include "tests/measure/sampling.h"

#define WINDOWS		16u	/* with one record, for each counter */
#define LOAD_COUNTERS	4u	/* counters that can sample LOADS: IA32_PMC0 to IA32_PMC3 */
#define SEVERAL		3u	/* records in one window */
#define CAPACITY	8u
#define BASIC_BYTES	ADAPTIVE_BASIC_BYTES
#define AT_WORD		ADAPTIVE_BASIC_format
#define AT_APPLICABLE	ADAPTIVE_BASIC_applicable
#define AT_TSC		ADAPTIVE_BASIC_tsc

static u64 at(unsigned byte)
{
	return *(const volatile u64 *)((uintptr_t)ds_buffer() + byte);
}

static void no_record(struct test *t)
{
	test_inconclusive(t, "no record under hypervisor \"%s\"", counter_caps()->host.signature);
}

/* Run a window in which the counter overflows once. */
static void sample(unsigned counter, const struct ds_setup *setup)
{
	sampling_run(setup, counter, LOADS, COUNT_BOTH, &workload_sample, NO_OTHERS);
}

/*
 * KVM-11  Where a guest has record format 4 or later without baseline, every record must have 20H
 *         bytes and a format word of 0.
 *         KVM; Linux intel_guest_get_msrs
 * KVM-13  A record must name the guest's counter, or be missing: never another.
 *         KVM intel_pmu_cross_mapped_check
 *
 * Given  a guest of KVM with records of format 4 without baseline
 * When   each of IA32_PMC0 to IA32_PMC3 overflows in marked loads, in sixteen windows
 * Then   each window with a record moves the index by 20H; bits 63:48 of the format word are 20H
 *        and bits 31:0 are 0; the applicable counters are that counter alone
 */
TEST(kvm, each_record_of_a_guest_is_a_basic_group_of_its_counter, REQS(KVM_11, KVM_13),
     NEEDS(need_perfmon, need_guest_of_kvm, need_format4, need_no_baseline, need_events,
	   need_ds_write))
{
	const struct ds_setup setup = sampling_setup(CAPACITY);
	unsigned records = 0;

	for (unsigned c = 0; c < LOAD_COUNTERS && c < counter_caps()->gp; c++) {
		unsigned otherwise = 0, of_others = 0;
		u64 word = 0, applicable = 0;

		for (unsigned i = 0; i < WINDOWS; i++) {
			sample(c, &setup);
			if (!ds_bytes())
				continue;
			records++;
			if (ds_bytes() != BASIC_BYTES || at(AT_WORD) >> 48 != BASIC_BYTES ||
			    at(AT_WORD) & BITS(0, 31)) {
				otherwise++;
				word = at(AT_WORD);
			}
			if (at(AT_APPLICABLE) != BIT(c)) {
				of_others++;
				applicable = at(AT_APPLICABLE);
			}
		}
		CHECK_EQ(t, KVM_11, 0, otherwise,
			 "records of IA32_PMC%u that aren't the basic group alone (format word "
			 "%#lx)",
			 c, word);
		CHECK_EQ(t, KVM_13, 0, of_others,
			 "records of IA32_PMC%u that name others (applicable counters %#lx)", c,
			 applicable);
	}
	if (!records)
		no_record(t);
}

/*
 * KVM-14  Records may be missing and must never be there twice.
 *         KVM; Linux intel_guest_get_msrs
 *
 * Given  a guest of KVM with records of format 4 without baseline
 * When   IA32_PMC0 overflows once in each of sixteen windows, and three times in one
 * Then   no window of one overflow has two records, none has bytes after them, and no two records
 *        of the last window have the same TSC
 */
TEST(kvm, no_record_of_a_guest_is_there_twice, REQS(KVM_14),
     NEEDS(need_perfmon, need_guest_of_kvm, need_format4, need_no_baseline, need_events,
	   need_ds_write))
{
	struct ds_setup setup = sampling_setup(CAPACITY);
	unsigned records = 0, twice = 0, outside = 0, same = 0;
	int64_t offset = 0;

	for (unsigned i = 0; i < WINDOWS; i++) {
		sample(0, &setup);
		records += ds_records();
		twice += ds_bytes() > BASIC_BYTES;
		outside += ds_written_outside(0, ds_records(), &offset);
	}
	sampling_rounds(&setup, SEVERAL);
	for (unsigned i = 1; i < ds_records(); i++)
		same += at(i * BASIC_BYTES + AT_TSC) == at((i - 1) * BASIC_BYTES + AT_TSC);
	if (!records && !ds_records()) {
		no_record(t);
		return;
	}
	CHECK_EQ(t, KVM_14, 0, twice, "of %u windows of one overflow that have two records",
		 WINDOWS);
	CHECK_EQ(t, KVM_14, 0, outside, "of %u windows with bytes outside the records (offset %ld)",
		 WINDOWS, (long)offset);
	CHECK_EQ(t, KVM_14, 0, same, "records with the TSC of the record before, of %u",
		 ds_records());
}

/*
 * KVM-15  After a PEBS interrupt IA32_PERF_GLOBAL_STATUS[62] must be 1, and a write to
 *         IA32_PERF_GLOBAL_OVF_CTRL[62] must clear it.
 *         KVM __kvm_perf_overflow
 *
 * Given  a guest of KVM with records of format 4 without baseline, OvfBuf 0, the PEBS threshold
 *        after one record, a handler that leaves the status
 * When   IA32_PMC0 makes a record; then IA32_PERF_GLOBAL_OVF_CTRL[1] is written, and [62]
 * Then   the handler finds OvfBuf 1; it still is after the first write, and is 0 after the second
 * Control: there is one interrupt
 */
TEST(kvm, ovfbuf_of_a_guest_stays_from_the_interrupt_until_it_is_cleared, REQS(KVM_15),
     NEEDS(need_perfmon, need_guest_of_kvm, need_format4, need_no_baseline, need_events,
	   need_ds_write))
{
	const struct pmi_options options = { .keep_status = true, .stay_masked = true };
	const u64 ovf_buf = IA32_PERF_GLOBAL_STATUS_OVF_BUF;
	struct ds_setup setup = sampling_setup(CAPACITY);
	const struct pmi_log *log;

	setup.threshold = 1;
	CONTROL_EQ(t, KVM_15, 0, counters_status() & ovf_buf, "OvfBuf before");
	pmi_open(&options);
	sample(0, &setup);
	log = pmi_end();
	if (!ds_bytes()) {
		no_record(t);
		return;
	}
	if (!CONTROL_EQ(t, KVM_15, 1, log->count, "interrupts of a record at the threshold"))
		return;
	CHECK_EQ(t, KVM_15, ovf_buf, log->entry[0].status & ovf_buf,
		 "OvfBuf at the handler's entry");
	counters_clear(BIT(1));
	CHECK_EQ(t, KVM_15, ovf_buf, counters_status() & ovf_buf,
		 "OvfBuf after bit 1 of IA32_PERF_GLOBAL_OVF_CTRL was written");
	counters_clear(ovf_buf);
	CHECK_EQ(t, KVM_15, 0, counters_status() & ovf_buf,
		 "OvfBuf after bit 62 of IA32_PERF_GLOBAL_OVF_CTRL was written");
}

/*
 * KVM-12  Without baseline IA32_PEBS_ENABLE must accept the bits of general-purpose counters
 *         alone.
 *         KVM intel_pmu_refresh
 *
 * Given  a guest of KVM with records of format 4 without baseline
 * When   each bit of IA32_PEBS_ENABLE is written alone
 * Then   bits of general-purpose counters are held; each other bit raises #GP and changes nothing
 */
TEST(kvm, pebs_enable_of_a_guest_has_general_purpose_counters_alone, REQS(KVM_12),
     NEEDS(need_perfmon, need_guest_of_kvm, need_refused_msrs, need_format4, need_no_baseline,
	   need_ds_write))
{
	for (unsigned bit = 0; bit < 64; bit++) {
		const u64 kept = BIT(bit ? 0 : 1);
		struct fault fault;

		msr_write(MSR_IA32_PEBS_ENABLE, kept);
		fault = msr_try_write(MSR_IA32_PEBS_ENABLE, BIT(bit));
		if (bit < counter_caps()->gp) {
			CHECK(t, KVM_12, !fault.raised, "no #GP of IA32_PEBS_ENABLE[%u]", bit);
			CHECK_EQ(t, KVM_12, BIT(bit), msr_read(MSR_IA32_PEBS_ENABLE),
				 "IA32_PEBS_ENABLE after bit %u", bit);
		} else {
			CHECK(t, KVM_12, fault.raised && fault.vector == VECTOR_GP,
			      "#GP of IA32_PEBS_ENABLE[%u]", bit);
			CHECK_EQ(t, KVM_12, kept, msr_read(MSR_IA32_PEBS_ENABLE),
				 "IA32_PEBS_ENABLE after the refused bit %u", bit);
		}
	}
	msr_write(MSR_IA32_PEBS_ENABLE, 0);
}
