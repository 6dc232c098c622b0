/* SPDX-License-Identifier: MIT */
/* The screen: the state after a run's lines, the displayed text, and the effects of keys. */
#include "host/check.h"

#include "boot/screen/keys.h"

static struct progress progress;
static struct view view;
static struct grid grid;
static char store[65536];

/* A glyph's rows contain its number. */
static font_glyph font[FONT_LAST - FONT_FIRST + 1] = {
	['P' - FONT_FIRST] = { [2] = 0xff, [13] = 0x81 },
};

static const char *const machine[] = {
	"TAP version 14",
	"1..4",
	"# processor: GenuineIntel 06_3c stepping 3, Intel(R) Core(TM) i7-4770 CPU @ 3.40GHz",
	"# microcode: 0xff",
	"# generation: 4th generation Intel Core (Haswell)",
	"# platform: no hypervisor",
	"# perfmon: version 3, 4 general-purpose counters of 48 bits",
	"# pebs: available, DS 1",
	"# firmware: EDK II revision 0x10000, UEFI 2.7",
	"# msr: IA32_PERF_CAPABILITIES = 0x32c4: PEBS_FMT=2 SMM_FREEZE",
	"# processors: 16 of 112 processors",
	NULL
};

static const char *const failing[] = {
	"ok 1 - count.a [CNT-01]",
	"not ok 2 - count.b [CNT-03]",
	"  ---",
	"  requirement: CNT-03",
	"  sentence: Loads are counted.",
	"  source: \"SDM chapter 19, \\\"events\\\"\"",
	"  wanted: 0x0 (0)",
	"  got: 0x50 (80)",
	"  ...",
	"ok 3 - pmi.c [PMI-01] # SKIP INCONCLUSIVE: disturbed",
	"not ok 4 - pmi.d@cpu1 [PMI-02]",
	"  ---",
	"  severity: error",
	"  message: it hangs",
	"  ...",
	"# requirements decided 2 of 3 decidable here",
	"# decided 2, skipped 0, inconclusive 1, known 0, failed 1, errors 1",
	NULL
};

static void take(const char *const *lines)
{
	for (; *lines; lines++)
		progress_take(&progress, *lines);
}

static void begin(u32 columns, u32 rows)
{
	progress_init(&progress, store, sizeof(store));
	view = (struct view){ .keys = true };
	grid.columns = columns;
	grid.rows = rows;
	take(machine);
}

/* A row of the grid as text; characters outside of ASCII are '#'. */
static const char *row_text(u32 y)
{
	static char text[GRID_COLUMNS + 1];
	u32 length = 0;

	for (u32 x = 0; x < grid.columns; x++) {
		u8 glyph = grid.cells[y][x].glyph;

		text[x] = glyph < GRID_BLOCK ? (char)glyph : '#';
		if (glyph != ' ')
			length = x + 1;
	}
	text[length] = '\0';
	return text;
}

static bool shows(const char *text)
{
	pages_draw(&grid, font, &progress, &view, "1.0");
	for (u32 y = 0; y < grid.rows; y++)
		if (strstr(row_text(y), text))
			return true;
	return false;
}

static u32 colour_of(const char *text)
{
	for (u32 y = 0; y < grid.rows; y++) {
		const char *row = row_text(y), *at = strstr(row, text);

		if (at)
			return grid.cells[y][at - row].colour;
	}
	return COLOUR_COUNT;
}

static enum key_action press(unsigned key, char *tests, size_t size)
{
	return keys_press(&view, &progress, key, grid.rows, tests, size);
}

static void the_run_shows_machine_progress_and_failures(void)
{
	begin(100, 33);
	CHECK(shows("Processor   Intel(R) Core(TM) i7-4770 CPU @ 3.40GHz"));
	CHECK(shows("GenuineIntel 06_3c stepping 3, microcode 0xff, 4th generation Intel Core"));
	CHECK(shows("Firmware    EDK II revision 0x10000, UEFI 2.7"));
	CHECK(shows("Processors  16 of 112 processors"));
	CHECK(shows("PEBS        record format 2, available, DS 1"));
	CHECK(shows("0 of 4 points"));
	progress.group_now = 1;
	progress.group_count = 2;
	take(failing);
	progress_begin_test(&progress, "pmi.e");
	CHECK(shows("4 of 4 points, group 1 of 2"));
	CHECK(shows("Running     pmi.e"));
	CHECK(shows("passed 1  FAILED 1  ERROR 1  known 0  inconclusive 1  skipped 0"));
	CHECK(shows("wanted 0x0 (0), got 0x50 (80)"));
	CHECK(shows("Loads are counted."));
	CHECK(shows(" ERROR  pmi.d@cpu1"));
	CHECK(shows("it hangs"));
	CHECK_EQ(COLOUR_BAD, colour_of("FAILED  count.b"));
}

