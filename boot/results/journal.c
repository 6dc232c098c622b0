/* SPDX-License-Identifier: MIT */
/* See journal.h. */
#include "boot/file.h"
#include "boot/firmware.h"
#include "boot/results/journal.h"
#include "kernel/memory/string.h"
#include "kernel/output/fmt.h"
#include "kernel/processor/time.h"

#define PATH_SIZE	32
#define LONGEST		(64u << 20)	/* bytes read of a file: no journal is longer */
#define TEXT_MOST	(32u << 10)	/* bytes of text in one frame */
#define BEGINNINGS	2u		/* copies of FRAME_BEGIN */

/* Bytes that are allocated at the beginning: a run takes 0.7 MB. The second value is for a nearly
 * full stick. After that the file grows. */
static const u32 sizes[] = { 1u << 20, 256u << 10 };

static struct {
	bool open;
	bool broken;		/* a write failed after earlier ones had succeeded */
	char path[PATH_SIZE];
	u64 run, at;
	u32 number;
	u8 *bytes;		/* memory for the largest frame */
} journal;

static struct {
	struct journal_found found;
	u8 *data;
	char *text;
	u64 run, at;
	u32 due;
} unfinished;

static void name_file(u32 machine)
{
	fmt_print(journal.path, PATH_SIZE, "\\results\\%08x.jnl", machine);
}

static void close(void)
{
	journal.open = false;
	if (journal.bytes)
		firmware_free(journal.bytes);
	journal.bytes = NULL;
}

static bool fail(char *error, size_t size, const char *what, firmware_status status)
{
	fmt_print(error, size, "no journal: %s: firmware status %#llx", what,
		  (unsigned long long)status);
	journal.broken = journal.open;
	close();
	return false;
}

static void *allocate(size_t size)
{
	return firmware_allocate(size);
}

void journal_forget(void)
{
	if (unfinished.data)
		firmware_free(unfinished.data);
	if (unfinished.text)
		firmware_free(unfinished.text);
	memset(&unfinished, 0, sizeof(unfinished));
}

/* Read the whole file; the memory has as much room again for its text. */
static firmware_status read_file(size_t *length)
{
	u64 size = 0;
	firmware_status status = file_length(journal.path, &size);

	if (firmware_failed(status))
		return status;
	if (!size || size > LONGEST)
		return FIRMWARE_NOT_FOUND;
	unfinished.data = allocate(size);
	unfinished.text = allocate(size);
	if (!unfinished.data || !unfinished.text)
		return FIRMWARE_OUT_OF_RESOURCES;
	return file_read(journal.path, (char *)unfinished.data, size, length);
}

/* Lines are valid only if a state follows them. */
static void take(struct journal_found *found, const struct frame *frame, size_t *pending)
{
	switch (frame->kind) {
	case FRAME_BEGIN:
		if (frame->state_length == sizeof(found->run))
			memcpy(&found->run, frame->state, sizeof(found->run));
		return;
	case FRAME_BOOT:
		found->boots++;
		found->in_vain++;
		*pending = found->text_length;
		return;
	default:
		break;
	}
	memcpy(unfinished.text + *pending, frame->text, frame->text_length);
	*pending += frame->text_length;
	if (frame->kind == FRAME_TEXT)
		return;
	found->text_length = *pending;
	found->state = frame->state;
	found->state_length = frame->state_length;
	if (frame->kind == FRAME_TEST)
		found->in_vain = 0;
}

static bool is_same(const struct journal_run *a, const struct journal_run *b)
{
	return a->machine == b->machine && a->digest == b->digest &&
	       (a->batch == b->batch || b->batch == JOURNAL_ANY_BATCH) &&
	       !memcmp(a->version, b->version, sizeof(a->version));
}

