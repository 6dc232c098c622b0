/* SPDX-License-Identifier: MIT */
/*
 * Configuration, memory, the runs, and the end of the program. A launcher may start the program
 * many times in one boot, so everything that was allocated is freed.
 */
#include "boot/acpi.h"
#include "boot/again.h"
#include "boot/config.h"
#include "boot/exerciser.h"
#include "boot/file.h"
#include "boot/firmware.h"
#include "boot/identity.h"
#include "boot/log.h"
#include "boot/processors.h"
#include "boot/results/folder.h"
#include "boot/results/keep.h"
#include "boot/run.h"
#include "boot/screen/screen.h"
#include "boot/selftest.h"
#include "boot/session.h"
#include "kernel/processor/confidential.h"
#include "kernel/processor/cpu.h"
#include "kernel/output/console.h"
#include "kernel/output/fmt.h"
#include "kernel/machine/machine.h"
#include "kernel/memory/string.h"
#include "kernel/processor/percpu.h"
#include "kernel/processor/time.h"
#include "version.h"

#define CONFIG_FILE_SIZE	16384
#define OPTIONS_SIZE		1024
#define ERROR_SIZE		256
#define RESULT_SIZE		1000	/* bytes in the largest QR Code that is drawn */
#define SHOW_US			3000000		/* us for which the last line is shown */
#define WAIT_SECONDS		60		/* most seconds to wait for a reader */
#define ARENA_SPARE		(18u << 20)	/* memory for the log and the tests' buffers */
/* Memory for each further processor: its buffers, and its tests' lines on the screen and in the
 * log. */
#define ARENA_SPARE_EACH	((5u << 20) + PROGRESS_STORE_EACH + LOG_SIZE_EACH)

/* State that is kept from run to run. */
struct session {
	struct soak soak;
	u64 began;			/* TSC */
	int exit;			/* the worst of all runs; EXIT_PASS before the first */
	unsigned most;			/* processors that fit in memory; 0: all */
	bool resumed;			/* the search for a run that a reset has cut is done */
	char tests[CONFIG_PATTERN_SIZE];	/* tests selected by a key; "": as configured */
	bool more;
};

static struct config_errors config_errors;

/* false: config_errors have the errors; correct lines are taken nevertheless. */
static bool read_config(struct config *config)
{
	static char text[CONFIG_FILE_SIZE];
	char message[CONFIG_ERROR_SIZE];
	size_t length = 0;
	firmware_status status = file_read(CONFIG_PATH, text, sizeof text, &length);

	config_default(config);
	if (status == FIRMWARE_BUFFER_TOO_SMALL) {
		fmt_print(message, sizeof message, "it is longer than %u bytes", CONFIG_FILE_SIZE);
		config_error(&config_errors, CONFIG_PATH, message);
	} else if (firmware_failed(status) && status != FIRMWARE_NOT_FOUND) {
		fmt_print(message, sizeof message, "it can't be read: firmware status %#llx",
			  (unsigned long long)status);
		config_error(&config_errors, CONFIG_PATH, message);
	} else if (!firmware_failed(status)) {
		config_parse_file(config, text, length, &config_errors);
	}
	length = firmware_load_options(text, OPTIONS_SIZE);
	config_parse_options(config, text, length, &config_errors);
	return !config_errors.count;
}

/* The configuration is wrong: print each error, with the machine borrowed, and save them with the
 * results if results are saved. */
static int refuse(const struct config *config)
{
	unsigned count = config_errors.count;
	char text[ERROR_SIZE];
	struct tap tap;

	log_attach(&tap);
	machine_borrow_cpu(CPU_BOOT);
	console_line("");
	tap_begin(&tap);
	for (unsigned i = 1; i < count && i < CONFIG_ERRORS; i++)
		tap_comment(&tap, "error: %s", config_errors.line[i]);
	if (count > CONFIG_ERRORS)
		tap_comment(&tap, "error: %u more lines are wrong", count - CONFIG_ERRORS);
	tap_bail_out(&tap, config_errors.line[0]);
	tap_comment(&tap, "end of PMUTest86: exit 2");
	machine_return_cpu();
	if (config->results && results_open("refused", text, sizeof text))
		results_save(text, sizeof text);
	return EXIT_ERROR;
}

/* The same if the machine can't be borrowed. */
static int refuse_unborrowed(const char *reason)
{
	char line[ERROR_SIZE];

	fmt_print(line, sizeof line, "Bail out! %s", reason);
	firmware_say("");
	firmware_say("TAP version 14");
	firmware_say(line);
	firmware_say("# end of PMUTest86: exit 2");
	return EXIT_ERROR;
}

