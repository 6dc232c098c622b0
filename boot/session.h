/* SPDX-License-Identifier: MIT */
/* The whole program, from the entry in boot/uefi/ or boot/direct/ to its end. */
#ifndef BOOT_SESSION_H
#define BOOT_SESSION_H

enum { EXIT_PASS, EXIT_FAIL, EXIT_ERROR };

/* Call it when the functions of firmware.h can be called. Returns the exit status if the
 * configuration says so, or if the machine can't be switched off or reset. */
int harness_run(void);

#endif
