/* SPDX-License-Identifier: MIT */
/* borrow_cycles=N: tests that the firmware still works after the machine is given back. */
#ifndef BOOT_SELFTEST_H
#define BOOT_SELFTEST_H

/* Borrow and give back that many times, with a crash of every kind in each, then wait up to ten
 * seconds for a key. Prints TAP on the console; returns 0 or 1. While the firmware has the
 * machine. */
int selftest_run(unsigned cycles);

#endif
