/* SPDX-License-Identifier: MIT */
/* See smc_shared_page.h. */
#include "refpmu/selftest/smc_shared_page.h"

#include "refpmu/engine/engine_name.h"
#include "refpmu/vmm/hypercall.h"
#include "refpmu/selftest/smc.h"
#include "refpmu/vmm/statistics.h"

#define TIMES		2000
#define AROUND		4		/* instructions besides the loop's */
#define LOOP		3
#define MOST_STEPPED	(ENGINE_ONE_BY_ONE + 100)	/* of TIMES * LOOP */

static struct {
	u8 code[64];
	u64 sum;
} page __attribute__((aligned(4096)));

/* XOR EAX, EAX; MOV ECX, TIMES; INC QWORD [RIP + n]; DEC ECX; JNZ; MOV RAX, [RIP + n]; RET */
static void write_code(void)
{
	static const u8 code[] = {
		0x31, 0xc0, 0xb9, TIMES & 0xff, TIMES >> 8, 0, 0, 0x48, 0xff, 0x05, 0x32, 0, 0, 0,
		0xff, 0xc9, 0x75, 0xf5, 0x48, 0x8b, 0x05, 0x27, 0, 0, 0, 0xc3,
	};

	for (unsigned i = 0; i < sizeof(code); i++)
		page.code[i] = code[i];
	page.sum = 0;
}

const char *smc_shared_page_check(bool fast)
{
	struct smc_counts counts;
	struct statistics before, after;

	write_code();
	hypercall(HYPERCALL_STATISTICS, &before);
	smc_measure((u64(*)(void *))(void *)page.code, NULL, &counts);
	hypercall(HYPERCALL_STATISTICS, &after);
	if (counts.result != TIMES || counts.instructions != TIMES * LOOP + AROUND)
		return "code that stores beside itself counts wrong";
	if (fast && after.engine.stepped - before.engine.stepped > MOST_STEPPED)
		return "code that stores beside itself isn't run in blocks";
	return NULL;
}
