/* SPDX-License-Identifier: MIT */
/* Makes a processor a guest of the hypervisor. */
#ifndef REFPMU_VMM_VIRTUALISE_H
#define REFPMU_VMM_VIRTUALISE_H

#include "refpmu/engine/engine_name.h"
#include "refpmu/hv/cpu.h"

/* The reserved memory, with the copy of the image (install.h); the free memory is zeroed. */
struct virtualise_memory {
	u64 base, size;		/* all of it */
	u64 image_size;		/* the image is at its beginning */
	u64 free;		/* after the image */
	u64 startup_page;	/* a page below 1 MiB for startup.asm; 0: one processor only */
	u64 remote_base;	/* the guest's: memory that shall be another package's */
	u32 remote_bytes;	/* 0: none */
	u8 apic_ids[PROCESSORS_MAX];	/* of the others */
	unsigned others;
	const struct model_config *config;	/* NULL: Haswell, until the launcher configures */
	enum engine_name engine;		/* with a config */
	bool trace;				/* tell what the PMU does (trace.h) */
	u32 entry, start_info;	/* the guest's PVH entry (spec/pvh.h); 0: where the caller is */
	/* OUT to that port ends the guest: at_end(cpu, the value), which doesn't return. 0: none */
	u16 end_port;
	void (*at_end)(struct cpu *cpu, u32 value);
};

/*
 * The boot processor: build everything the processors share, and this one's guest from the
 * firmware's state, where the guest begins at rip and rsp, or at its PVH entry. Runs in the copy,
 * on a stack in it, with the firmware's tables still loaded. For svm_launch().
 */
__attribute__((noreturn)) void virtualise_boot_processor(void *memory, u64 rip, u64 rsp);

#endif
