/* SPDX-License-Identifier: MIT */
/*
 * Configuration parser: any text, as file and as load options. Texts stay terminated, numbers stay
 * in range, and a refusal gives its reason in one line.
 */
#include <stdlib.h>
#include <string.h>

#include "boot/config.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static void must_be_lines(const struct config_errors *errors)
{
	for (unsigned i = 0; i < errors->count && i < CONFIG_ERRORS; i++) {
		const char *line = errors->line[i], *end = memchr(line, '\0', CONFIG_ERROR_SIZE);

		if (!end || end == line || memchr(line, '\n', (size_t)(end - line)))
			abort();
	}
}

static void must_be_sound(const struct config *config)
{
	if (!memchr(config->tests, '\0', sizeof(config->tests)) ||
	    !memchr(config->require, '\0', sizeof(config->require)))
		abort();
	if ((unsigned)config->at_end > AT_END_EXIT || !config->exit_port)
		abort();
	if (!config->repeat || config->repeat > CONFIG_MAX_REPEAT || !config->processors ||
	    config->processors > CONFIG_MAX_PROCESSORS)
		abort();
	if (config->borrow_cycles > CONFIG_MAX_BORROW_CYCLES)
		abort();
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct config config;
	struct config_errors errors;
	char *text = malloc(size ? size : 1);	/* not terminated */

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	config_default(&config);
	memset(&errors, 'x', sizeof(errors));
	errors.count = 0;
	if (config_parse_file(&config, text, size, &errors) != !errors.count)
		abort();
	must_be_lines(&errors);
	must_be_sound(&config);
	memset(&errors, 'x', sizeof(errors));
	errors.count = 0;
	if (config_parse_options(&config, text, size, &errors) != !errors.count)
		abort();
	must_be_lines(&errors);
	must_be_sound(&config);
	free(text);
	return 0;
}
