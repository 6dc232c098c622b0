/* SPDX-License-Identifier: MIT */
/*
 * Borrow, run a group, give back, save: what was found before a crash is on the volume, and the
 * firmware gets its ticks. Everything that prints runs with the machine borrowed.
 */
#include "boot/firmware.h"
#include "boot/identity.h"
#include "boot/log.h"
#include "boot/processors.h"
#include "boot/results/keep.h"
#include "boot/run.h"
#include "boot/screen/screen.h"
#include "boot/watchdog/watchdog.h"
#include "kernel/output/console.h"
#include "kernel/output/fbcon.h"
#include "kernel/output/fmt.h"
#include "kernel/interrupt/hpet.h"
#include "kernel/machine/machine.h"
#include "kernel/processor/percpu.h"
#include "kernel/output/serial.h"
#include "tests/frame/suite.h"
#include "version.h"

#define CPU_NAME_SIZE	32

/* What isn't there, and what comes of that. */
static void describe_devices(struct tap *tap, const struct config *config)
{
	if (!serial_is_there())
		tap_comment(tap, "serial: none%s",
			    config->serial_port ? " at that port" : ", by the configuration");
	if (!fbcon_is_there())
		tap_comment(tap, "screen: none%s",
			    config->screen ? " that is a linear framebuffer of 32 bits a pixel" :
					     ", by the configuration");
	if (!hpet_is_usable())
		tap_comment(tap, "hpet: none that is free: with interrupts off on the first "
				 "processor a hang is ended by another processor only");
}

/* Of a soak's runs, and of their orders. */
static void describe_order(struct tap *tap, const struct suite_config *config,
			   const struct soak *soak)
{
	if (soak->runs == 0)
		tap_comment(tap, "soak: run %u", soak->run);
	else if (soak->runs > 1)
		tap_comment(tap, "soak: run %u of %u", soak->run, soak->runs);
	if (config->order)
		tap_comment(tap, "order: within groups drawn from %u", config->order);
}

int run_tests(const struct config *config, const struct soak *soak, u64 exerciser)
{
	const struct suite_config suite_config = {
		.tests_glob = config->tests,
		.require = config->require,
		.strict = config->strict,
		.no_inconclusive = config->no_inconclusive,
		.verbose = config->verbose,
		.checks = config->checks,
		.order = config->order ? config->order + soak->run - 1 : 0,
		.on = config->on == CONFIG_ON_ALL ? SUITE_ON_ALL : config->on,
		.draw = { .seed = config->seed, .cases = config->draw_cases,
			  .ms = config->draw_ms, .only = config->draw_case },
		.exerciser = exerciser,
		.before_test = keep_before_test,
		.announce = screen_begin_test,
	};
	char cpu[CPU_NAME_SIZE];
	struct suite *suite;
	struct tap tap;
	unsigned groups;
	bool all_back, continued = config->results && keep_find(&suite_config);
	int status;

	watchdog_find();
	log_attach(&tap);
	log_mute(&tap, continued);
	machine_borrow_cpu(CPU_BOOT);
	console_line("");	/* whatever the firmware left on the line ends here */
	suite = suite_begin(&suite_config, &tap);
	tap_comment(&tap, "version: PMUTest86 %s", PMUTEST86_VERSION);
	tap_comment(&tap, "image at %p: a dump's addresses less this are the ELF file's",
		    firmware.loaded->ImageBase);
	identity_describe(&tap);
	processors_describe(&tap);
	describe_devices(&tap, config);
	watchdog_describe(&tap, config->results ? config->watchdog : 0);
	describe_order(&tap, &suite_config, soak);
	log_mute(&tap, false);
	groups = keep_replay(suite, &tap) ? suite_groups(suite) : 0;
	fmt_print(cpu, sizeof cpu, "%s", suite_cpu_name(suite));
	machine_return_cpu();
	keep_open(suite, cpu, config->watchdog);

	for (unsigned g = 0; g < groups; g++) {
		keep_save();
		machine_borrow_cpu(CPU_BOOT);
		keep_say(&tap);
		screen_group(g + 1, groups);
		suite_run_group(suite, g);
		machine_return_cpu();
		if (!screen_go_on())
			break;
	}
	keep_save();
	watchdog_stop();
	all_back = processors_give();
	machine_borrow_cpu(CPU_BOOT);
	keep_say(&tap);
	keep_describe(&tap);
	if (!all_back)
		suite_bail_out(suite, "a processor doesn't return to the firmware");
	status = suite_end(suite);
	machine_return_cpu();
	keep_end();
	return status;
}
