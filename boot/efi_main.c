/* SPDX-License-Identifier: MIT */
/*
 * The entry: configuration, memory, the run, and the way out. Started again and again by a
 * launcher within one boot, so everything allocated is freed and nothing of ours is left behind.
 */
#include "boot/acpi.h"
#include "boot/config.h"
#include "boot/exerciser.h"
#include "boot/file.h"
#include "boot/firmware.h"
#include "boot/log.h"
#include "boot/processors.h"
#include "boot/run.h"
#include "boot/selftest.h"
#include "kernel/console.h"
#include "kernel/fmt.h"
#include "kernel/machine.h"
#include "kernel/percpu.h"

#define CONFIG_PATH		"\\pmutest86.cfg"
#define CONFIG_FILE_SIZE	16384
#define OPTIONS_SIZE		1024
#define ERROR_SIZE		256
#define ARENA_SPARE		(16u << 20)	/* log, buffers of the tests */
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

static int refuse(const char *reason)
{
	machine_borrow_cpu(CPU_BOOT);
	console_line("");
	console_line("TAP version 14");
	console_line(reason);
	console_line("# end of PMUTest86: exit 2");
	machine_return_cpu();
	return EXIT_ERROR;
}

static int start(struct config *config)
{
	static char error[ERROR_SIZE + 16] = "Bail out! ";
	const size_t prefix = sizeof "Bail out! " - 1;
	bool configured = read_config(config, error + prefix, sizeof error - prefix);
	struct machine_setup setup;
	unsigned processors;
	u64 exerciser;
	int status;

	firmware_measure_tsc();
	processors = processors_find(CPU_MAX);
	if (EFI_ERROR(firmware_setup(&setup, processors,
				     ARENA_SPARE + (processors - 1) * ARENA_SPARE_EACH,
				     config->screen))) {
		firmware_say("pmutest86: the firmware has no memory for us below 4 GiB");
		return EXIT_ERROR;
	}
	setup.serial_port = config->serial_port;
	setup.hpet_base = acpi_hpet_base();
	setup.ioapic_base = acpi_ioapic_base();
	exerciser = exerciser_find(&setup);
	if (!machine_init(&setup) || !log_init()) {
		firmware_say("pmutest86: the local APIC is off, or our memory is too small");
		return EXIT_ERROR;
	}
	if (!configured)
		return refuse(error);
	if (processors_take())
		return refuse("Bail out! a processor that the firmware calls healthy doesn't come");
	status = config->borrow_cycles ? selftest_run(config->borrow_cycles) :
					run_tests(config, exerciser);
	if (processors_give())
		return status;
	firmware_say("pmutest86: a processor doesn't return to the firmware");
	return EXIT_ERROR;
}

EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *system)
{
	struct config config;
	EFI_STATUS status = firmware_init(image, system);
	int exit_status;

	if (EFI_ERROR(status))
		return status;
	exit_status = start(&config);
	firmware_release();
	if (config.at_end != AT_END_RETURN)
		system->RuntimeServices->ResetSystem(
			config.at_end == AT_END_SHUTDOWN ? EfiResetShutdown : EfiResetCold,
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
