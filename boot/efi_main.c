/* SPDX-License-Identifier: MIT */
/*
 * The entry: configuration, memory, the run, and the way out. Started again and again by a
 * launcher within one boot, so everything allocated is freed and nothing is left over.
 */
#include "boot/acpi.h"
#include "boot/config.h"
#include "boot/exerciser.h"
#include "boot/file.h"
#include "boot/firmware.h"
#include "boot/identity.h"
#include "boot/log.h"
#include "boot/processors.h"
#include "boot/results/folder.h"
#include "boot/run.h"
#include "boot/selftest.h"
#include "kernel/processor/confidential.h"
#include "kernel/output/console.h"
#include "kernel/output/fmt.h"
#include "kernel/machine/machine.h"
#include "kernel/processor/percpu.h"
#include "version.h"

#define CONFIG_PATH		"\\pmutest86.cfg"
#define CONFIG_FILE_SIZE	16384
#define OPTIONS_SIZE		1024
#define ERROR_SIZE		256
#define SHOW_US			3000000		/* a last line */
#define WAIT_SECONDS		60		/* at most, for a reader */
#define ARENA_SPARE		(17u << 20)	/* log, buffers of the tests */
#define ARENA_SPARE_EACH	(5u << 20)	/* those of each further processor */

enum { EXIT_PASS, EXIT_FAIL, EXIT_ERROR };

/* From start.asm, in the C calling convention. */
EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *system);

static bool read_config(struct config *config, char *error, size_t size)
{
	static char text[CONFIG_FILE_SIZE];
	char message[ERROR_SIZE];
	size_t length = 0;
	EFI_STATUS status = file_read(CONFIG_PATH, text, sizeof text, &length);

	config_default(config);
	if (status == EFI_BUFFER_TOO_SMALL) {
		fmt_print(error, size, "%s is longer than %u bytes", CONFIG_PATH, CONFIG_FILE_SIZE);
		return false;
	}
	if (EFI_ERROR(status) && status != EFI_NOT_FOUND) {
		fmt_print(error, size, "%s can't be read: firmware status %#llx", CONFIG_PATH,
			  (unsigned long long)status);
		return false;
	}
	if (!EFI_ERROR(status) &&
	    !config_parse_file(config, text, length, message, sizeof message)) {
		fmt_print(error, size, "%s: %s", CONFIG_PATH, message);
		return false;
	}
	length = firmware_load_options(text, OPTIONS_SIZE);
	if (!config_parse_options(config, text, length, message, sizeof message)) {
		fmt_print(error, size, "load options: %s", message);
		return false;
	}
	return true;
}

/* What can't be tested here, with the machine borrowed. It is kept with the results, where they are
 * to be kept. */
static int refuse(const struct config *config, const char *reason)
{
	char ignored[ERROR_SIZE];
	struct tap tap;

	log_attach(&tap);
	machine_borrow_cpu(CPU_BOOT);
	console_line("");
	tap_begin(&tap);
	tap_bail_out(&tap, reason);
	tap_comment(&tap, "end of PMUTest86: exit 2");
	machine_return_cpu();
	if (config->results && results_open("refused", ignored, sizeof ignored))
		results_save(ignored, sizeof ignored);
	return EXIT_ERROR;
}

/* The same where the machine can't be borrowed. */
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

/* As many processors as there is memory for: *processors becomes fewer. */
static bool find_memory(struct machine_setup *setup, unsigned *processors, bool with_screen)
{
	while (EFI_ERROR(firmware_setup(setup, *processors, spare(*processors), with_screen))) {
		if (*processors == 1)
			return false;
		*processors /= 2;
		processors_limit(*processors);
	}
	return true;
}

/* A debugger sets it (docs/DEBUGGING.md). */
static volatile bool debugger_is_here;

/* Only where the configuration asks for it: it waits as long as a human being needs. */
static void wait_for_debugger(void)
{
	char line[80];

	fmt_print(line, sizeof line, "pmutest86: image at %p, waits for a debugger",
		  firmware.loaded->ImageBase);
	firmware_say(line);
	while (!debugger_is_here)
		firmware.boot->Stall(1000);
}

static int start(struct config *config)
{
	static char error[ERROR_SIZE];
	bool configured = read_config(config, error, sizeof error);
	struct confidential_view view;
	struct machine_setup setup;
	unsigned processors;
	u64 exerciser;

	if (configured && config->version) {
		firmware_say("PMUTest86 " PMUTEST86_VERSION);
		config->at_end = AT_END_RETURN;
		return EXIT_PASS;
	}
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
	processors = processors_find(CPU_MAX);
	if (!find_memory(&setup, &processors, config->screen)) {
		fmt_print(error, sizeof error,
			  "the firmware has no %llu MiB of free memory in one "
			  "piece below 4 GiB; the machine's memory ends at %llu MiB",
			  (unsigned long long)(firmware_need(1, spare(1)) >> 20),
			  (unsigned long long)(firmware_memory() >> 20));
		return refuse_unborrowed(error);
	}
	identity_read();
	setup.serial_port = config->serial_port;
	setup.hpet_base = acpi_hpet_base();
	setup.ioapic_base = acpi_ioapic_base();
	exerciser = exerciser_find(&setup);
	if (!machine_init(&setup) || !log_init())
		return refuse_unborrowed("the local APIC is switched off, or our own memory is "
					 "too small");
	if (!configured)
		return refuse(config, error);
	processors_take();
	return config->borrow_cycles ? selftest_run(config->borrow_cycles) :
				       run_tests(config, exerciser);
}

/* On the firmware's console, wherever that is: our own screen may be none, or gone after this. It
 * may be the serial line too, where these lines mustn't be taken for the log's. */
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

/* Nothing can be freed, and this image not be unloaded: a processor may still come to run in it. */
static _Noreturn void stay(const struct config *config)
{
	firmware_say("pmutest86: a processor doesn't return to the firmware; its memory can't be "
		     "given back");
	firmware.boot->Stall(SHOW_US);
	firmware.system->RuntimeServices->ResetSystem(config->at_end == AT_END_RESET ?
							      EfiResetCold :
							      EfiResetShutdown,
						      EFI_SUCCESS, 0, NULL);
	for (;;)
		firmware.boot->Stall(SHOW_US);
}

EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *system)
{
	struct config config;
	EFI_STATUS status = firmware_init(image, system);
	int exit_status;

	if (EFI_ERROR(status))
		return status;
	exit_status = start(&config);
	if (!processors_give())
		stay(&config);
	firmware_release();
	if (config.at_end == AT_END_WAIT)
		show_result();
	else if (config.at_end != AT_END_RETURN)
		system->RuntimeServices->ResetSystem(config.at_end == AT_END_SHUTDOWN ?
							     EfiResetShutdown :
							     EfiResetCold,
						     EFI_SUCCESS, 0, NULL);
	switch (exit_status) {
	case EXIT_PASS:
		return EFI_SUCCESS;
	case EXIT_FAIL:
		return EFI_ABORTED;
	default:
		return EFI_PROTOCOL_ERROR;
	}
}
