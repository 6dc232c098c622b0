/* SPDX-License-Identifier: MIT */
/*
 * The upper flags of a record of NetBurst: SDM "BTS and DS Save Area", Figure 17-10. The field has
 * eight bytes; the flags that a program changes most are in its lower two.
 */
#include "kernel/processor/cpu.h"
#include "spec/x86.h"
#include "tests/measure/marked_walk.h"
#include "tests/netburst/needs.h"
#include "tests/netburst/sampling.h"

#define AT_RFLAGS	0x00
/* Flags that the marked loads change, or that a record needn't have. */
#define LEFT_OUT	(RFLAGS_RF | RFLAGS_STATUS)

static const u64 inverted[] = { 0, RFLAGS_ID, RFLAGS_AC, RFLAGS_IOPL, RFLAGS_NT };
#define INVERTED (sizeof(inverted) / sizeof(inverted[0]))

static struct netburst_taken taken[INVERTED];
static u64 wanted[INVERTED];

/* Take a record with each of these flags inverted. */
static void take_each(void *arg)
{
	const u64 found = rflags_read();

	(void)arg;
	for (unsigned i = 0; i < INVERTED; i++) {
		struct netburst_sampling s = netburst_own_loads();

		rflags_write(found ^ inverted[i]);
		wanted[i] = rflags_read() & ~LEFT_OUT;
		netburst_sample(&s, &taken[i]);
		rflags_write(found);
	}
}

static void check_each(struct test *t, const char *what)
{
	for (unsigned i = 0; i < INVERTED; i++) {
		const u64 flags = *(const volatile u64 *)(uintptr_t)(taken[i].first + AT_RFLAGS);

		if (!netburst_check_one(t, CONTROL_AT(NB_37), &taken[i], what))
			return;
		CHECK_EQ(t, NB_37, wanted[i], flags & ~LEFT_OUT,
			 "flags at 00H except RF and status flags, %#lx inverted, %s", inverted[i],
			 what);
	}
}

/*
 * NB-37  A record of the 64-bit form must have 144 bytes: flags, RIP, RAX, RBX, RCX, RDX, RSI,
 *        RDI, RBP, RSP, R8 to R15.
 *        SDM 17.4.9 BTS and DS Save Area, Figure 17-8
 *
 * Given  RFLAGS as it is; then ID, AC, IOPL and NT inverted, one at a time; tagged loads of either
 *        thread on its PEBS counter
 * When   one record is written
 * Then   its flags field has all of RFLAGS, except RF and the status flags
 * Control: the record is of a marked load
 */
TEST(netburst, pebs_record_has_the_upper_flags, REQS(NB_37), NEEDS(need_netburst_pebs))
{
	char reason[64];

	take_each(NULL);
	check_each(t, "this thread");
	if (need_sibling_thread(reason, sizeof(reason)) &&
	    netburst_run(t, !netburst_thread(), NETBURST_ASLEEP, take_each, NULL))
		check_each(t, "the other thread");
}
