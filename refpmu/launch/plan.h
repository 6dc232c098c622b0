/* SPDX-License-Identifier: MIT */
/*
 * The launcher's plan: which programs to run, with which configuration, in which order. Pure: it
 * also compiles for the development machine, where it is fuzzed.
 *
 *	# a comment; empty lines are allowed
 *	run cpu=haswell fault=none seed=0 ht=1 efi=\pmutest86.efi args=<rest of the line>
 *	run engine=step efi=\pmutest86.efi
 *	run fault=rax-zero@pmc3@nth=100 profile=silicon-hsw latitude=pmi-skid:2000 efi=...
 *
 * One blank or more between the words; the words after `run` in any order, each at most once,
 * args last. efi is needed; without the others: cpu=haswell fault=none seed=0 ht=1 keep=0, no
 * profile, no arguments, engine=direct. keep=1: the program stays loaded for the next run
 * (resident.h). trace=1: what the PMU does is told (vmm/trace.h). engine is step, direct or fast;
 *where fast isn't there, the run is direct. A fault has its parameters after it
 *(model/fault_when.h); latitude takes one knob:value of refpmu/model/latitude.def or more, with
 *commas between them.
 */
#ifndef REFPMU_LAUNCH_PLAN_H
#define REFPMU_LAUNCH_PLAN_H

#include "refpmu/engine/engine_name.h"
#include "refpmu/model/model.h"

#define PLAN_PATH_SIZE	128	/* including the terminating 0 */
#define PLAN_ARGS_SIZE	1024
#define PLAN_FAULT_SIZE	96

extern const char *const plan_engine_name[ENGINES];

struct plan_run {
	struct model_config config;
	const char *cpu_name, *profile_name;	/* as in spec/; "none" */
	char fault_name[PLAN_FAULT_SIZE];	/* with its parameters, as written; "none" */
	bool keep;
	bool trace;			/* tell what the PMU does: refpmu/vmm/trace.h */
	enum engine_name engine;
	char efi[PLAN_PATH_SIZE];
	char args[PLAN_ARGS_SIZE];
};

struct plan {
	const char *text;
	size_t length, at;
	unsigned line;		/* of the last line read, from 1 */
};

enum plan_result { PLAN_RUN, PLAN_END, PLAN_BAD };

/* Begin reading; text must stay valid. */
void plan_open(struct plan *plan, const char *text, size_t length);

/* The next run. PLAN_BAD: *reason says what is wrong with plan->line; reading can't go on. */
enum plan_result plan_next(struct plan *plan, struct plan_run *run, const char **reason);

#endif
