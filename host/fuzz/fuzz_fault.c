/* SPDX-License-Identifier: MIT */
/*
 * A fault's parameters: any text after any name. Accepted parameters are in range, and have nothing
 * that the text doesn't have; a refused text has a reason.
 */
#include <stdlib.h>
#include <string.h>

#include "refpmu/launch/fault.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static const char *const names[] = {
#define FAULT(token, name, requirements, sentence, ...) name,
#include "refpmu/faults/fault.def"
};

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	const char *name, *reason;
	enum fault_id fault;
	struct fault_when when;
	size_t length;
	char *text;

	if (size < 2)
		return 0;
	name = names[((unsigned)data[0] | (unsigned)data[1] << 8) %
		     (sizeof(names) / sizeof(names[0]))];
	length = strlen(name) + size - 2;
	text = malloc(length);			/* not terminated */
	if (!text)
		return 0;
	memcpy(text, name, strlen(name));
	memcpy(text + strlen(name), data + 2, size - 2);
	reason = launch_fault((struct span){ text, length }, &fault, &when);
	if (reason ?
		    !reason[0] :
		    fault == FAULT_NONE || fault >= FAULT_COUNT || when.counter >= FAULT_COUNTERS ||
			    (!!when.nth + !!when.from + !!when.every > 1))
		abort();
	if (!reason && (size > 2) != (when.one_counter || when.page_crossing || when.nth ||
				      when.from || when.conditions || when.every))
		abort();
	free(text);
	return 0;
}
