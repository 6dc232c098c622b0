/* SPDX-License-Identifier: MIT */
/*
 * A stick with any contents: bytes as a journal, and as a run's lines. Frames lie within the file,
 * in the order of their numbers. Written frames are read again, at any place among other bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "boot/results/frame.h"
#include "boot/results/machine.h"
#include "boot/results/reports.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static void must_be_frames(const u8 *data, size_t size, u32 least)
{
	struct frame_reader reader = { .data = data, .size = size };
	struct frame frame;
	u32 count = 0, due = 0;

	while (frame_next(&reader, &frame)) {
		if (frame.state < data || frame.state + frame.state_length > data + size ||
		    (const u8 *)frame.text + frame.text_length > data + size ||
		    frame.number < due || reader.end > size + FRAME_ALIGN)
			abort();
		due = frame.number + 1;
		count++;
	}
	if (count < least)
		abort();
}

static void ignore(void *ctx, const char *text, size_t length)
{
	size_t *sum = ctx;

	while (length)
		*sum += (u8)text[--length];
}

static void must_be_reports(const char *text, size_t size)
{
	static struct totals totals;
	size_t sum = 0;
	const struct text_sink sink = { ignore, &sum };

	totals_take(&totals, text, size);
	if ((unsigned)totals.exit > 2)
		abort();
	reports_json(&totals, text, size, &sink);
	reports_junit(&totals, text, size, &sink);
	machine_json(text, size, &sink);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	u32 length = size < FRAME_STATE_MAX ? (u32)size : FRAME_STATE_MAX;
	struct frame frame = { .kind = FRAME_BEGIN, .run = 1, .state = data,
			       .state_length = length, .text = (const char *)data,
			       .text_length = (u32)size };
	size_t whole = frame_size(length, (u32)size);
	u8 *copy = malloc(size ? size : 1), *file = calloc(1, whole + size + FRAME_ALIGN);

	if (!copy || !file)
		return 0;
	memcpy(copy, data, size);
	must_be_frames(copy, size, 0);
	must_be_reports((const char *)copy, size);
	frame_write(&frame, file);
	memcpy(file + whole, data, size);
	must_be_frames(file, whole + size, 1);
	free(copy);
	free(file);
	return 0;
}
