/* SPDX-License-Identifier: MIT */
/*
 * See visit.h: doing it. Flags are read back by LAHF and SETO, which cost less than PUSHF where an
 * emulator keeps flags in another form. An operation that leaves one of them undefined begins with
 * the program's flags, so that the processor leaves what it would have left.
 */
#include "refpmu/engine/visit/visit.h"

#define PAGE	4096u

#define FLAG_CF		BIT(0)
#define FLAG_PF		BIT(2)
#define FLAG_ZF		BIT(6)
#define FLAG_SF		BIT(7)
#define FLAG_OF_SHIFT	11
#define FLAGS_LOW	0xd5u		/* all but OF, where LAHF and SAHF have them */

#define GET(type, at) \
	({ type got_; __builtin_memcpy(&got_, (at), sizeof(got_)); got_; })
#define PUT(type, at, value) \
	do { \
		type put_ = (type)(value); \
		__builtin_memcpy((at), &put_, sizeof(put_)); \
	} while (0)

/* A part of a head that is in a register. */
#define HEAD(head, part)	((u8)((head) >> 8 * offsetof(union visit_head, part)))

/* ---- flags; in AX: as LAHF has them, and OF in bit 0 ---- */

#define READ_FLAGS	"\n\tlahf\n\tseto %%al"
#define WRITE_FLAGS	"addb $0x7f, %%al\n\tsahf\n\t"

static u64 flags_of(u16 ax)
{
	return (ax >> 8 & FLAGS_LOW) | (u64)(ax & 1) << FLAG_OF_SHIFT;
}

static u16 ax_of(u64 flags)
{
	return (u16)((flags & FLAGS_LOW) << 8 | (flags >> FLAG_OF_SHIFT & 1));
}

/* The eight conditions, each with its opposite. */
static bool holds(u64 flags, u8 condition)
{
	static const u16 masks[8] = {
		BIT(FLAG_OF_SHIFT), FLAG_CF, FLAG_ZF, FLAG_CF | FLAG_ZF, FLAG_SF, FLAG_PF,
		FLAG_SF, FLAG_SF | FLAG_ZF,
	};

	/* "Less" is SF differing from OF. */
	if (condition >= 12)
		flags ^= flags >> (FLAG_OF_SHIFT - 7) & FLAG_SF;
	return ((flags & masks[condition >> 1]) != 0) != (condition & 1);
}

/* ---- memory ---- */

static u8 *reach_slowly(struct visit_cache *cache, u64 linear, unsigned bytes, bool write)
{
	struct visit_page *page = &cache->page[linear / PAGE % VISIT_PAGES];
	u8 *at = cache->world->at(cache->ctx, linear, bytes, write), *host;

	if (!at || linear % PAGE + bytes > PAGE)
		return at;
	host = at - linear % PAGE;
	if (page->host != host)
		page->number[0] = page->number[1] = ~0ULL;
	page->host = host;
	page->number[0] = linear / PAGE;
	if (write)
		page->number[1] = linear / PAGE;
	else if (page->number[1] != linear / PAGE)
		page->number[1] = ~0ULL;
	return at;
}

static inline u8 *reach(struct visit_cache *cache, u64 linear, unsigned bytes, bool write)
{
	const struct visit_page *page = &cache->page[linear / PAGE % VISIT_PAGES];

	if (page->number[write] == linear / PAGE && linear % PAGE + bytes <= PAGE)
		return page->host + linear % PAGE;
	return reach_slowly(cache, linear, bytes, write);
}

static inline u64 address_of(const struct visit_cache *cache, const struct visit_insn *insn)
{
	const u64 *gpr = cache->r.gpr;

	return gpr[insn->base] + (gpr[insn->index] << insn->scale) + insn->address;
}

static bool canonical(u64 address)
{
	u64 top = address >> 47;

	return top == 0 || top == BITS(0, 16);
}

/* ---- operations ---- */

