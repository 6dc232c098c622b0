/* SPDX-License-Identifier: MIT */
/*
 * The ways in which an instruction names its operand in memory: tests/measure/workload_forms.asm
 * has a piece for each, and this says which linear address each accesses.
 */
#ifndef TESTS_MEASURE_FORMS_H
#define TESTS_MEASURE_FORMS_H

#include "tests/measure/workload.h"

/* X(piece, address): address in terms of `memory`, `stack` and the segment bases below. */
#define FORMS_OF_LOADS(X)							\
	X(load_base, memory)							\
	X(load_disp8, memory + FORM_OFFSET)					\
	X(load_disp32, memory + FORM_TARGET)					\
	X(load_index, memory + 8 * FORM_INDEX + FORM_OFFSET)			\
	X(load_rip, word)							\
	X(load_absolute, FORM_ABSOLUTE)						\
	X(load_fs, memory + FORM_OFFSET + FORM_FS_BASE)				\
	X(load_gs, memory + FORM_OFFSET + FORM_GS_BASE)				\
	X(load_string, memory)							\
	X(move_string, memory)							\
	X(load_pop, stack - 8)							\
	X(call_return, stack - 8)

#define FORMS_OF_STORES(X)							\
	X(store_disp32, memory + FORM_TARGET)					\
	X(store_index, memory + 8 * FORM_INDEX + FORM_OFFSET)			\
	X(store_rip, word)							\
	X(store_fs, memory + FORM_OFFSET + FORM_FS_BASE)			\
	X(store_gs, memory + FORM_OFFSET + FORM_GS_BASE)			\
	X(store_string, memory)							\
	X(move_string, memory + FORM_TARGET)					\
	X(store_push, stack - 8)						\
	X(call_return, stack - 8)

/* As in tests/measure/workload_forms.asm. */
#define FORM_OFFSET	8
#define FORM_INDEX	5
#define FORM_ABSOLUTE	0x8000
#define FORM_TARGET	256

/* Small ones: the sum with the memory's address stays in the memory. */
#define FORM_FS_BASE	0x1000
#define FORM_GS_BASE	0x2000

#define FORM_DECLARE(piece, address) \
	extern const struct workload workload_##piece __attribute__((visibility("hidden")));
FORMS_OF_LOADS(FORM_DECLARE)
FORMS_OF_STORES(FORM_DECLARE)
#undef FORM_DECLARE

struct form {
	const char *name;
	const struct workload *workload;
	u64 address;		/* linear, of every access that the piece makes */
};

/* The i-th way of loading, of storing. false: there are fewer. */
bool form_of_load(unsigned i, struct form *form);
bool form_of_store(unsigned i, struct form *form);

/* The segment bases in place while a form runs, and back. Interrupt handlers here use neither. */
void form_begin(void);
void form_end(void);

#endif
