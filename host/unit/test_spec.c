/* SPDX-License-Identifier: MIT */
/*
 * The tables of spec/ are well formed: ids are unique and spelled as their tokens, fields of one
 * register don't overlap, rows name rows that exist. The golden vectors check the contents of the
 * rows.
 */
#include "host/check.h"

#include <ctype.h>

#include "spec/data_source.h"
#include "spec/event.h"
#include "refpmu/faults/fault_id.h"
#include "spec/generation.h"
#include "refpmu/model/latitude_id.h"
#include "spec/msr.h"
#include "claims/requirement.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct requirement_row {
	const char *token, *id, *group, *gens, *source, *sentence;
	enum authority authority;
	enum observable silicon, kvm, reference;
};

static const struct requirement_row requirements[] = {
#define REQUIREMENT(token, id, group, authority, silicon, kvm, reference, gens, source, sentence) \
	{ #token, id, group, gens, source, sentence, authority, silicon, kvm, reference },
#include "claims/requirement.def"
};

struct field_row {
	const char *msr, *field, *source;
	unsigned lo, hi, cap;
};

static const struct field_row fields[] = {
#define MSR_FIELD(msr, field, lo, hi, cap, access, source) { #msr, #field, source, lo, hi, cap },
#include "spec/msr.def"
};

static const struct {
	const char *name, *source;
	u32 address;
	unsigned cap;
} msrs[] = {
#define MSR(name, address, cap, source) { #name, source, address, cap },
#include "spec/msr.def"
};

static const struct {
	const char *name, *requirements, *sentence;
} faults[] = {
#define FAULT(token, name, requirements, sentence, ...) { name, requirements, sentence },
#include "refpmu/faults/fault.def"
};

static const struct {
	const char *name, *source;
	u64 low, high;
} latitudes[] = {
#define LATITUDE(token, name, low, high, source) { name, source, low, high },
#include "refpmu/model/latitude.def"
};

static const struct {
	const char *name;
	unsigned gens, code, kind, flags, counters, sure, min_period, period_unit;
} events[] = {
#define EVENT_ON(gens, name, flags, counters, sure, min_period, period_unit, source) \
	{ #name, gens, EVENT_##name, EVENT_KIND_##name, flags, counters, sure, min_period, \
	  period_unit },
#include "spec/event.def"
};

static const struct requirement_row *requirement_find(const char *id, size_t length)
{
	for (size_t i = 0; i < COUNT(requirements); i++)
		if (strlen(requirements[i].id) == length && !memcmp(requirements[i].id, id, length))
			return &requirements[i];
	return NULL;
}

static void requirement_ids_are_unique(void)
{
	for (size_t i = 0; i < COUNT(requirements); i++)
		for (size_t j = 0; j < i; j++)
			CHECK(strcmp(requirements[i].id, requirements[j].id), "%s twice",
			      requirements[i].id);
}

/* Token PRIO_01 is id "PRIO-01" of group "PRIO"; a group may itself have a hyphen. */
static void requirement_ids_are_spelled_as_tokens(void)
{
	for (size_t i = 0; i < COUNT(requirements); i++) {
		const struct requirement_row *r = &requirements[i];
		char token[32];
		size_t n = strlen(r->id), g = strlen(r->group);

		if (!CHECK(n < sizeof(token), "%s", r->id))
			continue;
		for (size_t k = 0; k <= n; k++)
			token[k] = r->id[k] == '-' ? '_' : r->id[k];
		CHECK_STR(r->token, token);
		CHECK(n == g + 3 && !memcmp(r->id, r->group, g) && r->id[g] == '-' &&
			      isdigit(r->id[g + 1]) && isdigit(r->id[g + 2]),
		      "%s of %s", r->id, r->group);
	}
}

static void requirement_sentences_are_sentences(void)
{
	for (size_t i = 0; i < COUNT(requirements); i++) {
		const struct requirement_row *r = &requirements[i];
		size_t n = strlen(r->sentence);

		if (!CHECK(n > 10, "%s has no sentence", r->id))
			continue;
		CHECK(isupper((unsigned char)r->sentence[0]) ||
			      isdigit((unsigned char)r->sentence[0]),
		      "%s: %s", r->id, r->sentence);
		CHECK(r->sentence[n - 1] == '.', "%s: %s", r->id, r->sentence);
		CHECK(strchr(r->sentence, '\n') == NULL && !strstr(r->sentence, "  "), "%s", r->id);
		CHECK(r->source[0] && r->gens[0], "%s has no source or no generations", r->id);
	}
}

/* The rows of a group are together, and the numbers in a group rise. */
static void requirement_rows_are_in_order(void)
{
	for (size_t i = 1; i < COUNT(requirements); i++) {
		const struct requirement_row *r = &requirements[i], *before = r - 1;

		if (!strcmp(r->group, before->group)) {
			CHECK(strcmp(before->id, r->id) < 0, "%s after %s", r->id, before->id);
			continue;
		}
		for (size_t j = 0; j < i; j++)
			CHECK(strcmp(requirements[j].group, r->group), "%s again at %s", r->group,
			      r->id);
	}
}

static void msr_addresses_and_names_are_unique(void)
{
	for (size_t i = 0; i < COUNT(msrs); i++) {
		CHECK(msrs[i].source[0], "%s has no source", msrs[i].name);
		for (size_t j = 0; j < i; j++) {
			/* The uncore is older than version 4: no processor has both. */
			if (msrs[i].cap == CAP_V4 && msrs[j].cap == CAP_UNCORE)
				continue;
			CHECK(msrs[i].address != msrs[j].address, "%s and %s", msrs[i].name,
			      msrs[j].name);
			CHECK(strcmp(msrs[i].name, msrs[j].name), "%s twice", msrs[i].name);
		}
	}
}

static void msr_fields_are_disjoint_and_whole(void)
{
	for (size_t i = 0; i < COUNT(fields); i++) {
		const struct field_row *f = &fields[i];

		CHECK(f->lo <= f->hi && f->hi <= 63, "%s.%s", f->msr, f->field);
		CHECK(f->source[0], "%s.%s has no source", f->msr, f->field);
		for (size_t j = 0; j < i; j++) {
			const struct field_row *g = &fields[j];

			if (strcmp(f->msr, g->msr))
				continue;
			CHECK(strcmp(f->field, g->field), "%s.%s twice", f->msr, f->field);
			/* Two layouts of one register: no processor has both. */
			if ((f->cap == CAP_OFFCORE_SNB && g->cap == CAP_OFFCORE_NHM) ||
			    (f->cap == CAP_BASELINE_FIXED_MASK && g->cap == CAP_LL_MASK))
				continue;
			CHECK(f->lo > g->hi || g->lo > f->hi, "%s: %s overlaps %s", f->msr,
			      f->field, g->field);
		}
	}
}

/* Banks are named without their first number: IA32_PERFEVTSEL(0), OFFCORE_RSP(_0). */
static void msr_fields_belong_to_an_msr(void)
{
	for (size_t i = 0; i < COUNT(fields); i++) {
		size_t n = strlen(fields[i].msr);
		bool found = false;

		for (size_t j = 0; j < COUNT(msrs) && !found; j++)
			found = !strncmp(msrs[j].name, fields[i].msr, n) &&
				(!strcmp(msrs[j].name + n, "") || !strcmp(msrs[j].name + n, "0") ||
				 !strcmp(msrs[j].name + n, "_0"));
		CHECK(found, "%s.%s", fields[i].msr, fields[i].field);
	}
}

static void faults_name_existing_requirements(void)
{
	for (size_t i = 0; i < COUNT(faults); i++) {
		const char *list = faults[i].requirements;

		if (!strcmp(list, "ALL"))
			continue;
		for (;;) {
			size_t n = strcspn(list, ",");

			CHECK(requirement_find(list, n), "%s: %.*s", faults[i].name, (int)n, list);
			if (!list[n])
				break;
			list += n + 1;
		}
	}
}

/* A fault is useful only if a breach of its requirement can be seen on the reference PMU. */
static void faults_break_what_can_be_seen(void)
{
	for (size_t i = 0; i < COUNT(faults); i++) {
		const char *list = faults[i].requirements;
		bool judged = !strcmp(list, "ALL");

		while (!judged && *list) {
			size_t n = strcspn(list, ",");
			const struct requirement_row *r = requirement_find(list, n);

			judged = r && r->reference != OBS_NONE;
			list += n + (list[n] == ',');
		}
		CHECK(judged, "%s: nothing of %s can be seen", faults[i].name,
		      faults[i].requirements);
	}
}

static bool name_is_plain(const char *name)
{
	for (; *name; name++)
		if (!islower((unsigned char)*name) && !isdigit((unsigned char)*name) &&
		    *name != '-')
			return false;
	return true;
}

static void fault_names_are_unique_and_plain(void)
{
	bool inert = false;

	for (size_t i = 0; i < COUNT(faults); i++) {
		CHECK(name_is_plain(faults[i].name), "%s", faults[i].name);
		CHECK(faults[i].sentence[0], "%s has no sentence", faults[i].name);
		inert |= !strcmp(faults[i].name, "inert");
		for (size_t j = 0; j < i; j++)
			CHECK(strcmp(faults[i].name, faults[j].name), "%s twice", faults[i].name);
	}
	CHECK(inert, "inert is always one of the faults");
	CHECK(COUNT(faults) >= 15);
	CHECK_EQ(COUNT(faults) + 1, FAULT_COUNT);
}

static void latitude_ranges_are_ranges(void)
{
	for (size_t i = 0; i < COUNT(latitudes); i++) {
		CHECK(latitudes[i].low < latitudes[i].high, "%s", latitudes[i].name);
		CHECK(name_is_plain(latitudes[i].name) && latitudes[i].source[0], "%s",
		      latitudes[i].name);
		for (size_t j = 0; j < i; j++)
			CHECK(strcmp(latitudes[i].name, latitudes[j].name), "%s twice",
			      latitudes[i].name);
	}
}

static void event_codes_are_unique_and_usable(void)
{
	for (size_t i = 0; i < COUNT(events); i++) {
		CHECK(events[i].counters, "%s has no counter", events[i].name);
		CHECK(events[i].min_period >= 1, "%s", events[i].name);
		CHECK(!(events[i].flags & (EV_DLA | EV_STORE_L1 | EV_PDIR)) ||
			      events[i].flags & EV_PEBS,
		      "%s: a record's contents without PEBS", events[i].name);
		CHECK(events[i].sure && !(events[i].sure & ~events[i].counters),
		      "%s is sure of counters that it hasn't got", events[i].name);
		CHECK(events[i].period_unit && !(events[i].min_period % events[i].period_unit),
		      "%s", events[i].name);
		CHECK(events[i].kind != EK_NONE, "%s counts nothing", events[i].name);
		CHECK(events[i].gens && !(events[i].gens & ~(unsigned)GENS_ARCH), "%s",
		      events[i].name);
		for (size_t j = 0; j < i; j++)
			CHECK(events[i].code != events[j].code ||
				      !(events[i].gens & events[j].gens),
			      "%s and %s", events[i].name, events[j].name);
	}
}

static const struct {
	unsigned gens, code, outcome, authority;
} sources[] = {
#define DATA_SOURCE(gens, code, outcome, authority, title, source) \
	{ gens, code, outcome, authority },
#include "spec/data_source.def"
};

static const struct {
	const char *facility;
	unsigned gens, lo, hi;
} source_fields[] = {
#define DATA_SOURCE_FIELD(gens, facility, field, lo, hi, title, source) { #facility, gens, lo, hi },
#include "spec/data_source.def"
};

static void data_sources_have_one_meaning_a_generation(void)
{
	for (size_t i = 0; i < COUNT(sources); i++) {
		CHECK(sources[i].code <= 0xff && sources[i].outcome < MEM_OUTCOMES, "%#x",
		      sources[i].code);
		for (size_t j = 0; j < i; j++)
			CHECK(!(sources[i].gens & sources[j].gens) ||
				      ((sources[i].code != sources[j].code ||
					sources[i].authority == AUTH_PRACTICE) &&
				       sources[i].outcome != sources[j].outcome),
			      "%#x and %#x", sources[i].code, sources[j].code);
	}
	for (size_t i = 0; i < COUNT(source_fields); i++)
		for (size_t j = 0; j < i; j++)
			CHECK(strcmp(source_fields[i].facility, source_fields[j].facility) ||
				      !(source_fields[i].gens & source_fields[j].gens) ||
			      source_fields[i].lo > source_fields[j].hi, "%s: bits %u and %u",
			      source_fields[i].facility, source_fields[i].lo,
			      source_fields[j].hi);
}

int main(void)
{
	RUN(requirement_ids_are_unique);
	RUN(requirement_ids_are_spelled_as_tokens);
	RUN(requirement_sentences_are_sentences);
	RUN(requirement_rows_are_in_order);
	RUN(msr_addresses_and_names_are_unique);
	RUN(msr_fields_are_disjoint_and_whole);
	RUN(msr_fields_belong_to_an_msr);
	RUN(faults_name_existing_requirements);
	RUN(faults_break_what_can_be_seen);
	RUN(fault_names_are_unique_and_plain);
	RUN(latitude_ranges_are_ranges);
	RUN(event_codes_are_unique_and_usable);
	RUN(data_sources_have_one_meaning_a_generation);
	return check_end();
}