#define EACH_WIDE(X, ...) \
	X(VISIT_16, u16, u16, "w", __VA_ARGS__) \
	X(VISIT_32, u32, u64, "l", __VA_ARGS__) \
	X(VISIT_64, u64, u64, "q", __VA_ARGS__)

#define EACH_WIDTH(X, ...) \
	X(VISIT_8, u8, u8, "b", __VA_ARGS__) \
	EACH_WIDE(X, __VA_ARGS__) \
	X(VISIT_32_MEMORY, u32, u32, "l", __VA_ARGS__)

/* Writes all flags and reads none. */
#define BINARY(width, type, result, suffix, token, text) \
	case VISIT_KIND(token, width): { \
		type a = GET(type, to); \
		u16 ax; \
		__asm__(text suffix " %2, %0" READ_FLAGS : "+q"(a), "=&a"(ax) \
			: "q"(GET(type, from)) : "cc"); \
		PUT(result, to, a); \
		cache->flags = flags_of(ax); \
		break; \
	}

/* The same without a result. */
#define COMPARE(width, type, result, suffix, token, text) \
	case VISIT_KIND(token, width): { \
		u16 ax; \
		__asm__(text suffix " %2, %1" READ_FLAGS : "=&a"(ax) \
			: "q"(GET(type, to)), "q"(GET(type, from)) : "cc"); \
		cache->flags = flags_of(ax); \
		break; \
	}

/* Begins with CF. */
#define CARRY(width, type, result, suffix, token, text) \
	case VISIT_KIND(token, width): { \
		type a = GET(type, to); \
		u16 ax; \
		__asm__("btl $0, %3\n\t" text suffix " %2, %0" READ_FLAGS \
			: "+&q"(a), "=&a"(ax) \
			: "q"(GET(type, from)), "r"((u32)cache->flags) : "cc"); \
		PUT(result, to, a); \
		cache->flags = flags_of(ax); \
		break; \
	}

/* INC and DEC leave CF; NEG doesn't. */
#define UNARY(width, type, result, suffix, token, text, kept) \
	case VISIT_KIND(token, width): { \
		type a = GET(type, to); \
		u16 ax; \
		__asm__(text suffix " %0" READ_FLAGS : "+q"(a), "=&a"(ax) : : "cc"); \
		PUT(result, to, a); \
		cache->flags = (flags_of(ax) & ~(u64)(kept)) | (cache->flags & (kept)); \
		break; \
	}

#define SHIFT(width, type, result, suffix, token, text) \
	case VISIT_KIND(token, width): { \
		type a = GET(type, to); \
		u16 ax = ax_of(cache->flags); \
		__asm__(WRITE_FLAGS text suffix " %%cl, %0" READ_FLAGS : "+q"(a), "+a"(ax) \
			: "c"(GET(u8, from)) : "cc"); \
		PUT(result, to, a); \
		cache->flags = flags_of(ax); \
		break; \
	}

#define MULTIPLY(width, type, result, suffix, token, first) \
	case VISIT_KIND(token, width): { \
		type a = GET(type, first); \
		u16 ax = ax_of(cache->flags); \
		__asm__(WRITE_FLAGS "imul" suffix " %2, %0" READ_FLAGS : "+r"(a), "+a"(ax) \
			: "r"(GET(type, token == VISIT_MULTIPLY ? from : \
				  (const u8 *)&insn->immediate)) : "cc"); \
		PUT(result, to, a); \
		cache->flags = flags_of(ax); \
		break; \
	}

/* RDX and RAX, or their parts, from RAX and an operand. */
#define LONG_MULTIPLY(width, type, result, suffix, token, text, rax, rdx) \
	case VISIT_KIND(token, width): { \
		type low = GET(type, &cache->r.gpr[REG_RAX]), high; \
		u16 ax = ax_of(cache->flags); \
		__asm__(WRITE_FLAGS "mov" suffix " %1, %%" rax "\n\t" text suffix " %3\n\t" \
			"mov" suffix " %%" rax ", %1" READ_FLAGS \
			: "+a"(ax), "+&r"(low), "=&d"(high) : "r"(GET(type, to)) : "cc"); \
		PUT(result, &cache->r.gpr[REG_RAX], low); \
		PUT(result, &cache->r.gpr[REG_RDX], high); \
		cache->flags = flags_of(ax); \
		break; \
	}

