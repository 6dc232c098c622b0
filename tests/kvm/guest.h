/* SPDX-License-Identifier: MIT */
/* Shared functions of the tests of KVM's guests. */
#ifndef TESTS_KVM_GUEST_H
#define TESTS_KVM_GUEST_H

#include "spec/types.h"

bool need_guest_of_kvm(char *reason, size_t size);
bool need_capabilities(char *reason, size_t size);	/* IA32_PERF_CAPABILITIES */
/* Does KVM emulate the counters? Or does it pass them through (Linux 7.0, enable_mediated_pmu), so
 * that writes of bits above their width are refused? */
bool need_emulated_counters(char *reason, size_t size);
bool need_passed_counters(char *reason, size_t size);

/* IA32_PMC<counter> wraps once, without an interrupt. */
void guest_overflow(unsigned counter);

#endif