static void results_have_four_words(void)
{
	static const struct {
		const char *lines[4];
		enum progress_result result;
		const char *text;
	} ends[] = {
		{ { "ok 1 - a.b [X]", "# end of PMUTest86: exit 0" }, RESULT_PASSED, "PASSED" },
		{ { "not ok 1 - a.b [X]", "# end of PMUTest86: exit 1" }, RESULT_FAILED, "FAILED" },
		{ { "# NOT TESTED: not an Intel processor", "# end of PMUTest86: exit 2" },
		  RESULT_NOT_TESTED, "NOT TESTED: no PMU" },
		{ { "# NOT TESTED: no selected test is about a requirement",
		    "# end of PMUTest86: exit 2" }, RESULT_NOT_TESTED, "NOT TESTED" },
		{ { "# error: processor 1 got lost", "# end of PMUTest86: exit 2" },
		  RESULT_NOT_TRUSTWORTHY, "NOT TRUSTWORTHY" },
		{ { "not ok 1 - a.b [X]", "  severity: error", "# NOT TESTED: no PMU here",
		    "# end of PMUTest86: exit 2" }, RESULT_NOT_TRUSTWORTHY, "NOT TRUSTWORTHY" },
		{ { "Bail out! line 3", "# end of PMUTest86: exit 2" }, RESULT_NOT_TRUSTWORTHY,
		  "NOT TRUSTWORTHY" },
		{ { "Bail out! it hangs" }, RESULT_NOT_TRUSTWORTHY, "NOT TRUSTWORTHY" },
		{ { "Bail out! one is lost", "# end of PMUTest86: exit 1" }, RESULT_FAILED,
		  "FAILED" },
		{ { "ok 1 - a.b [X]" }, RESULT_NONE, "" },
	};

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		begin(100, 33);
		for (u32 n = 0; n < 4 && ends[i].lines[n]; n++)
			progress_take(&progress, ends[i].lines[n]);
		CHECK_EQ(ends[i].result, progress_result(&progress), "%zu", i);
		CHECK_STR(ends[i].text, progress_result_text(&progress));
	}
}

static void a_soak_is_as_good_as_its_worst_run(void)
{
	begin(100, 33);
	progress_take(&progress, "# end of PMUTest86: exit 0");
	view.page = PAGE_END;
	progress.soak = (struct soak){ .run = 3, .runs = 3, .batches = 1, .not_tested = 1 };
	CHECK(shows("run 3 of 3"));
	CHECK(shows("3 runs; of those before this one 0 failed, 0 weren't trustworthy, 1 tested"));
	CHECK_STR("NOT TESTED: no PMU", progress_result_text(&progress));
	progress.soak.not_trustworthy = 1;
	CHECK_STR("NOT TRUSTWORTHY", progress_result_text(&progress));
	progress.soak.failed = 1;
	CHECK_STR("FAILED", progress_result_text(&progress));
	CHECK_EQ(RESULT_PASSED, progress_result(&progress));
	progress.soak.runs = 0;
	CHECK(!shows("run 3 of"), "until its time is over");
	progress.soak = (struct soak){ .run = 1, .runs = 1, .batch = 2, .batches = 8 };
	CHECK(shows("batch 3 of 8"));
	CHECK(shows("3 runs; of those before this one 0 failed"));
}

static void the_summary_lists_what_is_not_ok_and_opens_it(void)
{
	begin(100, 33);
	take(failing);
	progress_take(&progress, "# end of PMUTest86: exit 1");
	view.page = PAGE_END;
	CHECK(shows("decided 2, skipped 0, inconclusive 1, known 0, failed 1, errors 1"));
	CHECK(shows("FAILED        count.b CNT-03"));
	CHECK(shows("inconclusive  pmi.c"));
	CHECK(shows("ERROR         pmi.d@cpu1"));
	CHECK(!shows("count.a"), "it passed");
	CHECK_EQ(3, pages_lines(&progress, &view));
	CHECK_EQ(ACTION_NONE, press(KEY_ENTER, NULL, 0));
	CHECK(shows("wanted      0x0 (0)"));
	CHECK(shows("section     SDM chapter 19, \"events\""));
	press(KEY_RIGHT, NULL, 0);
	CHECK(shows("INCONCLUSIVE: disturbed"));
	press(KEY_RIGHT, NULL, 0);
	CHECK(shows("message     it hangs"));
	press(KEY_RIGHT, NULL, 0);
	CHECK(shows("message     it hangs"), "that is the last one");
	press(KEY_LEFT, NULL, 0);
	press(KEY_LEFT, NULL, 0);
	press(KEY_LEFT, NULL, 0);
	CHECK(shows("wanted      0x0 (0)"));
	press(KEY_ESCAPE, NULL, 0);
	CHECK_EQ(PAGE_END, view.page);
}

