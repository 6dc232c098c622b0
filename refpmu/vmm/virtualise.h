/* SPDX-License-Identifier: MIT */
/* Turning a processor into a guest of the hypervisor. */
#ifndef REFPMU_VMM_VIRTUALISE_H
#define REFPMU_VMM_VIRTUALISE_H

#include "refpmu/hv/cpu.h"

/* The memory that efi_main() reserved and copied the image to; free memory is zeroed. */
struct virtualise_memory {
	u64 base, size;		/* all of it */
	u64 image_size;		/* the image is at its beginning */
	u64 free;		/* after the image */
	u64 startup_page;	/* a page below 1 MiB for startup.asm; 0: one processor only */
	u64 remote_base;	/* the guest's: memory that shall be another package's */
	u32 remote_bytes;	/* 0: none */
	u8 apic_ids[PROCESSORS_MAX];	/* of the others */
	unsigned others;
};

/*
 * The boot processor: build everything the processors share, and this one's guest from the
 * firmware's state; the guest begins at rip and rsp. Runs in the copy, on a stack in it, with
 * the firmware's tables still loaded. For svm_launch().
 */
__attribute__((noreturn)) void virtualise_boot_processor(void *memory, u64 rip, u64 rsp);

#endif
