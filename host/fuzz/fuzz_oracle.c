/* SPDX-License-Identifier: MIT */
/* The oracle with any observation of any drawn case: it reads only its input, and terminates. The
 * first bytes choose the case. */
#include <stdlib.h>
#include <string.h>

#include "host/random_env.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

#define ADAPTIVE 0x80u	/* in the class: baseline = 1 */

struct choice {
	u8 class, number, architectural;
};

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct draw_observation *seen = calloc(1, sizeof(*seen));
	struct draw_verdict verdict;
	struct choice choice = { 0 };
	static struct trace trace;
	struct draw_env env;
	struct draw_case c;

	if (!seen)
		return 0;
	if (size >= sizeof(choice)) {
		memcpy(&choice, data, sizeof(choice));
		data += sizeof(choice);
		size -= sizeof(choice);
	}
	if (choice.class & ADAPTIVE)
		env = random_env_adaptive();
	if (size)
		memcpy(seen, data, size < sizeof(*seen) ? size : sizeof(*seen));
	seen->area_changed = seen->outside = false;	/* not every byte is a valid bool */
	seen->arch.overlap = seen->arch.beyond = seen->arch.outside = false;
	for (unsigned i = 0; i < DRAW_RECORDS_SEEN; i++) {
		struct draw_arch_record *r = &seen->arch.record[i];

		r->xer = r->lbr = r->counters = r->metrics = choice.number & 1;
	}
	for (unsigned i = 0; i < DRAW_RECORDS_SEEN; i++)
		seen->groups[i].metrics = false;
	env = choice.architectural & 1 ? random_env_architectural() :
	      choice.class & ADAPTIVE  ? random_env_adaptive() :
					 random_env();
	draw_make(&env, (choice.class & ~ADAPTIVE) % DRAW_CLASSES, 1, choice.number, &c, &trace);
	oracle_judge(&env, &c, &trace, seen, &verdict);
	for (unsigned i = 0; i < verdict.wrongs && i < DRAW_WRONG; i++)
		if (verdict.wrong[i].claim >= DRAW_CLAIMS || !verdict.wrong[i].what)
			abort();
	free(seen);
	return 0;
}
