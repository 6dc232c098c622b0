/* SPDX-License-Identifier: MIT */
/* The column of generations: every form that a row of claims/requirement.def uses. */
#include "host/check.h"

#include "tests/frame/applies.h"

static bool on(const char *column, const char *code)
{
	/* Full-width writes exist from Sandy Bridge on; version 3 is that of Nehalem to
	 * Broadwell. */
	struct applicant to = {
		code, 3, strcmp(code, "NHM") && strcmp(code, "WSM"), false, 1, false, false
	};

	return applies(column, &to);
}

static void one_generation_is_that_one(void)
{
	CHECK(on("NHM", "NHM"));
	CHECK(!on("NHM", "WSM"));
	CHECK(on("SNB", "IVB") && on("HSW", "BDW"), "Ivy Bridge, Broadwell go with their elders");
	CHECK(!on("SNB", "HSW") && !on("IVB", "SNB") && !on("BDW", "HSW"));
	CHECK(on("NHM, WSM", "WSM") && !on("NHM, WSM", "SNB"));
	CHECK(!on("Goldmont+", "HSW"));
}

static void ranges_end_where_they_say(void)
{
	CHECK(on("NHM+", "BDW") && on("SNB+", "SNB") && !on("SNB+", "WSM"));
	CHECK(on("NHM-SNB", "IVB") && !on("NHM-SNB", "HSW"));
	CHECK(on("HSW-SKL", "BDW") && !on("HSW-SKL", "IVB"));
	CHECK(on("C2+", "NHM") && !on("C2", "NHM"));
}

static void versions_are_compared(void)
{
	CHECK(on("v1+", "HSW") && on("v3", "HSW") && on("v2, v3", "HSW"));
	CHECK(!on("v4+", "HSW") && !on("v2", "HSW"));
	CHECK(on("all", "NHM"));
}

static void conditions_do_not_name_processors(void)
{
	CHECK(on("v3, v4 with HT", "HSW"));
	CHECK(on("HSW-SKL with RTM", "HSW") && !on("HSW-SKL with RTM", "SNB"));
	CHECK(on("NHM-BDW client", "BDW"));
	CHECK(applies_to_all_models("v2, v3") && applies_to_all_models("v1+ with FW_WRITE") &&
	      applies_to_all_models("v1+ without FW_WRITE") && applies_to_all_models("all"));
	CHECK(!applies_to_all_models("NHM+") && !applies_to_all_models("HSW, BDW"));
	CHECK(applies_with_transactions("HSW-SKL with RTM") &&
	      applies_with_transactions("HSW+ with TSX"));
	CHECK(!applies_with_transactions("v1+ with FW_WRITE") && !applies_with_transactions("HSW"));
	CHECK(!on("ICL+, formats 4 and 5", "HSW"));
	CHECK(on("v1+ with FW_WRITE", "SNB") && !on("v1+ with FW_WRITE", "NHM"));
	CHECK(on("v1+ without FW_WRITE", "NHM") && !on("v1+ without FW_WRITE", "SNB"));
}

static void facilities_are_looked_at(void)
{
	struct applicant to = { "SKL", 5, true, false, 4, false, false };

	for (unsigned format = 0; format < 16; format++) {
		to.pebs_format = format;
		CHECK_EQ(format >= 5 && format < 15, applies("v5+ with format 5", &to), "%u",
			 format);
		CHECK_EQ(format >= 6 && format < 15, applies("v5+ with format 6", &to), "%u",
			 format);
		CHECK_EQ(format == 15, applies("v5+ with architectural PEBS", &to), "%u", format);
		CHECK_EQ(format != 15, applies("NHM+ with a DS area for PEBS", &to), "%u", format);
		CHECK_EQ(format != 15, applies("C2+ with DTES64 and a DS area for PEBS", &to), "%u",
			 format);
	}
	CHECK(!applies("v5+ with leaf 23H", &to) && !applies("v1+ with an absent event", &to));
	to.absent_event = true;
	CHECK(applies("v1+ with an absent event", &to));
	to.leaf_23h = true;
	CHECK(applies("v5+ with leaf 23H", &to));
	to.version = 4;
	to.pebs_format = 6;
	CHECK(!applies("v5+ with leaf 23H", &to) && !applies("v5+ with format 6", &to));
	CHECK(applies_to_all_models("v5+ with format 6") &&
	      applies_to_all_models("v5+ with leaf 23H") &&
	      applies_to_all_models("v6+ with architectural PEBS"));
}

static void an_unknown_processor_is_of_any_generation(void)
{
	struct applicant unknown = { NULL, 2, false, false, 1, false, false };

	CHECK(applies("SNB", &unknown) && applies("v2+", &unknown) && !applies("v3", &unknown));
}

static void a_guest_of_kvm_is_what_cpuid_says(void)
{
	struct applicant guest = { "HSW", 2, true, true, 4, false, false };

	CHECK(applies("KVM", &guest) && applies("v2+", &guest) && !applies("v3+", &guest));
	CHECK(!on("KVM", "HSW") && !applies_to_all_models("KVM"));
}

int main(void)
{
	RUN(one_generation_is_that_one);
	RUN(ranges_end_where_they_say);
	RUN(versions_are_compared);
	RUN(conditions_do_not_name_processors);
	RUN(facilities_are_looked_at);
	RUN(an_unknown_processor_is_of_any_generation);
	RUN(a_guest_of_kvm_is_what_cpuid_says);
	return check_end();
}
