/* SPDX-License-Identifier: MIT */
/* kernel/output/fmt.c against the C library's snprintf, over random conversions, values and
 * sizes. */
#include "host/check.h"
#include "host/random.h"

#include "kernel/output/fmt.h"

/* The test makes the formats at run time on purpose. */
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"

static void compare(const char *what, int want, const char *want_text, int got,
		    const char *got_text, size_t size)
{
	CHECK_EQ(want, got, "%s: length", what);
	if (size)
		CHECK_STR(want_text, got_text, "%s", what);
}

#define COMPARE(size, format, ...) do {							\
	char want_[300], got_[300];							\
	memset(want_, 'x', sizeof(want_));						\
	memset(got_, 'x', sizeof(got_));						\
	volatile size_t size_ = (size);	/* otherwise the compiler warns about truncation */	\
	int n_ = snprintf(want_, size_, format, ##__VA_ARGS__);				\
	int m_ = fmt_print(got_, size_, format, ##__VA_ARGS__);				\
	compare(format, n_, want_, m_, got_, size_);					\
	CHECK(!memcmp(want_, got_, sizeof(got_)), "%s writes after its text", format);	\
} while (0)

static u64 interesting(struct random *random)
{
	static const u64 edges[] = { 0, 1, 9, 10, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000,
				     0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff };
	u64 r = random_next(random);

	if (r % 3 == 0)
		return edges[r / 3 % (sizeof(edges) / sizeof(edges[0]))];
	return random_next(random) << 8 >> r % 64;
}

static void numbers_are_as_the_library_prints_them(void)
{
	struct random random = { 20240601 };

	for (unsigned i = 0; i < 3000; i++) {
		static const struct {
			const char *conversion;
			unsigned bytes;
		} kinds[] = {
			{ "d", 4 },   { "u", 4 },   { "x", 4 },	 { "llx", 8 },
			{ "llu", 8 }, { "lld", 8 }, { "zu", 8 }, { "c", 1 },
		};
		unsigned kind = (unsigned)(random_next(&random) % 8);
		u64 value = interesting(&random);
		size_t size = random_next(&random) % 4 ? 64 : random_next(&random) % 24;
		unsigned width = (unsigned)(random_next(&random) % 24);
		bool zero = random_next(&random) % 2 && kinds[kind].bytes > 1;
		char format[32], width_text[16] = "";

		if (width)
			snprintf(width_text, sizeof(width_text), "%u", width);
		snprintf(format, sizeof(format), "<%%%s%s%s>", zero && width ? "0" : "", width_text,
			 kinds[kind].conversion);
		if (kinds[kind].bytes == 8)
			COMPARE(size, format, value);
		else if (kinds[kind].bytes == 4)
			COMPARE(size, format, (unsigned)value);
		else
			COMPARE(size, format, (int)(value % 94 + 33));
	}
}

static void strings_are_as_the_library_prints_them(void)
{
	struct random random = { 7 };

	for (unsigned i = 0; i < 500; i++) {
		char text[40], format[32];
		size_t length = random_next(&random) % sizeof(text);

		for (size_t k = 0; k < length; k++)
			text[k] = (char)(random_next(&random) % 94 + 33);
		text[length ? length - 1 : 0] = '\0';
		snprintf(format, sizeof(format), "%%s-%%%us%%%%",
			 (unsigned)(random_next(&random) % 60 + 1));
		COMPARE(random_next(&random) % 120, format, text, text);
	}
}

static void nothing_is_written_into_no_space(void)
{
	CHECK_EQ(5, fmt_print(NULL, 0, "%d", 12345));
	COMPARE(0, "%s", "text");
	COMPARE(1, "%s", "text");
	COMPARE(5, "%s", "text");
	COMPARE(4, "%s", "text");
	COMPARE(10, "%s", "");
	COMPARE(10, "100%%");
}

static void pointers_look_like_addresses(void)
{
	char text[40];

	fmt_print(text, sizeof(text), "%p", (void *)0x1234abcd);
	CHECK(strstr(text, "1234abcd"), "%s", text);
}

int main(void)
{
	RUN(numbers_are_as_the_library_prints_them);
	RUN(strings_are_as_the_library_prints_them);
	RUN(nothing_is_written_into_no_space);
	RUN(pointers_look_like_addresses);
	return check_end();
}
