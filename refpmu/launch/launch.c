/* SPDX-License-Identifier: MIT */
/*
 * launch.efi starts the reference PMU below the firmware and runs the programs of a plan, each with
 * a reset PMU. Then it switches the machine off. So one boot of the firmware serves many runs.
 *
 * Everything comes from the volume that the launcher was started from: \refpmu.efi,
 * \refpmu-plan.txt (plan.h) and the programs. Reports are lines on COM1: "launch: hypervisor at
 * 0x..", those of report.h, and "launch: done".
 */
#include <efi.h>

#include "refpmu/hv/efi_version.h"
#include "refpmu/vmm/hypercall.h"
#include "refpmu/launch/firmware.h"
#include "refpmu/launch/plan.h"
#include "refpmu/launch/print.h"
#include "refpmu/launch/report.h"
#include "refpmu/launch/resident.h"

#define REFPMU_PATH	"\\refpmu.efi"
#define PLAN_PATH	"\\refpmu-plan.txt"
#define PLAN_SIZE	(256u << 10)

EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *system);

/* The whole plan is read before anything of it is done. */
static bool plan_is_good(const char *text, size_t length)
{
	struct plan_run run;
	enum plan_result result;
	const char *reason;
	unsigned runs = 0;
	struct plan plan;

	plan_open(&plan, text, length);
	while ((result = plan_next(&plan, &run, &reason)) == PLAN_RUN)
		runs++;
	if (result == PLAN_BAD)
		print("launch: bad plan line %u: %s", (u64)plan.line, reason);
	else if (!runs)
		print("launch: the plan has no run");
	return result == PLAN_END && runs;
}

static bool start_reference_pmu(void)
{
	struct hypercall_version version;
	EFI_STATUS status;

	if (!firmware_load(REFPMU_PATH, "", &status)) {
		print("launch: can't load " REFPMU_PATH ": status=%x", status);
		return false;
	}
	status = firmware_start();
	if (EFI_ERROR(status)) {
		print("launch: " REFPMU_PATH " refused to start: status=%x", status);
		return false;
	}
	if (hypercall(HYPERCALL_VERSION, &version) != HYPERCALL_DONE ||
	    version.version != HYPERCALL_VERSION_NUMBER ||
	    version.config_size != sizeof(struct model_config) ||
	    version.statistics_size != sizeof(struct statistics)) {
		print("launch: " REFPMU_PATH " is of another version");
		return false;
	}
	print("launch: hypervisor at %x", version.hidden_base);
	return true;
}

/* That one, or the next fastest that there is: CONFIGURE has left ENGINE_STEP. */
static enum engine_name choose_engine(enum engine_name wanted)
{
	while (wanted != ENGINE_STEP &&
	       hypercall(HYPERCALL_ENGINE, (void *)(u64)wanted) != HYPERCALL_DONE)
		wanted--;
	return wanted;
}

/* Into *engine: the one that it ran on. */
static u64 run_program(struct plan_run *run, enum engine_name *engine)
{
	static const char *const refused[HYPERCALL_STATUSES] = {
#define HYPERCALL_STATUS(token, text) [HYPERCALL_##token] = (text),
#include "refpmu/vmm/status.def"
	};
	u64 configured = hypercall(HYPERCALL_CONFIGURE, &run->config);
	EFI_STATUS status;

	if (configured != HYPERCALL_DONE) {
		print("launch: " REFPMU_PATH " refuses the configuration: %s",
		      configured < HYPERCALL_STATUSES ? refused[configured] : "no answer");
		return EFI_INVALID_PARAMETER;
	}
	*engine = choose_engine(run->engine);
	hypercall(HYPERCALL_TRACE, (void *)(u64)run->trace);
	if (run->keep)
		return resident_run(run->efi, run->args);
	if (!firmware_load(run->efi, run->args, &status))
		return status;
	return firmware_start();
}

static void run_plan(const char *text, size_t length)
{
	struct statistics statistics;
	struct plan_run run;
	const char *reason;
	struct plan plan;
	unsigned number = 0;

	plan_open(&plan, text, length);
	while (plan_next(&plan, &run, &reason) == PLAN_RUN) {
		enum engine_name engine = ENGINE_STEP;
		u64 status;

		report_begin(++number, &run);
		status = run_program(&run, &engine);
		if (hypercall(HYPERCALL_STATISTICS, &statistics) != HYPERCALL_DONE)
			statistics = (struct statistics){ 0 };
		report_end(number, engine, &statistics, status);
	}
	print("launch: done");
}

EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *system)
{
	static char text[PLAN_SIZE];
	size_t length;

	if (efi_version_asked(image, system))
		return EFI_SUCCESS;
	if (!firmware_open(image, system))
		print("launch: the volume it was started from isn't known");
	else if (!firmware_read(PLAN_PATH, text, sizeof(text), &length))
		print("launch: can't read " PLAN_PATH " (at most 256 KiB)");
	else if (plan_is_good(text, length) && start_reference_pmu())
		run_plan(text, length);
	system->RuntimeServices->ResetSystem(EfiResetShutdown, EFI_SUCCESS, 0, NULL);
	return EFI_DEVICE_ERROR;	/* a firmware that can't switch off */
}