#define LONG_MULTIPLY_8(token, text) \
	case VISIT_KIND(token, VISIT_8): { \
		u16 product = (u16)cache->r.gpr[REG_RAX], ax = ax_of(cache->flags); \
		__asm__(WRITE_FLAGS "movw %1, %%ax\n\t" text "b %2\n\tmovw %%ax, %1" READ_FLAGS \
			: "+a"(ax), "+&r"(product) : "q"(GET(u8, to)) : "cc"); \
		PUT(u16, &cache->r.gpr[REG_RAX], product); \
		cache->flags = flags_of(ax); \
		break; \
	}

#define LONG_MULTIPLY_ALL(token, text) \
	LONG_MULTIPLY_8(token, text) \
	LONG_MULTIPLY(VISIT_16, u16, u16, "w", token, text, "ax", "dx") \
	LONG_MULTIPLY(VISIT_32, u32, u64, "l", token, text, "eax", "edx") \
	LONG_MULTIPLY(VISIT_64, u64, u64, "q", token, text, "rax", "rdx")

#define INVERT(width, type, result, suffix, token) \
	case VISIT_KIND(token, width): \
		PUT(result, to, (type)~GET(type, to)); \
		break;

#define MOVE(width, type, result, suffix, token) \
	case VISIT_KIND(token, width): \
		PUT(result, to, GET(type, from)); \
		break;

/* Of registers only. */
#define EXCHANGE(width, type, result, suffix, token) \
	case VISIT_KIND(token, width): { \
		type a = GET(type, to); \
		PUT(result, to, GET(type, from)); \
		PUT(result, from, a); \
		break; \
	}

#define MOVE_IF(width, type, result, suffix, token) \
	case VISIT_KIND(token, width): \
		PUT(result, to, holds(cache->flags, HEAD(head, condition)) ? GET(type, from) : \
		    GET(type, to)); \
		break;

#define EXTEND(kind, type, result) \
	case kind: \
		PUT(result, to, GET(type, from)); \
		break;

static bool push(struct visit_cache *cache, u64 value)
{
	u8 *at = reach(cache, cache->r.gpr[REG_RSP] - 8, 8, true);

	if (!at)
		return false;
	PUT(u64, at, value);
	cache->r.gpr[REG_RSP] -= 8;
	return true;
}

/* A conditional branch. */
static inline bool go(struct visit_cache *cache, const struct visit_insn *insn, bool taken,
		      u64 *rip)
{
	if (taken && !canonical(insn->immediate))
		return false;
	if (cache->tells)
		cache->events.mispredicts +=
			cache->world->mispredicted(cache->ctx, *rip - insn->head.length, taken);
	if (taken)
		*rip = insn->immediate;
	cache->events.taken += taken;
	return true;
}

/* LOOPNE, LOOPE, LOOP, JRCXZ: by what is left in RCX. */
static bool count_says(u8 condition, u64 left, u64 flags)
{
	switch (condition) {
	case 0:
		return left && !(flags & FLAG_ZF);
	case 1:
		return left && (flags & FLAG_ZF);
	case 2:
		return left;
	default:
		return !left;
	}
}

