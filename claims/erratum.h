/* SPDX-License-Identifier: MIT */
/* Names for claims/erratum.def: ERRATUM_<token>. */
#ifndef CLAIMS_ERRATUM_H
#define CLAIMS_ERRATUM_H

enum erratum {
#define ERRATUM(token, id, machines, source, effect) ERRATUM_##token,
#include "claims/erratum.def"
	ERRATA
};

#endif