static void a_record_is_shown_with_its_fields(void)
{
	char line[600] = "  record: \"newest of 2 on processor 0: ";

	begin(80, 33);
	progress_take(&progress, "not ok 1 - record.a [REC-03]");
	progress_take(&progress, "  ---");
	for (u32 i = 0; i < 0xc0; i++)
		sprintf(line + strlen(line), "%02x", i);
	strcat(line, "\"");
	progress_take(&progress, line);
	progress_take(&progress, "  record_2: \"too short: 0123\"");
	view.page = PAGE_END;
	press(KEY_ENTER, NULL, 0);
	CHECK(shows("record      newest of 2 on processor 0:"));
	CHECK(shows("rip                 0x0f0e0d0c0b0a0908"));
	CHECK(shows("eventing_ip         0xb7b6b5b4b3b2b1b0"));
	CHECK(shows("too short: 0123"));
	begin(160, 50);
	progress_take(&progress, "not ok 1 - record.a [REC-03]");
	progress_take(&progress, line);
	view.page = PAGE_END;
	press(KEY_ENTER, NULL, 0);
	CHECK(shows("rflags              0x0706050403020100 rip                 0x0f0e0d0c0b0a0908"
		    " rax"));
}

static void keys_ask_for_what_they_say(void)
{
	char tests[64] = "";

	begin(100, 33);
	take(failing);
	CHECK_EQ(ACTION_NONE, press('r', tests, sizeof(tests)), "while it runs");
	CHECK_EQ(ACTION_STOP, press(KEY_ESCAPE, tests, sizeof(tests)));
	view.page = PAGE_END;
	CHECK_EQ(ACTION_AGAIN, press('A', tests, sizeof(tests)));
	CHECK_EQ(ACTION_SAVE, press('s', tests, sizeof(tests)));
	CHECK_EQ(ACTION_POWER_OFF, press('p', tests, sizeof(tests)));
	CHECK_EQ(ACTION_RETURN, press('r', tests, sizeof(tests)));
	CHECK_EQ(ACTION_NONE, press('g', tests, sizeof(tests)));
	CHECK(shows("count: 2 points, 1 failed"));
	press(KEY_DOWN, tests, sizeof(tests));
	press(KEY_DOWN, tests, sizeof(tests));
	CHECK_EQ(ACTION_TESTS, press(KEY_ENTER, tests, sizeof(tests)), "the last one stays");
	CHECK_STR("pmi.*", tests);
	press(KEY_ESCAPE, tests, sizeof(tests));
	press('t', tests, sizeof(tests));
	CHECK(shows("passed        count.a"));
	press(KEY_END, tests, sizeof(tests));
	CHECK_EQ(ACTION_TESTS, press('a', tests, sizeof(tests)));
	CHECK_STR("pmi.d", tests);
	press(KEY_HOME, tests, sizeof(tests));
	press(KEY_ENTER, tests, sizeof(tests));
	CHECK(shows("ok 1 - count.a"));
	CHECK_EQ(ACTION_TESTS, press('a', tests, sizeof(tests)));
	CHECK_STR("count.a", tests);
	press('m', tests, sizeof(tests));
	CHECK(shows("msr         IA32_PERF_CAPABILITIES = 0x32c4"));
	press(KEY_END, tests, sizeof(tests));
	CHECK(shows("processors  16 of 112 processors"), "scrolling ends at the last line");
	/* Next to its code, which test_code.c checks. */
	view.result = "PMUTest86\nFAIL pmi.d";
	press('q', tests, sizeof(tests));
	CHECK(shows("FAIL pmi.d"));
	view.result = NULL;
	CHECK(!shows("FAIL pmi.d"));
}

static void what_is_left_is_told_from_what_was_done(void)
{
	begin(100, 33);
	progress.plan = 100;
	progress_at(&progress, 1000000);
	progress.done = 1;
	progress_at(&progress, 2000000);
	CHECK_EQ(0, progress_seconds_left(&progress), "too early");
	progress.done = 25;
	progress_at(&progress, 11000000);
	CHECK_EQ(31, progress_seconds_left(&progress));
	progress.done = 100;
	CHECK_EQ(0, progress_seconds_left(&progress));
}

