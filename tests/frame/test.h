/* SPDX-License-Identifier: MIT */
/*
 * How to write a test. The name of a test is its one claim. The test declares the requirements that
 * it decides and its needs, and states the expected value before the observation. A comment above
 * the test describes it; tools/test_comment.py writes the head of this comment from the
 * requirement's row. See docs/ADDING-A-TEST.md.
 *
 *	TEST(pmi, overflow_with_int_raises_one_interrupt, REQS(PMI_01), NEEDS(need_gp_counters))
 *	{
 *		...
 *		CONTROL_EQ(t, PMI_01, BIT(i), log->entry[0].status, "status at the interrupt");
 *		CHECK_EQ(t, PMI_01, 1, log->count, "interrupts after the wrap of PMC%u", i);
 *	}
 */
#ifndef TESTS_FRAME_TEST_H
#define TESTS_FRAME_TEST_H

#include "claims/erratum.h"
#include "claims/requirement.h"
#include "spec/types.h"

/* In order of severity: a test's verdict is the worst of its checks' verdicts; a test without a
 * verdict is an ERROR. */
enum verdict { VERDICT_NONE, VERDICT_PASS, VERDICT_SKIP, VERDICT_INCONCLUSIVE, VERDICT_KNOWN,
	       VERDICT_FAIL, VERDICT_ERROR };

struct test;		/* a running test: tests/frame/runner.c */

/* A precondition. true: met; false: reason holds why not, with the raw capability value. */
typedef bool (*test_need)(char *reason, size_t size);

struct test_case {
	const char *group, *claim;		/* name is "group.claim" */
	void (*run)(struct test *t);
	const u16 *reqs;			/* enum requirement_id + 1; 0 ends */
	const test_need *needs;			/* NULL ends */
	const char *file;
	unsigned line, deadline_ms;		/* 0: the default */
	bool under_every_fault;			/* one of the sample of tools/mutants.py */
};

/* Lists of one to 36 requirement tokens (as in claims/requirement.def), and of needs. */
#define REQ1(a)		REQ_##a + 1
#define REQ2(a, ...)	REQ_##a + 1, REQ1(__VA_ARGS__)
#define REQ3(a, ...)	REQ_##a + 1, REQ2(__VA_ARGS__)
#define REQ4(a, ...)	REQ_##a + 1, REQ3(__VA_ARGS__)
#define REQ5(a, ...)	REQ_##a + 1, REQ4(__VA_ARGS__)
#define REQ6(a, ...)	REQ_##a + 1, REQ5(__VA_ARGS__)
#define REQ7(a, ...)	REQ_##a + 1, REQ6(__VA_ARGS__)
#define REQ8(a, ...)	REQ_##a + 1, REQ7(__VA_ARGS__)
#define REQ9(a, ...)	REQ_##a + 1, REQ8(__VA_ARGS__)
#define REQ10(a, ...)	REQ_##a + 1, REQ9(__VA_ARGS__)
#define REQ11(a, ...)	REQ_##a + 1, REQ10(__VA_ARGS__)
#define REQ12(a, ...)	REQ_##a + 1, REQ11(__VA_ARGS__)
#define REQ13(a, ...)	REQ_##a + 1, REQ12(__VA_ARGS__)
#define REQ14(a, ...)	REQ_##a + 1, REQ13(__VA_ARGS__)
#define REQ15(a, ...)	REQ_##a + 1, REQ14(__VA_ARGS__)
#define REQ16(a, ...)	REQ_##a + 1, REQ15(__VA_ARGS__)
#define REQ17(a, ...)	REQ_##a + 1, REQ16(__VA_ARGS__)
#define REQ18(a, ...)	REQ_##a + 1, REQ17(__VA_ARGS__)
#define REQ19(a, ...)	REQ_##a + 1, REQ18(__VA_ARGS__)
#define REQ20(a, ...)	REQ_##a + 1, REQ19(__VA_ARGS__)
#define REQ21(a, ...)	REQ_##a + 1, REQ20(__VA_ARGS__)
#define REQ22(a, ...)	REQ_##a + 1, REQ21(__VA_ARGS__)
#define REQ23(a, ...)	REQ_##a + 1, REQ22(__VA_ARGS__)
#define REQ24(a, ...)	REQ_##a + 1, REQ23(__VA_ARGS__)
#define REQ25(a, ...)	REQ_##a + 1, REQ24(__VA_ARGS__)
#define REQ26(a, ...)	REQ_##a + 1, REQ25(__VA_ARGS__)
#define REQ27(a, ...)	REQ_##a + 1, REQ26(__VA_ARGS__)
#define REQ28(a, ...)	REQ_##a + 1, REQ27(__VA_ARGS__)
#define REQ29(a, ...)	REQ_##a + 1, REQ28(__VA_ARGS__)
#define REQ30(a, ...)	REQ_##a + 1, REQ29(__VA_ARGS__)
#define REQ31(a, ...)	REQ_##a + 1, REQ30(__VA_ARGS__)
#define REQ32(a, ...)	REQ_##a + 1, REQ31(__VA_ARGS__)
#define REQ33(a, ...)	REQ_##a + 1, REQ32(__VA_ARGS__)
#define REQ34(a, ...)	REQ_##a + 1, REQ33(__VA_ARGS__)
#define REQ35(a, ...)	REQ_##a + 1, REQ34(__VA_ARGS__)
#define REQ36(a, ...)	REQ_##a + 1, REQ35(__VA_ARGS__)
/* clang-format off */
#define REQ_PICK(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, \
		 a17, a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, \
		 a32, a33, a34, a35, name, ...) name