static u64 spare(unsigned processors)
{
	return ARENA_SPARE + (processors - 1) * (u64)ARENA_SPARE_EACH;
}

/* Find processors, and memory for them. If memory isn't enough for all, the same number is used in
 * each batch. */
static bool find_processors(const struct config *config, struct session *session,
			    struct machine_setup *setup)
{
	unsigned most = session->most ? session->most : config->processors;
	const unsigned wanted = config->on < CONFIG_ON_KINDS ? config->on : 0;
	unsigned found = processors_find(most, session->soak.batch, wanted);

	while (firmware_failed(firmware_setup(setup, found, spare(found), config->screen))) {
		if (found == 1)
			return false;
		session->most = most = found / 2;
		found = processors_find(most, session->soak.batch, wanted);
	}
	session->soak.batches = config->on == CONFIG_ON_ALL ? processors_batches(most) : 1;
	return true;
}

/* A debugger sets it (docs/DEBUGGING.md). */
static volatile bool debugger_is_here;

/* Only if the configuration asks for it: it waits as long as a user needs. */
static void wait_for_debugger(void)
{
	char line[80];

	fmt_print(line, sizeof line, "pmutest86: image at %p, waits for a debugger",
		  (const void *)firmware_image);
	firmware_say(line);
	while (!debugger_is_here)
		firmware_stall(1000);
}

/* If a reset has cut a run on all processors, continue with the batch that was being tested. */
static void find_batch(const struct config *config, struct session *session, bool configured)
{
	if (!session->resumed && configured && config->on == CONFIG_ON_ALL &&
	    !config->borrow_cycles)
		session->soak.batch = run_cut_batch(config, &session->soak, &session->exit);
	session->resumed = true;
}

static int start(struct config *config, struct session *session)
{
	static char error[ERROR_SIZE];
	bool configured = read_config(config);
	struct confidential_view view;
	struct machine_setup setup;
	u64 exerciser;

	if (configured && config->version) {
		firmware_say("PMUTest86 " PMUTEST86_VERSION);
		config->at_end = AT_END_RETURN;
		return EXIT_PASS;
	}
	if (session->tests[0])
		memcpy(config->tests, session->tests, sizeof config->tests);
	if (!session->began)
		session->began = tsc_read();
	session->soak.runs = config->minutes && config->repeat == 1 ? 0 : config->repeat;
	if (configured && config->debugger)
		wait_for_debugger();
	confidential_look(&view);
	if (confidential_name(&view)) {
		fmt_print(error, sizeof error,
			  "this is a confidential guest (%s): its CPUID, "
			  "RDMSR and WRMSR raise exceptions that this program doesn't handle",
			  confidential_name(&view));
		return refuse_unborrowed(error);
	}
	firmware_measure_tsc();
	identity_read();
	find_batch(config, session, configured);
	if (!find_processors(config, session, &setup)) {
		fmt_print(error, sizeof error,
			  "the firmware has no %llu MiB of free memory in one "
			  "piece below 4 GiB; the machine's memory ends at %llu MiB",
			  (unsigned long long)(firmware_need(1, spare(1)) >> 20),
			  (unsigned long long)(firmware_memory() >> 20));
		return refuse_unborrowed(error);
	}
	setup.serial_port = config->serial_port;
	setup.hpet_base = acpi_hpet_base();
	setup.ioapic_base = acpi_ioapic_base();
	exerciser = exerciser_find(&setup);
	if (!machine_init(&setup) || !log_init(setup.processors))
		return refuse_unborrowed("the local APIC is switched off, or our own memory is "
					 "too small");
	if (!config->borrow_cycles)
		screen_open(config->screen, &setup, &session->soak);
	if (!configured)
		return refuse(config);
	processors_take();
	return config->borrow_cycles ? selftest_run(config->borrow_cycles) :
				       run_tests(config, &session->soak, session->exit, exerciser);
}

/* Print the result on the firmware's console, wherever it is: the harness may have no screen, or
 * lose it after this. The console may be the serial line too, and there these lines must not look
 * like lines of the log. */
static void show_result(void)
{
	char text[SUMMARY_WIDTH + 3];
	const char *line;

	firmware_say("");
	for (unsigned n = 0; (line = summary_line(log_summary(), n)); n++) {
		fmt_print(text, sizeof text, "| %s", line);
		firmware_say(text);
	}
	if (*results_path()) {
		firmware_say("the whole log:");
		firmware_say(results_path());
	}
	firmware_say("A key ends this, or a minute.");
	firmware_wait_for_key(WAIT_SECONDS);
}

