/* SPDX-License-Identifier: MIT */
/* See keep.h. The journal has every line before the next test begins; results.tap gets them after
 * each group, for a reader of the stick. */
#include "boot/file.h"
#include "boot/firmware.h"
#include "boot/identity.h"
#include "boot/log.h"
#include "boot/results/folder.h"
#include "boot/results/journal.h"
#include "boot/results/keep.h"
#include "boot/results/variable.h"
#include "boot/watchdog/watchdog.h"
#include "kernel/output/fmt.h"
#include "kernel/memory/string.h"
#include "kernel/processor/time.h"
#include "version.h"

#define IN_VAIN_MOST	3u	/* boots in a row in which no test began */
#define NOTICE_SIZE	240
#define NOTICES		3u
#define NAME_SIZE	128
#define LINE_SIZE	1100	/* longer than any line of the log */

static struct {
	bool on;
	bool occupied;		/* the journal holds another run, and there is no other file */
	struct suite *suite;
	struct journal_run run;
	const struct journal_found *found;	/* the run to continue; NULL: none */
	size_t journaled;			/* bytes of the log that the journal has */
	char notice[NOTICES][NOTICE_SIZE];	/* texts to print at the next borrow */
	char earlier[VARIABLE_SIZE];		/* an earlier run without a file; printed once */
	bool said_earlier;
	u64 writes, given, written;		/* before tests: count; microseconds of each kind */
} keep;

/* Returns room for a notice; if there are too many, the last one is overwritten. */
static char *notice(void)
{
	for (unsigned i = 0; i < NOTICES; i++)
		if (!keep.notice[i][0])
			return keep.notice[i];
	return keep.notice[NOTICES - 1];
}

/* Print each of its lines. */
static void say_earlier(struct tap *tap)
{
	char *line = keep.earlier;

	while (*line) {
		char *end = line;

		while (*end && *end != '\n')
			end++;
		if (*end)
			*end++ = '\0';
		tap_comment(tap, "from a UEFI variable, a run without a file: %s", line);
		line = end;
	}
	keep.said_earlier |= keep.earlier[0] != '\0';
	keep.earlier[0] = '\0';
}

void keep_describe(struct tap *tap)
{
	if (keep.writes)
		tap_comment(tap,
			    "journal: %lu writes before tests, %lu us each, and %lu us to give the "
			    "machine back and take it",
			    keep.writes, keep.written / keep.writes, keep.given / keep.writes);
}

void keep_say(struct tap *tap)
{
	say_earlier(tap);
	for (unsigned i = 0; i < NOTICES; i++) {
		if (keep.notice[i][0])
			tap_comment(tap, "%s", keep.notice[i]);
		keep.notice[i][0] = '\0';
	}
}

/* Write the part of the log that the journal doesn't have yet. */
static void journal(enum frame_kind kind, bool with_state)
{
	u8 state[SUITE_STATE_MAX] = { 0 };
	size_t length, state_length = 0;
	const char *text = log_text(&length);

	if (with_state)
		state_length = suite_save(keep.suite, state);
	if (journal_add(kind, state, (u32)state_length, text + keep.journaled,
			length - keep.journaled, notice(), NOTICE_SIZE))
		keep.journaled = length;
}

/* A run can't be continued: print its lines, and the test that didn't end. */
static bool conclude(const struct journal_found *found)
{
	char name[NAME_SIZE], ignored[NOTICE_SIZE], text[LINE_SIZE];
	const char *running = suite_running(found->state, found->state_length, name, sizeof(name));
	int length;

	length = fmt_print(text, sizeof(text),
			   "Bail out! CRASHED%s%s: the machine was reset or lost its power; what "
			   "was "
			   "started next is another program or has another configuration\n",
			   running[0] ? " in " : "", running);
	if (results_reopen(found->run.folder, ignored, sizeof(ignored)) &&
	    results_add(found->text, found->text_length) && results_add(text, (size_t)length)) {
		fmt_print(notice(), NOTICE_SIZE,
			  "a run that a reset had cut%s%s isn't continued: %s",
			  running[0] ? " in " : "", running, results_path());
		return true;
	}
	fmt_print(notice(), NOTICE_SIZE,
		  "no journal: it holds a run that was cut%s%s, which can't be saved",
		  running[0] ? " in " : "", running);
	return false;
}

