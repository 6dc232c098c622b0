/* SPDX-License-Identifier: MIT */
/*
 * What the screen shows, taken from the run's lines as they go to the log: what the machine is, the
 * points with their blocks, the totals. So screen, serial line and results say the same. Pure.
 */
#ifndef BOOT_SCREEN_MODEL_H
#define BOOT_SCREEN_MODEL_H

#include "spec/types.h"

#define MODEL_POINTS	2048u
#define MODEL_FACTS	1024u
#define MODEL_TOTALS	12u
#define MODEL_TEXT	256u		/* of a name or a total */
#define MODEL_GROUPS	32u
#define MODEL_STORE	(1u << 20)	/* that much text is enough for a run in which much fails */

enum model_verdict {
	MODEL_PASS, MODEL_SKIP, MODEL_INCONCLUSIVE, MODEL_KNOWN, MODEL_FAIL, MODEL_ERROR,
	MODEL_VERDICTS
};

enum model_result {
	RESULT_NONE, RESULT_PASSED, RESULT_FAILED, RESULT_NOT_TESTED, RESULT_NOT_TRUSTWORTHY
};

/* A test point: in the store, its line and those of its block. */
struct model_point {
	u32 text;
	u16 lines;
	u8 verdict, group;
};

struct model_group {
	char name[24];
	u32 points, bad;
};

/* Several runs, one after the other. */
struct soak {
	u32 run, runs;			/* from 1; runs 0: as many as its time allows */
	u32 failed, not_trustworthy, not_tested;	/* of those before this one */
};

struct model {
	char *store;			/* lines, each with a 0 after it */
	u32 size, used;
	u32 fact[MODEL_FACTS];		/* comments before the first point */
	u32 facts;
	struct model_point point[MODEL_POINTS];
	u32 points;			/* that are kept */
	struct model_group group[MODEL_GROUPS];	/* that have a point */
	u32 groups;
	char total[MODEL_TOTALS][MODEL_TEXT];	/* what was said at the end; the last ones */
	u32 totals;
	u32 lost;			/* points that there was no room for */

	u32 plan, done, count[MODEL_VERDICTS];
	char running[MODEL_TEXT];	/* the test that runs now; "": none */
	u32 group_now, group_count;	/* from 1 */
	u64 began_us, now_us;		/* first point, now */
	struct soak soak;

	bool bailed_out, ended;
	u32 exit;			/* exit status, once it has ended */
	char not_tested[MODEL_TEXT];	/* why */
	char bail_out[MODEL_TEXT];
};

/* store has size bytes. All else is as nothing had been said. */
void model_init(struct model *model, char *store, u32 size);
/* The run's next line. */
void model_take(struct model *model, const char *line);
/* This test is about to run; NULL: none is. */
void model_begin_test(struct model *model, const char *name);
void model_at(struct model *model, u64 us);

/* After the last line; of this run. */
enum model_result model_result(const struct model *model);
/* The worst of a soak's runs so far. */
enum model_result model_result_of_all(const struct model *model);
/* That in words: "PASSED". */
const char *model_result_text(const struct model *model);
/* Seconds that are left, as far as can be told; 0: it can't. */
u32 model_seconds_left(const struct model *model);

/* What follows "# key: " in a comment about the machine; NULL: there is none. */
const char *model_fact(const struct model *model, const char *key);
/* Line n of the point, 0: the point's own. */
const char *model_line(const struct model *model, const struct model_point *point, u32 n);
/* "group.claim" of a point. Returns text. */
const char *model_name(const struct model *model, const struct model_point *point, char *text,
		       size_t size);
/* The value of a key of its block, without quotes; false: it has none. */
bool model_value(const struct model *model, const struct model_point *point, const char *key,
		 char *text, size_t size);
/* "  key: value" of a block in its parts, the value without quotes. false: another line. */
bool model_split(const char *line, char *key, size_t key_size, char *value, size_t value_size);
/* FAIL and ERROR. */
bool model_is_bad(const struct model_point *point);

#endif
