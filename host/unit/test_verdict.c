/* SPDX-License-Identifier: MIT */
/* The judgement: the order of the six verdicts, exit statuses, and which rows may fail which
 * platform. */
#include "tests/frame/tally.h"

#include <string.h>

#undef CHECK		/* tests/frame/test.h needs a running harness for its own */
#undef CHECK_EQ
#include "host/check.h"

static const enum verdict by_severity[] = {
	VERDICT_NONE, VERDICT_PASS, VERDICT_SKIP, VERDICT_INCONCLUSIVE, VERDICT_KNOWN,
	VERDICT_FAIL, VERDICT_ERROR,
};
#define VERDICTS (sizeof(by_severity) / sizeof(by_severity[0]))

static void the_worse_verdict_wins(void)
{
	for (size_t i = 0; i < VERDICTS; i++)
		for (size_t j = 0; j < VERDICTS; j++)
			CHECK_EQ(by_severity[i > j ? i : j],
				 verdict_worst(by_severity[i], by_severity[j]), "%zu %zu", i, j);
}

static int exit_of(unsigned decided, unsigned skip, unsigned fail, unsigned error,
		   unsigned forbidden)
{
	struct verdict_counts counts = { 0 };

	for (unsigned i = 0; i < decided; i++)
		verdict_count(&counts, VERDICT_PASS);
	for (unsigned i = 0; i < skip; i++)
		verdict_count(&counts, VERDICT_SKIP);
	for (unsigned i = 0; i < fail; i++)
		verdict_count(&counts, VERDICT_FAIL);
	for (unsigned i = 0; i < error; i++)
		verdict_count(&counts, VERDICT_ERROR);
	counts.decided = decided;
	counts.forbidden = forbidden;
	return verdict_exit(&counts);
}

/* 0: nothing failed and a requirement was decided; 1: one failed; 2: an error; 1 wins over 2. */
static void exit_statuses_are_the_documented_ones(void)
{
	CHECK_EQ(2, exit_of(0, 0, 0, 0, 0), "nothing ran");
	CHECK_EQ(2, exit_of(0, 5, 0, 0, 0), "nothing passed");
	CHECK_EQ(0, exit_of(1, 5, 0, 0, 0));
	CHECK_EQ(1, exit_of(9, 0, 1, 0, 0));
	CHECK_EQ(2, exit_of(9, 0, 0, 1, 0));
	CHECK_EQ(1, exit_of(9, 0, 1, 1, 0));
	CHECK_EQ(2, exit_of(9, 1, 0, 0, 1));
	CHECK_EQ(1, exit_of(9, 1, 1, 0, 1));
	CHECK_EQ(1, exit_of(0, 0, 1, 0, 0));
}

static void self_tests_decide_nothing(void)
{
	struct verdict_counts counts = { .pass = 9, .self = 13, .skip = 308 };

	CHECK_EQ(2, verdict_exit(&counts), "a machine without a PMU");
	counts.decided = 1;
	CHECK_EQ(0, verdict_exit(&counts));
}

static enum verdict tally_of(enum verdict first, enum verdict second)
{
	static struct tally tally;

	memset(&tally, 0, sizeof(tally));
	tally_add(&tally, REQ_PMI_01, first);
	tally_add(&tally, REQ_PMI_01, second);
	return tally.of[REQ_PMI_01];
}