static void name_run(struct journal_run *run, const struct suite_config *config, unsigned batch)
{
	*run = (struct journal_run){ .machine = identity_digest(), .digest = suite_digest(config),
				     .batch = batch };
	fmt_print(run->version, sizeof(run->version), "%s", PMUTEST86_VERSION);
}

unsigned keep_find_batch(const struct suite_config *config, int *exit_status)
{
	const struct journal_found *found;
	char ignored[NOTICE_SIZE];
	unsigned batch = 0;
	struct journal_run run;

	name_run(&run, config, JOURNAL_ANY_BATCH);
	found = journal_find(&run, ignored, sizeof(ignored));
	if (found && found->same && found->run.exit <= 2) {
		batch = found->run.batch;
		*exit_status = (int)found->run.exit;
	}
	journal_forget();
	return batch;
}

bool keep_find(const struct suite_config *config, unsigned batch, int exit_status)
{
	const struct journal_found *found;

	keep.on = true;
	name_run(&keep.run, config, batch);
	keep.run.exit = (u32)exit_status;
	variable_load(keep.earlier, sizeof(keep.earlier));
	found = journal_find(&keep.run, keep.notice[0], NOTICE_SIZE);
	keep.occupied = keep.notice[0][0];
	if (found && !found->same) {
		keep.occupied = !conclude(found);
		journal_forget();
		found = NULL;
	}
	keep.found = found;
	return found;
}

static void say_lines(const char *text, size_t length)
{
	char line[LINE_SIZE];
	size_t n = 0;

	for (size_t i = 0; i < length; i++) {
		if (text[i] != '\n') {
			if (n + 1 < sizeof(line))
				line[n++] = text[i];
			continue;
		}
		line[n] = '\0';
		n = 0;
		log_say_again(line);
	}
}

bool keep_replay(struct suite *suite, struct tap *tap)
{
	const struct journal_found *found = keep.found;
	char name[NAME_SIZE], reason[NAME_SIZE + 160];
	const char *running;

	if (!found)
		return true;
	say_lines(found->text, found->text_length);
	log_text(&keep.journaled);
	if (found->missing)
		tap_comment(tap, "journal: %u parts can't be read: lines are missing here",
			    found->missing);
	running = suite_running(found->state, found->state_length, name, sizeof(name));
	tap_comment(tap, "boot %u of this run: the one before was reset or lost its power%s%s",
		    found->boots + 1, running[0] ? " in " : " between two tests", running);
	fmt_print(reason, sizeof(reason),
		  "CRASHED: %s in this test, or before the next one began (boot %u of the run)",
		  watchdog_has_reset() ? "the watchdog reset the machine" :
					 "the machine was reset or lost its power",
		  found->boots);
	if (found->state && !suite_restore(suite, found->state, found->state_length, reason)) {
		suite_bail_out(suite, "the journal's state isn't of these tests and processors");
		return false;
	}
	if (found->in_vain < IN_VAIN_MOST)
		return true;
	fmt_print(reason, sizeof(reason), "%u boots in a row were reset before a test began",
		  found->in_vain + 1);
	suite_bail_out(suite, reason);
	return false;
}

void keep_open(struct suite *suite, const char *cpu, unsigned watchdog_seconds)
{
	char error[NOTICE_SIZE];
	bool good;

	keep.suite = suite;
	if (!keep.on)
		return;
	if (keep.found) {
		good = results_reopen(keep.found->run.folder, error, sizeof(error));
		journal_continue(notice(), NOTICE_SIZE);
		keep.found = NULL;
		journal_forget();
		journal(FRAME_IDLE, true);
	} else {
		good = results_open(cpu, error, sizeof(error));
		fmt_print(keep.run.folder, sizeof(keep.run.folder), "%s", results_folder());
		if (good && !keep.occupied && journal_begin(&keep.run, notice(), NOTICE_SIZE))
			journal(FRAME_IDLE, true);
	}
	results_write_machine(notice(), NOTICE_SIZE);
	if (journal_is_open())
		watchdog_start(watchdog_seconds);
	if (good)
		fmt_print(notice(), NOTICE_SIZE, "results in %s", results_path());
	else
		fmt_print(notice(), NOTICE_SIZE, "%s", error);
}

