/* SPDX-License-Identifier: MIT */
/* Names for spec/hypervisor.def: HYPERVISOR_<token>, and where their leaves of CPUID may be. */
#ifndef SPEC_HYPERVISOR_H
#define SPEC_HYPERVISOR_H

enum hypervisor_id {
	HYPERVISOR_NONE,
	HYPERVISOR_OTHER,		/* CPUID.01H:ECX[31] is set, and no signature is known */
#define HYPERVISOR(token, signature, title, source) HYPERVISOR_##token,
#include "spec/hypervisor.def"
};

#define HYPERVISOR_LEAF		0x40000000u
#define HYPERVISOR_LEAF_STEP	0x100u
#define HYPERVISOR_LEAVES	0x100u

#endif