static void a_requirement_has_the_worst_of_its_tests(void)
{
	static struct tally tally;

	for (size_t i = 1; i < VERDICTS; i++)
		for (size_t j = 1; j < VERDICTS; j++)
			CHECK_EQ(tally_of(by_severity[i], by_severity[j]),
				 tally_of(by_severity[j], by_severity[i]), "%zu %zu", i, j);
	CHECK_EQ(VERDICT_PASS, tally_of(VERDICT_PASS, VERDICT_SKIP));
	CHECK_EQ(VERDICT_PASS, tally_of(VERDICT_INCONCLUSIVE, VERDICT_PASS));
	CHECK_EQ(VERDICT_INCONCLUSIVE, tally_of(VERDICT_INCONCLUSIVE, VERDICT_SKIP));
	CHECK_EQ(VERDICT_FAIL, tally_of(VERDICT_PASS, VERDICT_FAIL));
	CHECK_EQ(VERDICT_ERROR, tally_of(VERDICT_ERROR, VERDICT_PASS));
	CHECK_EQ(0, tally_decided(&tally), "nothing ran");
	tally_add(&tally, REQ_PMI_01, VERDICT_SKIP);
	tally_add(&tally, REQ_PMI_02, VERDICT_PASS);
	tally_add(&tally, REQ_PMI_03, VERDICT_FAIL);
	tally_add(&tally, REQ_PMI_04, VERDICT_KNOWN);
	tally_add(&tally, REQ_PMI_05, VERDICT_ERROR);
	tally_add(&tally, REQ_PMI_06, VERDICT_INCONCLUSIVE);
	CHECK_EQ(3, tally_decided(&tally));
	CHECK(tally_decides(&tally, REQ_PMI_02) && !tally_decides(&tally, REQ_PMI_01));
}

static void inconclusive_and_known_do_not_fail(void)
{
	struct verdict_counts counts = { 0 };

	verdict_count(&counts, VERDICT_PASS);
	verdict_count(&counts, VERDICT_INCONCLUSIVE);
	verdict_count(&counts, VERDICT_KNOWN);
	counts.decided = 2;
	CHECK_EQ(0, verdict_exit(&counts));
	CHECK_EQ(1, counts.pass);
	CHECK_EQ(1, counts.inconclusive);
	CHECK_EQ(1, counts.known);
	counts = (struct verdict_counts){ .decided = 1 };
	verdict_count(&counts, VERDICT_NONE);
	CHECK_EQ(2, verdict_exit(&counts), "no verdict is an error");
}

static void every_row_is_found_by_its_number(void)
{
	for (unsigned i = 0; i < REQ_COUNT; i++) {
		const struct requirement *r = requirement_get((enum requirement_id)i);

		CHECK(r && r->id && r->sentence, "%u", i);
	}
	CHECK(!requirement_get(REQ_COUNT));
	CHECK_STR("PMI-01", requirement_get(REQ_PMI_01)->id);
	CHECK_STR("REC-HSW", requirement_get(REQ_REC_HSW_10)->group);
}

/* Silicon fails only by the manual's text, and only if the breach can be observed. */
static void only_text_fails_silicon(void)
{
	for (unsigned i = 0; i < REQ_COUNT; i++) {
		const struct requirement *r = requirement_get((enum requirement_id)i);
		bool want = r->authority == AUTH_TEXT && r->silicon != OBS_NONE;

		CHECK_EQ(want, verdict_decides(r, PLATFORM_SILICON), "%s", r->id);
		CHECK_EQ(r->kvm != OBS_NONE, verdict_decides(r, PLATFORM_KVM), "%s", r->id);
		CHECK(!verdict_decides(r, PLATFORM_GUEST) ||
			      (r->authority == AUTH_TEXT && r->kvm != OBS_NONE),
		      "%s", r->id);
	}
	CHECK(verdict_decides(requirement_get(REQ_PMI_01), PLATFORM_SILICON));
	CHECK(!verdict_decides(requirement_get(REQ_ARM_04), PLATFORM_SILICON), "not quiescent");
	CHECK(!verdict_decides(requirement_get(REQ_REC_14), PLATFORM_SILICON), "not zero");
	CHECK(!verdict_decides(requirement_get(REQ_MSR_08), PLATFORM_SILICON), "KVM's practice");
	CHECK(verdict_decides(requirement_get(REQ_MSR_08), PLATFORM_KVM));
}

/* Under a hypervisor without a table, features that belong to a model may be missing. */
static void other_hypervisors_are_judged_by_what_all_processors_have(void)
{
	CHECK(verdict_decides(requirement_get(REQ_CNT_01), PLATFORM_GUEST), "version 1");
	CHECK(!verdict_decides(requirement_get(REQ_LL_01), PLATFORM_GUEST), "Nehalem and later");
	CHECK(verdict_decides(requirement_get(REQ_LL_01), PLATFORM_SILICON));
}

