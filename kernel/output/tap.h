/* SPDX-License-Identifier: MIT */
/*
 * TAP version 14, written line by line to a sink. Pure: the sink does the output. The forms of
 * the six verdicts and of the YAML block are those of the README ("How to read a result").
 */
#ifndef KERNEL_TAP_H
#define KERNEL_TAP_H

#include "spec/types.h"

struct tap {
	void (*sink)(void *ctx, const char *line);	/* one line, without its newline */
	void *ctx;
	unsigned points;				/* test points so far */
};

void tap_begin(struct tap *tap);				/* "TAP version 14" */
void tap_plan(struct tap *tap, unsigned points);		/* "1..N" */
/* A test point. directive: NULL, or the text after '#', e.g. "SKIP reason". */
void tap_point(struct tap *tap, bool ok, const char *name, const char *directive);
__attribute__((format(printf, 2, 3)))
void tap_comment(struct tap *tap, const char *format, ...);	/* "# ..." */
void tap_bail_out(struct tap *tap, const char *reason);		/* "Bail out! reason" */
/* The YAML block after a point. Values are quoted as needed. */
void tap_yaml_begin(struct tap *tap);
void tap_yaml_entry(struct tap *tap, const char *key, const char *value);
void tap_yaml_end(struct tap *tap);

#endif
