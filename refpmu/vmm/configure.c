/* SPDX-License-Identifier: MIT */
/* See configure.h. */
#include "refpmu/vmm/configure.h"
#include "refpmu/faults/fault_id.h"
#include "refpmu/model/model.h"

_Static_assert(LAT_COUNT <= HYPERCALL_KNOBS, "knobs of a request");

static bool knobs_are_valid(const struct hypercall_configure *request)
{
	if (request->latitude_set > BITS(0, LAT_COUNT - 1))
		return false;
	for (unsigned i = 0; i < LAT_COUNT; i++)
		if ((request->latitude_set & BIT(i)) &&
		    !model_latitude_allows((enum latitude_id)i, request->latitude[i]))
			return false;
	return true;
}

static bool is_valid(const struct hypercall_configure *request)
{
	return request->generation < GEN_COUNT && request->hyper_threading <= 1 &&
	       request->fault < FAULT_COUNT && request->page_crossing <= 1 &&
	       !(request->conditions & ~(u32)FAULT_CONDITIONS) &&
	       (request->counter < FAULT_COUNTERS ||
		request->counter == HYPERCALL_ANY_COUNTER) &&
	       request->profile < PROFILE_COUNT && knobs_are_valid(request);
}

bool configure(const struct hypercall_configure *request, struct model_config *config)
{
	if (!is_valid(request))
		return false;
	*config = (struct model_config){
		.generation = (enum generation_id)request->generation,
		.hyper_threading = request->hyper_threading,
		.fault = (enum fault_id)request->fault,
		.when = {
			.one_counter = request->counter != HYPERCALL_ANY_COUNTER,
			.counter = (u8)request->counter,
			.page_crossing = request->page_crossing,
			.conditions = request->conditions,
			.nth = request->nth,
			.from = request->from,
			.every = request->every,
		},
		.latitude = {
			.seed = request->seed,
			.profile = (enum profile_id)request->profile,
			.set = request->latitude_set,
		},
	};
	for (unsigned i = 0; i < LAT_COUNT; i++)
		config->latitude.value[i] = request->latitude[i];
	return true;
}
