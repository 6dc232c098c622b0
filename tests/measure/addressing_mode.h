/* SPDX-License-Identifier: MIT */
/*
 * The addressing modes of memory operands: tests/measure/workload_addressing_mode.asm has a piece
 * of code for each, and this file says which linear address each accesses.
 */
#ifndef TESTS_MEASURE_ADDRESSING_MODE_H
#define TESTS_MEASURE_ADDRESSING_MODE_H

#include "tests/measure/workload.h"

/* X(piece, address): address in terms of `memory`, `stack` and the segment bases below. */
#define ADDRESSING_MODES_OF_LOADS(X)						\
	X(load_base, memory)							\
	X(load_disp8, memory + ADDRESSING_OFFSET)				\
	X(load_disp32, memory + ADDRESSING_TARGET)				\
	X(load_index, memory + 8 * ADDRESSING_INDEX + ADDRESSING_OFFSET)	\
	X(load_rip, word)							\
	X(load_absolute, ADDRESSING_ABSOLUTE)					\
	X(load_wrapped, ADDRESSING_ABSOLUTE)					\
	X(load_own_base, memory + ADDRESSING_OFFSET)				\
	X(load_fs, memory + ADDRESSING_OFFSET + ADDRESSING_FS_BASE)		\
	X(load_gs, memory + ADDRESSING_OFFSET + ADDRESSING_GS_BASE)		\
	X(load_string, memory)							\
	X(move_string, memory)							\
	X(load_pop, stack - 8)							\
	X(call_return, stack - 8)

#define ADDRESSING_MODES_OF_STORES(X)						\
	X(store_disp32, memory + ADDRESSING_TARGET)				\
	X(store_index, memory + 8 * ADDRESSING_INDEX + ADDRESSING_OFFSET)	\
	X(store_rip, word)							\
	X(store_fs, memory + ADDRESSING_OFFSET + ADDRESSING_FS_BASE)		\
	X(store_gs, memory + ADDRESSING_OFFSET + ADDRESSING_GS_BASE)		\
	X(store_string, memory)							\
	X(store_own_base, memory + ADDRESSING_OFFSET)				\
	X(move_string, memory + ADDRESSING_TARGET)				\
	X(store_push, stack - 8)						\
	X(call_return, stack - 8)

/* As in tests/measure/workload_addressing_mode.asm. */
#define ADDRESSING_OFFSET	8
#define ADDRESSING_INDEX	5
#define ADDRESSING_ABSOLUTE	0x8000
#define ADDRESSING_TARGET	256

/* Small bases: the sum with the address of the memory is still inside the memory. */
#define ADDRESSING_FS_BASE	0x1000
#define ADDRESSING_GS_BASE	0x2000

#define ADDRESSING_DECLARE(piece, address) \
	extern const struct workload workload_##piece __attribute__((visibility("hidden")));
ADDRESSING_MODES_OF_LOADS(ADDRESSING_DECLARE)
ADDRESSING_MODES_OF_STORES(ADDRESSING_DECLARE)
#undef ADDRESSING_DECLARE

struct addressing_mode {
	const char *name;
	const struct workload *workload;
	u64 address;		/* linear, of every access that the piece makes */
};

/* The i-th addressing mode of loads, of stores. false: there are fewer. */
bool addressing_mode_of_load(unsigned i, struct addressing_mode *form);
bool addressing_mode_of_store(unsigned i, struct addressing_mode *form);

/* Set the segment bases while a piece runs, and restore them. Interrupt handlers of the harness
 * don't use these segments. */
void addressing_mode_begin(void);
void addressing_mode_end(void);

#endif
