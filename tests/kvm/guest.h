/* SPDX-License-Identifier: MIT */
/* What the tests of KVM's guests share. */
#ifndef TESTS_KVM_GUEST_H
#define TESTS_KVM_GUEST_H

#include "spec/types.h"

bool need_guest_of_kvm(char *reason, size_t size);
bool need_capabilities(char *reason, size_t size);	/* IA32_PERF_CAPABILITIES */
/* Counters that KVM emulates, or that it passes through (Linux 7.0, enable_mediated_pmu): what it
 * passes refuses bits above its width. */
bool need_emulated_counters(char *reason, size_t size);
bool need_passed_counters(char *reason, size_t size);

/* IA32_PMC<counter> wraps once, without an interrupt. */
void guest_overflow(unsigned counter);

#endif
