/* SPDX-License-Identifier: MIT */
/* Replaces dbt/ in a build without it. */
#include "refpmu/engine/translator.h"

const struct translator *const translator;