#define REQ_LIST(...)	{ REQ_PICK(__VA_ARGS__, REQ36, REQ35, REQ34, REQ33, REQ32, REQ31, \
				   REQ30, REQ29, REQ28, REQ27, REQ26, REQ25, REQ24, REQ23, \
				   REQ22, REQ21, REQ20, REQ19, REQ18, REQ17, REQ16, REQ15, \
				   REQ14, REQ13, REQ12, REQ11, REQ10, REQ9, REQ8, REQ7, REQ6, \
				   REQ5, REQ4, REQ3, REQ2, REQ1, 0)(__VA_ARGS__), 0 }
/* clang-format on */
#define REQS(...)	(const u16[])REQ_LIST(__VA_ARGS__)
#define NEEDS(...)	(const test_need[]){ __VA_ARGS__, NULL }
/* For tests of the harness itself, which decide no requirement. */
#define NO_REQS		(const u16[]){ 0 }

/*
 * Registers a test: a row in section .data.tests, which linker.ld keeps between __tests_begin and
 * __tests_end (gnu-efi's usual list of sections would lose it). And a line
 * "group.claim<TAB>REQS(...)<TAB>members" in section .testlist of the ELF file. That isn't loaded;
 * `--list tests` and `make coverage` read it. After the needs further members of the row may
 * follow: .deadline_ms = 500. A test with .under_every_fault represents its group under each fault
 * of the reference PMU (docs/ADDING-A-TEST.md). It must take less than 20 ms under a fault,
 * although each of its instructions is then handled separately.
 */
#define TEST(group_, claim_, reqs_, needs_, ...)					\
	static void test_##group_##_##claim_(struct test *t);				\
	static const char testlist_##group_##_##claim_[]				\
		__attribute__((section(".testlist"), used)) =				\
		#group_ "." #claim_ "\t" #reqs_ "\t" #__VA_ARGS__ "\n";			\
	static struct test_case case_##group_##_##claim_				\
		__attribute__((section(".data.tests"), used, aligned(8))) = {		\
		.group = #group_, .claim = #claim_,					\
		.run = test_##group_##_##claim_,					\
		.reqs = reqs_, .needs = needs_,						\
		.file = __FILE__, .line = __LINE__, __VA_ARGS__				\
	};										\
	static void test_##group_##_##claim_(struct test *t)

/*
 * The requirements of an observation (one, or several that it decides together) and its place in
 * the source. A function that makes checks for several tests takes this structure from its caller,
 * so that the checks of different callers are distinct: AT(PMI_01), AT(LL_06, LL_17),
 * CONTROL_AT(PMI_01).
 */
struct test_claim {
	const struct test_place *place;
	bool control;
};
struct test_place {
	const char *file;
	u16 line;
	u16 reqs[];				/* as in struct test_case */
};

/* There are more than a thousand of these, so each needs at most two registers of its caller. */
#define TEST_CLAIM(control_, ...) ({							\
	static const struct test_place place_ = {					\
		__FILE__, __LINE__, REQ_LIST(__VA_ARGS__)				\
	};										\
	(struct test_claim){ &place_, control_ };					\
})
#define AT(...)		TEST_CLAIM(false, __VA_ARGS__)
#define CONTROL_AT(...)	TEST_CLAIM(true, __VA_ARGS__)
/* The claim of a control, in a function that makes checks for its caller. */
static inline struct test_claim test_control(struct test_claim claim)
{
	claim.control = true;
	return claim;
}

