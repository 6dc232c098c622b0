/* SPDX-License-Identifier: MIT */
/*
 * The journal of a run: a file of frames (frame.h) in \results, one for each machine that the stick
 * is used on. It is there from a run's beginning to its end, and has whatever the run has said so
 * far. All of its clusters are allocated before the first test, so that a write changes nothing but
 * the sectors that it is about. Called with the machine given back.
 */
#ifndef BOOT_RESULTS_JOURNAL_H
#define BOOT_RESULTS_JOURNAL_H

#include "boot/results/frame.h"
#include "spec/types.h"

#define JOURNAL_FOLDER_SIZE 112
#define JOURNAL_ANY_BATCH	(~0u)

/* Which run it is: only the same program with the same configuration continues it. */
struct journal_run {
	u32 machine, digest;
	u32 batch;			/* of the machine's processors */
	u32 exit;			/* what the batches before it came to: not compared */
	char version[64];
	char folder[JOURNAL_FOLDER_SIZE];	/* of its results */
};

/* What is known of a run that wasn't finished. */
struct journal_found {
	struct journal_run run;
	bool same;		/* it is of the program and configuration asked for */
	unsigned boots;		/* before this one */
	unsigned in_vain;	/* the last of them: in which no test began */
	unsigned missing;	/* frames that can't be read */
	const u8 *state;	/* the last one; NULL: none */
	u32 state_length;
	const char *text;	/* the lines up to there */
	size_t text_length;
};

/* Look for an unfinished run of run->machine. NULL: there is none; error is "" or says what there
 * is and can't be read. What is found is valid until journal_forget(). */
const struct journal_found *journal_find(const struct journal_run *run, char *error, size_t size);
void journal_forget(void);

/* A new run's journal. false: error says why there is none. */
bool journal_begin(const struct journal_run *run, char *error, size_t size);
/* Take up the one that was found. */
bool journal_continue(char *error, size_t size);
/* A frame, on the medium when this returns; text: the lines since the last one. Nothing without a
 * journal. false: error says why, and there is no journal any more. */
bool journal_add(enum frame_kind kind, const void *state, u32 state_length, const char *text,
		 size_t text_length, char *error, size_t size);
/* The run is over, its files are written. */
void journal_end(void);
bool journal_is_open(void);

#endif
