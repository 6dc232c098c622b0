/* SPDX-License-Identifier: MIT */
/* Faults of refpmu/model/exerciser.c: they act on a valid command that has an effect. */
#include "refpmu/model/exerciser.h"
#include "refpmu/faults/broken.h"
#include "refpmu/model/hooks.h"

#define LINES	(EXERCISER_LINES / 4)

void fault_exercise(struct model *m, struct exercise *plan)
{
	if (m->config.fault == FAULT_NONE || plan->status != EXERCISER_IS_DONE)
		return;
	if (broken(m, FAULT_EXERCISER_SILENT)) {
		plan->status = EXERCISER_IS_BUSY;
		plan->lines = m->host->exerciser->word[LINES];
		plan->placed = 0;
	}
	if (broken(m, FAULT_EXERCISER_REFUSES)) {
		plan->status = EXERCISER_IS_FAILED;
		plan->lines = plan->placed = 0;
	}
	if (broken(m, FAULT_EXERCISER_PARTIAL))
		plan->lines = --plan->placed;
	if (plan->placed && broken(m, FAULT_EXERCISER_IDLE))
		plan->placed = 0;
	if (plan->placed && broken(m, FAULT_EXERCISER_MISPLACES))
		plan->state = plan->state == EXERCISE_L3_ONLY ? EXERCISE_NOWHERE : EXERCISE_L3_ONLY;
}
