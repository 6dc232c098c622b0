/* SPDX-License-Identifier: MIT */
/*
 * What this program asks of what has started it: memory, screen, keys, time, options, the way out.
 * Two things implement it, and each program is linked with one of them: UEFI (boot/uefi/), and a
 * loader that hands over the bare machine (boot/direct/). Called with the machine given back.
 */
#ifndef BOOT_FIRMWARE_H
#define BOOT_FIRMWARE_H

#include "kernel/machine/machine.h"
#include "spec/types.h"

/* UEFI's numbers of what went wrong ("Status Codes"), as messages have them; 0: nothing. */
typedef u64 firmware_status;
#define FIRMWARE_DONE			0
#define FIRMWARE_ERROR_BIT		BIT(63)
#define FIRMWARE_INVALID_PARAMETER	(FIRMWARE_ERROR_BIT | 2)
#define FIRMWARE_BUFFER_TOO_SMALL	(FIRMWARE_ERROR_BIT | 5)
#define FIRMWARE_OUT_OF_RESOURCES	(FIRMWARE_ERROR_BIT | 9)
#define FIRMWARE_VOLUME_FULL		(FIRMWARE_ERROR_BIT | 11)
#define FIRMWARE_NOT_FOUND		(FIRMWARE_ERROR_BIT | 14)
#define FIRMWARE_ACCESS_DENIED		(FIRMWARE_ERROR_BIT | 15)

static inline bool firmware_failed(firmware_status status)
{
	return status & FIRMWARE_ERROR_BIT;
}

/* Where this program lies. */
extern const u8 firmware_image[] __asm__("ImageBase") __attribute__((visibility("hidden")));

/* One line on the firmware's console, for what goes wrong before our own can be used. */
void firmware_say(const char *line);
/* Its name and version, as a comment of the log has them. */
void firmware_describe(char *text, size_t size);
void firmware_stall(u64 us);

/* Is there a keyboard? A key that was pressed, as boot/screen/keys.h has it; false: there is none.
 */
bool firmware_has_keys(void);
bool firmware_read_key(unsigned *key);
/* Until a key is pressed, at most so many seconds. Keys from before don't count. */
void firmware_wait_for_key(unsigned seconds);

/* The load options as ASCII, blank separated; other characters become '?'. Returns the length;
 * 0 when there are none, or when they are binary, as boot entries of some firmware have them. */
size_t firmware_load_options(char *text, size_t size);

/* Tables that firmware leaves in memory; NULL: there is none. */
enum firmware_table { TABLE_RSDP, TABLE_SMBIOS3, TABLE_SMBIOS, TABLE_EXERCISER };
const void *firmware_find_table(enum firmware_table table);

/* Fill in the memory of setup, and leave its devices 0; with_screen: also the framebuffer, if there
 * is a linear one. The arena has spare bytes for arena_alloc(). */
firmware_status firmware_setup(struct machine_setup *setup, unsigned processors, u64 spare,
			       bool with_screen);
/* Bytes that firmware_setup() allocates for that many processors, and the machine's memory. */
u64 firmware_need(unsigned processors, u64 spare);
u64 firmware_memory(void);
/* Give back what firmware_setup() has allocated. */
void firmware_release(void);

/* Memory beside that; NULL: there is none. */
void *firmware_allocate(size_t size);
void firmware_free(void *memory);

/* A screen without a linear framebuffer: its size; false: there is none. The firmware puts pixels
 * of 32 bits (blue, green, red, reserved) on it, from the row y of pixels on, or makes all of it
 * dark. */
bool firmware_screen(u32 *width, u32 *height);
void firmware_draw(const void *pixels, u32 pitch, u32 y, u32 width, u32 height);
void firmware_clear_screen(void);

/* All 0: there is no clock. */
struct firmware_time {
	u16 year;
	u8 month, day, hour, minute, second;
};
struct firmware_time firmware_time(void);

/* Measure the TSC against the firmware's clock. */
void firmware_measure_tsc(void);
/* How often a timer of the firmware's has fired, whose period is 2 ms or longer; until that is as
 * often as wanted, so long at most. */
unsigned firmware_count_ticks(unsigned wanted, u64 us);

/* Returns where that can't be done. */
void firmware_reset(void);
void firmware_switch_off(void);

#endif
