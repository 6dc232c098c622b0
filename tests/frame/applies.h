/* SPDX-License-Identifier: MIT */
/*
 * Which processors a requirement is about: the column of generations in claims/requirement.def.
 * Which ones an erratum is about. Pure.
 */
#ifndef TESTS_FRAME_APPLIES_H
#define TESTS_FRAME_APPLIES_H

#include "spec/types.h"

struct applicant {
	const char *code;	/* GENERATION_CODE of the processor; NULL: it is in no table */
	unsigned version;	/* of architectural performance monitoring */
	bool full_width;	/* IA32_PERF_CAPABILITIES[13] */
	bool kvm;		/* it is a guest of KVM */
	unsigned pebs_format;	/* IA32_PERF_CAPABILITIES[11:8] */
	bool leaf_23h;		/* CPUID.(07H,1):EAX[8] */
	bool absent_event;	/* CPUID marks an architectural event as absent */
};

struct machine {
	const char *code;		/* as above */
	unsigned family, model;		/* DisplayFamily, DisplayModel */
	bool threads;			/* its core runs two threads */
};

/* Is it one that the column of machines in claims/erratum.def names? */
bool applies_to_machine(const char *machines, const struct machine *here);

/*
 * Is this processor among those that the column names? Words "all", "vN" and "vN+" (version), "X",
 * "X+" and "X-Y" (codes), "KVM" (a guest of KVM), with commas. What follows "with", "without",
 * "client" or "formats" is a condition that a test's needs look at, but for FW_WRITE, "format N"
 * (of PEBS records in a DS area; and later), "architectural PEBS", "leaf 23H" and "an absent
 * event". A processor that is in no table is taken to be of any generation that a row names.
 */
bool applies(const char *generations, const struct applicant *to);

/* Is such a row about every processor that has the version: no word of it names a model? */
bool applies_to_all_models(const char *generations);

/* Is such a row about processors with transactions only? Which those are a test's need says. */
bool applies_with_transactions(const char *generations);

#endif
