/* SPDX-License-Identifier: MIT */
/* See variable.h. */
#include "boot/firmware.h"
#include "boot/results/variable.h"
#include "kernel/output/fmt.h"

#define ATTRIBUTES	(EFI_VARIABLE_NON_VOLATILE | EFI_VARIABLE_BOOTSERVICE_ACCESS | \
			 EFI_VARIABLE_RUNTIME_ACCESS)
/* Firmware whose store is nearly full may not start any more. */
#define ROOM_LEAST	(16u << 10)

#define UEFI_2_0	(2u << 16)

static CHAR16 name[] = L"PMUTest86Result";
static EFI_GUID vendor = { 0x5b8a7d3c, 0x41f6, 0x4c7e,
			   { 0x9a, 0x31, 0x50, 0x4d, 0x55, 0x54, 0x38, 0x36 } };

static size_t add(char *text, size_t size, size_t length, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static size_t add(char *text, size_t size, size_t length, const char *format, ...)
{
	va_list args;

	if (length >= size)
		return length;
	va_start(args, format);
	length += (size_t)fmt_vprint(text + length, size - length, format, args);
	va_end(args);
	return length < size ? length : size - 1;
}

size_t variable_text(const struct totals *totals, const char *lines, size_t length,
		     const char *version, char *text, size_t size)
{
	struct item_reader reader = { .text = lines, .length = length };
	size_t at = add(text, size, 0, "PMUTest86 %s\n", version);
	struct item item;

	for (size_t i = 0; i < totals->title.length; i++)
		at = add(text, size, at, "%c", totals->title.text[i]);
	at = add(text, size, at, "\nexit %d, requirements decided %u, points", totals->exit,
		 totals->decided);
	for (unsigned i = 0; i < ITEM_VERDICTS; i++)
		at = add(text, size, at, " %s %u", item_verdict_names[i], totals->count[i]);
	if (totals->problem[0])
		at = add(text, size, at, "\n%s", totals->problem);
	while (item_next(&reader, &item)) {
		if (item.kind != ITEM_POINT ||
		    (item.verdict != ITEM_FAIL && item.verdict != ITEM_ERROR))
			continue;
		at = add(text, size, at, "\n%s ", item_verdict_names[item.verdict]);
		for (size_t i = 0; i < item.name.length; i++)
			at = add(text, size, at, "%c", item.name.text[i]);
	}
	return at;
}

bool variable_save(const char *text, size_t length, char *error, size_t size)
{
	EFI_RUNTIME_SERVICES *runtime = firmware.system->RuntimeServices;
	UINT64 all = 0, left = ROOM_LEAST, most = length;
	EFI_STATUS status;

	/* Firmware before UEFI 2.0 can't say. */
	if (runtime->Hdr.Revision >= UEFI_2_0)
		runtime->QueryVariableInfo(ATTRIBUTES, &all, &left, &most);
	if (left < ROOM_LEAST || most < length) {
		fmt_print(error, size, "no short result in a UEFI variable: %llu bytes are left",
			  (unsigned long long)left);
		return false;
	}
	status = runtime->SetVariable(name, &vendor, ATTRIBUTES, length, (void *)(uintptr_t)text);
	if (!EFI_ERROR(status))
		return true;
	fmt_print(error, size, "no short result in a UEFI variable: firmware status %#llx",
		  (unsigned long long)status);
	return false;
}

void variable_load(char *text, size_t size)
{
	UINTN length = size - 1;
	UINT32 attributes;
	EFI_STATUS status = firmware.system->RuntimeServices->GetVariable(name, &vendor,
									  &attributes, &length,
									  text);

	text[EFI_ERROR(status) || length >= size ? 0 : length] = '\0';
}

void variable_delete(void)
{
	firmware.system->RuntimeServices->SetVariable(name, &vendor, ATTRIBUTES, 0, NULL);
}
