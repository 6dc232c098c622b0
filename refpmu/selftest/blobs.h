/* SPDX-License-Identifier: MIT */
/* C's view of blobs.asm. */
#ifndef REFPMU_SELFTEST_BLOBS_H
#define REFPMU_SELFTEST_BLOBS_H

#include "spec/types.h"

#define BLOB_EXPECTATIONS 3

enum count { COUNT_INSTRUCTIONS, COUNT_BRANCHES, COUNT_LOADS, COUNT_STORES, COUNT_LOCKED, COUNTS };

struct blob {
	const char *name;		/* NULL ends the table; underscores for blanks */
	void (*run)(void);
	u64 count[COUNTS];
	struct {
		const u64 *variable;	/* NULL: none */
		u64 value;
	} expect[BLOB_EXPECTATIONS];
};

/* The first one is empty: its counts are subtracted from those of the others. */
extern const struct blob blobs[];
/* Blobs that take long on the other engines; without the empty one. */
extern const struct blob stepped_blobs[], fast_blobs[];

/* The variables, which are cleared before each blob; and those that C reads directly. */
extern u64 observed[], observed_end[], events, seen_error, seen_cr2;
/* Bytes of the instruction that a fault skips. */
extern u64 skip;

void trap_handler(void);
void nmi_handler(void);
void fault_handler(void);
void error_handler(void);
void int_handler(void);
void return_handler(void);
void interrupt_handler(void);
void syscall_handler(void);

#endif
