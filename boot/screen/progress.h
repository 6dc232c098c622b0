/* SPDX-License-Identifier: MIT */
/*
 * The data that the screen shows, taken from the run's lines as they go to the log: the machine,
 * the points with their blocks, the totals. So screen, serial line and results agree. Pure.
 */
#ifndef BOOT_SCREEN_PROGRESS_H
#define BOOT_SCREEN_PROGRESS_H

#include "spec/types.h"

#define PROGRESS_POINTS	24576u		/* each test on each of 16 processors */
#define PROGRESS_FACTS	1024u
#define PROGRESS_TOTALS	12u
#define PROGRESS_TEXT	256u		/* of a name or a total */
#define PROGRESS_GROUPS	32u
/* Text of a run with many failures on one processor, and the text that a further processor adds. */
#define PROGRESS_STORE	(1u << 20)
#define PROGRESS_STORE_EACH (256u << 10)
#define PROGRESS_LINE	160u		/* longer than the lines of most points */

enum progress_verdict {
	PROGRESS_PASS,
	PROGRESS_SKIP,
	PROGRESS_INCONCLUSIVE,
	PROGRESS_KNOWN,
	PROGRESS_FAIL,
	PROGRESS_ERROR,
	PROGRESS_VERDICTS
};

enum progress_result {
	RESULT_NONE, RESULT_PASSED, RESULT_FAILED, RESULT_NOT_TESTED, RESULT_NOT_TRUSTWORTHY
};

/* A test point: in the store, its line and those of its block. */
struct progress_point {
	u32 text;
	u16 lines;
	u8 verdict, group;
};

struct progress_group {
	char name[24];
	u32 points, bad;
};

/* Several runs, one after the other. */
struct soak {
	u32 run, runs;			/* from 1; runs 0: as many as its time allows */
	u32 batch, batches;		/* of processors, from 0; batches 1: there is no other */
	u32 failed, not_trustworthy, not_tested;	/* of those before this one */
};

struct progress {
	char *store;			/* lines, each with a 0 after it */
	u32 size, used;
	u32 fact[PROGRESS_FACTS];		/* comments before the first point */
	u32 facts;
	struct progress_point point[PROGRESS_POINTS];
	u32 points;			/* that are kept */
	struct progress_group group[PROGRESS_GROUPS];	/* that have a point */
	u32 groups;
	char total[PROGRESS_TOTALS][PROGRESS_TEXT]; /* the last lines of the log's end */
	u32 totals;
	u32 lost, lost_lines;		/* points, and lines of blocks, without room */
	bool kept;			/* the last point is point[points - 1] */
	enum progress_verdict last;	/* its verdict, kept or not */

	u32 plan, done, count[PROGRESS_VERDICTS];
	char running[PROGRESS_TEXT];	/* the test that runs now; "": none */
	u32 group_now, group_count;	/* from 1 */
	u64 began_us, now_us;		/* first point, now */
	struct soak soak;

	bool bailed_out, ended;
	u32 exit;			/* exit status, once it has ended */
	char not_tested[PROGRESS_TEXT];	/* why */
	char bail_out[PROGRESS_TEXT];
};

/* store has size bytes. The rest is set to the state before the first line. */
void progress_init(struct progress *progress, char *store, u32 size);
/* The run's next line. */
void progress_take(struct progress *progress, const char *line);
/* This test is about to run; NULL: none is. */
void progress_begin_test(struct progress *progress, const char *name);
void progress_at(struct progress *progress, u64 us);

/* After the last line; of this run. */
enum progress_result progress_result(const struct progress *progress);
/* The worst of a soak's runs so far. */
enum progress_result progress_result_of_all(const struct progress *progress);
/* The result in words: "PASSED". */
const char *progress_result_text(const struct progress *progress);
/* An estimate of the seconds that are left; 0: there is none. */
u32 progress_seconds_left(const struct progress *progress);

/* What follows "# key: " in a comment about the machine; NULL: there is none. */
const char *progress_fact(const struct progress *progress, const char *key);
/* Line n of the point, 0: the point's own. */
const char *progress_line(const struct progress *progress, const struct progress_point *point,
			  u32 n);
/* "group.claim" of a point. Returns text. */
const char *progress_name(const struct progress *progress, const struct progress_point *point,
			  char *text, size_t size);
/* The value of a key of its block, without quotes; false: it has none. */
bool progress_value(const struct progress *progress, const struct progress_point *point,
		    const char *key, char *text, size_t size);
/* "  key: value" of a block in its parts, the value without quotes. false: another line. */
bool progress_split(const char *line, char *key, size_t key_size, char *value, size_t value_size);
/* FAIL and ERROR. */
bool progress_is_bad(const struct progress_point *point);

#endif
