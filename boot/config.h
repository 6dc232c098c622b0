/* SPDX-License-Identifier: MIT */
/*
 * The configuration: `key = value` lines of \pmutest86.cfg and `key=value` words of the load
 * options, which override the file. boot/pmutest86.cfg documents every key. Pure.
 */
#ifndef BOOT_CONFIG_H
#define BOOT_CONFIG_H

#include "spec/types.h"

#define CONFIG_TEXT_SIZE	128
#define CONFIG_PATTERN_SIZE	768
#define CONFIG_PATH		"\\pmutest86.cfg"
#define CONFIG_MAX_BORROW_CYCLES 10000u
#define CONFIG_MAX_REPEAT	100000u
#define CONFIG_MAX_ORDER	0xffffffffu
#define CONFIG_ERRORS		16u	/* lines that are kept */
#define CONFIG_ERROR_SIZE	256
#define CONFIG_MAX_PROCESSORS	16u
#define CONFIG_DRAW_MS		2000u
#define CONFIG_DRAW_MOST	1000000u	/* cases, s or ms */
#define CONFIG_MAX_WATCHDOG	600u
#define CONFIG_ON_ALL		(~0u)
#define CONFIG_ON_KINDS		(~0u - 1)
#define CONFIG_ON_MOST		1023u	/* a processor's number */

enum config_at_end { AT_END_RETURN, AT_END_WAIT, AT_END_SHUTDOWN, AT_END_RESET, AT_END_EXIT };

struct config {
	char tests[CONFIG_PATTERN_SIZE];	/* GLOB */
	char require[CONFIG_TEXT_SIZE];	/* requirement groups, comma separated; may be empty */
	bool results;			/* write them to the volume */
	bool screen;
	bool strict;			/* judge every requirement, whatever its authority */
	bool no_inconclusive;		/* an INCONCLUSIVE is exit status 2 */
	bool verbose;
	bool checks;			/* a comment for each check */
	u16 serial_port;		/* I/O port, 0: off */
	enum config_at_end at_end;
	u16 exit_port;			/* AT_END_EXIT: where the exit status is written */
	unsigned borrow_cycles;		/* 0: run the tests */
	unsigned watchdog;		/* seconds; 0: it isn't used */
	bool debugger;			/* wait for a debugger first */
	bool version;			/* print the version and end; a load option only */
	/* Drawn tests: their seed; how long they draw, in ms together or in cases each; or the
	 * only case, its number plus 1. */
	u64 seed;
	u32 draw_ms, draw_cases;
	u64 draw_case;
	/* The number of the processor on which tests run; CONFIG_ON_KINDS: the first of each kind
	 * and position; CONFIG_ON_ALL: each. */
	unsigned on;
	unsigned processors;		/* at most this many are used */
	unsigned order;	/* what the order within groups is drawn from; 0: the usual */
	unsigned repeat, minutes;	/* runs; and as long as runs are begun, 0: no matter */
};

/* What is wrong: a line each, which says what would be right. */
struct config_errors {
	unsigned count;			/* the first CONFIG_ERRORS are kept */
	char line[CONFIG_ERRORS][CONFIG_ERROR_SIZE];
};
void config_error(struct config_errors *errors, const char *source, const char *what);

void config_default(struct config *config);

/*
 * Take the lines of a file, or the blank-separated words of the load options. If the first word of
 * the options has no '=', it is the program's name and is skipped, except --version. text need not
 * be terminated. Wrong lines and words are ignored and listed in errors; false: there was one.
 */
bool config_parse_file(struct config *config, const char *text, size_t length,
		       struct config_errors *errors);
bool config_parse_options(struct config *config, const char *text, size_t length,
			  struct config_errors *errors);

#endif
