/* SPDX-License-Identifier: MIT */
/*
 * A run of the tests: selection, order and totals. Used by boot/, which gives the machine back
 * between groups. Call every function on the first processor while the machine is borrowed, with
 * interrupts off.
 */
#ifndef TESTS_FRAME_SUITE_H
#define TESTS_FRAME_SUITE_H

#include "kernel/output/tap.h"
#include "spec/types.h"
#include "tests/frame/draw_options.h"

struct suite;

struct suite_config {
	const char *tests_glob;	/* see tests/frame/glob.h; NULL: all; @ID, @every-fault: by tag */
	const char *require;	/* requirement groups, comma separated; NULL: none */
	bool strict; /* judge every requirement: PLATFORM_STRICT in tests/frame/verdict.h */
	bool no_inconclusive;	/* an INCONCLUSIVE gives exit status 2 */
	bool verbose;		/* a comment with the time of each test */
	bool checks;		/* a comment for each check of each test */
	/* The processors on which tests run, one after the other, a bit for each; the others sleep.
	 * Tests that need several processors run once, or not at all. 0: the requested processor
	 * doesn't exist. */
	u32 on;
	bool without_several;
	u32 asked;		/* in words of the configuration; only suite_digest() needs it */
	struct draw_options draw;	/* its ms are those of all drawn tests together */
	u32 order;		/* what the order within groups is drawn from; 0: the usual one */
	/* Called with the name of each test before it runs, or NULL. */
	void (*announce)(const char *name);
	bool guest;		/* a virtual machine, although CPUID may show no hypervisor */
	u64 exerciser;		/* physical address of its register page, mapped; 0: none */
	/* Called directly before each test that runs, not for a skipped test, which can't hang. It
	 * may give the machine back and take it again. May be NULL. */
	void (*before_test)(void);
	/* Called between tests: true ends the run. NULL: all tests run. */
	bool (*is_ended)(void);
};

/*
 * Select and sort the tests; print the version line, the plan and the description of the machine.
 * There is one suite at a time; config and tap must outlive it. Never returns NULL: an empty
 * selection is an ERROR at the end.
 */
struct suite *suite_begin(const struct suite_config *config, struct tap *tap);

/* Groups with at least one selected test, in the order in which to run them. */
unsigned suite_groups(const struct suite *s);
void suite_run_group(struct suite *s, unsigned g);

/*
 * After a reset, a run of the same program and selection on the same machine continues the
 * interrupted run. suite_save() writes the results so far and, in before_test(), the test that
 * begins. It returns the number of bytes, at most SUITE_STATE_MAX. suite_restore(), after
 * suite_begin(), reads this state: a test that had begun is an ERROR with that reason, and earlier
 * tests aren't run again. false: the state is of another selection.
 */
#define SUITE_STATE_MAX 1024
size_t suite_save(const struct suite *s, void *state);
bool suite_restore(struct suite *s, const void *state, size_t length, const char *reason);
/* A checksum of the program's tests and of the configuration's selection. */
u32 suite_digest(const struct suite_config *config);
/* The test that had begun in such a state, "group.claim"; "": none had begun, or it isn't such a
 * state. Returns name. */
const char *suite_running(const void *state, size_t length, char *name, size_t size);

/* "Bail out!": something outside the tests went wrong, and the exit status isn't 0. */
void suite_bail_out(struct suite *s, const char *reason);

/* Print the totals and the end line. Returns the run's exit status (0, 1 or 2). */
int suite_end(struct suite *s);

/* A short name of the processor for the results' folder, after suite_begin(). */
const char *suite_cpu_name(const struct suite *s);

#endif
