/* SPDX-License-Identifier: MIT */
/* The oracle's part about architectural PEBS, for the oracle's other parts. Each function does
 * nothing in a case without it. Pure. */
#ifndef TESTS_RANDOM_ORACLE_ARCH_H
#define TESTS_RANDOM_ORACLE_ARCH_H

#include "tests/random/oracle_internal.h"

/* oracle_arch.c: the time of records, and their effects */
void oracle_arch_begin(struct oracle *o);
bool oracle_arch_records(const struct oracle *o, unsigned i);
/* Counters whose overflow waits for a record, or may wait: as status bits. */
u64 oracle_arch_pending(const struct oracle *o);
void oracle_arch_assists(struct oracle *o, unsigned step);
/* The setting of these counters has changed: no source defines what happens to a record that is
 * due. */
void oracle_arch_disturb(struct oracle *o, u64 counters);
void oracle_arch_write(struct oracle *o, u32 msr, u64 value);
bool oracle_arch_read(struct oracle *o, u32 msr, u64 got);
/* "On PMI", as version 4 has it: by CTR_Frz of the status. */
void oracle_arch_freeze(struct oracle *o);
void oracle_arch_interrupt(struct oracle *o, const struct draw_interrupt *seen);
void oracle_arch_status(struct oracle *o, u64 status, const char *what);
/* Rules that hold even if the manual doesn't define how the case ends. */
void oracle_arch_always(struct oracle *o);
void oracle_arch_end(struct oracle *o);

/* oracle_arch_record.c: the contents of a record */
void oracle_arch_judge(struct oracle *o, unsigned step, const struct draw_arch_record *r,
		       const struct pebs_record *fields);

#endif
