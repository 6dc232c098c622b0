/* SPDX-License-Identifier: MIT */
/* RDPMC: the index of each type of counter that ECX[31:16] names. SDM volume 2, RDPMC. */
#include "kernel/interrupt/fault.h"
#include "spec/msr.h"
#include "spec/x86.h"
#include "tests/frame/needs.h"
#include "tests/frame/test.h"

#define INDEX_BITS	16u	/* ECX[15:0]; above it is the type */

static bool raises_gp(u32 ecx)
{
	u64 value = 0;

	return fault_is_gp(rdpmc_try(ecx, &value));
}

/*
 * MET-18  RDPMC of type 2000H must raise #GP with any other index than 0.
 *         SDM volume 2 RDPMC: the metrics are type 2000H, index 0; #GP of a counter that isn't
 *         there
 *
 * Given  RDPMC of 20000000H reads the metrics: type 2000H has one register, of index 0
 * When   RDPMC of type 2000H is executed with each single bit of the index
 * Then   it raises #GP
 * Control: with index 0 it doesn't
 */
TEST(metrics, rdpmc_of_the_metrics_has_index_0_alone, REQS(MET_18),
     NEEDS(need_perfmon, need_metrics, need_refused_msrs))
{
	CONTROL(t, MET_18, !raises_gp((u32)RDPMC_METRICS), "RDPMC of 20000000H raises no #GP");
	for (unsigned bit = 0; bit < INDEX_BITS; bit++)
		CHECK(t, MET_18, raises_gp((u32)RDPMC_METRICS | (u32)BIT(bit)),
		      "#GP of RDPMC, ECX = %#x", (u32)RDPMC_METRICS | (u32)BIT(bit));
}
