/* SPDX-License-Identifier: MIT */
/* The way out when nothing else is left. */
#ifndef KERNEL_RESET_H
#define KERNEL_RESET_H

/* Reset the platform: reset control register, keyboard controller, then a triple fault. */
_Noreturn void machine_reset(void);

#endif
