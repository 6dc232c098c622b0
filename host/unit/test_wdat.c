/* SPDX-License-Identifier: MIT */
/* The watchdog's table: the data that is taken from it, refused tables, and the accesses to
 * registers. */
#include <stdlib.h>
#include <string.h>

#include "boot/watchdog/wdat.h"
#include "host/check.h"

#define ENTRIES		5u
#define LENGTH		(68u + ENTRIES * 24u)
#define PORT		0x660u

static u8 table[LENGTH];
static u32 ports[8];	/* 16 bits each, from PORT on */
static unsigned writes;

static u32 read_port(const struct wdat_register *at)
{
	return ports[(at->address - PORT) / 2];
}

static void write_port(const struct wdat_register *at, u32 value)
{
	ports[(at->address - PORT) / 2] = value;
	writes++;
}

static const struct wdat_io io = { read_port, write_port };

static void put(size_t at, u64 value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		table[at + i] = (u8)(value >> (8 * i));
}

static void sum(void)
{
	u8 all = 0;

	table[9] = 0;
	for (unsigned i = 0; i < LENGTH; i++)
		all = (u8)(all + table[i]);
	table[9] = (u8)(0x100 - all);
}

static void entry(unsigned n, u8 action, u8 instruction, u64 port, u8 bit, u32 value, u32 mask)
{
	size_t at = 68 + n * 24;

	put(at, action, 1);
	put(at + 1, instruction, 1);
	put(at + 4, 1, 1);	/* an I/O port */
	put(at + 5, 16, 1);
	put(at + 6, bit, 1);
	put(at + 7, 2, 1);	/* words */
	put(at + 8, port, 8);
	put(at + 16, value, 4);
	put(at + 20, mask, 4);
}

static void make(void)
{
	memset(table, 0, sizeof(table));
	memset(ports, 0, sizeof(ports));
	memcpy(table, "WDAT", 4);
	put(4, LENGTH, 4);
	put(36, 32, 4);
	put(48, 600, 4);	/* ms for each count */
	put(52, 0x3ff, 4);
	put(56, 4, 4);
	put(60, 1, 1);		/* enabled */
	put(64, ENTRIES, 4);
	entry(0, WDAT_RESET, 2, PORT, 0, 1, 0x3ff);
	entry(1, WDAT_SET_COUNTDOWN, 0x83, PORT + 2, 0, 0, 0x3ff);
	entry(2, WDAT_SET_RUNNING, 0x82, PORT + 4, 11, 0, 1);
	entry(3, WDAT_SET_STOPPED, 0x82, PORT + 4, 11, 1, 1);
	entry(4, WDAT_GET_RUNNING, 0, PORT + 4, 11, 0, 1);
	sum();
}

static const char *refusal(void)
{
	struct wdat wdat;
	const char *why;

	return wdat_parse(&wdat, table, sizeof(table), &why) ? "" : why;
}

static void actions_are_carried_out(void)
{
	struct wdat wdat;
	const char *why;
	u32 value = 9;

	make();
	CHECK(wdat_parse(&wdat, table, sizeof(table), &why));
	CHECK_EQ(8, wdat_counts(&wdat, 5000));
	CHECK_EQ(4, wdat_counts(&wdat, 1));
	CHECK_EQ(0x3ff, wdat_counts(&wdat, 10000000));
	ports[1] = 0xf400;
	CHECK(wdat_do(&wdat, &io, WDAT_SET_COUNTDOWN, 8, NULL));
	CHECK_EQ(0xf408, ports[1], "the other bits stay");
	ports[2] = 0x1821;
	CHECK(wdat_do(&wdat, &io, WDAT_SET_RUNNING, 0, NULL));
	CHECK_EQ(0x1021, ports[2]);
	CHECK(wdat_do(&wdat, &io, WDAT_GET_RUNNING, 0, &value));
	CHECK_EQ(1, value);
	CHECK(wdat_do(&wdat, &io, WDAT_SET_STOPPED, 0, NULL));
	CHECK_EQ(0x1821, ports[2]);
	CHECK(wdat_do(&wdat, &io, WDAT_GET_RUNNING, 0, &value));
	CHECK_EQ(0, value);
	writes = 0;
	CHECK(!wdat_do(&wdat, &io, WDAT_SET_REBOOT, 0, NULL));
	CHECK_EQ(0, writes);
}

static void what_is_unsafe_is_refused(void)
{
	make();
	CHECK_STR("", refusal());
	table[60] = 0;
	sum();
	CHECK_STR("the firmware has disabled it", refusal());
	make();
	table[20]++;
	CHECK_STR("its checksum is wrong", refusal());
	make();
	entry(0, WDAT_RESET, 2, 0x71, 0, 1, 0xff);
	sum();
	CHECK_STR("it is in the real time clock's memory, which others use", refusal());
	make();
	put(64, ENTRIES + 1, 4);
	sum();
	CHECK_STR("it has more entries than bytes", refusal());
	make();
	entry(3, WDAT_SET_RUNNING, 2, PORT, 0, 1, 1);
	sum();
	CHECK_STR("it can't be set, started, fed and stopped", refusal());
}

/* Each byte changed, and each length: the table is refused or used, and no memory outside is
 * changed. */
static void any_table_is_read(void)
{
	for (unsigned i = 0; i < LENGTH; i++)
		for (unsigned value = 0; value < 256; value += 5) {
			struct wdat wdat;
			const char *why;
			u8 *copy = malloc(i);

			make();
			table[i] = (u8)value;
			sum();
			wdat_parse(&wdat, table, sizeof(table), &why);
			memcpy(copy, table, i);
			CHECK(!wdat_parse(&wdat, copy, i, &why));
			free(copy);
		}
}

int main(void)
{
	RUN(actions_are_carried_out);
	RUN(what_is_unsafe_is_refused);
	RUN(any_table_is_read);
	return check_end();
}
