/* SPDX-License-Identifier: MIT */
/* See program.h. */
#include "refpmu/selftest/program.h"
#include "refpmu/model/model.h"
#include "refpmu/selftest/machine.h"
#include "spec/msr.h"

/* One is made at a time. */
static u64 random_state;
static bool portable;
static u8 *program_data;

static u32 draw(u32 below)
{
	u64 z = random_state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return (u32)((z ^ z >> 31) % below);
}

static u8 *at;

static void selftest_program_put(u8 value)
{
	*at++ = value;
}

static void put32(u64 value)
{
	for (unsigned i = 0; i < 4; i++, value >>= 8)
		selftest_program_put((u8)value);
}

/* RAX, RCX or RDX, or R8 to R11. */
static u8 scratch_register(void)
{
	u8 n = (u8)draw(7);

	return (u8)(n < 3 ? n : n + 5);
}

static void memory_operand(u8 reg)
{
	u8 r = (u8)((reg & 7) << 3);

	switch (draw(3)) {
	case 0:
		selftest_program_put((u8)(0x83 | r));	/* [RBX + n] */
		put32(draw(PROGRAM_DATA - 64));
		break;
	case 1:
		selftest_program_put((u8)(0x05 | r));	/* [RIP + n] */
		put32((u64)(program_data + draw(PROGRAM_DATA - 64)) - (u64)(at + 4));
		break;
	default:
		selftest_program_put((u8)(0x44 | r));	/* [RBX + RBP + n] */
		selftest_program_put(0x2b);
		selftest_program_put((u8)draw(100));
		break;
	}
}

/* LEA RDI or RSI, [RBX + n]: now and then across the end of the page before the data. */
static void string_pointer(u8 modrm)
{
	selftest_program_put(0x48), selftest_program_put(0x8d), selftest_program_put(modrm);
	put32(draw(4) ? draw(1000) : draw(16) - 16);
}

static void one_string(void)
{
	static const u8 opcodes[] = { 0xa4, 0xa5, 0xa6, 0xa7, 0xaa, 0xab, 0xac, 0xad, 0xae, 0xaf };

	string_pointer(0xbb);
	/* The same place twice: so that REPE goes on. */
	if (draw(4))
		string_pointer(0xb3);
	else
		selftest_program_put(0x48), selftest_program_put(0x89), selftest_program_put(0xfe);
	if (draw(3)) {
		selftest_program_put(0xb9), put32(draw(9));	/* MOV ECX, n */
		selftest_program_put(draw(3) ? 0xf3 : 0xf2);
	}
	if (!draw(8))
		selftest_program_put(0x66);
	else if (draw(2))
		selftest_program_put(0x48);
	selftest_program_put(opcodes[draw((u32)sizeof(opcodes))]);
	if (draw(2))
		selftest_program_put(0x9c), selftest_program_put(0x58);	/* PUSHF, POP */
}

/* MOV of a selector, or of CR2, which no program changes. A far return to what follows it. */
static void one_system_instruction(void)
{
	switch (draw(3)) {
	case 0:
		if (draw(2))
			selftest_program_put(draw(2) ? 0x48 : 0x66);
		selftest_program_put(0x8c);
		selftest_program_put((u8)(0xc0 | draw(6) << 3 | draw(3)));
		break;
	case 1:
		selftest_program_put(0x0f), selftest_program_put(0x20);
		selftest_program_put((u8)(0xd0 | draw(3)));
		break;
	default:
		/* MOV EAX, CS; PUSH; LEA RAX, [RIP + 3]; PUSH; RETFQ */
		selftest_program_put(0x8c), selftest_program_put(0xc8), selftest_program_put(0x50);
		selftest_program_put(0x48), selftest_program_put(0x8d), selftest_program_put(0x05);
		put32(3);
		selftest_program_put(0x50), selftest_program_put(0x48), selftest_program_put(0xcb);
		break;
	}
}

