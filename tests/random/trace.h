/* SPDX-License-Identifier: MIT */
/*
 * The instructions that a drawn program executes, in order, from the rows of its pieces: the
 * control flow is fixed, so the trace is known without execution. Pure.
 */
#ifndef TESTS_RANDOM_TRACE_H
#define TESTS_RANDOM_TRACE_H

#include "tests/random/case.h"

#define TRACE_STEPS	768

/* What XMM0 holds. */
enum trace_xmm0 { TRACE_XMM0_DRAWN, TRACE_XMM0_ZERO, TRACE_XMM0_UNKNOWN };

struct trace_step {
	const struct draw_row *row;
	u64 ip;				/* 0: elsewhere (ROW_NOT_HERE) */
	u64 rsp;			/* after it */
	u64 r15;			/* after it */
	u16 piece;
	u8 user;	 /* executed at CPL 3; of a change of level: where it begins */
	u8 slot;			/* of an operation */
	u8 if_set;			/* RFLAGS.IF after it */
	u8 xmm0;			/* enum trace_xmm0, after it */
};

struct trace {
	unsigned steps;
	struct trace_step step[TRACE_STEPS];
};

/* false: too long. */
bool trace_make(const struct draw_env *env, const struct draw_case *c, struct trace *trace);

/* The address of the next instruction; 0 after the last one. */
u64 trace_next_ip(const struct trace *trace, unsigned i);
/* Its number in the program; -1: none. */
int trace_find(const struct trace *trace, u64 ip);

/* The address of a step's load or store; 0: it has none, or the address isn't known. */
u64 trace_address(const struct draw_env *env, const struct draw_case *c,
		  const struct trace_step *step, const struct row_operand *operand);

/* How often an exact kind of event happens in a step, at least and at most. */
struct span {
	u64 least, most;
};
/* Does a hypervisor execute the row's instruction itself, where there is a hypervisor? */
bool trace_exits(const struct draw_row *row);
/* The occurrences of the event that an exit to a hypervisor and the entry after it may add. */
u64 trace_exit_adds(const struct draw_env *env, const struct draw_event *event);
struct span trace_count(const struct draw_env *env, const struct draw_case *c,
			const struct draw_event *event, const struct trace_step *step);

#endif