bool keep_is_journaled(void)
{
	return journal_is_open();
}

/* Without a journal a reset would explain nothing, because the hanging test couldn't be named. And
 * once the journal is closed, before_test() of boot/run.c feeds the watchdog no more. */
static void feed_watchdog(void)
{
	if (journal_is_open())
		watchdog_feed();
	else
		watchdog_stop();
}

void keep_before_test(void)
{
	u64 began = tsc_read();

	if (!journal_is_open())
		return;
	journal(FRAME_TEST, true);
	feed_watchdog();
	keep.writes++;
	keep.written += (tsc_read() - began) / time_tsc_per_us;
}

void keep_count_visit(u64 ticks)
{
	keep.given += ticks / time_tsc_per_us;
}

void keep_save(void)
{
	size_t length;

	if (!keep.on)
		return;
	watchdog_feed();
	journal(FRAME_IDLE, true);
	feed_watchdog();
	results_save(notice(), NOTICE_SIZE);
	log_text(&length);
	if (length < keep.journaled)
		keep.journaled = length;	/* the log has been emptied */
}

/* The contents of results.tap, in memory that the caller frees. NULL: there is no such file. */
static char *read_results(size_t *length)
{
	char *lines = NULL;
	u64 size = 0;

	if (results_path()[0] && !firmware_failed(file_length(results_path(), &size)) && size)
		lines = firmware_allocate(size);
	if (!lines || !firmware_failed(file_read(results_path(), lines, size, length)))
		return lines;
	firmware_free(lines);
	return NULL;
}

/* Made from all lines: those in memory, or results.tap if the log isn't whole. If the file can't be
 * read either, the totals are those that were counted line by line. */
size_t keep_short_result(char *text, size_t size)
{
	size_t length, lines_length;
	struct totals *totals = firmware_allocate(sizeof(*totals));
	const char *lines;
	char *saved;

	text[0] = '\0';
	if (!totals)
		return 0;
	saved = log_is_whole() ? NULL : read_results(&lines_length);
	lines = saved ? saved : log_text(&lines_length);
	totals_take(totals, lines, lines_length);
	if (!log_is_whole() && !saved)
		totals_correct(totals, log_counted());
	length = variable_text(totals, lines, lines_length, PMUTEST86_VERSION, text, size);
	firmware_free(totals);
	if (saved)
		firmware_free(saved);
	return length;
}

/* Save a short result if no file could be written. */
static void save_short(void)
{
	char text[VARIABLE_SIZE];
	size_t length = keep_short_result(text, sizeof(text));

	if (length && variable_save(text, length, notice(), NOTICE_SIZE))
		fmt_print(notice(), NOTICE_SIZE,
			  "a short result is in the UEFI variable "
			  "PMUTest86Result; the next run with a stick that takes files saves it");
}

void keep_end(void)
{
	if (!keep.on)
		return;
	results_save(notice(), NOTICE_SIZE);
	/* Everything after this is made from results.tap; the space of the journal may be
	 * needed. */
	journal_end();
	if (results_folder()[0]) {
		results_write_reports(notice(), NOTICE_SIZE);
		if (keep.said_earlier)
			variable_delete();
	} else {
		save_short();
	}
	for (unsigned i = 0; i < NOTICES; i++)
		if (keep.notice[i][0])
			firmware_say(keep.notice[i]);
}

void keep_again(char *text, size_t size)
{
	const char *cpu = keep.suite ? suite_cpu_name(keep.suite) : "refused";

	if (results_save_again(cpu, text, size))
		fmt_print(text, size, "The results are in %s", results_folder());
}
