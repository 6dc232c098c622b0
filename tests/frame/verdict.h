/* SPDX-License-Identifier: MIT */
/*
 * Judging: the meaning of a broken requirement on a platform, the worse of two verdicts, and the
 * exit status of a whole run. Pure.
 */
#ifndef TESTS_FRAME_VERDICT_H
#define TESTS_FRAME_VERDICT_H

#include "claims/requirement.h"
#include "tests/frame/applies.h"
#include "tests/frame/test.h"

/* One row of claims/requirement.def. */
struct requirement {
	const char *id, *group;
	enum authority authority;
	enum observable silicon, kvm, reference;
	const char *generations, *source, *sentence;
};

/* NULL for a number that isn't a requirement. */
const struct requirement *requirement_get(enum requirement_id id);

/*
 * KVM's virtual PMU can be judged by every row; a processor itself only by its manual. No table
 * describes the guests of other hypervisors: they are judged only by facilities that KVM offers
 * too, and by sentences of the manual about every processor. PLATFORM_STRICT, for software models,
 * judges every row that can be observed anywhere.
 */
enum platform { PLATFORM_SILICON, PLATFORM_KVM, PLATFORM_GUEST, PLATFORM_STRICT };

/* How well the requirement can be observed there. */
enum observable verdict_observable(const struct requirement *requirement, enum platform platform);

/* Does a breach of this requirement fail the platform? Otherwise it is only reported. */
bool verdict_decides(const struct requirement *requirement, enum platform platform);

/* The subject that is judged, in the terms of claims/known.def, erratum.def and the column of
 * generations. */
struct verdict_subject {
	bool intel;			/* the processor says GenuineIntel */
	unsigned family, model;		/* DisplayFamily, DisplayModel */
	bool threads;			/* its core runs two threads */
	const char *hypervisor;		/* signature, "" without one */
	bool old_kvm;			/* a guest of KVM before Linux 6.9 */
	/* Its generation by family and model, for what excuses it; NULL: the applicant's. */
	const char *shown;
	struct applicant applicant;
};

/* Does this requirement apply to such a processor? If not, a breach is only reported. */
bool verdict_applies(const struct requirement *requirement, const struct verdict_subject *subject);

/* NULL: a breach fails that subject; otherwise the reason why it is only reported, which may be one
 * of claims/practice.def. */
const char *verdict_unjudged(const struct requirement *requirement, enum platform platform,
			     const struct verdict_subject *subject);

struct known_issue {
	const char *id, *reason;
};

/* true: a row of claims/known.def says that the subject breaks this requirement. */
bool verdict_known(const struct verdict_subject *subject, enum requirement_id id,
		   struct known_issue *issue);

/* One row of claims/erratum.def. */
struct erratum_row {
	const char *id, *machines, *effect;
};

const struct erratum_row *verdict_erratum(enum erratum erratum);
/* Is the subject one of its machines? */
bool verdict_has_erratum(const struct verdict_subject *subject, enum erratum erratum);

enum verdict verdict_worst(enum verdict a, enum verdict b);

struct verdict_counts {
	unsigned pass, skip, inconclusive, known, fail, error;
	unsigned self;		/* tests of the harness itself that passed: they decide nothing */
	unsigned decided;	/* requirements with a verdict */
	unsigned forbidden;	/* left open where the configuration forbids it */
};

void verdict_count(struct verdict_counts *counts, enum verdict verdict);

/* The run's exit status: 1 if something failed; 2 after an error, if something is open that mustn't
 * be, or if nothing was decided. */
int verdict_exit(const struct verdict_counts *counts);

#endif
