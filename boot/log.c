/* SPDX-License-Identifier: MIT */
/* The lines of a run in memory. If they don't fit, the last line says so, because a cut log mustn't
 * look like a complete one. */
#include "boot/log.h"
#include "boot/screen/screen.h"
#include "kernel/output/console.h"
#include "kernel/memory/arena.h"
#include "kernel/memory/string.h"

static const char overflow[] = "# log memory is full: lines are missing here\n";

static struct {
	char *text;
	size_t length, size;
	bool full;
	bool cleared;
} lines;

static struct summary summary;
static struct totals_counted counted;

bool log_init(unsigned processors)
{
	lines.size = LOG_SIZE + (processors - 1) * LOG_SIZE_EACH;
	lines.text = arena_alloc(lines.size);
	lines.length = 0;
	counted = (struct totals_counted){ .exit = 2 };
	lines.full = lines.cleared = false;
	return lines.text;
}

static void append(const char *text, size_t length)
{
	memcpy(lines.text + lines.length, text, length);
	lines.length += length;
}

static void log_line(void *ctx, const char *line)
{
	size_t length = strlen(line);

	(void)ctx;
	console_line(line);
	summary_take(&summary, line);
	totals_count(&counted, line);
	screen_line(line);
	if (lines.full)
		return;
	if (lines.length + length + 1 + sizeof overflow > lines.size) {
		lines.full = true;
		append(overflow, sizeof overflow - 1);
		return;
	}
	append(line, length);
	append("\n", 1);
}

void log_attach(struct tap *tap)
{
	*tap = (struct tap){ .sink = log_line };
}

const char *log_text(size_t *length)
{
	*length = lines.length;
	return lines.text;
}

static void ignore(void *ctx, const char *line)
{
	(void)ctx;
	(void)line;
}

void log_mute(struct tap *tap, bool on)
{
	tap->sink = on ? ignore : log_line;
}

void log_say_again(const char *line)
{
	log_line(NULL, line);
}

bool log_is_whole(void)
{
	return !lines.cleared && !lines.full;
}

bool log_is_half_full(void)
{
	return lines.length > lines.size / 2;
}

const struct totals_counted *log_counted(void)
{
	return &counted;
}

const struct summary *log_summary(void)
{
	return &summary;
}

void log_clear(void)
{
	lines.length = 0;
	lines.full = false;
	lines.cleared = true;
}
