/* SPDX-License-Identifier: MIT */
/*
 * The launcher's plan: what to run, on which processor, in which order. Pure: it also compiles
 * for the host, where it is fuzzed.
 *
 *	# a comment; empty lines are allowed
 *	run cpu=haswell fault=none seed=0 ht=1 efi=\pmutest86.efi args=<rest of the line>
 *
 * One blank or more between the words; the words behind `run` in any order, each at most once,
 * args last. efi is needed; without the others: cpu=haswell fault=none seed=0 ht=1, no arguments.
 */
#ifndef REFPMU_LAUNCH_PLAN_H
#define REFPMU_LAUNCH_PLAN_H

#include "spec/fault.h"
#include "spec/generation.h"
#include "spec/types.h"

#define PLAN_PATH_SIZE	128	/* including the terminating 0 */
#define PLAN_ARGS_SIZE	512

struct plan_run {
	enum generation_id generation;
	enum fault_id fault;
	const char *cpu_name, *fault_name;	/* as in spec/; "none" */
	u64 seed;
	bool hyper_threading;
	char efi[PLAN_PATH_SIZE];
	char args[PLAN_ARGS_SIZE];
};

struct plan {
	const char *text;
	size_t length, at;
	unsigned line;		/* of the last line read, from 1 */
};

enum plan_result { PLAN_RUN, PLAN_END, PLAN_BAD };

/* Begin reading; text must stay. */
void plan_open(struct plan *plan, const char *text, size_t length);

/* The next run. PLAN_BAD: *reason says what is wrong with plan->line; reading can't go on. */
enum plan_result plan_next(struct plan *plan, struct plan_run *run, const char **reason);

#endif
