/* SPDX-License-Identifier: MIT */
/*
 * The platform's watchdog as ACPI's Watchdog Action Table describes it ("Hardware Watchdog Timers
 * Design Specification", Microsoft): each action is a few reads and writes of registers. All
 * contents of the table are checked. Pure: the caller accesses the registers.
 */
#ifndef BOOT_WDAT_H
#define BOOT_WDAT_H

#include "spec/types.h"

#define WDAT_ENTRIES 48u

enum wdat_action {
	WDAT_RESET = 0x01,		/* restart the count */
	WDAT_GET_COUNTDOWN = 0x05,	/* the count's first value */
	WDAT_SET_COUNTDOWN = 0x06,
	WDAT_GET_RUNNING = 0x08,
	WDAT_SET_RUNNING = 0x09,
	WDAT_SET_STOPPED = 0x0b,
	WDAT_GET_REBOOT = 0x10,
	WDAT_SET_REBOOT = 0x11,		/* its end is a reset */
	WDAT_GET_STATUS = 0x20,		/* has it reset the machine? */
	WDAT_SET_STATUS = 0x21,		/* forget that */
};

enum wdat_instruction { WDAT_READ_VALUE, WDAT_READ_COUNTDOWN, WDAT_WRITE_VALUE,
			WDAT_WRITE_COUNTDOWN };

struct wdat_register {
	bool is_port;			/* an I/O port, else memory */
	u8 bytes, bit;
	u64 address;
};

struct wdat_entry {
	u8 action;
	enum wdat_instruction instruction;
	bool preserve;			/* the other bits of the register */
	struct wdat_register at;
	u32 value, mask;
};

struct wdat {
	u32 period_ms;			/* of a count */
	u32 min, max;			/* counts */
	unsigned count;
	struct wdat_entry entry[WDAT_ENTRIES];
};

/* Read the table with that many bytes. false: why says what is wrong, or that it must not be used.
 */
bool wdat_parse(struct wdat *wdat, const u8 *table, size_t length, const char **why);

struct wdat_io {
	u32 (*read)(const struct wdat_register *at);
	void (*write)(const struct wdat_register *at, u32 value);
};
/* Carry out an action; argument: counts, result: what was read. NULL where there is none. false:
 * the table hasn't that action. */
bool wdat_do(const struct wdat *wdat, const struct wdat_io *io, enum wdat_action action,
	     u32 argument, u32 *result);
/* Save the bits that an action's writes change, in the table's order: only of writes that preserve
 * the register's other bits, because such a register can be read. wdat_put_back() restores them. */
void wdat_keep(const struct wdat *wdat, const struct wdat_io *io, enum wdat_action action,
	       u32 *kept);
void wdat_put_back(const struct wdat *wdat, const struct wdat_io *io, enum wdat_action action,
		   const u32 *kept);
/* That time in counts, within what it can count. */
u32 wdat_counts(const struct wdat *wdat, u32 ms);

#endif
