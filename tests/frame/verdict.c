/* SPDX-License-Identifier: MIT */
/*
 * Judging by tables: claims/requirement.def has the authority of a requirement and how well it can
 * be observed on each platform; claims/practice.def from which processors on no sentence says it;
 * claims/known.def lists processors that are known to break it. A
 * requirement that doesn't rest on the manual's text never fails a processor, because our reading
 * of the manual could be wrong.
 */
#include "tests/frame/verdict.h"
#include "kernel/memory/string.h"

static const struct requirement requirements[REQ_COUNT] = {
#define REQUIREMENT(token, id, group, authority, silicon, kvm, reference, gens, source, sentence) \
	[REQ_##token] = { id, group, authority, silicon, kvm, reference, gens, source, sentence },
#include "claims/requirement.def"
};

const struct requirement *requirement_get(enum requirement_id id)
{
	return (unsigned)id < REQ_COUNT ? &requirements[id] : NULL;
}

enum observable verdict_observable(const struct requirement *requirement, enum platform platform)
{
	switch (platform) {
	case PLATFORM_STRICT:
		return requirement->reference;
	case PLATFORM_KVM:
	case PLATFORM_GUEST:
		return requirement->kvm;
	default:
		return requirement->silicon;
	}
}

bool verdict_decides(const struct requirement *requirement, enum platform platform)
{
	if (verdict_observable(requirement, platform) == OBS_NONE)
		return false;
	if (platform == PLATFORM_GUEST && !applies_to_all_models(requirement->generations))
		return false;
	return platform == PLATFORM_KVM || platform == PLATFORM_STRICT ||
	       requirement->authority == AUTH_TEXT;
}

bool verdict_applies(const struct requirement *requirement, const struct verdict_subject *subject)
{
	return applies(requirement->generations, &subject->applicant);
}

/* Why this requirement rests on practice on that processor; NULL: it doesn't. */
static const char *by_practice(const struct requirement *requirement,
			       const struct verdict_subject *subject)
{
#define PRACTICE_FROM(token, code, reason) \
	if (requirement == &requirements[REQ_##token] && applies(code, &subject->applicant)) \
		return reason;
#include "claims/practice.def"
	return NULL;
}

const char *verdict_unjudged(const struct requirement *requirement, enum platform platform,
			     const struct verdict_subject *subject)
{
	if (!verdict_applies(requirement, subject))
		return "it is about other generations";
	if (verdict_decides(requirement, platform))
		return platform == PLATFORM_STRICT || platform == PLATFORM_KVM ?
			       NULL :
			       by_practice(requirement, subject);
	if (verdict_observable(requirement, platform) == OBS_NONE)
		return "it can't be observed on this platform";
	return requirement->authority != AUTH_TEXT ?
		       "no sentence of the manual says it" :
		       "it is about a model, which this hypervisor need not give";
}

static const char *shown_code(const struct verdict_subject *subject)
{
	return subject->shown ? subject->shown : subject->applicant.code;
}

static bool of_generation(const struct verdict_subject *subject, const char *code)
{
	return shown_code(subject) && !strcmp(shown_code(subject), code);
}

bool verdict_known(const struct verdict_subject *subject, enum requirement_id id,
		   struct known_issue *issue)
{
#define KNOWN_PROCESSOR(family_, model_, requirement, id_, reason_) \
	if (subject->intel && subject->family == (family_) && subject->model == (model_) && \
	    id == REQ_##requirement) { \
		*issue = (struct known_issue){ id_, reason_ }; \
		return true; \
	}
#define KNOWN_GENERATION(code_, requirement, id_, reason_) \
	if (subject->intel && of_generation(subject, code_) && id == REQ_##requirement) { \
		*issue = (struct known_issue){ id_, reason_ }; \
		return true; \
	}
#define KNOWN_THREADS(code_, requirement, id_, reason_) \
	if (subject->intel && subject->threads && of_generation(subject, code_) && \
	    id == REQ_##requirement) { \
		*issue = (struct known_issue){ id_, reason_ }; \
		return true; \
	}
#define KNOWN_HYPERVISOR(signature, requirement, id_, reason_) \
	if (!strcmp(subject->hypervisor, signature) && id == REQ_##requirement) { \
		*issue = (struct known_issue){ id_, reason_ }; \
		return true; \
	}
#define KNOWN_OLD_KVM(requirement, id_, reason_) \
	if (subject->old_kvm && id == REQ_##requirement) { \
		*issue = (struct known_issue){ id_, reason_ }; \
		return true; \
	}
#include "claims/known.def"
	return false;
}

static const struct erratum_row errata[ERRATA] = {
#define ERRATUM(token, id, machines, source, effect) [ERRATUM_##token] = { id, machines, effect },
#include "claims/erratum.def"
};

const struct erratum_row *verdict_erratum(enum erratum erratum)
{
	return &errata[erratum];
}

bool verdict_has_erratum(const struct verdict_subject *subject, enum erratum erratum)
{
	const struct machine here = { shown_code(subject), subject->family, subject->model,
				      subject->threads };

	return subject->intel && applies_to_machine(errata[erratum].machines, &here);
}

enum verdict verdict_worst(enum verdict a, enum verdict b)
{
	return a > b ? a : b;
}

void verdict_count(struct verdict_counts *counts, enum verdict verdict)
{
	switch (verdict) {
	case VERDICT_PASS:
		counts->pass++;
		break;
	case VERDICT_SKIP:
		counts->skip++;
		break;
	case VERDICT_INCONCLUSIVE:
		counts->inconclusive++;
		break;
	case VERDICT_KNOWN:
		counts->known++;
		break;
	case VERDICT_FAIL:
		counts->fail++;
		break;
	case VERDICT_NONE:
	case VERDICT_ERROR:
		counts->error++;
		break;
	}
}

int verdict_exit(const struct verdict_counts *counts)
{
	if (counts->fail)
		return 1;
	if (counts->error || counts->forbidden || !counts->decided)
		return 2;
	return 0;
}