const struct journal_found *journal_find(const struct journal_run *run, char *error, size_t size)
{
	struct journal_found *found = &unfinished.found;
	struct frame_reader reader = { .at = 0 };
	struct frame frame;
	size_t pending = 0;
	firmware_status status;

	error[0] = '\0';
	journal_forget();
	name_file(run->machine);
	status = read_file(&reader.size);
	if (firmware_failed(status)) {
		if (status != FIRMWARE_NOT_FOUND)
			fail(error, size, journal.path, status);
		journal_forget();
		return NULL;
	}
	reader.data = unfinished.data;
	while (frame_next(&reader, &frame)) {
		if (frame.kind == FRAME_END)
			reader.begun = false;
		if (!reader.begun)
			break;
		take(found, &frame, &pending);
	}
	if (!reader.begun) {
		journal_forget();
		return NULL;
	}
	found->run.folder[JOURNAL_FOLDER_SIZE - 1] = '\0';
	found->same = is_same(&found->run, run);
	found->boots++;		/* the first boot has no FRAME_BOOT */
	found->missing = reader.missing;
	found->text = unfinished.text;
	unfinished.run = reader.run;
	unfinished.due = reader.due;
	unfinished.at = reader.end;
	return found;
}

static bool write_frame(const struct frame *frame, char *error, size_t size)
{
	size_t length = frame_size(frame->state_length, frame->text_length);
	firmware_status status;

	frame_write(frame, journal.bytes);
	status = file_write_at(journal.path, journal.at, journal.bytes, length);
	if (firmware_failed(status))
		return fail(error, size, journal.path, status);
	journal.at += length;
	journal.number++;
	return true;
}

bool journal_add(enum frame_kind kind, const void *state, u32 state_length, const char *text,
		 size_t text_length, char *error, size_t size)
{
	struct frame frame = { .run = journal.run, .state = (const u8 *)"", .text = text };

	if (!journal.open)
		return true;
	for (size_t left = text_length; left > TEXT_MOST; left -= TEXT_MOST) {
		frame.kind = FRAME_TEXT;
		frame.number = journal.number;
		frame.text_length = TEXT_MOST;
		if (!write_frame(&frame, error, size))
			return false;
		frame.text += TEXT_MOST;
		text_length -= TEXT_MOST;
	}
	frame.kind = kind;
	frame.number = journal.number;
	if (state_length)
		frame.state = state;
	frame.state_length = state_length;
	frame.text_length = (u32)text_length;
	return write_frame(&frame, error, size);
}

static firmware_status make_file(void)
{
	firmware_status status = FIRMWARE_DONE;

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		file_delete(journal.path);
		status = file_make(journal.path, sizes[i]);
		if (!firmware_failed(status))
			return status;
		file_delete(journal.path);
	}
	return status;
}

static bool open(u64 run, u64 at, u32 number, char *error, size_t size)
{
	journal.bytes = allocate(frame_size(FRAME_STATE_MAX, TEXT_MOST));
	if (!journal.bytes)
		return fail(error, size, "no memory", FIRMWARE_OUT_OF_RESOURCES);
	journal.run = run;
	journal.at = at;
	journal.number = number;
	journal.open = true;
	return true;
}

bool journal_begin(const struct journal_run *run, char *error, size_t size)
{
	struct firmware_time now = firmware_time();
	firmware_status status;

	name_file(run->machine);
	status = make_file();
	if (firmware_failed(status))
		return fail(error, size, journal.path, status);
	if (!open((u64)frame_crc(0, &now, sizeof now) << 32 ^ tsc_read(), 0, 0, error, size))
		return false;
	for (unsigned i = 0; i < BEGINNINGS; i++)
		if (!journal_add(FRAME_BEGIN, run, sizeof(*run), "", 0, error, size))
			return false;
	return true;
}

bool journal_continue(char *error, size_t size)
{
	name_file(unfinished.found.run.machine);
	return open(unfinished.run, unfinished.at, unfinished.due, error, size) &&
	       journal_add(FRAME_BOOT, NULL, 0, "", 0, error, size);
}

void journal_end(void)
{
	char ignored[160];

	/* A run whose journal broke off would be continued, although it is over. */
	if (!journal.open && !journal.broken)
		return;
	journal_add(FRAME_END, NULL, 0, "", 0, ignored, sizeof ignored);
	close();
	journal.broken = false;
	file_delete(journal.path);
}

bool journal_is_open(void)
{
	return journal.open;
}
