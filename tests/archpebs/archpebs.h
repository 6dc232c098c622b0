/* SPDX-License-Identifier: MIT */
/*
 * Takes records of architectural PEBS, with given groups, by a given counter. The tests judge the
 * records; the decoder computes sizes (pmu/version6/arch_record.h).
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
/* On one of the first four counters, which records loads. */
bool need_arch_load(char *reason, size_t size);
/* And these groups, as bits of CFG_C, on the first four counters. */
bool need_arch_groups(u64 groups, char *reason, size_t size);

/* A counter samples loads by latency, or stores, and writes records. */
bool need_arch_latency(char *reason, size_t size);
bool need_arch_stores(char *reason, size_t size);

/* Counters 0 to 3 that write records: those on which LOADS can be sampled. */
u64 arch_load_counters(void);
/* The counters that sample this kind of event and write records, and the event. 0: there are none.
 */
u64 arch_counters_of(enum event_kind kind, struct event *event);

/* The setting that makes one record in a window. */
struct arch_run {
	unsigned counter;
	u16 event;		/* general-purpose counters; 0: sampling_any_event() */
	u64 groups;		/* of CFG_C, beside PEBS_EN */
	const struct workload *workload;	/* NULL: sampling_any_piece() */
	unsigned size;		/* of the buffer: 1000H << size bytes */
	u64 threshold;		/* in units of 16 bytes; 0: never */
	bool without_enable;	/* CFG_C[63] = 0 */
};

/* The window of a run: opens the buffer, arms the counter with PERIOD, and stops everything
 * afterwards. */
void arch_window(const struct arch_run *run);
/* The same without opening the buffer again. */
void arch_go_on(const struct arch_run *run);
/*
 * The same for any counter: an overflow each ROUNDS_PERIOD of its own events (fixed counters;
 * branches on the general-purpose ones), until there is a record.
 */
void arch_any_window(const struct arch_run *run, u64 reload);
/* Counters that certainly count in any window; fixed counters from 4 on count slots of which there
 * may be none. */
#define ARCH_SURE	BITS(0, 35)
/* After arch_any_window(): has a counter that isn't in ARCH_SURE not overflowed? This is noted in
 * the log, and everything is stopped. */
bool arch_stood_still(struct test *t, unsigned counter);

/* Checks that WR has grown by one complete record from `from` on; false: the check has failed. */
bool arch_one_record(struct test *t, struct test_claim claim, u64 from);

/* The beginning of the record after the one at byte `from`. 0: that one isn't complete. */
u64 arch_next(u64 from);

/* Find the fragment, in the record at byte `from`, that has the group. Returns the offset of the
 * group in the buffer; 0: there is none. */
u64 arch_group(u64 from, enum arch_group group, struct arch_fragment *fragment);
/* Checks that the GPR group there has the values that don't change while marked loads run: all
 * registers except RAX, RIP and RFLAGS. */
void arch_check_registers(struct test *t, struct test_claim claim, u64 gpr, u64 rsp);
/* The quadword at a byte of the buffer. */
u64 arch_at(u64 byte);

#endif
