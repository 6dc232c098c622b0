/* SPDX-License-Identifier: MIT */
/* Needs of tests of NetBurst's PMU, in addition to tests/frame/needs.h. */
#ifndef TESTS_NETBURST_NEEDS_H
#define TESTS_NETBURST_NEEDS_H

#include "tests/frame/needs.h"

/* The counters of pmu/netburst/netburst.h. */
bool need_netburst(char *reason, size_t size);
bool need_netburst_threads(char *reason, size_t size);	/* and Hyper-Threading */
bool need_netburst_without_threads(char *reason, size_t size);
bool need_netburst_pebs(char *reason, size_t size);

#endif
