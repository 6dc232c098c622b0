/* SPDX-License-Identifier: MIT */
/* The data that the loader has passed. Only for boot/direct/ itself. */
#ifndef BOOT_DIRECT_DIRECT_H
#define BOOT_DIRECT_DIRECT_H

#include "kernel/output/raster.h"
#include "platform/acpi.h"
#include "platform/start_info.h"

struct direct {
	struct start_info info;
	struct ram ram;			/* that is free */
	struct physical physical;
	u64 rsdp;			/* 0: none */
	struct acpi_power power;
	bool tsc_assumed;		/* the rate of the TSC is unknown */
};
extern struct direct direct;

/* NULL: success. Otherwise the reason why the program can't run. */
const char *direct_init(u64 start_info);

/* The loader's framebuffer; base NULL: there is none that can be used. */
void direct_find_screen(struct raster *raster);

#endif