static void control_bytes_and_long_lines_stay_in_their_cells(void)
{
	char brand[400] = "# processor: X, \x1b[2J\xff\x01";

	memset(brand + strlen(brand), 'y', 300);
	begin(80, 30);
	progress_init(&progress, store, sizeof(store));
	progress_take(&progress, brand);
	CHECK(shows("Processor   ?[2J??yyy"));
	CHECK_EQ(80, strlen(row_text(1)));
}

static void a_full_store_costs_the_rest_only(void)
{
	char small[200];

	begin(100, 33);
	progress_init(&progress, small, sizeof(small));
	take(machine);
	take(failing);
	progress_take(&progress, "# end of PMUTest86: exit 1");
	CHECK_EQ(4, progress.done);
	CHECK_EQ(1, progress.count[PROGRESS_PASS]);
	CHECK(progress.used <= sizeof(small));
	view.page = PAGE_END;
	CHECK(shows("decided 2, skipped 0"));
	CHECK_STR("FAILED", progress_result_text(&progress));
}

/* With 16 processors a point of the last one is counted, listed and opened as on the first. */
static void the_last_point_of_a_large_machine_is_listed(void)
{
	static char large[PROGRESS_STORE + 15 * PROGRESS_STORE_EACH];
	const u32 points = 16 * 1100;
	char line[128];

	begin(100, 33);
	progress_init(&progress, large, sizeof(large));
	progress.plan = points;
	for (u32 n = 1; n <= points; n++) {
		sprintf(line,
			"%s %u - group.a_name_as_long_as_that_of_most_tests_is@cpu%u "
			"[GROUP-01,GROUP-02]",
			n < points - 1 ? "ok" : "not ok", n, n % 16);
		progress_take(&progress, line);
	}
	progress_take(&progress, "  ---");
	progress_take(&progress, "  severity: error");
	progress_take(&progress, "  message: it hangs");
	progress_take(&progress, "# end of PMUTest86: exit 1");
	CHECK_EQ(points, progress.points);
	CHECK_EQ(1, progress.count[PROGRESS_FAIL]);
	CHECK_EQ(1, progress.count[PROGRESS_ERROR]);
	view.page = PAGE_END;
	CHECK(shows("FAILED        group.a_name_as_long_as_that_of_most_tests_is@cpu15"));
	CHECK(shows("ERROR         group.a_name_as_long_as_that_of_most_tests_is@cpu0"));
	CHECK(!shows("No room here"));
	press(KEY_END, NULL, 0);
	press(KEY_ENTER, NULL, 0);
	CHECK(shows("message     it hangs"));
}

/* Blocks leave room for the points after them, and the end page tells of lines without room. */
static void blocks_give_way_to_points(void)
{
	static char small[60 * PROGRESS_LINE];
	char line[64];

	begin(100, 33);
	progress_init(&progress, small, sizeof(small));
	progress.plan = 50;
	for (u32 n = 1; n <= 50; n++) {
		sprintf(line, "not ok %u - group.claim_%u [GROUP-01]", n, n);
		progress_take(&progress, line);
		for (u32 i = 0; i < 20; i++)
			progress_take(&progress, "  also_2: \"GROUP-01: wanted this, got that\"");
	}
	progress_take(&progress, "# end of PMUTest86: exit 1");
	CHECK_EQ(50, progress.points);
	CHECK_EQ(0, progress.lost);
	CHECK(progress.lost_lines);
	view.page = PAGE_END;
	press(KEY_END, NULL, 0);
	CHECK(shows("FAILED        group.claim_50"));
	CHECK(shows("No room here for 0 more points, and "));
}

/* The point is counted correctly although it isn't kept, and the list doesn't claim that all points
 * passed. */
static void a_point_without_room_is_told(void)
{
	char small[80];

	begin(100, 33);
	progress_init(&progress, small, sizeof(small));
	progress_take(&progress, "ok 1 - count.first_of_two [CNT-01]");
	progress_take(&progress, "not ok 2 - count.second_of_two_which_has_no_room [CNT-01]");
	progress_take(&progress, "  ---");
	progress_take(&progress, "  severity: error");
	progress_take(&progress, "# end of PMUTest86: exit 2");
	CHECK_EQ(1, progress.lost);
	CHECK_EQ(0, progress.count[PROGRESS_FAIL]);
	CHECK_EQ(1, progress.count[PROGRESS_ERROR]);
	CHECK_EQ(PROGRESS_PASS, progress.point[0].verdict);
	view.page = PAGE_END;
	CHECK(shows("No room here for 1 more points"));
	CHECK(!shows("No point is other than passed or skipped."));
}

