/* SPDX-License-Identifier: MIT */
/* All that the program does, from the entry that the firmware knows (boot/uefi/, boot/direct/) to
 * its end. */
#ifndef BOOT_SESSION_H
#define BOOT_SESSION_H

enum { EXIT_PASS, EXIT_FAIL, EXIT_ERROR };

/* Once the functions of firmware.h can be called. Returns the exit status where the configuration
 * says so, or the machine can't be ended. */
int harness_run(void);

#endif
