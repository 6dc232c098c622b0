/* SPDX-License-Identifier: MIT */
/*
 * Architectural bits of the guest's state and of the hypervisor's own state. Definitions of AMD-V
 * are in vmcb.h.
 */
#ifndef REFPMU_HV_ARCHITECTURE_H
#define REFPMU_HV_ARCHITECTURE_H

#include "spec/x86.h"

#define EFER_SVME	BIT(12)		/* AMD's */

#define TWO_MIB		BIT(21)

#endif
