/* SPDX-License-Identifier: MIT */
/*
 * The launcher's plan: any text. The reader terminates, line numbers rise, values are in range, and
 * a refusal has a reason.
 */
#include <stdlib.h>
#include <string.h>

#include "refpmu/faults/fault_id.h"
#include "refpmu/launch/plan.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	char *text = malloc(size ? size : 1);		/* not terminated */
	struct plan plan;
	struct plan_run run;
	unsigned line = 0;

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	plan_open(&plan, text, size);
	for (size_t runs = 0;; runs++) {
		const char *reason = NULL;
		enum plan_result result = plan_next(&plan, &run, &reason);

		if (runs > size)	/* a run takes at least one character */
			abort();
		if (result == PLAN_BAD && (!reason || !reason[0] || strchr(reason, '\n')))
			abort();
		if (result != PLAN_RUN)
			break;
		if (plan.line <= line)
			abort();
		line = plan.line;
		if ((unsigned)run.config.generation >= GEN_COUNT || run.config.fault >= FAULT_COUNT)
			abort();
		if (run.engine >= ENGINES)
			abort();
		if (!run.cpu_name || !run.fault_name[0] || !run.profile_name || !run.efi[0])
			abort();
		if (!memchr(run.efi, '\0', sizeof(run.efi)) ||
		    !memchr(run.args, '\0', sizeof(run.args)))
			abort();
	}
	free(text);
	return 0;
}
