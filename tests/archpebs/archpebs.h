/* SPDX-License-Identifier: MIT */
/*
 * Taking records of architectural PEBS: which groups, by which counter. What is right about a
 * record is the tests' business; sizes are the decoder's (pmu/version6/arch_record.h).
 */
#ifndef TESTS_ARCHPEBS_ARCHPEBS_H
#define TESTS_ARCHPEBS_ARCHPEBS_H

#include "pmu/version6/arch_pebs.h"
#include "pmu/pmi.h"
#include "spec/msr.h"
#include "tests/frame/needs.h"
#include "tests/measure/sampling.h"

#define GROUP_AUX	IA32_PMC_GP0_CFG_C_AUX
#define GROUP_GPR	IA32_PMC_GP0_CFG_C_GPR
#define GROUP_XMM	BIT(49)
#define GROUP_YMMH	BIT(50)	/* upper halves of YMM registers */
#define GROUP_LBR(code)	((u64)(code) << IA32_PMC_GP0_CFG_C_LBR_SHIFT)

/* Bytes of a record whose header BASIC follows. */
#define AT_EVENTING_IP	0x10u
#define AT_APPLICABLE	0x18u	/* applicable counters */
#define AT_TSC		0x20u

bool need_arch_pebs(char *reason, size_t size);
/* And these groups, as bits of CFG_C, on the first four counters. */
bool need_arch_groups(u64 groups, char *reason, size_t size);

/* Counters 0 to 3 that write records: those on which LOADS can be sampled. */
u64 arch_load_counters(void);

/* What makes the one record of a window. */
struct arch_run {
	unsigned counter;
	u16 event;		/* general-purpose counters; 0: LOADS */
	u64 groups;		/* of CFG_C, beside PEBS_EN */
	const struct workload *workload;	/* NULL: workload_sample */
	unsigned size;		/* of the buffer: 1000H << size bytes */
	u64 threshold;		/* in units of 16 bytes; 0: never */
	bool without_enable;	/* CFG_C[63] = 0 */
};

/* The window of a run: buffer open, the counter armed with PERIOD, everything stopped after it. */
void arch_window(const struct arch_run *run);
/* The same with the buffer as it is. */
void arch_go_on(const struct arch_run *run);
/*
 * The same for any counter: an overflow each ROUNDS_PERIOD of its own events (fixed counters;
 * branches on the general-purpose ones), until there is a record.
 */
void arch_any_window(const struct arch_run *run, u64 reload);
/* Counters that surely count in any window; fixed ones from 4 on count slots that may be none. */
#define ARCH_SURE	BITS(0, 35)
/* After arch_any_window(): a counter that isn't sure hasn't overflowed, which is noted; all is
 * stopped then. */
bool arch_stood_still(struct test *t, unsigned counter);

/* WR has grown by one record from `from` on, which is whole. false, and the check has failed. */
bool arch_one_record(struct test *t, struct test_claim claim, u64 from);

/* Where the record after that at byte `from` begins. 0: that one isn't whole. */
u64 arch_next(u64 from);

/* The fragment of the record at byte `from` that has the group. 0: none; else where the group
 * begins in the buffer. */
u64 arch_group(u64 from, enum arch_group group, struct arch_fragment *fragment);
/* The GPR group there has the values that stay while marked loads run: all registers but RAX, RIP
 * and RFLAGS. */
void arch_check_registers(struct test *t, struct test_claim claim, u64 gpr, u64 rsp);
/* The quadword at a byte of the buffer. */
u64 arch_at(u64 byte);

#endif
