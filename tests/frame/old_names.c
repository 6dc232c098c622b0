/* SPDX-License-Identifier: MIT */
/* The table of old names, and its lookup. */
#include "tests/frame/old_names.h"
#include "kernel/memory/string.h"

#include "tests/frame/glob.h"

static const struct {
	const char *old, *group, *claim;
} old_names[] = {
#define OLD_NAME(group, old, claim) { #group "." #old, #group, #claim },
#include "tests/frame/old_names.def"
	{ NULL, NULL, NULL },
};

const char *old_name_matching(const char *pattern, const char *group, const char *claim)
{
	for (unsigned i = 0; old_names[i].old; i++)
		if (!strcmp(old_names[i].claim, claim) && !strcmp(old_names[i].group, group) &&
		    glob_match_first(pattern, old_names[i].old))
			return old_names[i].old;
	return NULL;
}