/* *rip is behind the instruction. */
static inline bool carry_out(struct visit_cache *cache, const struct visit_insn *insn, u64 head,
			     u8 *to, u8 *from, u64 *rip)
{
	u64 *gpr = cache->r.gpr, value;
	const u8 *at;

	switch (HEAD(head, kind)) {
	EACH_WIDTH(BINARY, VISIT_ADD, "add")
	EACH_WIDTH(BINARY, VISIT_OR, "or")
	EACH_WIDTH(CARRY, VISIT_ADC, "adc")
	EACH_WIDTH(CARRY, VISIT_SBB, "sbb")
	EACH_WIDTH(BINARY, VISIT_AND, "and")
	EACH_WIDTH(BINARY, VISIT_SUB, "sub")
	EACH_WIDTH(BINARY, VISIT_XOR, "xor")
	EACH_WIDTH(COMPARE, VISIT_CMP, "cmp")
	EACH_WIDTH(COMPARE, VISIT_TEST, "test")
	EACH_WIDTH(SHIFT, VISIT_ROL, "rol")
	EACH_WIDTH(SHIFT, VISIT_ROR, "ror")
	EACH_WIDTH(SHIFT, VISIT_RCL, "rcl")
	EACH_WIDTH(SHIFT, VISIT_RCR, "rcr")
	EACH_WIDTH(SHIFT, VISIT_SHL, "shl")
	EACH_WIDTH(SHIFT, VISIT_SHR, "shr")
	EACH_WIDTH(SHIFT, VISIT_SAR, "sar")
	EACH_WIDTH(UNARY, VISIT_INC, "inc", FLAG_CF)
	EACH_WIDTH(UNARY, VISIT_DEC, "dec", FLAG_CF)
	EACH_WIDTH(UNARY, VISIT_NEG, "neg", 0)
	EACH_WIDTH(INVERT, VISIT_NOT)
	EACH_WIDTH(MOVE, VISIT_MOV)
	EACH_WIDTH(EXCHANGE, VISIT_XCHG)
	EACH_WIDE(MOVE_IF, VISIT_CMOV)
	EACH_WIDE(MULTIPLY, VISIT_MULTIPLY, to)
	EACH_WIDE(MULTIPLY, VISIT_MULTIPLY_BY, from)
	LONG_MULTIPLY_ALL(VISIT_MUL, "mul")
	LONG_MULTIPLY_ALL(VISIT_IMUL, "imul")
	EXTEND(VISIT_ZERO_8_16, u8, u16)
	EXTEND(VISIT_ZERO_8_64, u8, u64)
	EXTEND(VISIT_ZERO_16_16, u16, u16)
	EXTEND(VISIT_ZERO_16_64, u16, u64)
	EXTEND(VISIT_SIGN_8_16, int8_t, int16_t)
	case VISIT_SIGN_8_32:
		PUT(u64, to, (u32)(int32_t)GET(int8_t, from));
		break;
	EXTEND(VISIT_SIGN_8_64, int8_t, int64_t)
	EXTEND(VISIT_SIGN_16_16, int16_t, int16_t)
	case VISIT_SIGN_16_32:
		PUT(u64, to, (u32)(int32_t)GET(int16_t, from));
		break;
	EXTEND(VISIT_SIGN_16_64, int16_t, int64_t)
	EXTEND(VISIT_SIGN_32_64, int32_t, int64_t)
	case VISIT_NOP:
		break;
	case VISIT_CBW:
		PUT(int16_t, &gpr[REG_RAX], (int8_t)gpr[REG_RAX]);
		break;
	case VISIT_CWDE:
		PUT(u64, &gpr[REG_RAX], (u32)(int16_t)gpr[REG_RAX]);
		break;
	case VISIT_CDQE:
		gpr[REG_RAX] = (u64)(int64_t)(int32_t)gpr[REG_RAX];
		break;
	case VISIT_CWD:
		PUT(int16_t, &gpr[REG_RDX], (int16_t)gpr[REG_RAX] < 0 ? -1 : 0);
		break;
	case VISIT_CDQ:
		gpr[REG_RDX] = (int32_t)gpr[REG_RAX] < 0 ? ~(u32)0 : 0;
		break;
	case VISIT_CQO:
		gpr[REG_RDX] = (int64_t)gpr[REG_RAX] < 0 ? ~0ULL : 0;
		break;
	case VISIT_LEA_32:
		PUT(u64, to, (u32)address_of(cache, insn));
		break;
	case VISIT_LEA_64:
		PUT(u64, to, address_of(cache, insn));
		break;
	case VISIT_SET:
		PUT(u8, to, holds(cache->flags, HEAD(head, condition)));
		break;
	case VISIT_PUSH:
		return push(cache, GET(u64, from));
	case VISIT_POP:
		at = reach(cache, gpr[REG_RSP], 8, false);
		if (!at)
			return false;
		value = GET(u64, at);
		gpr[REG_RSP] += 8;
		PUT(u64, to, value);
		break;
	case VISIT_LEAVE:
		at = reach(cache, gpr[REG_RBP], 8, false);
		if (!at)
			return false;
		gpr[REG_RSP] = gpr[REG_RBP] + 8;
		gpr[REG_RBP] = GET(u64, at);
		break;
	case VISIT_CONDITIONAL:
		return go(cache, insn, holds(cache->flags, HEAD(head, condition)), rip);
	case VISIT_COUNTED:
		value = gpr[REG_RCX] - (HEAD(head, condition) != 3);
		if (!go(cache, insn, count_says(HEAD(head, condition), value, cache->flags), rip))
			return false;
		gpr[REG_RCX] = value;
		break;
	case VISIT_JUMP:
		value = GET(u64, from);
		if (!canonical(value))
			return false;
		*rip = value;
		break;
	case VISIT_CALL:
		value = GET(u64, from);
		if (!canonical(value) || !push(cache, *rip))
			return false;
		*rip = value;
		break;
	case VISIT_RETURN:
		at = reach(cache, gpr[REG_RSP], 8, false);
		if (!at || !canonical(GET(u64, at)))
			return false;
		gpr[REG_RSP] += 8;
		*rip = GET(u64, at);
		break;
	default:
		return false;
	}
	return true;
}

