/* SPDX-License-Identifier: MIT */
/* borrow_cycles=N: is the machine given back such that its firmware still works? */
#ifndef BOOT_SELFTEST_H
#define BOOT_SELFTEST_H

/* Borrow and give back that many times, with a crash of every kind in each, then wait up to ten
 * seconds for a key. TAP on the console; returns 0 or 1. With the machine given back. */
int selftest_run(unsigned cycles);

#endif
