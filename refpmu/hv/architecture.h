/* SPDX-License-Identifier: MIT */
/*
 * Architectural bits that the hypervisor looks at, of the guest's state and of its own. What
 * belongs to AMD-V is in vmcb.h.
 */
#ifndef REFPMU_HV_ARCHITECTURE_H
#define REFPMU_HV_ARCHITECTURE_H

#include "spec/x86.h"

#define EFER_SVME	BIT(12)		/* AMD's */

#define TWO_MIB		BIT(21)

#endif
