/* SPDX-License-Identifier: MIT */
/*
 * Preconditions of tests (see NEEDS() in tests/frame/test.h). Each checks the capabilities of this
 * processor. If it isn't met, reason says why, with the raw value that was read.
 */
#ifndef TESTS_FRAME_NEEDS_H
#define TESTS_FRAME_NEEDS_H

#include "spec/types.h"
#include "tests/frame/test.h"

bool need_perfmon(char *reason, size_t size);		/* architectural monitoring, version 2+ */
bool need_refused_msrs(char *reason, size_t size);	/* #GP where there is no MSR */
bool need_monitoring(char *reason, size_t size);	/* that, or a PMU of another kind */
bool need_two_counters(char *reason, size_t size);	/* general-purpose */
bool need_four_counters(char *reason, size_t size);
bool need_fixed_0_to_2(char *reason, size_t size);
bool need_full_width(char *reason, size_t size);	/* IA32_A_PMCx */
bool need_legacy_freeze(char *reason, size_t size);	/* version 2 or 3 and PDCM */
bool need_freeze(char *reason, size_t size);		/* that or version 4; it is kept */
bool need_version_4(char *reason, size_t size);		/* or later: IA32_PERF_GLOBAL_STATUS_SET */
bool need_not_hybrid(char *reason, size_t size); /* CPUID.0AH says which counters there are */
bool need_version_below_4(char *reason, size_t size);
/* No filter and no lock refuses writes to registers that a test needs: IA32_DEBUGCTL; IA32_DS_AREA
 * and IA32_PEBS_ENABLE. */
bool need_debug_control_write(char *reason, size_t size);
bool need_ds_write(char *reason, size_t size);
bool need_debug_control(char *reason, size_t size);	/* IA32_DEBUGCTL is the processor's */
bool need_any_thread(char *reason, size_t size);	/* IA32_PERFEVTSELx[21] can be set */
bool need_offcore(char *reason, size_t size);		/* off-core response: a register or two */
bool need_offcore_2(char *reason, size_t size);		/* two */
bool need_four_counters_only(char *reason, size_t size);
bool need_branches(char *reason, size_t size);		/* the architectural branch event */
bool need_mispredicts(char *reason, size_t size);	/* that of mispredicted branches */
bool need_instructions(char *reason, size_t size);	/* the architectural instruction event */
bool need_cycles(char *reason, size_t size);		/* the architectural core cycle event */
bool need_slots(char *reason, size_t size);
bool need_events(char *reason, size_t size);		/* the rows of spec/event.def apply */
/* Loads of spec/event.def or, where no row applies, architectural branches: sampling_any_event().
 */
bool need_loads_or_branches(char *reason, size_t size);
bool need_store_sample(char *reason, size_t size);	/* MEM_TRANS_RETIRED.STORE_SAMPLE */
bool need_pdist(char *reason, size_t size);		/* precise distribution, of IA32_PMC0 too */
bool need_pdist_of_pmc1(char *reason, size_t size);	/* and of IA32_PMC1 */
bool need_pebs(char *reason, size_t size);		/* PEBS, DTES64, a record with registers */
bool need_any_pebs(char *reason, size_t size);		/* the same, or the basic group alone */
bool need_pebs_available(char *reason,
			 size_t size); /* by CPUID and IA32_MISC_ENABLE, whatever its records */
bool need_format4(char *reason, size_t size);		/* PEBS with the records of format 4 */
bool need_baseline(char *reason, size_t size);		/* and IA32_PERF_CAPABILITIES[14] */
bool need_no_baseline(char *reason, size_t size);	/* IA32_PERF_CAPABILITIES[14] is 0 */
bool need_metrics(char *reason, size_t size);		/* IA32_PERF_CAPABILITIES[15] */
bool need_fixed_3(char *reason, size_t size);		/* fixed counter 3 */
bool need_format1(char *reason, size_t size);		/* PEBS with Table 18-23's record */
bool need_format2(char *reason, size_t size);		/* PEBS with Table 18-44's record */
bool need_format3(char *reason, size_t size);		/* PEBS with Table 18-55's record */
bool need_eventing_ip(char *reason, size_t size);	/* PEBS with EventingIP in the record */
bool need_status_image(char *reason, size_t size);	/* PEBS with a status in the record */
bool need_data_address(char *reason, size_t size);	/* 4th generation facilities */

/*
 * Needs for other processors. A test that uses one runs on the first processor, which gives the
 * other one its work, whichever processors the other tests run on.
 */
bool need_second_processor(char *reason, size_t size);
bool need_partner(char *reason, size_t size);	/* a second one of the same type of core */
bool need_sibling_thread(char *reason, size_t size);	/* of the first processor's core */
bool need_other_core(char *reason, size_t size);
bool need_other_kind(char *reason, size_t size); /* of core: CPUID.1AH */
/* Is one of these among them? */
bool needs_others(const struct test_case *c);
bool need_pdir(char *reason, size_t size);
bool need_load_latency(char *reason, size_t size);
bool need_stlb_lock(char *reason, size_t size);		/* data source bits 4 and 5 */
bool need_precise_store(char *reason, size_t size);
bool need_uncore(char *reason, size_t size);		/* Nehalem's and Westmere's */

#endif
