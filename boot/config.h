/* SPDX-License-Identifier: MIT */
/*
 * The configuration: `key = value` lines of \pmutest86.cfg and `key=value` words of the load
 * options, which win. boot/pmutest86.cfg documents every key. Pure.
 */
#ifndef BOOT_CONFIG_H
#define BOOT_CONFIG_H

#include "spec/types.h"

#define CONFIG_TEXT_SIZE	128
#define CONFIG_PATTERN_SIZE	768
#define CONFIG_MAX_BORROW_CYCLES 10000u
#define CONFIG_MAX_PROCESSORS	16u
#define CONFIG_DRAW_MS		1000u
#define CONFIG_DRAW_MOST	1000000u	/* cases, s or ms */
#define CONFIG_MAX_WATCHDOG	600u
#define CONFIG_ON_ALL		(~0u)

enum config_at_end { AT_END_RETURN, AT_END_WAIT, AT_END_SHUTDOWN, AT_END_RESET };

struct config {
	char tests[CONFIG_PATTERN_SIZE];	/* GLOB */
	char require[CONFIG_TEXT_SIZE];	/* requirement groups, comma separated; may be empty */
	bool results;			/* write them to the volume */
	bool screen;
	bool strict;			/* judge every requirement, whatever its authority */
	bool no_inconclusive;		/* one is exit status 2 */
	bool verbose;
	bool checks;			/* a comment for each check */
	u16 serial_port;		/* I/O port, 0: off */
	enum config_at_end at_end;
	unsigned borrow_cycles;		/* 0: run the tests */
	unsigned watchdog;		/* seconds; 0: it isn't used */
	bool debugger;			/* wait for one before anything else */
	bool version;			/* say it, and nothing else; a load option only */
	/* Drawn tests: their seed; how long they draw, in ms together or in cases each; or the
	 * only case, its number plus 1. */
	u64 seed;
	u32 draw_ms, draw_cases;
	u64 draw_case;
	unsigned on;			/* the processor on which tests run; CONFIG_ON_ALL: each */
};

void config_default(struct config *config);

/*
 * Take the lines of a file, or the blank-separated words of the load options; in those a first
 * word without '=' is the program's name and is skipped, but for --version. text need not be
 * terminated. false: error holds one line that says what is wrong and what would be right, and
 * config is half changed.
 */
bool config_parse_file(struct config *config, const char *text, size_t length, char *error,
		       size_t size);
bool config_parse_options(struct config *config, const char *text, size_t length, char *error,
			  size_t size);

#endif
