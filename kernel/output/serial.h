/* SPDX-License-Identifier: MIT */
/* A 16550 UART at an I/O port, 8N1 at its owner's speed, write only. */
#ifndef KERNEL_SERIAL_H
#define KERNEL_SERIAL_H

#include "spec/types.h"

/* Choose the UART; 0, or a port where none answers: no serial line. */
void serial_init(u16 port);
/* Remember how its owner has set it up and make it ours; give it back as it was. */
void serial_borrow(void);
void serial_return(void);
/* false: the UART didn't take the character within 10 ms. */
bool serial_put(char c);
/* Has serial_init() found one? */
bool serial_is_there(void);

#endif
