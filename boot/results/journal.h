/* SPDX-License-Identifier: MIT */
/*
 * The journal of a run: a file of frames (frame.h) in \results, one for each machine that the stick
 * is used on. The file exists from the beginning of a run to its end, and contains the run's lines
 * so far. All of its clusters are allocated before the first test, so that a write changes only the
 * sectors of its frame. Call these functions while the firmware has the machine.
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
	u32 exit;			/* result of the batches before this one: not compared */
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

/* Look for an unfinished run of run->machine. NULL: there is none; error is "" or says what can't
 * be read. The result is valid until journal_forget(). */
const struct journal_found *journal_find(const struct journal_run *run, char *error, size_t size);
void journal_forget(void);

/* A new run's journal. false: error says why there is none. */
bool journal_begin(const struct journal_run *run, char *error, size_t size);
/* Continue the run that was found. */
bool journal_continue(char *error, size_t size);
/* Write a frame; it is on the medium when this returns. text: the lines since the last frame. Does
 * nothing without a journal. false: error says why, and the journal isn't used any more. */
bool journal_add(enum frame_kind kind, const void *state, u32 state_length, const char *text,
		 size_t text_length, char *error, size_t size);
/* The run is over, its files are written. */
void journal_end(void);
bool journal_is_open(void);

#endif
