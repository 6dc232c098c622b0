/* SPDX-License-Identifier: MIT */
/* See decode.h. decode_insn.c determines the facts about an instruction. */
#include "refpmu/engine/decode_insn.h"
#include "refpmu/hv/guest_memory.h"
#include "refpmu/engine/emulate/emulate.h"
#include "refpmu/hv/svm.h"
#include "refpmu/engine/engine_cpu.h"
#include "spec/msr.h"

#define CACHE_ENTRIES	2048
#define SEGMENT_FS	4
#define SEGMENT_GS	5

struct decode_cache {
	ZydisDecoder decoder[3];	/* 16, 32 and 64-bit code */
	struct decode_entry {	/* mostly in one page */
		struct instruction insn;
		struct emulate_op emulated;
	} entry[CACHE_ENTRIES];
};

static struct decode_entry *entry_of(struct cpu *cpu, u64 linear)
{
	return &cpu->engine->decode_cache->entry[linear % CACHE_ENTRIES];
}

void decode_init(struct cpu *cpu)
{
	unsigned pages = (unsigned)((sizeof(struct decode_cache) + PAGE_SIZE - 1) / PAGE_SIZE);
	struct decode_cache *cache = hypervisor_pages(pages);

	ZydisDecoderInit(&cache->decoder[0], ZYDIS_MACHINE_MODE_LONG_COMPAT_16,
			 ZYDIS_STACK_WIDTH_16);
	ZydisDecoderInit(&cache->decoder[1], ZYDIS_MACHINE_MODE_LONG_COMPAT_32,
			 ZYDIS_STACK_WIDTH_32);
	ZydisDecoderInit(&cache->decoder[2], ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	cpu->engine->decode_cache = cache;
}

static u8 code_bits(const struct cpu *cpu)
{
	if (cpu_64bit_code(cpu))
		return 64;
	return cpu->vmcb->save.cs.attributes & SEG_DB ? 32 : 16;
}

static bool decode(struct decode_cache *cache, struct instruction *insn, unsigned available)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	const ZydisDecoder *decoder = &cache->decoder[insn->mode / 32];
	ZydisDecodedInstruction zi;

	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(decoder, insn->bytes, available, &zi, operands)))
		return false;
	decode_fill(insn, &zi, operands);
	insn->unfriendly = decode_unfriendly(&zi, operands);
	return true;
}

/* Does the instruction still have these bytes? left: bytes that may be read there. */
static bool is_unchanged(const struct instruction *insn, const u8 *host, u64 left)
{
	u64 is, was;

	if (insn->length <= sizeof(is) && left >= sizeof(is)) {
		__builtin_memcpy(&is, host, sizeof(is));
		__builtin_memcpy(&was, insn->bytes, sizeof(was));
		return !((is ^ was) << 8 * (sizeof(is) - insn->length));
	}
	for (unsigned i = 0; i < insn->length; i++)
		if (insn->bytes[i] != host[i])
			return false;
	return true;
}

const struct instruction *decode_known(struct cpu *cpu)
{
	u64 linear = cpu_code_address(cpu), left = PAGE_SIZE - linear % PAGE_SIZE;
	const u8 *host = guest_text_at(cpu, linear);
	const struct instruction *insn = &entry_of(cpu, linear)->insn;

	if (!host || !insn->length || insn->linear != linear || insn->rip != cpu->vmcb->save.rip ||
	    insn->mode != code_bits(cpu) || insn->length > left)
		return NULL;
	return is_unchanged(insn, host, left) ? insn : NULL;
}

const struct instruction *decode_current(struct cpu *cpu)
{
	u64 linear = cpu_code_address(cpu), rip = cpu->vmcb->save.rip;
	struct decode_entry *entry = entry_of(cpu, linear);
	struct instruction *insn = &entry->insn;
	u8 mode = code_bits(cpu);
	u8 bytes[INSN_MAX_BYTES];
	unsigned available;
	const struct instruction *known = decode_known(cpu);

	if (known)
		return known;
	if (insn->length && insn->linear == linear && insn->rip == rip && insn->mode == mode &&
	    guest_read_some(cpu, linear, bytes, insn->length) == insn->length &&
	    !__builtin_memcmp(bytes, insn->bytes, insn->length))
		return insn;

	available = guest_read_some(cpu, linear, bytes, INSN_MAX_BYTES);
	*insn = (struct instruction){ .linear = linear, .rip = rip, .mode = mode };
	entry->emulated.kind = EMULATE_UNKNOWN;
	__builtin_memcpy(insn->bytes, bytes, available);
	if (available && decode(cpu->engine->decode_cache, insn, available))
		return insn;
	insn->length = 0;
	return NULL;
}

const struct emulate_op *decode_emulate_op(struct cpu *cpu, const struct instruction *insn)
{
	struct emulate_op *op = &entry_of(cpu, insn->linear)->emulated;

	if (op->kind == EMULATE_UNKNOWN)
		emulate_decode(&cpu->engine->decode_cache->decoder[insn->mode / 32], op, insn);
	return op;
}

static u64 segment_base(struct cpu *cpu, unsigned segment)
{
	struct vmcb_save *save = &cpu->vmcb->save;

	switch (segment) {
	case SEGMENT_FS:
		return msr_read(MSR_IA32_FS_BASE);
	case SEGMENT_GS:
		return msr_read(MSR_IA32_GS_BASE);
	default:
		return cpu_64bit_code(cpu) ? 0 : (&save->es)[segment].base;
	}
}

u64 decode_linear(struct cpu *cpu, const struct instruction *insn, const struct insn_access *access,
		  const u64 gpr[REG_COUNT])
{
	u64 address = decode_effective(access, gpr) + segment_base(cpu, access->segment);

	return insn->mode == 64 ? address : (u32)address;
}
