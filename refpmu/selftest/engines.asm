; SPDX-License-Identifier: MIT
; See program.h: a program runs with all registers given, counters on, and a PMI that keeps what
; it finds. GS is its struct engine_context.

default rel
bits 64

%include "refpmu/hv/registers.inc"

GLOBAL_CTRL	equ 0x38f
APIC_EOI	equ 0xfee000b0
UD2_LENGTH	equ 2

struc engine_context
%define WORDS(name, count) . %+ name resq count
%define WORD(name) WORDS(name, 1)
%define POINTER(name) WORD(name)
%include "refpmu/selftest/context.def"
endstruc

%define context(name)	gs:engine_context. %+ name
%define begin		context(begin)
%define end		context(end)
%define seen		context(seen)
%define RIP		gpr_size	; after the general registers
%define RFLAGS		(gpr_size + 8)

section .text

; void engine_go(void): begin -> end around code.
global engine_go:function hidden
engine_go:
	PUSH_PRESERVED
	mov	[context(stack)], rsp
	mov	ecx, GLOBAL_CTRL
	mov	eax, [context(enable)]
	mov	edx, [context(enable) + 4]
	mov	rsp, [begin + gpr.rsp]
	; What C left there isn't the same for both, and an early record would show it.
	xor	ebx, ebx
	xor	ebp, ebp
	xor	esi, esi
	xor	edi, edi
%assign i 8
%rep 8
	xor	r %+ i, r %+ i
%assign i i + 1
%endrep
	sti
	wrmsr
	xor	eax, eax		; the same flags each time
%assign i 0
%rep 16
	pxor	xmm %+ i, xmm %+ i
%assign i i + 1
%endrep
	mov	rax, [begin + gpr.rax]
	mov	rsi, [begin + gpr.rsi]
	mov	rdi, [begin + gpr.rdi]
	LOAD_MOST begin
	jmp	[context(code)]

; Where a program ends, and where it goes when it has faulted.
global engine_done:function hidden
engine_done:
	mov	[end + gpr.rax], rax
	mov	[end + gpr.rsi], rsi
	mov	[end + gpr.rdi], rdi
	mov	[end + gpr.rsp], rsp
	STORE_MOST end
	pushfq
	pop	qword [end + RFLAGS]
	mov	ecx, GLOBAL_CTRL
	xor	eax, eax
	xor	edx, edx
	wrmsr
	cli
	cld
	mov	rsp, [context(stack)]
	POP_PRESERVED
	ret

; The PMI: all registers into seen, the frame's RIP and flags too. LVTPC stays masked.
global engine_pmi:function hidden
engine_pmi:
	mov	[seen + gpr.rax], rax
	mov	[seen + gpr.rsi], rsi
	mov	[seen + gpr.rdi], rdi
	STORE_MOST seen
	mov	rax, [rsp + 8 * 3]
	mov	[seen + gpr.rsp], rax
	mov	rax, [rsp]
	mov	[seen + RIP], rax
	mov	rax, [rsp + 8 * 2]
	mov	[seen + RFLAGS], rax
	inc	qword [context(pmis)]
	mov	eax, APIC_EOI
	mov	dword [rax], 0
	mov	rax, [seen + gpr.rax]
	iretq

; #UD, of UD2.
global engine_fault:function hidden
engine_fault:
	inc	qword [context(faults)]
	add	qword [rsp], UD2_LENGTH
	iretq

; void engine_loop_N(u64 times): for the speed. Their instructions are in engines.c.
global engine_loop_short:function hidden
engine_loop_short:
.again:	dec	rdi
	jnz	.again
	ret

align 16
global engine_loop_mixed:function hidden
engine_loop_mixed:
	lea	rdx, [scratch]
.again:	mov	rax, [rdx]
	add	rax, rdi
	mov	[rdx + 8], rax
	lea	rcx, [rax + 4 * rdi]
	xor	rcx, rax
	and	ecx, 0xff
	mov	r8, [rdx + rcx]
	add	r8, r9
	cmp	r8, rax
	cmovb	r9, rax
	dec	rdi
	jnz	.again
	ret

section .bss
align 16
scratch:	resb 512

section .note.GNU-stack noalloc noexec nowrite progbits
