/* SPDX-License-Identifier: MIT */
/* The journal stays readable after any cut write, whatever the medium held before. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boot/results/frame.h"
#include "host/check.h"
#include "host/random.h"

#define FILE_SIZE	(64u << 10)
#define FRAMES		20u
#define HEAD		40u	/* bytes of a frame's head */
#define RUN_ID		0x1234567890abcdefull

static u8 file[FILE_SIZE];
static size_t ends[FRAMES];	/* end of each frame, and of its contents */
static size_t contents[FRAMES];

static void text_of(unsigned n, char *text, size_t size)
{
	int length = snprintf(text, size, "ok %u - group.claim_%u [CNT-01]\n", n, n);

	/* Frames of one sector and of several. */
	for (unsigned i = 0; i < n % 4; i++)
		length += snprintf(text + length, size - (size_t)length, "# %0400u\n", i);
}

static size_t put(size_t at, enum frame_kind kind, u64 run, u32 number)
{
	char text[2048];
	u32 state = number * 7 + (u32)run;
	struct frame frame = { .kind = kind, .run = run, .number = number,
			       .state = (const u8 *)&state, .state_length = sizeof(state) };

	text_of(number, text, sizeof(text));
	if (run != RUN_ID)
		text[strlen(text) - 1] = '!';
	frame.text = text;
	frame.text_length = (u32)strlen(text);
	frame_write(&frame, file + at);
	contents[number] = at + HEAD + frame.state_length + frame.text_length;
	return at + frame_size(frame.state_length, frame.text_length);
}

/* Two copies of the beginning, then frames of tests. */
static void make(u64 run)
{
	size_t at = 0;

	for (unsigned n = 0; n < FRAMES; n++)
		ends[n] = at = put(at, n < 2 ? FRAME_BEGIN : FRAME_TEST, run, n);
}

static bool is_whole(const struct frame *frame)
{
	char text[2048];
	u32 state;

	text_of(frame->number, text, sizeof(text));
	memcpy(&state, frame->state, sizeof(state));
	return frame->state_length == sizeof(state) &&
	       state == frame->number * 7 + (u32)frame->run && frame->text_length == strlen(text) &&
	       !memcmp(text, frame->text, frame->text_length);
}

/* The number of frames that are read, each as it was written; *last: the number of the last one. */
static unsigned read_all(size_t size, u32 *last, unsigned *missing)
{
	struct frame_reader reader = { .data = file, .size = size };
	struct frame frame;
	unsigned count = 0;

	while (frame_next(&reader, &frame)) {
		CHECK(is_whole(&frame));
		CHECK(!count || frame.number > *last);
		*last = frame.number;
		count++;
	}
	*missing = reader.missing;
	return count;
}

static void what_was_written_is_read(void)
{
	unsigned missing;
	u32 last = 0;

	memset(file, 0, sizeof(file));
	make(RUN_ID);
	CHECK_EQ(FRAMES, read_all(FILE_SIZE, &last, &missing));
	CHECK_EQ(FRAMES - 1, last);
	CHECK_EQ(0, missing);
	CHECK_EQ(0, read_all(0, &last, &missing));
}

static void the_checksum_is_that_of_zlib(void)
{
	CHECK_EQ(0xcbf43926, frame_crc(0, "123456789", 9));
	CHECK_EQ(0xcbf43926, frame_crc(frame_crc(0, "1234", 4), "56789", 5));
}

/* Cut the write after each byte: all frames that end before the cut are read. The rest of the
 * medium has its old contents: zeros, a journal of an earlier run, or anything. */
static void a_cut_write_costs_its_own_frame_only(void)
{
	static u8 before[FILE_SIZE], whole[FILE_SIZE];
	struct random random = { 1 };
	unsigned missing;

	make(RUN_ID);
	memcpy(whole, file, FILE_SIZE);
	for (unsigned kind = 0; kind < 3; kind++) {
		memset(file, 0, FILE_SIZE);
		if (kind == 1)	/* its texts have another end */
			make(RUN_ID + 1);
		for (size_t i = 0; kind == 2 && i < FILE_SIZE; i++)
			file[i] = (u8)random_next(&random);
		memcpy(before, file, FILE_SIZE);
		/* The beginning's two copies are written before any test. */
		for (size_t cut = ends[0]; cut < ends[FRAMES - 1]; cut += 61) {
			unsigned wanted = 0;
			u32 last = 0;

			memcpy(file, before, FILE_SIZE);
			memcpy(file, whole, cut);
			while (wanted < FRAMES && contents[wanted] <= cut)
				wanted++;
			CHECK_EQ(wanted, read_all(FILE_SIZE, &last, &missing));
			CHECK_EQ(wanted - 1, last);
			CHECK_EQ(0, missing);
		}
	}
}

static void a_damaged_sector_costs_its_frame_only(void)
{
	for (unsigned n = 0; n < FRAMES; n++) {
		unsigned missing;
		u32 last = 0;

		make(RUN_ID);
		file[ends[n] - FRAME_ALIGN] ^= 0x10;
		CHECK_EQ(FRAMES - 1, read_all(ends[FRAMES - 1], &last, &missing));
		CHECK_EQ(n + 1 < FRAMES, missing);
	}
}

static void without_a_beginning_there_is_no_run(void)
{
	unsigned missing;
	u32 last = 0;

	memset(file, 0, sizeof(file));
	make(RUN_ID);
	file[0] ^= 1;
	file[ends[0]] ^= 1;
	CHECK_EQ(0, read_all(FILE_SIZE, &last, &missing));
}

static void a_frame_that_claims_to_be_longer_than_the_file_is_none(void)
{
	unsigned missing;
	u32 last = 0;

	memset(file, 0, sizeof(file));
	make(RUN_ID);
	for (size_t size = ends[FRAMES - 2]; size < ends[FRAMES - 2] + 40; size++)
		CHECK_EQ(FRAMES - 1, read_all(size, &last, &missing));
}

int main(void)
{
	RUN(what_was_written_is_read);
	RUN(the_checksum_is_that_of_zlib);
	RUN(a_cut_write_costs_its_own_frame_only);
	RUN(a_damaged_sector_costs_its_frame_only);
	RUN(without_a_beginning_there_is_no_run);
	RUN(a_frame_that_claims_to_be_longer_than_the_file_is_none);
	return check_end();
}
