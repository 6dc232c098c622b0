/* SPDX-License-Identifier: MIT */
/*
 * Names of faults with parameters, as documented in refpmu/model/fault_when.h, and refusals with
 * reasons.
 */
#include "host/check.h"
#include "host/fault_names.h"

#include "refpmu/launch/fault.h"

static enum fault_id fault;
static struct fault_when when;

static const char *parse(const char *text)
{
	return launch_fault((struct span){ text, strlen(text) }, &fault, &when);
}

static void names_alone_act_always(void)
{
	CHECK(!parse("rax-zero"));
	CHECK_EQ(FAULT_RAX_ZERO, fault);
	CHECK(!when.one_counter && !when.page_crossing && !when.nth && !when.every);
	CHECK(!parse("none"));
	CHECK_EQ(FAULT_NONE, fault);
}

static void parameters_in_any_order(void)
{
	CHECK(!parse("rax-zero@page-crossing@nth=100@pmc3"));
	CHECK(when.one_counter && when.counter == 3 && when.page_crossing);
	CHECK_EQ(100, when.nth);
	CHECK_EQ(0, when.every);
	CHECK(!parse("gp-pmi-lost@1in50@pmc0"));
	CHECK(when.one_counter && when.counter == 0 && !when.page_crossing);
	CHECK_EQ(50, when.every);
	CHECK(!parse("status-dropped@fixed2"));
	CHECK_EQ(12, when.counter);
	CHECK(!parse("inert@nth=4294967295"));
	CHECK_EQ(4294967295, when.nth);
}

/* Every fault accepts a number. */
static void every_fault_takes_a_number(void)
{
	for (unsigned i = FAULT_NONE + 1; i < FAULT_COUNT; i++) {
		char text[128];

		snprintf(text, sizeof(text), "%s@nth=7", fault_names[i]);
		CHECK(!parse(text), "%s", fault_names[i]);
		CHECK_EQ(i, fault, "%s", fault_names[i]);
		CHECK_EQ(7, when.nth, "%s", fault_names[i]);
	}
}

static void scopes_are_kept(void)
{
	CHECK_STR("that fault isn't about one counter", parse("inert@pmc0"));
	CHECK_STR("that fault isn't about one record", parse("gp-pmi-lost@page-crossing"));
	CHECK(!parse("gpr-order@page-crossing"));
	CHECK(!parse("ia32-perfevtsel-reads-zero@pmc7"));
	CHECK(parse("ia32-debugctl-reads-zero@pmc0"));
}

static void conditions_add_up(void)
{
	CHECK(!parse("gp-pmi-lost@beside@cpl3@from=2@int"));
	CHECK_EQ(FAULT_BESIDE | FAULT_AT_CPL3 | FAULT_WITH_INT, when.conditions);
	CHECK_EQ(2, when.from);
	CHECK(!parse("inert@cpu1@cpl3"));
	CHECK_EQ(FAULT_ON_CPU1 | FAULT_AT_CPL3, when.conditions);
	CHECK_STR("that fault isn't about one counter", parse("inert@int"));
	CHECK_STR("that fault isn't about one counter", parse("inert@beside"));
	CHECK_STR("a condition of a fault twice", parse("rax-zero@cpl3@cpl3"));
}

static void bad_ones_have_a_reason(void)
{
	static const char *const bad[] = {
		"", "@", "@pmc0", "nothing", "rax-zer", "rax-zeros", "rax-zero@", "rax-zero@@pmc0",
		"rax-zero@pmc", "rax-zero@pmc10", "rax-zero@pmc00", "rax-zero@pmc-1",
		"rax-zero@pmc0x", "rax-zero@fixed7", "rax-zero@pmc1@pmc2", "rax-zero@pmc1@fixed1",
		"rax-zero@nth", "rax-zero@nth=", "rax-zero@nth=0", "rax-zero@nth=01",
		"rax-zero@nth=4294967296", "rax-zero@1in", "rax-zero@1in0", "rax-zero@1in2@1in3",
		"rax-zero@nth=1@1in2", "rax-zero@from=0", "rax-zero@from=2@nth=1",
		"rax-zero@cpl0", "rax-zero@cpu2", "rax-zero@nth=1@nth=1", "rax-zero@page",
		"rax-zero@PMC0",
		"rax-zero@page-crossing@", "none@pmc0", "none@nth=1",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const char *reason = parse(bad[i]);

		CHECK(reason && reason[0] && !strchr(reason, '\n'), "\"%s\"", bad[i]);
	}
}

int main(void)
{
	RUN(names_alone_act_always);
	RUN(parameters_in_any_order);
	RUN(every_fault_takes_a_number);
	RUN(scopes_are_kept);
	RUN(conditions_add_up);
	RUN(bad_ones_have_a_reason);
	return check_end();
}
