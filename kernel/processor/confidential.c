/* SPDX-License-Identifier: MIT */
/* See confidential.h. */
#include "kernel/processor/confidential.h"

#define ENCRYPTION_SEV		BIT(1)		/* CPUID.8000001FH:EAX */
#define ENCRYPTION_BIT		BITS(0, 5)	/* EBX */

/* EBX, EDX, ECX have the text, in the order of leaf 0's vendor. */
static bool is_tdx(const struct confidential_leaf *leaf)
{
	static const char name[12] = { 'I', 'n', 't', 'e', 'l', 'T', 'D', 'X', ' ', ' ', ' ', ' ' };
	const u32 words[3] = { leaf->ebx, leaf->edx, leaf->ecx };

	for (unsigned i = 0; i < sizeof name; i++)
		if ((char)(words[i / 4] >> 8 * (i % 4)) != name[i])
			return false;
	return true;
}

/* This leaf also exists on a host that supports such guests. Only in a guest does firmware map its
 * memory as private. MSR_AMD64_SEV would distinguish them, but raises #GP in most other guests. */
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
