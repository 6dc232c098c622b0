/* SPDX-License-Identifier: MIT */
/*
 * The services of the environment that started this program: memory, screen, keys, time, options,
 * the end of the program. There are two implementations, and each program is linked with one of
 * them: boot/uefi/ for UEFI, and boot/direct/ for a loader that passes the bare machine. Call these
 * functions while the firmware has the machine.
 */
#ifndef BOOT_FIRMWARE_H
#define BOOT_FIRMWARE_H

#include "kernel/machine/machine.h"
#include "spec/types.h"

/* UEFI's error numbers ("Status Codes"), as messages show them; 0: no error. */
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

/* The address of this program. */
extern const u8 firmware_image[] __asm__("ImageBase") __attribute__((visibility("hidden")));

/* Print one line on the firmware's console: for errors before our own console can be used. */
void firmware_say(const char *line);
/* Name and version of the firmware, as in the log's comment. */
void firmware_describe(char *text, size_t size);
void firmware_stall(u64 us);

/* Is there a keyboard? firmware_read_key(): the next key that was pressed, in the form of
 * boot/screen/keys.h; false: none was. */
bool firmware_has_keys(void);
bool firmware_read_key(unsigned *key);
/* Wait until a key is pressed, at most that many seconds. Earlier keys don't count. */
void firmware_wait_for_key(unsigned seconds);

/* The load options as ASCII, blank separated; other characters become '?'. Returns the length;
 * 0 when there are none, or when they are binary, as boot entries of some firmware have them. */
size_t firmware_load_options(char *text, size_t size);

/* Tables that the firmware leaves in memory; NULL: there is none. */
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

/* Allocate further memory; NULL: there is none. */
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
/* Wait until a timer of the firmware, whose period is 2 ms or longer, has fired `wanted` times, at
 * most us microseconds. Returns how often it has fired. */
unsigned firmware_count_ticks(unsigned wanted, u64 us);

/* These return if the machine can't be reset or switched off. */
void firmware_reset(void);
void firmware_switch_off(void);

#endif