/* A requirement that isn't judged gives its reason: it neither passes nor fails. */
static void what_is_not_judged_says_why(void)
{
	struct verdict_subject haswell = { .applicant = { "HSW", 3, true, false, 2, false,
							  false } };
	struct verdict_subject nehalem = { .applicant = { "NHM", 3, false, false, 1, false,
							  false } };
	const struct requirement *practice = requirement_get(REQ_MSR_08);

	CHECK_STR("no sentence of the manual says it",
		  verdict_unjudged(practice, PLATFORM_SILICON, &haswell));
	CHECK(!verdict_unjudged(practice, PLATFORM_KVM, &haswell));
	CHECK_STR("it can't be observed on this platform",
		  verdict_unjudged(requirement_get(REQ_ARM_04), PLATFORM_SILICON, &haswell));
	CHECK_STR("it is about other generations",
		  verdict_unjudged(requirement_get(REQ_REC_HSW_01), PLATFORM_STRICT, &nehalem));
}

/* From some processors on a sentence no longer covers what the requirement says. */
static void later_processors_are_reported_where_only_practice_says_it(void)
{
	struct verdict_subject skylake = { .applicant = { .code = "SKL", .version = 4,
							  .pebs_format = 3 } };
	struct verdict_subject icelake = { .applicant = { .code = "ICL", .version = 5,
							  .pebs_format = 4 } };
	struct verdict_subject unknown = { .applicant = { .version = 5, .pebs_format = 4 } };
	const struct requirement *rip = requirement_get(REQ_REC_03);
	const struct requirement *frozen = requirement_get(REQ_FRZ_13);

	CHECK(!verdict_unjudged(rip, PLATFORM_SILICON, &skylake));
	CHECK_STR("no sentence says it of adaptive records",
		  verdict_unjudged(rip, PLATFORM_SILICON, &icelake));
	CHECK(verdict_unjudged(rip, PLATFORM_SILICON, &unknown), "a processor in no table");
	CHECK(!verdict_unjudged(rip, PLATFORM_STRICT, &icelake));
	CHECK(!verdict_unjudged(frozen, PLATFORM_SILICON, &icelake), "its records are legacy ones");
}

static void practice_begins_with_a_known_generation(void)
{
	static const char *const codes[] = {
#define GENERATION_CODE(code, through) code "+",
#include "spec/generation.def"
	};
	static const char *const from[] = {
#define PRACTICE_FROM(requirement, code, reason) code,
#include "claims/practice.def"
	};

	for (size_t i = 0; i < sizeof(from) / sizeof(from[0]); i++) {
		bool known = false;

		for (size_t k = 0; k < sizeof(codes) / sizeof(codes[0]); k++)
			known |= !strcmp(from[i], codes[k]);
		CHECK(known, "%s", from[i]);
	}
}

static void known_breaches_need_the_right_subject(void)
{
	struct verdict_subject core2 = {
		.intel = true, .family = 6, .model = 0x17, .hypervisor = ""
	};
	struct verdict_subject haswell = {
		.intel = true, .family = 6, .model = 0x3c, .hypervisor = ""
	};
	struct verdict_subject other = core2, kvm = haswell;
	struct known_issue issue = { 0 };

	other.intel = false;
	kvm.hypervisor = "KVMKVMKVM";
	CHECK(!verdict_known(&kvm, REQ_PMI_04, &issue), "Linux 6.9 and later");
	kvm.old_kvm = true;
	CHECK(verdict_known(&core2, REQ_DS_05, &issue));
	CHECK_STR("W127", issue.id);
	CHECK(!verdict_known(&core2, REQ_DS_03, &issue));
	CHECK(!verdict_known(&haswell, REQ_DS_05, &issue));
	CHECK(!verdict_known(&other, REQ_DS_05, &issue), "not an Intel processor");
	CHECK(verdict_known(&kvm, REQ_PMI_04, &issue));
	CHECK_STR("kvm-lvtpc-mask", issue.id);
	CHECK(!verdict_known(&kvm, REQ_PMI_02, &issue), "a row is about its requirement alone");
	kvm.old_kvm = false;
	kvm.hypervisor = "XenVMMXenVMM";
	CHECK(verdict_known(&kvm, REQ_PMI_04, &issue));
	CHECK_STR("xen-lvtpc-mask", issue.id);
	kvm.hypervisor = "XenVMMXenVMMx";
	CHECK(!verdict_known(&kvm, REQ_PMI_04, &issue), "another signature");
	haswell.applicant.code = "HSW";
	CHECK(verdict_known(&haswell, REQ_LL_05, &issue));
	CHECK_STR("HSD25", issue.id);
	CHECK(!verdict_known(&haswell, REQ_CNT_03, &issue), "one thread");
	haswell.threads = true;
	CHECK(verdict_known(&haswell, REQ_CNT_03, &issue));
	CHECK_STR("HSD29", issue.id);
	CHECK(!verdict_known(&haswell, REQ_PMI_04, &issue), "not under KVM");
}

