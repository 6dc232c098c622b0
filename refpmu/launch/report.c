/* SPDX-License-Identifier: MIT */
/* See report.h. */
#include "refpmu/launch/print.h"
#include "refpmu/launch/report.h"

void report_begin(u64 number, const struct plan_run *run)
{
	print("launch: run %u cpu=%s fault=%s seed=%u profile=%s", number, run->cpu_name,
	      run->fault_name, run->config.latitude.seed, run->profile_name);
}

static void print_engine(u64 number, enum engine_name engine, const struct statistics *s)
{
	print("launch: engine %u %s blocks=%u stepped=%u emulated=%u runs=%u user_only=%u acted=%u"
#define FALLBACK(token, name, meaning) " " name "=%u"
#include "refpmu/engine/fallback.def"
	      ,
	      number, plan_engine_name[engine], s->engine.in_blocks, s->engine.stepped,
	      s->engine.emulated, s->engine.block_runs, s->engine.user_only_runs, s->fault_acted
#define FALLBACK(token, name, meaning) , s->engine.fallback[FALLBACK_##token]
#include "refpmu/engine/fallback.def"
	);
}

void report_end(u64 number, enum engine_name engine, const struct statistics *statistics,
		u64 status)
{
	u64 inexact = 0;

	for (unsigned i = 0; i < INEXACT_REASONS; i++)
		inexact += statistics->exit.inexact[i];
	print_engine(number, engine, statistics);
	print("launch: end %u status=%x stepped=%u inexact=%u", number, status,
	      statistics->engine.stepped, inexact);
}
