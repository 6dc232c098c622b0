/* SPDX-License-Identifier: MIT */
/* See options.h. UEFI specification, "EFI_LOADED_IMAGE_PROTOCOL". */
#include "refpmu/selftest/options.h"
#include "refpmu/launch/span.h"

static char text[256];

void options_open(EFI_HANDLE image, EFI_SYSTEM_TABLE *system)
{
	EFI_GUID guid = LOADED_IMAGE_PROTOCOL;
	EFI_LOADED_IMAGE *loaded;
	const CHAR16 *from;
	size_t n;

	if (EFI_ERROR(system->BootServices->HandleProtocol(image, &guid, (void **)&loaded)) ||
	    !loaded->LoadOptions)
		return;
	from = loaded->LoadOptions;
	n = loaded->LoadOptionsSize / sizeof(*from);
	for (size_t i = 0; i < n && i < sizeof(text) - 1 && from[i]; i++)
		text[i] = from[i] < 0x7f ? (char)from[i] : ' ';
}

u64 options_number(const char *name, u64 otherwise)
{
	struct span rest = { text, 0 };
	u64 value;

	while (text[rest.length])
		rest.length++;
	while (rest.length) {
		struct span word = span_take(&rest, " "), key = span_take(&word, "=");

		if (span_equals(key, name) && span_skip(&word, "=") && span_number(word, &value))
			return value;
		span_skip(&rest, " ");
	}
	return otherwise;
}
