/* SPDX-License-Identifier: MIT */
/*
 * A test program on the host: a list of functions, and checks that say where and what.
 *
 *	static void index_is_advanced(void) { CHECK_EQ(0xc0, index, "after one record"); }
 *	int main(void) { RUN(index_is_advanced); return check_end(); }
 *
 * Wanted comes before got. A failed check doesn't leave the function. The last line is
 * "program: N passed, N failed", counting functions; host/run-tests.sh sums these lines.
 */
#ifndef HOST_CHECK_H
#define HOST_CHECK_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spec/types.h"

static unsigned check_passed, check_failed;	/* functions */
static unsigned check_errors;			/* in the running function */

__attribute__((format(printf, 3, 4), unused))
static void check_print(const char *file, int line, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s:%d: ", file, line);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	check_errors++;
}

/* How many cases a search takes: short, or whole in a long run (LONG=1). */
__attribute__((unused)) static u64 check_amount(u64 short_run, u64 long_run)
{
	const char *wanted = getenv("LONG");

	return wanted && *wanted ? long_run : short_run;
}

/* Each evaluates its operands once and yields whether it held. */
#define CHECK(condition, ...) ({							\
	bool check_held_ = (condition);							\
	if (!check_held_)								\
		check_fail_(__FILE__, __LINE__, #condition, " " __VA_ARGS__);		\
	check_held_; })
#define CHECK_EQ(want, got, ...) ({							\
	u64 check_want_ = (u64)(want), check_got_ = (u64)(got);				\
	if (check_want_ != check_got_)							\
		check_fail_eq_(__FILE__, __LINE__, check_want_, check_got_, #got,	\
			       " " __VA_ARGS__);						\
	check_want_ == check_got_; })
#define CHECK_STR(want, got, ...) ({							\
	const char *check_want_ = (want), *check_got_ = (got);				\
	bool check_held_ = !strcmp(check_want_, check_got_);				\
	if (!check_held_)								\
		check_fail_str_(__FILE__, __LINE__, check_want_, check_got_,		\
				" " __VA_ARGS__);					\
	check_held_; })

#define CHECK_TEXT_(text, format) do {							\
	va_list args_;									\
	va_start(args_, format);							\
	vsnprintf(text, sizeof(text), format, args_);					\
	va_end(args_); } while (0)

__attribute__((format(printf, 4, 5), unused))
static void check_fail_(const char *file, int line, const char *condition, const char *format, ...)
{
	char text[256];

	CHECK_TEXT_(text, format);
	check_print(file, line, "%s doesn't hold.%s", condition, text);
}

__attribute__((format(printf, 6, 7), unused))
static void check_fail_eq_(const char *file, int line, u64 want, u64 got, const char *what,
									 const char *format, ...)
{
	char text[256];

	CHECK_TEXT_(text, format);
	check_print(file, line, "%s: want %#" PRIx64 ", got %#" PRIx64 ".%s", what, want, got,
		    text);
}

__attribute__((format(printf, 5, 6), unused))
static void check_fail_str_(const char *file, int line, const char *want, const char *got,
			    const char *format, ...)
{
	char text[256];

	CHECK_TEXT_(text, format);
	check_print(file, line, "want \"%s\", got \"%s\".%s", want, got, text);
}

#define RUN(function) check_run_(function, #function)

__attribute__((unused))
static void check_run_(void (*function)(void), const char *name)
{
	check_errors = 0;
	function();
	if (check_errors) {
		check_failed++;
		fprintf(stderr, "FAILED %s\n", name);
	} else {
		check_passed++;
	}
}

/* The closing line; the value for main() to return. Nothing run is a failure. */
#define check_end() check_end_(__FILE__)

__attribute__((unused))
static int check_end_(const char *file)
{
	const char *base = strrchr(file, '/');

	printf("%s: %u passed, %u failed\n", base ? base + 1 : file, check_passed, check_failed);
	return check_failed || !check_passed;
}

#endif
