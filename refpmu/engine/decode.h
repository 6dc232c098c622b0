/* SPDX-License-Identifier: MIT */
/*
 * The facts about an instruction that the engine needs before it runs: its kind, its memory
 * accesses, its branch. Zydis decodes; the results are kept in a small cache by linear address, and
 * compared with the bytes in memory at each use.
 *
 * Not enumerated, and marked so: gathers and ENTER with a nesting level. Implicit accesses of
 * events and gates (stack frames, descriptor tables, page tables) don't count as accesses of the
 * instruction.
 */
#ifndef REFPMU_ENGINE_DECODE_H
#define REFPMU_ENGINE_DECODE_H

#include "refpmu/hv/cpu.h"

#define INSN_MAX_BYTES	15
#define INSN_MAX_ACCESSES 8	/* PUSHA in compatibility mode */

enum insn_kind {
	INSN_PLAIN,
	INSN_REP,		/* string instruction with a repeat prefix */
	INSN_PUSHF,
	INSN_POPF,
	INSN_IRET,
	INSN_FAR_RETURN,	/* 64-bit operands, no immediate */
	INSN_STI,
	INSN_MOV_SS,		/* MOV SS and POP SS */
	INSN_LOAD_SS,		/* LSS: QEMU raises no trap after it */
	INSN_HLT,
	INSN_PAUSE,
	INSN_MWAIT,
	INSN_INT,		/* INT n and INT3 */
	INSN_SYSCALL,
	INSN_SYSRET,
	INSN_MOV_CR8,
	INSN_LOAD_CR0,
	INSN_LOAD_CR4,
	INSN_LOAD_CR3,
	INSN_STORE_CR2,
	INSN_STORE_CR3,
	INSN_STORE_SEGMENT,	/* MOV of a selector into a register */
	INSN_INVLPG,
	INSN_INVPCID,
	INSN_CPUID,
	INSN_RDMSR,
	INSN_WRMSR,
	INSN_RDPMC,
	INSN_VMMCALL,
	INSN_RDTSC,
	INSN_STR,		/* into a register */
	INSN_XBEGIN, INSN_XEND, INSN_XABORT, INSN_XTEST,
};

/* Prefixes of locked instructions; XRELEASE also with MOV. */
enum insn_elision { ELISION_NONE, ELISION_XACQUIRE, ELISION_XRELEASE };

#define REG_NONE	0xff

enum access_form {
	FORM_PLAIN,
	FORM_PUSH,		/* address below the stack pointer */
	FORM_POP_TARGET,	/* POP to memory: the stack pointer has moved already */
	FORM_BIT_STRING,	/* BT, BTS, ... with a register: the bit may be far away */
};

struct insn_access {
	u8 base, index;		/* REG_* or REG_NONE */
	u8 scale;
	u8 segment;		/* 0..5: ES CS SS DS FS GS */
	u8 form;		/* enum access_form */
	bool load, store;
	bool index_is_byte;	/* XLAT: the index is AL */
	u16 bytes;
	u8 bit_register;	/* register with the bit's number, for FORM_BIT_STRING */
	u64 displacement;	/* for RIP-relative ones the absolute address */
	u64 mask;		/* mask for the effective address */
};

struct instruction {
	u64 linear;		/* linear address at which it was decoded */
	u64 rip;		/* RIP at that time, for RIP-relative operands */
	u8 mode;		/* code size in bits */
	u8 length;
	u8 bytes[INSN_MAX_BYTES];
	enum insn_kind kind;
	enum model_branch branch;
	bool backward;		/* a conditional branch that goes backward */
	bool indirect;		/* a near jump or call through a register or memory */
	enum model_arithmetic arithmetic;
	u8 vector;		/* vector of INSN_INT */
	int32_t immediate;	/* XBEGIN: distance from its end to the fallback; XABORT: code */
	bool unfriendly;	/* aborts a transaction */
	bool locked;
	u8 elision;		/* enum insn_elision; the lock is access[0] */
	bool port;		/* IN, OUT and their strings */
	enum memory_act act;	/* effect on caches and TLBs, in addition to the accesses */
	struct insn_access act_operand;	/* the address for this effect, if it has one */
	bool incomplete;	/* not all accesses are enumerated */
	u8 n_access;
	struct insn_access access[INSN_MAX_ACCESSES];
	u64 count_mask;		/* bits of RCX that count, for INSN_REP and LOOP */
	bool is_pop;		/* INSN_MOV_SS is POP SS */
	u8 selector_register;	/* INSN_MOV_SS: source register; REG_NONE: access[0] */
	u8 operand_bytes;	/* operand size */
	u8 operand_register;	/* register of INSN_LOAD_CR*, INSN_STORE_*, INSN_STR */
	/* A 32-bit MOV to memory: the usual store to the local APIC's registers. */
	bool store32;
	u8 store_register;	/* source; REG_NONE: store_immediate */
	u32 store_immediate;
};

/* Is this INSN_RDTSC an RDTSCP (0F 01 F9), not an RDTSC (0F 31)? */
static inline bool decode_is_rdtscp(const struct instruction *insn)
{
	return insn->length >= 3 && insn->bytes[insn->length - 1] == 0xf9;
}

/* Call once for each processor. */
void decode_init(struct cpu *cpu);

/* The instruction at the guest's RIP. NULL: it isn't in mapped memory, or the decoder doesn't know
 * it. Valid until the next call. */
const struct instruction *decode_current(struct cpu *cpu);

/* The same, but NULL unless it was decoded before, and its bytes haven't changed, are in one page
 * and may be executed. */
const struct instruction *decode_known(struct cpu *cpu);

/* How to emulate the last instruction that these two functions returned: emulate.h. */
struct emulate_op;
const struct emulate_op *decode_emulate_op(struct cpu *cpu, const struct instruction *insn);

/* The offset of an access in its segment, with these registers; its linear address. */
u64 decode_effective(const struct insn_access *access, const u64 gpr[REG_COUNT]);
u64 decode_linear(struct cpu *cpu, const struct instruction *insn, const struct insn_access *access,
		  const u64 gpr[REG_COUNT]);

/* Is a conditional branch taken, with these registers and flags? The result doesn't depend on the
 * target, which may be the next instruction. */
bool decode_condition(const struct instruction *insn, const u64 gpr[REG_COUNT], u64 flags);

#endif
