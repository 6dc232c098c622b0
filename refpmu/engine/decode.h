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
	INSN_FAR_RETURN,	/* with 64-bit operands, releasing nothing */
	INSN_STI,
	INSN_MOV_SS,		/* MOV SS and POP SS */
	INSN_LOAD_SS,		/* LSS: QEMU swallows a step after it */
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

/* Prefixes of instructions with LOCK; XRELEASE also of MOV. */
enum insn_elision { ELISION_NONE, ELISION_XACQUIRE, ELISION_XRELEASE };

#define REG_NONE	0xff

enum access_form {
	FORM_PLAIN,
	FORM_PUSH,		/* below the stack pointer */
	FORM_POP_TARGET,	/* of POP, with the stack pointer already moved */
	FORM_BIT_STRING,	/* BT, BTS, ... with a register: the bit may be far away */
};

struct insn_access {
	u8 base, index;		/* REG_* or REG_NONE */
	u8 scale;
	u8 segment;		/* 0..5: ES CS SS DS FS GS */
	u8 form;		/* enum access_form */
	bool load, store;
	bool index_is_byte;	/* XLAT: only AL is added */
	u16 bytes;
	u8 bit_register;	/* of FORM_BIT_STRING */
	u64 displacement;	/* RIP-relative ones are absolute already */
	u64 mask;		/* of the effective address */
};

struct instruction {
	u64 linear;		/* address that it was decoded at */
	u64 rip;		/* and the RIP, which RIP-relative operands depend on */
	u8 mode;		/* code size in bits */
	u8 length;
	u8 bytes[INSN_MAX_BYTES];
	enum insn_kind kind;
	enum model_branch branch;
	bool backward;		/* of a conditional branch */
	bool indirect;		/* of a near jump or call */
	enum model_arithmetic arithmetic;
	u8 vector;		/* of INSN_INT */
	int32_t immediate;	/* of XBEGIN: from its end to the fallback; of XABORT: the code */
	bool unfriendly;	/* aborts a transaction */
	bool locked;
	u8 elision;		/* enum insn_elision; the lock is access[0] */
	bool port;		/* IN, OUT and their strings */
	enum memory_act act;	/* what it does to caches and TLBs besides its accesses */
	struct insn_access act_operand;	/* the address that this is about, where there is one */
	bool incomplete;	/* the accesses aren't all enumerated */
	u8 n_access;
	struct insn_access access[INSN_MAX_ACCESSES];
	u64 count_mask;		/* of RCX, for INSN_REP and LOOP */
	bool is_pop;		/* of INSN_MOV_SS */
	u8 selector_register;	/* INSN_MOV_SS: source, or REG_NONE: access[0] */
	u8 operand_bytes;	/* operand size */
	u8 operand_register;	/* INSN_LOAD_CR*, INSN_STORE_*, INSN_STR */
	/* A 32-bit MOV to memory: the usual store to the local APIC's registers. */
	bool store32;
	u8 store_register;	/* or REG_NONE: store_immediate */
	u32 store_immediate;
};

/* Of an INSN_RDTSC: is it RDTSCP (0F 01 F9), not RDTSC (0F 31)? */
static inline bool decode_is_rdtscp(const struct instruction *insn)
{
	return insn->length >= 3 && insn->bytes[insn->length - 1] == 0xf9;
}

/* Once per processor. */
void decode_init(struct cpu *cpu);

/* The instruction at the guest's RIP; NULL: not in mapped memory, or not known to the decoder.
 * Valid until the next call. */
const struct instruction *decode_current(struct cpu *cpu);

/* The same, but NULL unless it was decoded before and its bytes haven't changed; `left` bytes of
 * code are at `host`. */
const struct instruction *decode_cached(struct cpu *cpu, const u8 *host, u64 left);

/* How to emulate the last instruction that these two returned: emulate.h. */
struct emulate_op;
const struct emulate_op *decode_emulate_op(struct cpu *cpu, const struct instruction *insn);

/* The offset of an access in its segment, with these registers, and its linear address. */
u64 decode_effective(const struct insn_access *access, const u64 gpr[REG_COUNT]);
u64 decode_linear(struct cpu *cpu, const struct instruction *insn, const struct insn_access *access,
		  const u64 gpr[REG_COUNT]);

/* Is a conditional branch taken, with these registers and flags? One to the next instruction is
 * taken or not like any other. */
bool decode_condition(const struct instruction *insn, const u64 gpr[REG_COUNT], u64 flags);

#endif
