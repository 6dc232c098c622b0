/* SPDX-License-Identifier: MIT */
/*
 * A run of the tests: which are selected, in which order, and what they come to. Used by boot/,
 * which gives the machine back between groups. Every function is called with the machine
 * borrowed, on the first processor, interrupts off.
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
	bool no_inconclusive;	/* one is exit status 2 */
	bool verbose;		/* a comment with the time of each test */
	bool checks;		/* a comment for each check of each test */
	/* The processors on which tests run, a bit each: one after the other; the others sleep.
	 * Tests that need several run once, or not at all. 0: the one that was asked for isn't
	 * there. */
	u32 on;
	bool without_several;
	u32 asked;		/* in words of the configuration; only suite_digest() needs it */
	struct draw_options draw;	/* its ms are those of all drawn tests together */
	u32 order;		/* what the order within groups is drawn from; 0: the usual one */
	/* Told the name of each test before it runs; NULL: it isn't. */
	void (*announce)(const char *name);
	u64 exerciser;		/* physical address of its register page, mapped; 0: none */
	/* Called right before each test that is going to run: one that is skipped can't hang. It
	 * may give the machine back and take it again. NULL: nothing. */
	void (*before_test)(void);
	/* Asked between tests: no more of them are to run. NULL: they all are. */
	bool (*is_ended)(void);
};

/*
 * Select and sort, print version line, plan and what the machine is. There is one suite at a
 * time; config and tap must outlive it. Never NULL: an empty selection is an ERROR at the end.
 */
struct suite *suite_begin(const struct suite_config *config, struct tap *tap);

/* Groups with at least one selected test, in the order in which to run them. */
unsigned suite_groups(const struct suite *s);
void suite_run_group(struct suite *s, unsigned g);

/*
 * A run that a reset has cut is continued by a run of the same program, selection and machine.
 * suite_save() writes what it has come to so far, and in before_test() which test begins; returns
 * the bytes that takes, SUITE_STATE_MAX at most. After suite_begin(), suite_restore() takes that
 * up: the test that had begun, if any, is an ERROR with that reason, and what ran before it isn't
 * run again. false: it isn't of this selection.
 */
#define SUITE_STATE_MAX 1024
size_t suite_save(const struct suite *s, void *state);
bool suite_restore(struct suite *s, const void *state, size_t length, const char *reason);
/* Of the program's tests and of what the configuration selects among them. */
u32 suite_digest(const struct suite_config *config);
/* The test of such a state, "group.claim"; "": none had begun, or it is no such state. Returns
 * name. */
const char *suite_running(const void *state, size_t length, char *name, size_t size);

/* "Bail out!": something outside the tests went wrong, and the exit status isn't 0. */
void suite_bail_out(struct suite *s, const char *reason);

/* Print the totals and the end line; the run's exit status (0, 1 or 2). */
int suite_end(struct suite *s);

/* A short name of the processor for the results' folder, after suite_begin(). */
const char *suite_cpu_name(const struct suite *s);

#endif
