/* SPDX-License-Identifier: MIT */
/* See frame.h. All numbers are little-endian, as in memory here. */
#include "boot/results/frame.h"
#include "kernel/memory/string.h"

/* No text has the byte 0x86, so no text looks like a head. */
static const u8 magic[8] = { 'P', 'M', 'U', 'T', 'J', 'R', 'N', 0x86 };

struct head {
	u8 magic[8];
	u32 version;
	u32 crc;	/* over the rest of the frame, without the padding of its last sector */
	u64 run;
	u32 number, kind, state_length, text_length;
};
_Static_assert(sizeof(struct head) == 40, "as docs/RESULTS-FORMAT.md has it");
#define CHECKED offsetof(struct head, run)	/* the first byte under the checksum */

#define CRC_POLYNOMIAL 0xedb88320u

u32 frame_crc(u32 crc, const void *bytes, size_t length)
{
	const u8 *byte = bytes;

	crc = ~crc;
	for (size_t i = 0; i < length; i++) {
		crc ^= byte[i];
		for (unsigned bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? CRC_POLYNOMIAL : 0);
	}
	return ~crc;
}

size_t frame_size(u32 state_length, u32 text_length)
{
	size_t size = sizeof(struct head) + state_length + text_length;

	return (size + FRAME_ALIGN - 1) / FRAME_ALIGN * FRAME_ALIGN;
}

void frame_write(const struct frame *frame, u8 *bytes)
{
	size_t size = frame_size(frame->state_length, frame->text_length);
	size_t length = sizeof(struct head) + frame->state_length + frame->text_length;
	struct head head = { .version = FRAME_VERSION, .run = frame->run, .number = frame->number,
			     .kind = frame->kind, .state_length = frame->state_length,
			     .text_length = frame->text_length };

	memcpy(head.magic, magic, sizeof(magic));
	memcpy(bytes, &head, sizeof(head));
	memcpy(bytes + sizeof(head), frame->state, frame->state_length);
	memcpy(bytes + sizeof(head) + frame->state_length, frame->text, frame->text_length);
	memset(bytes + length, 0, size - length);
	head.crc = frame_crc(0, bytes + CHECKED, length - CHECKED);
	memcpy(bytes, &head, sizeof(head));
}

/* Is there a frame of any run at data, of which `left` bytes remain? */
static bool parse(const u8 *data, size_t left, struct frame *frame)
{
	struct head head;
	size_t length;

	if (left < sizeof(head))
		return false;
	memcpy(&head, data, sizeof(head));
	if (memcmp(head.magic, magic, sizeof(magic)) || head.version != FRAME_VERSION ||
	    head.kind < FRAME_BEGIN || head.kind > FRAME_END ||
	    head.state_length > FRAME_STATE_MAX || head.text_length > FRAME_TEXT_MAX)
		return false;
	length = sizeof(head) + head.state_length + head.text_length;
	if (length > left || head.crc != frame_crc(0, data + CHECKED, length - CHECKED))
		return false;
	*frame = (struct frame){ (enum frame_kind)head.kind, head.run, head.number,
				 data + sizeof(head),
				 (const char *)data + sizeof(head) + head.state_length,
				 head.state_length, head.text_length };
	return true;
}

/* A run begins with FRAME_BEGIN, of which it has copies, because one may be damaged. */
static bool belongs(const struct frame_reader *reader, const struct frame *frame)
{
	if (!reader->begun)
		return frame->kind == FRAME_BEGIN;
	return frame->run == reader->run && frame->number >= reader->due;
}

bool frame_next(struct frame_reader *reader, struct frame *frame)
{
	for (; reader->at < reader->size; reader->at += FRAME_ALIGN) {
		if (!parse(reader->data + reader->at, reader->size - reader->at, frame) ||
		    !belongs(reader, frame))
			continue;
		reader->missing += frame->number - reader->due;
		reader->begun = true;
		reader->run = frame->run;
		reader->due = frame->number + 1;
		reader->at += frame_size(frame->state_length, frame->text_length);
		reader->end = reader->at;
		return true;
	}
	return false;
}
