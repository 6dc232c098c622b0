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
 * One blank or more between the words. The words after `run` have any order, each at most once,
 * with args last. efi is required. The defaults of the others are cpu=haswell fault=none seed=0
 * ht=1 keep=0 engine=direct, no profile and no arguments. keep=1: the program stays loaded for the
 * next run (resident.h). trace=1: a trace of the PMU's actions is printed (vmm/trace.h). engine is
 * step, direct or fast; in a build without fast the run is direct. A fault's parameters follow its
 * name (model/fault_when.h). latitude takes one or more knob:value of refpmu/model/latitude.def,
 * separated by commas.
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
