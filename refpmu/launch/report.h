/* SPDX-License-Identifier: MIT */
/*
 * The lines about a run on COM1:
 *	launch: run N cpu=.. fault=.. seed=.. profile=..
 *	launch: engine N step|direct|fast blocks=.. stepped=.. runs=.. and the hand-overs by reason;
 *		acted=..: how often the fault made a difference to the model
 *	launch: end N status=0x.. stepped=.. inexact=..
 */
#ifndef REFPMU_LAUNCH_REPORT_H
#define REFPMU_LAUNCH_REPORT_H

#include "refpmu/launch/plan.h"
#include "refpmu/vmm/statistics.h"

void report_begin(u64 number, const struct plan_run *run);
/* engine: the one that it ran on; status: what it returned. */
void report_end(u64 number, enum engine_name engine, const struct statistics *statistics,
		u64 status);

#endif
