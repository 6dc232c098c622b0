/* SPDX-License-Identifier: MIT */
/*
 * Configuration parser: any text, as file and as load options. Texts stay terminated, numbers in
 * range, and a refusal says why in one line.
 */
#include <stdlib.h>
#include <string.h>

#include "boot/config.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static void must_be_one_line(const char *error, size_t size)
{
	const char *end = memchr(error, '\0', size);

	if (!end || end == error || memchr(error, '\n', (size_t)(end - error)))
		abort();
}

static void must_be_sound(const struct config *config)
{
	if (!memchr(config->tests, '\0', sizeof(config->tests)) ||
	    !memchr(config->require, '\0', sizeof(config->require)))
		abort();
	if ((unsigned)config->at_end > AT_END_RESET)
		abort();
	if (config->borrow_cycles > CONFIG_MAX_BORROW_CYCLES)
		abort();
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct config config;
	char error[120], *text = malloc(size ? size : 1);	/* not terminated */

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	config_default(&config);
	memset(error, 'x', sizeof(error));
	if (!config_parse_file(&config, text, size, error, sizeof(error)))
		must_be_one_line(error, sizeof(error));
	must_be_sound(&config);
	memset(error, 'x', sizeof(error));
	if (!config_parse_options(&config, text, size, error, sizeof(error)))
		must_be_one_line(error, sizeof(error));
	must_be_sound(&config);
	free(text);
	return 0;
}
