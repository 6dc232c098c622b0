/* SPDX-License-Identifier: MIT */
/*
 * Decides whether a requirement applies to a processor (the column of generations in
 * claims/requirement.def), and whether an erratum does. Pure.
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

/* Is it one of these machines (the column of machines in claims/erratum.def)? */
bool applies_to_machine(const char *machines, const struct machine *here);

/*
 * Does the column name this processor? Its words, separated by commas, are "all", "vN" and "vN+"
 * (version), "X", "X+" and "X-Y" (codes), "KVM" (a guest of KVM). Text after "with", "without",
 * "client" or "formats" is a condition that a test's needs check; except FW_WRITE, "format N" (of
 * PEBS records in a DS area, N or later), "a DS area for PEBS" (none with architectural PEBS),
 * "architectural PEBS", "leaf 23H" and "an absent event", which are checked here. A processor that
 * is in no table counts as any generation that a row names.
 */
bool applies(const char *generations, const struct applicant *to);

/* Does such a row apply to every processor of a version, because no word names a model? */
bool applies_to_all_models(const char *generations);

/* Does such a row apply only to processors with transactions? The test's need checks for these. */
bool applies_with_transactions(const char *generations);

#endif
