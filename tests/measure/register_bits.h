/* SPDX-License-Identifier: MIT */
/*
 * The registers of this processor's PMU that software writes and reads, and their writable and
 * reserved bits: SDM Table 35-2 "IA-32 Architectural MSRs", Figures 18-6 to 18-8, 18-21 and 18-23,
 * WRMSR "Protected Mode Exceptions". Bit numbers are those of the figures. Bits that start
 * something by themselves (branch trace messages, BTF), or whose meaning this program's tables
 * leave to a model, are in neither set. For any CPL 0 state of the processor that runs the test.
 */
#ifndef TESTS_MEASURE_REGISTER_BITS_H
#define TESTS_MEASURE_REGISTER_BITS_H

#include "claims/requirement.h"
#include "spec/types.h"

struct test;

struct register_bits {
	const char *name;
	u32 msr;
	u64 always;	/* kept set, for registers that want a smallest value */
	u64 writable;	/* bits to write and read back */
	u64 reserved;	/* bits that must be refused */
	enum requirement_id refuses;	/* the requirement that says so, if there are any */
};

struct register_bits bits_of_event_select(u32 i);
struct register_bits bits_of_counter(u32 i);		/* IA32_PMCx: 31 bits, then the sign */
struct register_bits bits_of_fixed_counter(u32 i);
struct register_bits bits_of_fixed_control(void);
struct register_bits bits_of_global_control(void);
struct register_bits bits_of_pebs_enable(void);
struct register_bits bits_of_load_latency(void);
struct register_bits bits_of_ds_area(void);
struct register_bits bits_of_debug_control(void);
struct register_bits bits_of_off_core(const struct test *t, u32 i);
struct register_bits bits_of_data_cfg(void);		/* where baseline is 1 */
struct register_bits bits_of_frontend(void);
struct register_bits bits_of_lbr_select(void);
struct register_bits bits_of_lbr_control(void);		/* architectural */
u32 bits_off_core_registers(void);			/* 1, or 2 from Westmere on */

/* Does RDMSR return the value that was written, or does an erratum prevent this? */
bool register_reads_back(struct test *t, u32 msr);

#define REGISTERS_MOST	48

/* The existing ones of these registers, except IA32_PERF_GLOBAL_CTRL, IA32_PEBS_ENABLE and
 * IA32_DEBUGCTL, which start something together with others. Returns their number. */
unsigned bits_of_all(const struct test *t, struct register_bits r[REGISTERS_MOST]);

#endif
