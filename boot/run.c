/* SPDX-License-Identifier: MIT */
/*
 * Borrow the machine, run a group, give it back, save the results. So results before a crash are on
 * the volume, and the firmware gets its timer ticks. All code that prints runs while the machine is
 * borrowed.
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
#include "kernel/machine/smp.h"
#include "kernel/processor/percpu.h"
#include "kernel/processor/time.h"
#include "kernel/output/serial.h"
#include "tests/frame/suite.h"
#include "version.h"

#define CPU_NAME_SIZE	32

/* Print the missing devices, and the consequences. */
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

/* Print the order of a soak's runs and tests. */
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

/* Write the journal and read keys, both by way of the firmware. */
static void before_test(void)
{
	u64 at[4];

	if (!keep_is_journaled() && !screen_is_due())
		return;
	at[0] = tsc_read();
	machine_return_cpu();
	at[1] = tsc_read();
	keep_before_test();
	at[2] = tsc_read();
	screen_poll();
	machine_borrow_cpu(CPU_BOOT);
	at[3] = tsc_read();
	keep_count_visit(at[1] - at[0] + at[3] - at[2]);
}

/* The processors are chosen later. */
static struct suite_config configure(const struct config *config, const struct soak *soak)
{
	return (struct suite_config){
		.tests_glob = config->tests,
		.require = config->require,
		.strict = config->strict,
		.no_inconclusive = config->no_inconclusive,
		.verbose = config->verbose,
		.checks = config->checks,
		.order = config->order ? config->order + soak->run - 1 : 0,
		.asked = config->on,
		.draw = { .seed = config->seed, .cases = config->draw_cases,
			  .ms = config->draw_ms, .only = config->draw_case },
		.before_test = before_test,
		.announce = screen_begin_test,
		.is_ended = screen_is_ended,
	};
}

unsigned run_cut_batch(const struct config *config, const struct soak *soak, int *before)
{
	const struct suite_config suite_config = configure(config, soak);

	return config->results ? keep_find_batch(&suite_config, before) : 0;
}

/* In later batches the first processor's tests have already run. */
static u32 choose_processors(const struct config *config, unsigned batch)
{
	switch (config->on) {
	case CONFIG_ON_ALL:
		return batch ? processors_all() & ~(u32)BIT(CPU_BOOT) : processors_all();
	case CONFIG_ON_KINDS:
		return processors_first_of_kinds();
	default:
		return processors_one(config->on);
	}
}

static void describe_choice(struct tap *tap, const struct config *config, u32 on)
{
	static const char *const why[] = {
		"the first of each package, kind of core and position in it",
		"as configured",
	};
	char list[CPU_MAX * 5 + 1] = "";
	size_t length = 0;

	for (unsigned cpu = 0; cpu < CPU_MAX; cpu++)
		if (on & BIT(cpu))
			length += (size_t)fmt_print(list + length, sizeof(list) - length, " %u",
						    smp_number(cpu));
	tap_comment(tap, "tests of one processor run on%s: %s", length ? list : " none",
		    why[config->on != CONFIG_ON_KINDS]);
}

int run_tests(const struct config *config, const struct soak *soak, int before, u64 exerciser)
{
	struct suite_config suite_config = configure(config, soak);
	const unsigned watchdog = config->results ? config->watchdog : 0;
	char cpu[CPU_NAME_SIZE];
	struct suite *suite;
	struct tap tap;
	unsigned groups;
	bool all_back, continued;
	int status;

	suite_config.exerciser = exerciser;
	/* The reference PMU runs in QEMU, but is judged as the processor that it shows. It has a
	 * table of an exerciser. */
	suite_config.guest = identity_is_virtual() && !exerciser;
	suite_config.on = choose_processors(config, soak->batch);
	suite_config.without_several = soak->batch != 0;
	continued = config->results && keep_find(&suite_config, soak->batch, before);

	watchdog_find(watchdog);
	log_attach(&tap);
	log_mute(&tap, continued);
	machine_borrow_cpu(CPU_BOOT);
	console_line("");	/* end a line that the firmware may have begun */
	suite = suite_begin(&suite_config, &tap);
	tap_comment(&tap, "version: PMUTest86 %s", PMUTEST86_VERSION);
	tap_comment(&tap, "image at %p: a dump's addresses less this are the ELF file's",
		    (const void *)firmware_image);
	identity_describe(&tap);
	processors_describe(&tap, soak->batch, soak->batches);
	describe_choice(&tap, config, suite_config.on);
	describe_devices(&tap, config);
	watchdog_describe(&tap, watchdog);
	describe_order(&tap, &suite_config, soak);
	log_mute(&tap, false);
	groups = keep_replay(suite, &tap) ? suite_groups(suite) : 0;
	fmt_print(cpu, sizeof cpu, "%s", suite_cpu_name(suite));
	machine_return_cpu();
	keep_open(suite, cpu, watchdog);

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
