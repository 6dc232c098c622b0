/* SPDX-License-Identifier: MIT */
/*
 * When a fault acts. Without parameters always; with them, on some of its injection points. An
 * injection point is a moment at which the fault could act: at most one an instruction or an
 * access. As text, after the fault's name, in any order, each at most once
 * (refpmu/launch/fault.c):
 *	@pmc0..9, @fixed0..6	only where that counter is concerned
 *	@page-crossing		only in an assist whose record crosses a page
 *	@int			only where that counter's overflow is to interrupt
 *	@beside			only where another counter is counting beside that one
 *	@cpl3			only while the processor is at privilege level 3
 *	@cpu1			only on the processor with number 1, the first is 0
 *	@nth=N			only on the Nth injection point, from 1
 *	@from=N			on the Nth injection point and all after it
 *	@1inN			on every Nth injection point; of @nth, @from and @1in one at most
 * Some faults act only on every fourth occurrence; with @nth, @from or @1in they act on each
 * occurrence that the parameter selects. enum fault_scope in refpmu/faults/fault_id.h says which
 * faults accept a counter or a record. The model keeps these parameters for refpmu/faults/ and
 * doesn't read them.
 */
#ifndef REFPMU_MODEL_FAULT_WHEN_H
#define REFPMU_MODEL_FAULT_WHEN_H

#include "spec/types.h"

#define FAULT_FIRST_FIXED	10	/* index of fixed counter 0 */
#define FAULT_COUNTERS		17

/* Further conditions. */
enum fault_condition {
	FAULT_AT_CPL3 = 1 << 0,
	FAULT_ON_CPU1 = 1 << 1,
	FAULT_WITH_INT = 1 << 2,
	FAULT_BESIDE = 1 << 3,
	FAULT_CONDITIONS = (1 << 4) - 1,
};

/* All zero: always. */
struct fault_when {
	bool one_counter;
	u8 counter;		/* below FAULT_COUNTERS, with one_counter */
	bool page_crossing;
	u32 conditions;		/* enum fault_condition */
	u32 nth, from, every;	/* 0: not given; at most one of them is */
};

#endif
