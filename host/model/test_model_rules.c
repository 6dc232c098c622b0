/* SPDX-License-Identifier: MIT */
/*
 * Every rule of rules/ holds on the correct processor. host.mk builds this twice: with the model as
 * it is, and with the model without faults.
 */
#include "host/check.h"
#include "host/fault_names.h"
#include "host/model/rules/rules.h"

static void each_rule_holds_on_the_correct_processor(void)
{
	for (unsigned hyper_threading = 0; hyper_threading < 2; hyper_threading++)
		for (unsigned f = FAULT_NONE + 1; f < FAULT_COUNT; f++)
			CHECK(rule_holds(f, FAULT_NONE, hyper_threading), "the rule of %s",
			      fault_names[f]);
}

int main(void)
{
	RUN(each_rule_holds_on_the_correct_processor);
	return check_end();
}
