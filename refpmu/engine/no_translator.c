/* SPDX-License-Identifier: MIT */
/* In the place of dbt/ in a build without it. */
#include "refpmu/engine/translator.h"

const struct translator *const translator;
