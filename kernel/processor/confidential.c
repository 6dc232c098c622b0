/* SPDX-License-Identifier: MIT */
/* See confidential.h. */
#include "kernel/processor/confidential.h"

#define ENCRYPTION_SEV		BIT(1)		/* CPUID.8000001FH:EAX */
#define ENCRYPTION_BIT		BITS(0, 5)	/* EBX */

/* EBX, EDX, ECX, as leaf 0 has its vendor. */
static bool is_tdx(const struct confidential_leaf *leaf)
{
	static const char name[12] = { 'I', 'n', 't', 'e', 'l', 'T', 'D', 'X', ' ', ' ', ' ', ' ' };
	const u32 words[3] = { leaf->ebx, leaf->edx, leaf->ecx };

	for (unsigned i = 0; i < sizeof name; i++)
		if ((char)(words[i / 4] >> 8 * (i % 4)) != name[i])
			return false;
	return true;
}

/* The leaf says that a host can have such guests, too. In a guest the firmware maps its own memory
 * as private, and only in a guest is there such a map. MSR_AMD64_SEV would tell, but raises #GP in
 * most other guests. */
static bool is_sev(const struct confidential_view *view)
{
	return (view->encryption.eax & ENCRYPTION_SEV) &&
	       (view->top_entry & BIT(view->encryption.ebx & ENCRYPTION_BIT));
}

const char *confidential_name(const struct confidential_view *view)
{
	if (is_tdx(&view->tdx))
		return "Intel TDX";
	return is_sev(view) ? "AMD SEV" : NULL;
}
