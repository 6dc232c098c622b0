/* SPDX-License-Identifier: MIT */
/*
 * What this program asks of the firmware: memory, screen, time, its own load options. UEFI
 * Specification, "Services - Boot Services", "Loaded Image Protocol", "Graphics Output Protocol".
 * Called with the machine given back.
 */
#ifndef BOOT_FIRMWARE_H
#define BOOT_FIRMWARE_H

#include <efi.h>

#include "kernel/machine/machine.h"
#include "spec/types.h"

/* One program, one firmware: set by firmware_init(). */
struct firmware {
	EFI_HANDLE image;
	EFI_SYSTEM_TABLE *system;
	EFI_BOOT_SERVICES *boot;
	EFI_LOADED_IMAGE_PROTOCOL *loaded;
};
extern struct firmware firmware;

/* Also switches the firmware's watchdog off: a run may take longer than its five minutes. */
EFI_STATUS firmware_init(EFI_HANDLE image, EFI_SYSTEM_TABLE *system);

/* One line on the firmware's console, for what goes wrong before our own can be used. */
void firmware_say(const char *line);

/* Until a key is pressed, at most so many seconds. Keys from before don't count. */
void firmware_wait_for_key(unsigned seconds);

/* The load options as ASCII, blank separated; other characters become '?'. Returns the length;
 * 0 when there are none, or when they are binary, as boot entries of some firmware have them. */
size_t firmware_load_options(char *text, size_t size);

/* What the configuration table's entry of that GUID points to; NULL: there is none. */
const void *firmware_find_table(const EFI_GUID *guid);

/* Fill in the memory of setup, and leave its devices 0; with_screen: also the framebuffer, if there
 * is a linear one. The arena has spare bytes for arena_alloc(). */
EFI_STATUS firmware_setup(struct machine_setup *setup, unsigned processors, u64 spare,
			  bool with_screen);
/* What the screen is where it has no linear framebuffer; NULL: there is none. */
EFI_GRAPHICS_OUTPUT_PROTOCOL *firmware_graphics(void);
/* Bytes that firmware_setup() allocates for that many processors, and the machine's memory. */
u64 firmware_need(unsigned processors, u64 spare);
u64 firmware_memory(void);
/* Give back what firmware_setup() has allocated. */
void firmware_release(void);

/* Measure the TSC against the firmware's clock. */
void firmware_measure_tsc(void);

#endif
