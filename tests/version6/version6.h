/* SPDX-License-Identifier: MIT */
/* Needs of tests of CPUID leaf 23H. */
#ifndef TESTS_VERSION6_VERSION6_H
#define TESTS_VERSION6_VERSION6_H

#include "pmu/counter.h"
#include "tests/frame/needs.h"
#include "tests/frame/test.h"

bool need_leaf_23h(char *reason, size_t size);
bool need_counter_sets(char *reason, size_t size);	/* CPUID.(23H,1) */
bool need_events_set(char *reason, size_t size);	/* CPUID.(23H,3) */
bool need_version_6(char *reason, size_t size);		/* the banks from 1900H on */
bool need_auto_reload(char *reason, size_t size);	/* CPUID.(23H,2) */
bool need_equal(char *reason, size_t size);		/* IA32_PERFEVTSELx[36] */

/* Does the leaf exist, and the facility `what` in it? Otherwise reason says what is missing. */
bool version6_need(bool there, const char *what, char *reason, size_t size);

/* The value of a counter after CFG_C[31:0], whose bit 31 is 1, has been loaded: all higher bits are
 * 1 (docs/READINGS.md). */
u64 version6_loaded(unsigned counter, u32 load);

/* RDMSR raises #GP, and so does WRMSR of 0. */
bool version6_is_absent(u32 msr);

#endif