static void a_row_of_other_generations_does_not_apply(void)
{
	struct verdict_subject nehalem = { .applicant = { "NHM", 3, false, false, 1, false,
							  false } };

	CHECK(verdict_applies(requirement_get(REQ_REC_02), &nehalem), "the record of Table 18-23");
	CHECK(!verdict_applies(requirement_get(REQ_REC_HSW_01), &nehalem), "that of Table 18-44");
	CHECK(verdict_applies(requirement_get(REQ_MSR_06), &nehalem), "no full-width writes");
}

/* An erratum's row applies only to its machines; a machine without a row has no erratum. */
static void an_erratum_is_about_its_machines_alone(void)
{
	const struct machine server = { "SKL", 6, 0x55, false }, threads = { "HSW", 6, 0x3c, true };
	const struct machine ivybridge = { "IVB", 6, 0x3e, false }, other = { NULL, 6, 0xf0, true };

	CHECK(applies_to_machine("SKL", &server));
	CHECK(!applies_to_machine("HSW BDW", &server));
	CHECK(applies_to_machine("HSW 06_55", &server));
	CHECK(!applies_to_machine("06_5E 06_9E", &server));
	CHECK(applies_to_machine("SNB+", &server), "a later one");
	CHECK(!applies_to_machine("ICL+", &server), "an earlier one");
	CHECK(!applies_to_machine("SNB", &ivybridge), "a code is one generation");
	CHECK(applies_to_machine("SNB IVB", &ivybridge));
	CHECK(applies_to_machine("HSW with two threads", &threads));
	CHECK(!applies_to_machine("SKL with two threads", &server));
	CHECK(!applies_to_machine("NHM+", &other), "in no table");
}

static void an_erratum_is_intels(void)
{
	struct verdict_subject skylake = { .intel = true, .family = 6, .model = 0x5e,
					   .applicant = { .code = "SKL" } };

	CHECK(verdict_has_erratum(&skylake, ERRATUM_CTR_FRZ));
	skylake.shown = "SKL";
	skylake.applicant.code = NULL;
	CHECK(verdict_has_erratum(&skylake, ERRATUM_CTR_FRZ), "a hypervisor's own brand");
	skylake.intel = false;
	CHECK(!verdict_has_erratum(&skylake, ERRATUM_CTR_FRZ));
	CHECK(ERRATA <= 64, "struct test has a bit for each");
}

int main(void)
{
	RUN(the_worse_verdict_wins);
	RUN(exit_statuses_are_the_documented_ones);
	RUN(self_tests_decide_nothing);
	RUN(a_requirement_has_the_worst_of_its_tests);
	RUN(other_hypervisors_are_judged_by_what_all_processors_have);
	RUN(what_is_not_judged_says_why);
	RUN(inconclusive_and_known_do_not_fail);
	RUN(every_row_is_found_by_its_number);
	RUN(only_text_fails_silicon);
	RUN(practice_begins_with_a_known_generation);
	RUN(later_processors_are_reported_where_only_practice_says_it);
	RUN(known_breaches_need_the_right_subject);
	RUN(a_row_of_other_generations_does_not_apply);
	RUN(an_erratum_is_about_its_machines_alone);
	RUN(an_erratum_is_intels);
	return check_end();
}