static void one_instruction(void)
{
	static const u8 operations[] = { 0x01, 0x03, 0x29, 0x2b, 0x31, 0x33, 0x21, 0x0b, 0x13,
					 0x1b, 0x39, 0x3b, 0x89, 0x8b, 0x87, 0x85, 0x8b, 0x89 };
	u8 reg = scratch_register();
	u8 rex = (u8)(0x48 | (reg >= 8 ? 4 : 0));

	switch (draw(12)) {
	case 0:
	case 1:
	case 2:
	case 3:
		selftest_program_put(rex);
		selftest_program_put(operations[draw((u32)sizeof(operations))]);
		memory_operand(reg);
		break;
	case 4:
	case 5:
		selftest_program_put(rex);
		selftest_program_put((u8)(draw(8) << 3 | 3));
		selftest_program_put((u8)(0xc0u | (u32)(reg & 7) << 3 | draw(7)));
		break;
	case 6:
		selftest_program_put(0xf0);		/* LOCK XADD */
		selftest_program_put(rex);
		selftest_program_put(0x0f);
		selftest_program_put(0xc1);
		memory_operand(reg);
		break;
	case 7:
		selftest_program_put((u8)(0x50 | draw(3)));	/* PUSH, POP */
		selftest_program_put((u8)(0x58 | draw(3)));
		break;
	case 8:
		if (draw(2) || portable) {	/* PUSHF, POP */
			selftest_program_put(0x9c);
			selftest_program_put(0x58);
			break;
		}
		if (draw(4))
			one_string();
		else
			one_system_instruction();
		break;
	case 9:
		/* MOVDQU, MOVUPS, MOVUPD */
		if (draw(2))
			selftest_program_put(0xf3), selftest_program_put(0x0f),
				selftest_program_put(draw(2) ? 0x6f : 0x7f);
		else
			selftest_program_put(draw(2) ? 0x66 : 0x3e), selftest_program_put(0x0f),
				selftest_program_put(draw(2) ? 0x10 : 0x11);
		memory_operand((u8)draw(8));
		/* PXOR */
		selftest_program_put(0x66), selftest_program_put(0x0f), selftest_program_put(0xef),
			selftest_program_put((u8)(0xc0 | draw(64)));
		break;
	case 10:
		/* MOV byte [RIP + 2], n; ADD EAX, imm32: into the immediate */
		selftest_program_put(0xc6), selftest_program_put(0x05), put32(1),
			selftest_program_put((u8)draw(256));
		selftest_program_put(0x05), put32(draw(1000));
		break;
	default:
		switch (draw(5)) {
		case 0:
			/* UD2, which its handler skips */
			selftest_program_put(0x0f), selftest_program_put(0x0b);
			break;
		case 1:
			selftest_program_put(0xfa), selftest_program_put(0xfb);	/* CLI, STI */
			break;
		case 2:
			selftest_program_put(0x9c), selftest_program_put(0x9d);	/* PUSHF, POPF */
			break;
		case 3:
			if (portable)
				break;
			/* CPUID, which changes RBX */
			selftest_program_put(0x0f), selftest_program_put(0xa2);
			selftest_program_put(0x48), selftest_program_put(0xbb);
			put32((u64)program_data), put32((u64)program_data >> 32);
			break;
		default:
			selftest_program_put(0xf3), selftest_program_put(0x90);	/* PAUSE */
			break;
		}
		break;
	}
}

/* A branch over some instructions, a call of them, or a loop of them by R12. */
static void one_group(unsigned depth)
{
	unsigned n = 1 + draw(5);
	u8 *place;

	switch (draw(depth ? 4 : 5)) {
	case 0:
		selftest_program_put((u8)(0x70 | draw(16)));
		place = at;
		selftest_program_put(0);
		while (n-- && at - place < 60)
			one_instruction();
		*place = (u8)(at - place - 1);
		break;
	case 1:
		selftest_program_put(0xe8), put32(5);	/* CALL over JMP; body; RET */
		selftest_program_put(0xe9);
		place = at;
		put32(0);
		while (n--)
			one_instruction();
		selftest_program_put(0xc3);
		for (u32 i = 0; i < 4; i++)
			place[i] = (u8)((u64)(at - place - 4) >> 8 * i);
		break;
	case 2:
		/* LEA RAX, [RIP + 2]; JMP RAX */
		selftest_program_put(0x48), selftest_program_put(0x8d), selftest_program_put(0x05),
			put32(2);
		selftest_program_put(0xff), selftest_program_put(0xe0);
		break;
	case 3:
		one_instruction();
		break;
	default:
		/* MOV R12D, n; ...; DEC; JNZ */
		selftest_program_put(0x41), selftest_program_put(0xbc), put32(2 + draw(60));
		place = at;
		while (n--)
			one_group(depth + 1);
		selftest_program_put(0x49), selftest_program_put(0xff), selftest_program_put(0xcc);
		selftest_program_put(0x0f), selftest_program_put(0x85),
			put32((u64)place - (u64)(at + 4));
		break;
	}
}

u32 program_draw(u32 below)
{
	return draw(below);
}

static void selftest_program_begin(struct program *program, u8 *code)
{
	struct engine_context *context = &program->context;

	for (unsigned i = 0; i < 16; i++)
		context->begin[i] = (u64)draw(0xffffffff) << 32 | draw(0xffffffff);
	context->begin[REG_RBX] = (u64)program_data;
	context->begin[REG_RSP] = (u64)(program_data + PROGRAM_DATA);
	context->begin[REG_RBP] = draw(200);
	context->code = code;
}

void program_generate(struct program *program, u64 seed, bool portably)
{
	random_state = seed;
	portable = portably;
	program_data = program->memory + PROGRAM_CODE;
	for (unsigned i = 0; i < PROGRAM_CODE; i++)
		program->memory[i] = 0x90;
	for (unsigned i = 0; i < PROGRAM_DATA; i++)
		program_data[i] = (u8)draw(256);
	at = program->memory;
	while (at < program->memory + PROGRAM_CODE / 2 - 700 - seed % 5 * 250)
		one_group(0);
	selftest_program_put(0xff), selftest_program_put(0x25), put32(0);	/* JMP [RIP] */
	put32((u64)engine_done), put32((u64)engine_done >> 32);
	selftest_program_begin(program, program->memory);
}

void program_call(struct program *program, u64 seed, void (*function)(u64), u64 argument)
{
	u64 *top;

	random_state = seed;
	program_data = program->memory + PROGRAM_CODE;
	top = (u64 *)(void *)(program_data + PROGRAM_DATA);
	selftest_program_begin(program, (u8 *)function);
	*--top = (u64)engine_done;
	program->context.begin[REG_RSP] = (u64)top;
	program->context.begin[REG_RDI] = argument;
}

void program_run(struct program *program)
{
	struct engine_context *context = &program->context;
	u64 before = msr_read(MSR_IA32_GS_BASE);

	for (unsigned i = 0; i < 18; i++)
		context->seen[i] = context->end[i] = 0;
	context->pmis = context->faults = 0;
	msr_write(MSR_IA32_GS_BASE, (u64)context);
	engine_go();
	msr_write(MSR_IA32_GS_BASE, before);
}
