/* SPDX-License-Identifier: MIT */
/*
 * Code that a device writes: two functions are read from the disk in turn into a page whose code
 * was counted just before. Needs a disk that the firmware reads with DMA and that holds this
 * program.
 */
#ifndef REFPMU_SELFTEST_DISK_H
#define REFPMU_SELFTEST_DISK_H

#include <efi.h>

#include "spec/types.h"

/* Look for the functions on the disks. false: they aren't there. This and disk_check() run with the
 * firmware's state in place. */
bool disk_open(EFI_SYSTEM_TABLE *system);

/* Test it on the selected engine; the disk is read with and without counters on. NULL, or what was
 * wrong. */
const char *disk_check(void);

/* After disk_open(): some of its sectors go to this physical address. */
bool disk_read_to(u64 physical, u64 bytes);

#endif
