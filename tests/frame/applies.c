/* SPDX-License-Identifier: MIT */
/* Parses the column of generations, word by word. */
#include "tests/frame/applies.h"

static const struct {
	const char *code, *through;
} codes[] = {
#define GENERATION_CODE(code, through) { code, through },
#include "spec/generation.def"
};
#define CODES ((int)(sizeof(codes) / sizeof(codes[0])))

static bool begins(const char *text, size_t length, const char *with)
{
	size_t n = 0;

	while (n < length && with[n] && text[n] == with[n])
		n++;
	return !with[n];
}

static bool is(const char *word, size_t length, const char *text)
{
	return begins(word, length, text) && !text[length];
}

static bool contains(const char *text, const char *what)
{
	size_t n = 0;

	while (text[n])
		n++;
	for (size_t i = 0; i < n; i++)
		if (begins(text + i, n - i, what))
			return true;
	return false;
}

/* The code's index in codes[]. -1: the word is no code. */
static int place(const char *word, size_t length)
{
	for (int i = 0; i < CODES; i++)
		if (is(word, length, codes[i].code))
			return i;
	return -1;
}

static int place_of(const char *code)
{
	size_t n = 0;

	while (code[n])
		n++;
	return place(code, n);
}

static bool version_fits(const char *digits, size_t length, bool and_later, unsigned version)
{
	unsigned number = 0;

	for (size_t i = 0; i < length; i++)
		number = number * 10 + (unsigned)(digits[i] - '0');
	return version == number || (and_later && version > number);
}

static bool word_fits(const char *word, size_t length, const struct applicant *to)
{
	bool and_later = word[length - 1] == '+';
	size_t n = length - and_later, low = 0;
	int first, last;

	if (is(word, n, "all"))
		return true;
	if (is(word, n, "KVM"))
		return to->kvm;
	if (word[0] == 'v')
		return version_fits(word + 1, n - 1, and_later, to->version);
	while (low < n && word[low] != '-')
		low++;
	first = place(word, low);
	last = low < n ? place(word + low + 1, n - low - 1) : first;
	if (first < 0 || last < 0)
		return false;
	last = and_later ? CODES - 1 : place_of(codes[last].through);
	return !to->code || (first <= place_of(to->code) && place_of(to->code) <= last);
}

/* The value of IA32_PERF_CAPABILITIES[11:8] for architectural PEBS, which has no DS area. */
#define PEBS_FORMAT_ARCHITECTURAL 15u

static bool formats_fit(const char *generations, unsigned format)
{
	if (contains(generations, "with format 6"))
		return format >= 6 && format < PEBS_FORMAT_ARCHITECTURAL;
	if (contains(generations, "a DS area for PEBS") && format == PEBS_FORMAT_ARCHITECTURAL)
		return false;
	if (contains(generations, "with architectural PEBS"))
		return format == PEBS_FORMAT_ARCHITECTURAL;
	if (contains(generations, "with format 5"))
		return format >= 5 && format < PEBS_FORMAT_ARCHITECTURAL;
	return true;
}

bool applies_to_all_models(const char *generations)
{
	static const unsigned formats[] = { 6, PEBS_FORMAT_ARCHITECTURAL };

	for (unsigned version = 1; version <= 8; version++)
		for (unsigned i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
			struct applicant to = { "-", version, true, false, formats[i], true, true };

			if (applies(generations, &to))
				return true;
			to.full_width = false;
			if (applies(generations, &to))
				return true;
		}
	return false;
}

bool applies_with_transactions(const char *generations)
{
	return contains(generations, "with RTM") || contains(generations, "with HLE") ||
	       contains(generations, "with TSX");
}

static bool is_model(const char *word, size_t length, const struct machine *here)
{
	static const char digits[] = "0123456789ABCDEF";
	const char name[] = { digits[here->family / 16 % 16], digits[here->family % 16], '_',
			      digits[here->model / 16 % 16], digits[here->model % 16], '\0' };

	return is(word, length, name);
}

static bool is_generation(const char *word, size_t length, const struct machine *here)
{
	bool and_later = word[length - 1] == '+';
	int first = place(word, length - and_later), it;

	if (first < 0 || !here->code)
		return false;
	it = place_of(here->code);
	return it == first || (and_later && it > first);
}

bool applies_to_machine(const char *machines, const struct machine *here)
{
	if (contains(machines, "with two threads") && !here->threads)
		return false;
	for (const char *word = machines; *word;) {
		size_t length = 0;

		while (word[length] && word[length] != ' ')
			length++;
		if (is(word, length, "with"))
			return false;
		if (is_model(word, length, here) || is_generation(word, length, here))
			return true;
		word += length;
		while (*word == ' ')
			word++;
	}
	return false;
}

bool applies(const char *generations, const struct applicant *to)
{
	static const char *const conditions[] = { "with", "client", "formats" };

	if (contains(generations, "with FW_WRITE") && !to->full_width)
		return false;
	if (contains(generations, "without FW_WRITE") && to->full_width)
		return false;
	if (!formats_fit(generations, to->pebs_format))
		return false;
	if (contains(generations, "with leaf 23H") && !to->leaf_23h)
		return false;
	if (contains(generations, "with an absent event") && !to->absent_event)
		return false;
	for (const char *word = generations; *word;) {
		size_t length = 0;

		while (word[length] && word[length] != ' ' && word[length] != ',')
			length++;
		for (unsigned i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++)
			if (begins(word, length, conditions[i]))
				return false;
		if (length && word_fits(word, length, to))
			return true;
		word += length;
		while (*word == ' ' || *word == ',')
			word++;
	}
	return false;
}