/* Handle the keys of the summary. */
static void ask_what_next(struct config *config, struct session *session)
{
	static char result[RESULT_SIZE];
	char tests[CONFIG_TEXT_SIZE], text[ERROR_SIZE];

	keep_short_result(result, sizeof(result));
	screen_set_result(result);
	if (*results_folder()) {
		fmt_print(text, sizeof text, "The results are in %s", results_folder());
		screen_say(text);
	} else if (config->results) {
		screen_say("The results are not saved: S tries again, Q shows them in short");
	}
	for (;;)
		switch (screen_ask(tests, sizeof tests)) {
		case ACTION_TESTS:
			fmt_print(session->tests, sizeof session->tests, "%s", tests);
			session->more = true;
			return;
		case ACTION_AGAIN:
			session->more = true;
			return;
		case ACTION_POWER_OFF:
			config->at_end = AT_END_SHUTDOWN;
			return;
		case ACTION_RETURN:
			config->at_end = AT_END_RETURN;
			return;
		default:
			keep_again(text, sizeof text);
			screen_say(text);
		}
}

/* Are there processors that this run hasn't tested yet? */
static bool has_another_batch(const struct config *config, const struct session *session)
{
	return !config_errors.count && !screen_has_stopped() && !config->borrow_cycles &&
	       session->soak.batch + 1 < session->soak.batches;
}

static int worse(int a, int b)
{
	if (a == EXIT_FAIL || b == EXIT_FAIL)
		return EXIT_FAIL;
	return a > b ? a : b;
}

/* Does the soak have another run? */
static bool goes_on(const struct config *config, const struct session *session)
{
	u64 minutes = (tsc_read() - session->began) / time_tsc_per_us / 60000000;

	if (config_errors.count || screen_has_stopped() || config->borrow_cycles)
		return false;
	if (config->minutes && minutes >= config->minutes)
		return false;
	return !session->soak.runs || session->soak.run < session->soak.runs;
}

/* Do what at_end says; returns if that is to return. QEMU's isa-debug-exit doesn't return from the
 * write: its exit status is made from the value written to "iobase". */
static void end_machine(const struct config *config, int exit_status)
{
	if (config->at_end == AT_END_EXIT)
		port_write8(config->exit_port, (u8)exit_status);
	if (config->at_end == AT_END_RESET)
		firmware_reset();
	else if (config->at_end == AT_END_SHUTDOWN || config->at_end == AT_END_EXIT)
		firmware_switch_off();
}

/* Don't free any memory or unload this image: a processor may still begin to run in it. */
static _Noreturn void stay(struct config *config)
{
	firmware_say("pmutest86: a processor doesn't return to the firmware; its memory can't be "
		     "given back");
	firmware_stall(SHOW_US);
	if (config->at_end == AT_END_RETURN || config->at_end == AT_END_WAIT)
		config->at_end = AT_END_SHUTDOWN;
	end_machine(config, EXIT_ERROR);
	for (;;)
		firmware_stall(SHOW_US);
}

/* Do one run, and the actions after it. */
static void run_once(struct config *config, struct session *session)
{
	int exit_status;

	session->more = false;
	exit_status = start(config, session);
	session->exit = worse(session->exit, exit_status);
	if (!processors_give())
		stay(config);
	if (config->version)
		return;
	screen_end();
	if (has_another_batch(config, session)) {
		screen_keep_result(&session->soak);
		session->soak.batch++;
		session->more = true;
	} else if (goes_on(config, session)) {
		screen_keep_result(&session->soak);
		session->soak.run++;
		session->soak.batch = 0;
		session->more = true;
	} else if (config->at_end == AT_END_WAIT && screen_is_open()) {
		ask_what_next(config, session);
		session->soak = (struct soak){ .run = 1 };
		session->began = 0;
		if (session->more)
			session->exit = EXIT_PASS;
	} else if (config->at_end == AT_END_WAIT) {
		show_result();
	}
	firmware_release();
}

int harness_run(void)
{
	struct again again = again_keep();
	struct session session = { .soak = { .run = 1 } };
	struct config config;

	run_once(&config, &session);
	while (session.more && again_restore(&again))
		run_once(&config, &session);
	if (session.more) {
		firmware_say("pmutest86: no memory to run again");
		session.exit = worse(session.exit, EXIT_ERROR);
	}
	again_release(&again);
	end_machine(&config, session.exit);
	return session.exit;
}
