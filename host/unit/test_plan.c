/* SPDX-License-Identifier: MIT */
/* The launcher's plan: the grammar in its header, the defaults, and refusals with the line's
 * number. */
#include "host/check.h"
#include "host/fault_names.h"

#include "refpmu/faults/fault_id.h"
#include "refpmu/launch/plan.h"

static struct plan plan;
static struct plan_run run;
static const char *reason;

static void open_plan(const char *text)
{
	plan_open(&plan, text, strlen(text));
	reason = NULL;
}

static enum plan_result next(void)
{
	return plan_next(&plan, &run, &reason);
}

static void empty_plans_end(void)
{
	static const char *const empty[] = {
		"", "\n", "  \n\t\n", "# only\n# comments", "\r\n\r\n",
	};

	for (size_t i = 0; i < sizeof(empty) / sizeof(empty[0]); i++) {
		open_plan(empty[i]);
		CHECK_EQ(PLAN_END, next(), "\"%s\"", empty[i]);
		CHECK_EQ(PLAN_END, next(), "and stays ended");
	}
}

static void defaults_are_the_documented_ones(void)
{
	open_plan("run efi=\\pmutest86.efi");
	CHECK_EQ(PLAN_RUN, next(), "%s", reason ? reason : "");
	CHECK_EQ(GEN_HASWELL, run.config.generation);
	CHECK_EQ(FAULT_NONE, run.config.fault);
	CHECK_STR("haswell", run.cpu_name);
	CHECK_STR("none", run.fault_name);
	CHECK_EQ(0, run.config.latitude.seed);
	CHECK(run.config.hyper_threading);
	CHECK(!run.keep);
	CHECK_EQ(ENGINE_DIRECT, run.engine);
	CHECK_STR("\\pmutest86.efi", run.efi);
	CHECK_STR("", run.args);
	CHECK_EQ(PLAN_END, next());
}

static void every_word_is_taken_in_any_order(void)
{
	open_plan("# two runs\n\n"
		  "run cpu=haswell fault=inert seed=7 engine=step ht=0 efi=\\a.efi "
		  "args=tests=pmi.* verbose=on\r\n"
		  "run\tefi=\\b.efi  seed=0xffffffffffffffff\tht=1 fault=gpr-order "
		  "engine=fast keep=1\n");
	CHECK_EQ(PLAN_RUN, next(), "%s", reason ? reason : "");
	CHECK_EQ(FAULT_INERT, run.config.fault);
	CHECK_EQ(7, run.config.latitude.seed);
	CHECK(!run.config.hyper_threading);
	CHECK_EQ(ENGINE_STEP, run.engine);
	CHECK_STR("tests=pmi.* verbose=on", run.args);
	CHECK_EQ(3, plan.line);
	CHECK_EQ(PLAN_RUN, next(), "%s", reason ? reason : "");
	CHECK_EQ(FAULT_GPR_ORDER, run.config.fault);
	CHECK_STR("gpr-order", run.fault_name);
	CHECK_EQ(~0ULL, run.config.latitude.seed);
	CHECK_EQ(ENGINE_FAST, run.engine);
	CHECK(run.keep);
	CHECK_STR("", run.args, "nothing is left over from the run before");
	CHECK_EQ(PLAN_END, next());
}

static void faults_have_parameters(void)
{
	open_plan("run efi=\\a.efi fault=rax-zero@pmc3@nth=100");
	CHECK_EQ(PLAN_RUN, next(), "%s", reason ? reason : "");
	CHECK_EQ(FAULT_RAX_ZERO, run.config.fault);
	CHECK_STR("rax-zero@pmc3@nth=100", run.fault_name);
	CHECK(run.config.when.one_counter);
	CHECK_EQ(3, run.config.when.counter);
	CHECK_EQ(100, run.config.when.nth);
}

static void latitude_and_profile(void)
{
	open_plan("run latitude=pmi-skid:2000,masked-pmi:1 profile=kvm efi=\\a.efi\n"
		  "run efi=\\a.efi");
	CHECK_EQ(PLAN_RUN, next(), "%s", reason ? reason : "");
	CHECK_EQ(PROFILE_KVM, run.config.latitude.profile);
	CHECK_STR("kvm", run.profile_name);
	CHECK_EQ(BIT(LAT_PMI_SKID) | BIT(LAT_MASKED_PMI), (u64)run.config.latitude.set);
	CHECK_EQ(2000, run.config.latitude.value[LAT_PMI_SKID]);
	CHECK_EQ(1, run.config.latitude.value[LAT_MASKED_PMI]);
	CHECK_EQ(PLAN_RUN, next());
	CHECK_EQ(PROFILE_NONE, run.config.latitude.profile);
	CHECK_STR("none", run.profile_name);
	CHECK_EQ(0, (u64)run.config.latitude.set);
}

