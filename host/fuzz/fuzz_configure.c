/* SPDX-License-Identifier: MIT */
/*
 * The hypercall CONFIGURE: any bytes. An accepted configuration is in range, and a model can begin
 * with it; all others are refused. The bytes overwrite a configuration without any knob, so that
 * short inputs can be accepted.
 */
#include <stdlib.h>
#include <string.h>

#include "host/model/fixture.h"
#include "refpmu/faults/fault.h"
#include "refpmu/vmm/configure.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static const struct {
	u32 low, high;
} range[LAT_COUNT] = {
#define LATITUDE(token, name, low, high, source) [LAT_##token] = { low, high },
#include "refpmu/model/latitude.def"
};

static void check(const struct model_config *config)
{
	if (config->generation >= GEN_COUNT || config->fault >= FAULT_COUNT ||
	    config->latitude.profile >= PROFILE_COUNT ||
	    config->latitude.set >= LATITUDE_BIT(LAT_COUNT) ||
	    (config->when.one_counter && config->when.counter >= FAULT_COUNTERS))
		abort();
	for (unsigned i = 0; i < LAT_COUNT; i++)
		if ((config->latitude.set & LATITUDE_BIT(i)) &&
		    (config->latitude.value[i] < range[i].low ||
		     config->latitude.value[i] > range[i].high))
			abort();
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct model_config config = { .generation = GEN_NEHALEM };
	static struct fixture r;

	memcpy(&config, data, size < sizeof(config) ? size : sizeof(config));
	if (configure_check(&config) != HYPERCALL_DONE)
		return 0;
	check(&config);
	if (config.generation < GEN_ARCH_COUNT)
		fixture_open_config(&r, &config);
	return 0;
}
