/* SPDX-License-Identifier: MIT */
/*
 * The signature is searched at each leaf that may have it. ECX[31] of CPUID.01H isn't checked
 * first, because a hypervisor may be configured to hide it and still have its leaves. For such
 * leaves a real processor returns the data of its highest basic leaf, so only known signatures
 * count.
 */
#include "pmu/hypervisor.h"
#include "kernel/memory/string.h"

static const struct {
	const char *signature;
	enum hypervisor_id id;
} known[] = {
#define HYPERVISOR(token, signature, title, source) { signature, HYPERVISOR_##token },
#include "spec/hypervisor.def"
};

static void put_text(char *text, u32 value)
{
	for (unsigned i = 0; i < 4; i++)
		text[i] = (char)(value >> 8 * i);
}

static void read_signature(char text[13], u32 leaf, void (*cpuid)(u32 leaf, u32 regs[4]))
{
	u32 regs[4];

	cpuid(leaf, regs);
	for (unsigned i = 1; i < 4; i++)
		put_text(text + 4 * (i - 1), regs[i]);
	text[12] = '\0';
}

static enum hypervisor_id identify(const char *signature)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(signature, known[i].signature))
			return known[i].id;
	return HYPERVISOR_NONE;
}

struct hypervisor hypervisor_find(bool is_set, void (*cpuid)(u32 leaf, u32 regs[4]))
{
	struct hypervisor found = { .leaf = HYPERVISOR_LEAF };
	char text[13];

	read_signature(found.signature, HYPERVISOR_LEAF, cpuid);
	found.id = identify(found.signature);
	if (found.id != HYPERVISOR_NONE && found.id != HYPERVISOR_MICROSOFT)
		return found;
	for (u32 n = 1; n < HYPERVISOR_LEAVES; n++) {
		u32 leaf = HYPERVISOR_LEAF + n * HYPERVISOR_LEAF_STEP;

		read_signature(text, leaf, cpuid);
		if (identify(text) == HYPERVISOR_NONE || identify(text) == HYPERVISOR_MICROSOFT)
			continue;
		for (unsigned i = 0; i < sizeof(text); i++) {
			found.first[i] = found.signature[i];
			found.signature[i] = text[i];
		}
		found.id = identify(text);
		found.leaf = leaf;
		return found;
	}
	if (found.id == HYPERVISOR_NONE && is_set)
		found.id = HYPERVISOR_OTHER;
	if (found.id == HYPERVISOR_NONE)
		found.signature[0] = '\0';
	return found;
}