static void every_fault_has_its_name(void)
{
	for (unsigned i = FAULT_NONE + 1; i < FAULT_COUNT; i++) {
		char text[128];

		snprintf(text, sizeof(text), "run efi=\\x.efi fault=%s", fault_names[i]);
		open_plan(text);
		CHECK_EQ(PLAN_RUN, next(), "%s: %s", fault_names[i], reason ? reason : "");
		CHECK_EQ(i, run.config.fault, "%s", fault_names[i]);
		CHECK_STR(fault_names[i], run.fault_name);
	}
}

static void bad_lines_are_refused_with_a_reason(void)
{
	static const char *const bad[] = {
		"walk efi=\\x.efi", "run", "run seed=1", "run efi=", "run efi=\\x.efi cpu=pentium",
		"run efi=\\x.efi fault=nothing", "run efi=\\x.efi seed=", "run efi=\\x.efi seed=-1",
		"run efi=\\x.efi seed=18446744073709551616", "run efi=\\x.efi ht=2",
		"run efi=\\x.efi keep=2",
		"run efi=\\x.efi ht=", "run efi=\\x.efi seed=1 seed=2",
		"run efi=\\x.efi efi=\\y.efi",
		"run efi=\\x.efi colour=red", "run efi=\\x.efi extra", "runefi=\\x.efi",
		"run efi=\\x.efi fault=rax-zero@pmc10", "run efi=\\x.efi fault=rax-zero@",
		"run efi=\\x.efi profile=", "run efi=\\x.efi profile=xen",
		"run efi=\\x.efi latitude=", "run efi=\\x.efi latitude=pmi-skid",
		"run efi=\\x.efi latitude=pmi-skid:", "run efi=\\x.efi latitude=pmi-skid:2001",
		"run efi=\\x.efi latitude=pmi-skid:1,pmi-skid:2",
		"run efi=\\x.efi latitude=pmi-skid:1,", "run efi=\\x.efi latitude=skid:1",
		"run efi=\\x.efi latitude=cycles-per-instruction:0",
		"run efi=\\x.efi engine=", "run efi=\\x.efi engine=slow",
		"run efi=\\x.efi engine=fast engine=step",
		"run efi=\\x.efi fault=gpr-orde", "run efi=\\x.efi fault=gpr-orders",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char text[128];

		snprintf(text, sizeof(text), "# first\nrun efi=\\ok.efi\n%s\n", bad[i]);
		open_plan(text);
		CHECK_EQ(PLAN_RUN, next());
		CHECK_EQ(PLAN_BAD, next(), "\"%s\"", bad[i]);
		CHECK_EQ(3, plan.line, "\"%s\"", bad[i]);
		CHECK(reason && reason[0] && !strchr(reason, '\n'), "\"%s\"", bad[i]);
	}
}

static void long_words_are_refused_not_cut(void)
{
	char text[2048];

	for (size_t n = PLAN_PATH_SIZE - 4; n < PLAN_PATH_SIZE + 4; n++) {
		snprintf(text, sizeof(text), "run efi=%0*d", (int)n, 0);
		open_plan(text);
		if (n < PLAN_PATH_SIZE) {
			CHECK_EQ(PLAN_RUN, next(), "%zu", n);
			CHECK_EQ(n, strlen(run.efi));
		} else {
			CHECK_EQ(PLAN_BAD, next(), "%zu", n);
		}
	}
	for (size_t n = PLAN_ARGS_SIZE - 4; n < PLAN_ARGS_SIZE + 4; n++) {
		snprintf(text, sizeof(text), "run efi=x args=%0*d", (int)n, 0);
		open_plan(text);
		CHECK_EQ(n < PLAN_ARGS_SIZE ? PLAN_RUN : PLAN_BAD, next(), "%zu", n);
	}
}

static void length_ends_the_text(void)
{
	plan_open(&plan, "run efi=\\a.efirun efi=\\b.efi", 14);
	CHECK_EQ(PLAN_RUN, next());
	CHECK_STR("\\a.efi", run.efi);
	CHECK_EQ(PLAN_END, next());
}

int main(void)
{
	RUN(empty_plans_end);
	RUN(defaults_are_the_documented_ones);
	RUN(every_word_is_taken_in_any_order);
	RUN(faults_have_parameters);
	RUN(latitude_and_profile);
	RUN(every_fault_has_its_name);
	RUN(bad_lines_are_refused_with_a_reason);
	RUN(long_words_are_refused_not_cut);
	RUN(length_ends_the_text);
	return check_end();
}
