/* SPDX-License-Identifier: MIT */
/*
 * Page walks: DTLB_LOAD_MISSES.WALK_COMPLETED and DTLB_STORE_MISSES.WALK_COMPLETED, whose codes
 * changed with Golden Cove. The manual doesn't say how many walks a load begins, so the tests only
 * check that there is at least one.
 */
#include "kernel/output/fmt.h"
#include "pmu/event.h"
#include "tests/frame/needs.h"
#include "tests/measure/window.h"

#define ROUNDS	200u

static bool need_page_walks(char *reason, size_t size)
{
	struct event event;

	if (event_get(EK_STLB_MISS_LOADS, EV_WALK, &event) &&
	    event_get(EK_STLB_MISS_STORES, EV_WALK, &event))
		return true;
	fmt_print(reason, size, "no events of page walks known for family %02x model %02x",
		  counter_caps()->family, counter_caps()->model);
	return false;
}

/*
 * HYB-20  Page walks of loads and stores must be events 0E12H and 0E13H on P-cores from Golden
 *         Cove on, 0E08H and 0E49H on those before it and on E-cores.
 *         intel/perfmon DTLB_LOAD_MISSES.WALK_COMPLETED, DTLB_STORE_MISSES.WALK_COMPLETED
 *
 * Given  the events of completed page walks, 0E12H and 0E13H on P-cores from Golden Cove on, 0E08H
 *        and 0E49H elsewhere
 * When   loads and stores run, each right after the INVLPG of its page
 * Then   each counter that has the events counts walks of the loads, and walks of the stores
 */
TEST(count, page_walks_of_loads_and_stores_are_counted, REQS(HYB_20),
     NEEDS(need_perfmon, need_events, need_page_walks))
{
	for (unsigned store = 0; store < 2; store++) {
		struct event event = { .code = 0 };

		event_get(store ? EK_STLB_MISS_STORES : EK_STLB_MISS_LOADS, EV_WALK, &event);
		FOR_EACH_COUNTER (c, event.counters & counters_gp().bits) {
			u64 walks;

			if (!window_count_one(t, c, event.code, COUNT_BOTH,
					      store ? &workload_fresh_page_store :
						      &workload_fresh_page,
					      ROUNDS, &walks))
				return;
			CHECK_RANGE(t, HYB_20, 1, ~0ULL, walks,
				    "walks of %u %s after INVLPG, event %#x on IA32_PMC%u", ROUNDS,
				    store ? "stores" : "loads", event.code, c);
		}
	}
}