/* One observation that decides several requirements: CHECK_EQ(t, IDS(LL_06, LL_17), ...). */
#define IDS(...)	__VA_ARGS__

/*
 * Checks: the claim. Each decides one requirement or several, IDS(...), which the test must declare
 * in REQS (otherwise tools/check_test_claims.py stops the build). The expected value comes before
 * the observed one. A check returns whether it held, so that a test can stop if it makes no sense
 * to continue. A test that ends without any check is an ERROR. The text (printf-like) describes the
 * observation.
 */
#define CHECK_EQ(t, ids, want, got, ...) \
	test_check_eq((t), AT(ids), (want), (got), __VA_ARGS__)
#define CHECK_RANGE(t, ids, low, high, got, ...) \
	test_check_range((t), AT(ids), (low), (high), (got), __VA_ARGS__)
#define CHECK(t, ids, condition, ...) \
	test_check((t), AT(ids), (condition), #condition, __VA_ARGS__)

/*
 * Controls: without them a claim that something doesn't happen would also hold on a PMU that does
 * nothing. The ids are the requirements whose evidence the control gives. If a control fails, this
 * evidence is missing, and these requirements FAIL. A control that holds decides nothing: a test
 * with only controls is INCONCLUSIVE, and tools/checks.py doesn't require a fault for it.
 */
#define CONTROL_EQ(t, ids, want, got, ...) \
	test_check_eq((t), CONTROL_AT(ids), (want), (got), __VA_ARGS__)
#define CONTROL_RANGE(t, ids, low, high, got, ...) \
	test_check_range((t), CONTROL_AT(ids), (low), (high), (got), __VA_ARGS__)
#define CONTROL(t, ids, condition, ...) \
	test_check((t), CONTROL_AT(ids), (condition), #condition, __VA_ARGS__)

/* The functions behind the macros above. A function that takes a struct test_claim calls them
 * directly. */
__attribute__((format(printf, 5, 6))) bool
test_check_eq(struct test *t, struct test_claim claim, u64 want, u64 got, const char *format, ...);
__attribute__((format(printf, 6, 7))) bool test_check_range(struct test *t, struct test_claim claim,
							    u64 low, u64 high, u64 got,
							    const char *format, ...);
__attribute__((format(printf, 5, 6))) bool test_check(struct test *t, struct test_claim claim,
						      bool holds, const char *condition,
						      const char *format, ...);

/*
 * Can the requirement be observed exactly on this platform, as claims/requirement.def says? If not,
 * a test must measure several windows and use a criterion that chance can't spoil.
 */
bool test_sees_exactly(const struct test *t, enum requirement_id req);
bool test_sees_claim(const struct test *t, const struct test_claim *claim);

/* Is every requirement judged, without allowance for silicon? */
bool test_is_strict(const struct test *t);

/* How much work: `few` rounds where every requirement is judged, on a machine without noise that
 * carries out each instruction in software; otherwise `many`. */
u64 test_rounds(const struct test *t, u64 few, u64 many);

/*
 * Does that row of claims/erratum.def apply to this machine, and isn't every requirement judged
 * (test_is_strict())? Then leave out the check that the row names. Writes this to the log, once for
 * each test.
 */
bool test_erratum(struct test *t, enum erratum erratum);

/*
 * Something expected hasn't happened, for example a record is missing. If every requirement is
 * judged, this decides at once. On other platforms one missing record isn't a breach: the test is
 * run again, and the first run in which nothing is missing counts, or the last run.
 */
void test_missed(struct test *t);

/*
 * A check of the harness and its environment: if it doesn't hold, the test is an ERROR and not a
 * FAIL. It counts as a check.
 */
#define HARNESS_CHECK(t, condition, ...) \
	test_check_harness((t), (condition), #condition, __FILE__, __LINE__, __VA_ARGS__)

__attribute__((format(printf, 6, 7)))
bool test_check_harness(struct test *t, bool holds, const char *condition, const char *file,
			unsigned line, const char *format, ...);

/* Write a comment to the log, for a measurement that isn't judged. */
__attribute__((format(printf, 2, 3)))
void test_note(struct test *t, const char *format, ...);

/* Other ends of a test. They don't return from the test; the test does so itself. */
__attribute__((format(printf, 2, 3)))
void test_skip(struct test *t, const char *format, ...);
__attribute__((format(printf, 2, 3)))
void test_inconclusive(struct test *t, const char *format, ...);
__attribute__((format(printf, 2, 3)))
void test_error(struct test *t, const char *format, ...);

#endif
