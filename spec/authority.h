/* SPDX-License-Identifier: MIT */
/* How much the source of a row weighs: of a fact in spec/, of a requirement in claims/. */
#ifndef SPEC_AUTHORITY_H
#define SPEC_AUTHORITY_H

/* What a row rests on. Only AUTH_TEXT may FAIL silicon; weaker rows are reported. */
enum authority {
	AUTH_TEXT,		/* a sentence or table of the manual */
	AUTH_FIGURE,		/* a figure of the manual, bit labels only */
	AUTH_PRACTICE,		/* what KVM or Linux does or relies on */
	AUTH_INFERENCE,		/* follows from the text on one reading of it */
};

#endif
