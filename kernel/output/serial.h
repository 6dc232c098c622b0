/* SPDX-License-Identifier: MIT */
/* A 16550 UART at an I/O port, 8N1 at its owner's speed, write only. */
#ifndef KERNEL_SERIAL_H
#define KERNEL_SERIAL_H

#include "spec/types.h"

/* Choose the UART. With port 0, or if no UART answers at the port, there is no serial line. */
void serial_init(u16 port);
/* Save the owner's settings and set the UART up for us; serial_return() restores the settings. */
void serial_borrow(void);
void serial_return(void);
/* false: the UART didn't take the character within 10 ms. */
bool serial_put(char c);
/* Has serial_init() found one? */
bool serial_is_there(void);

#endif