/* Its last eight bytes, if it is longer than that, reach back into the first ones. */
static inline bool is_same(const struct visit_insn *insn, unsigned length, const u8 *text)
{
	if (length <= 8)
		return !((GET(u64, text) ^ insn->bytes[0]) << (64 - 8 * length));
	return GET(u64, text) == insn->bytes[0] &&
	       GET(u64, text + length - 8) == insn->bytes[1];
}

/* Where the operand in memory is; NULL: it can't be reached. */
static inline u8 *reach_operand(struct visit_cache *cache, const struct visit_insn *insn, u64 head)
{
	u64 linear = address_of(cache, insn);

	if (insn->segment)
		linear += cache->world->segment(cache->ctx, insn->segment);
	return reach(cache, linear, insn->width, HEAD(head, place) & PLACE_WRITES);
}

unsigned visit_carry_out(struct visit_cache *cache, const struct visit_insn *insn, unsigned n,
			 const u8 *text)
{
	const struct visit_insn *first = insn, *end = insn + n;
	u8 *r = (u8 *)&cache->r;
	u64 rip = cache->rip;

	for (; insn < end; insn++) {
		u64 head = insn->head.all, next;
		u8 *to = r + HEAD(head, to), *from = r + HEAD(head, from), *at;
		unsigned length = HEAD(head, length);

		if (!is_same(insn, length, text)) {
			cache->changed = true;
			break;
		}
		if (HEAD(head, place) & PLACE_IMMEDIATE)
			from = (u8 *)(u64)&insn->immediate;
		if (HEAD(head, place) & (PLACE_TO | PLACE_FROM)) {
			at = reach_operand(cache, insn, head);
			if (!at)
				break;
			if (HEAD(head, place) & PLACE_TO)
				to = at;
			else
				from = at;
		}
		next = rip + length;
		if (!carry_out(cache, insn, head, to, from, &next))
			break;
		rip = next;
		text += length;
	}
	cache->rip = rip;
	return (unsigned)(insn - first);
}
