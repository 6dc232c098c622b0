/* SPDX-License-Identifier: MIT */
/*
 * Names for spec/exerciser.def, and how an exerciser is found: through an entry of the UEFI system
 * table's configuration table, or a module (pvh.h). docs/EXERCISER.md.
 */
#ifndef SPEC_EXERCISER_H
#define SPEC_EXERCISER_H

#include "spec/types.h"

/* Initializer of an EFI_GUID. */
#define EXERCISER_GUID { 0x2f6d8a14, 0x93b7, 0x4c5e, \
			 { 0xa1, 0xd0, 0x6b, 0xe3, 0xf7, 0xc9, 0x52, 0x0b } }

/* What the entry points to. It stays where it is, in memory that no operating system uses. */
struct exerciser_table {
	u32 signature;		/* EXERCISER_TABLE */
	u32 bytes;		/* of this table: sizeof(struct exerciser_table), or more */
	u64 registers;		/* physical address of the register page, on a page of 4 KiB */
};

#define EXERCISER_TABLE		0x54584d50u	/* "PMXT" */
#define EXERCISER_HERE		0x52584d50u	/* "PMXR" */
#define EXERCISER_NUMBER	1u		/* of the version */

/* EXERCISER_<name>: offset in the register page. */
enum exerciser_register {
#define EXERCISER_REGISTER(name, offset, access, title) EXERCISER_##name = offset,
#include "spec/exerciser.def"
};

/* Values of STATE: EXERCISE_<name>. */
enum exerciser_state {
#define EXERCISER_STATE(name, value, outcome, title) EXERCISE_##name = value,
#include "spec/exerciser.def"
};

/* Values of STATUS: EXERCISER_IS_<name>. */
enum exerciser_status {
#define EXERCISER_STATUS(name, value, title) EXERCISER_IS_##name = value,
#include "spec/exerciser.def"
};

#endif
