/* SPDX-License-Identifier: MIT */
/*
 * The journal's format. A journal is a file of frames. Each frame begins at a multiple of
 * FRAME_ALIGN and is written only once. So if a write is interrupted, the earlier frames stay
 * intact. A frame has a checksum over the whole frame, the number of its run and its number in that
 * run. A reader skips everything that isn't such a frame, so old contents of the medium or a
 * damaged sector don't affect other frames. docs/RESULTS-FORMAT.md describes it for other readers.
 * Pure.
 */
#ifndef BOOT_RESULTS_FRAME_H
#define BOOT_RESULTS_FRAME_H

#include "spec/types.h"

#define FRAME_ALIGN	512u		/* a sector: a medium writes it completely or not at all */
#define FRAME_VERSION	1u
#define FRAME_STATE_MAX (2u << 10)
#define FRAME_TEXT_MAX	(4u << 20)

enum frame_kind {
	FRAME_BEGIN = 1,	/* state: which run this is; more than one copy */
	FRAME_BOOT,		/* the program has been started again for this run */
	FRAME_TEXT,		/* lines that belong to the next state */
	FRAME_TEST,		/* state: results so far, and the test that begins now */
	FRAME_IDLE,		/* state: the same, and no test runs */
	FRAME_END,		/* the run is over and its files are written */
};

struct frame {
	enum frame_kind kind;
	u64 run;
	u32 number;		/* 0, 1, 2, ... in the run */
	const u8 *state;
	const char *text;	/* lines of the log since the previous frame, not terminated */
	u32 state_length, text_length;
};

/* Bytes that such a frame takes, a multiple of FRAME_ALIGN. */
size_t frame_size(u32 state_length, u32 text_length);
/* Write it to bytes, which has frame_size() of them. */
void frame_write(const struct frame *frame, u8 *bytes);

/* Reads the frames of one run from a file's contents. To begin, set data and size; all else is
 * 0. */
struct frame_reader {
	const u8 *data;
	size_t size, at;
	size_t end;		/* of the last one that was read */
	bool begun;
	u64 run;		/* of the first frame that was found */
	u32 due;		/* number of the next frame */
	unsigned missing;	/* frames that should have been there */
};
/* The next frame; it points into data. false: there is none. */
bool frame_next(struct frame_reader *reader, struct frame *frame);

/* CRC-32 (ISO 3309), as zlib's: begin with 0. */
u32 frame_crc(u32 crc, const void *bytes, size_t length);

#endif
