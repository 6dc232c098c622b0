/* SPDX-License-Identifier: MIT */
/*
 * Compiled C with a mixture of what programs do: tables, recursion, sorting, arithmetic on arrays,
 * calls through pointers, an interpreter. For measuring and comparing the engines; each needs only
 * its own memory and does the same each time.
 */
#ifndef REFPMU_SELFTEST_WORKLOAD_H
#define REFPMU_SELFTEST_WORKLOAD_H

#include "spec/types.h"

/* All of it `times` times: some 100 thousand instructions each. */
void workload_c(u64 times);

/* The same with less of everything, for comparison instruction by instruction. */
void workload_c_little(u64 times);

/* Two instructions, DEC and JNZ, n times: nothing else to do between two counts. */
void workload_loop(u64 times);

#endif
