/* SPDX-License-Identifier: MIT */
/* Turning the processor that runs the firmware into a guest of the hypervisor. */
#ifndef REFPMU_VIRTUALISE_H
#define REFPMU_VIRTUALISE_H

#include "spec/types.h"

/* The memory that efi_main() reserved and copied the image to; free memory is zeroed. */
struct virtualise_memory {
	u64 base, size;		/* all of it */
	u64 free;		/* behind the image */
};

/*
 * The boot processor: build everything the processors share, and this one's guest from the
 * firmware's state; the guest begins at rip and rsp. Runs in the copy, on a stack in it, with
 * the firmware's tables still loaded. For svm_launch().
 */
__attribute__((noreturn)) void virtualise_boot_processor(void *memory, u64 rip, u64 rsp);

#endif
