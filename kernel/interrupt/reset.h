/* SPDX-License-Identifier: MIT */
/* The reset of the machine, when nothing else helps. */
#ifndef KERNEL_RESET_H
#define KERNEL_RESET_H

/* Reset the platform: reset control register, keyboard controller, then a triple fault. */
_Noreturn void machine_reset(void);

#endif