static void cells_fit_on_every_screen(void)
{
	static const struct {
		u32 width, height, scale, columns, rows;
	} screens[] = {
		{ 640, 480, 1, 80, 30 }, { 800, 600, 1, 100, 37 }, { 1024, 768, 1, 128, 48 },
		{ 1280, 800, 1, 160, 50 }, { 1920, 1080, 2, 120, 33 },
		{ 1920, 1200, 2, 120, 37 }, { 2560, 1440, 2, 160, 45 },
		{ 3840, 2160, 4, 120, 33 }, { 7680, 4320, 8, 120, 33 },
		{ 1200, 1920, 1, 150, 80 }, { 320, 200, 1, 40, 12 }, { 7, 15, 1, 0, 0 },
	};

	for (size_t i = 0; i < sizeof(screens) / sizeof(screens[0]); i++) {
		struct grid_size size = grid_fit(screens[i].width, screens[i].height);

		CHECK_EQ(screens[i].scale, size.scale, "%u", screens[i].width);
		CHECK_EQ(screens[i].columns, size.columns, "%u", screens[i].width);
		CHECK_EQ(screens[i].rows, size.rows, "%u", screens[i].width);
		begin(size.columns, size.rows);
		take(failing);
		for (view.page = PAGE_RUN; view.page <= PAGE_MACHINE; view.page++)
			pages_draw(&grid, font, &progress, &view, "1.0");
	}
}

static void lines_break_between_words(void)
{
	begin(40, 10);
	grid_clear(&grid, COLOUR_TEXT);
	CHECK_EQ(3, grid_wrap(&grid, 2, 0, 10, 0, 9, COLOUR_TEXT, "one two three four five"));
	CHECK_STR("  one two", row_text(0));
	CHECK_STR("  three four", row_text(1));
	CHECK_STR("  five", row_text(2));
	CHECK_EQ(3, grid_wrap(&grid, 0, 5, 4, 1, 1, COLOUR_TEXT, "0123456789"));
	CHECK_STR("4567", row_text(5), "the second line alone");
	CHECK_STR("", row_text(6));
}

static void large_letters_are_their_pixels(void)
{
	begin(40, 10);
	grid_clear(&grid, COLOUR_TEXT);
	grid_large(&grid, font, 0, 0, COLOUR_PASSED, "P");
	for (u32 x = 0; x < GRID_LARGE_WIDTH; x++)
		CHECK_EQ(GRID_BLOCK | GRID_UPPER_LEFT | GRID_UPPER_RIGHT, grid.cells[0][x].glyph);
	CHECK_EQ(GRID_BLOCK | GRID_LOWER_LEFT, grid.cells[5][0].glyph);
	CHECK_EQ(GRID_BLOCK | GRID_LOWER_RIGHT, grid.cells[5][3].glyph);
	CHECK_EQ(' ', grid.cells[2][0].glyph);
}

/* The luminance of a component in thousandths, by the usual approximation of sRGB. */
static double light(u32 colour)
{
	double red = (colour >> 16 & 0xff) / 255.0, green = (colour >> 8 & 0xff) / 255.0;
	double blue = (colour & 0xff) / 255.0;

	return 0.2126 * red * red + 0.7152 * green * green + 0.0722 * blue * blue;
}

/* For readers who don't see colours, letters differ from their background by a contrast of 4.5 to
 * 1. */
static void colours_differ_in_brightness(void)
{
	for (u32 i = 0; i < COLOUR_COUNT; i++) {
		double a = light(grid_colours[i].on), b = light(grid_colours[i].off);
		double ratio = a > b ? (a + 0.05) / (b + 0.05) : (b + 0.05) / (a + 0.05);

		CHECK(ratio >= 4.5, "colour %u: %f", i, ratio);
	}
}

int main(void)
{
	RUN(the_run_shows_machine_progress_and_failures);
	RUN(results_have_four_words);
	RUN(a_soak_is_as_good_as_its_worst_run);
	RUN(the_summary_lists_what_is_not_ok_and_opens_it);
	RUN(a_record_is_shown_with_its_fields);
	RUN(keys_ask_for_what_they_say);
	RUN(what_is_left_is_told_from_what_was_done);
	RUN(control_bytes_and_long_lines_stay_in_their_cells);
	RUN(a_full_store_costs_the_rest_only);
	RUN(the_last_point_of_a_large_machine_is_listed);
	RUN(blocks_give_way_to_points);
	RUN(a_point_without_room_is_told);
	RUN(cells_fit_on_every_screen);
	RUN(lines_break_between_words);
	RUN(large_letters_are_their_pixels);
	RUN(colours_differ_in_brightness);
	return check_end();
}
