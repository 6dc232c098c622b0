/* SPDX-License-Identifier: MIT */
/*
 * Judgement: what a broken requirement means on a platform, which of two verdicts is worse, and
 * what a whole run's verdicts make of the exit status. Pure.
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
 * KVM's virtual PMU is an implementation that can be held to every row; a processor itself is only
 * judged by what its manual says. What a guest of another hypervisor has is in no table: of what
 * KVM offers too, it is judged by what the manual says of every processor. Strict is the user's
 * wish to judge every row that can be observed anywhere, for software models.
 */
enum platform { PLATFORM_SILICON, PLATFORM_KVM, PLATFORM_GUEST, PLATFORM_STRICT };

/* How well the requirement can be observed there. */
enum observable verdict_observable(const struct requirement *requirement, enum platform platform);

/* Does a breach of this requirement, seen there, fail the platform? Otherwise it is reported. */
bool verdict_decides(const struct requirement *requirement, enum platform platform);

/* What is judged, as far as claims/known.def, erratum.def and the column of generations have words
 * for it. */
struct verdict_subject {
	bool intel;			/* the processor says GenuineIntel */
	unsigned family, model;		/* DisplayFamily, DisplayModel */
	bool threads;			/* its core runs two threads */
	const char *hypervisor;		/* signature, "" without one */
	bool old_kvm;			/* a guest of KVM before Linux 6.9 */
	struct applicant applicant;
};

/* Is this requirement about such a processor? A breach of another one is only reported. */
bool verdict_applies(const struct requirement *requirement, const struct verdict_subject *subject);

/* NULL: a breach, seen there, fails that subject; else why it is only reported. */
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

/* The run's exit status: 1 something failed; 2 an error, something left open that mustn't be, or
 * nothing decided. */
int verdict_exit(const struct verdict_counts *counts);

#endif
