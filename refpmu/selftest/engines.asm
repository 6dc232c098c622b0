; SPDX-License-Identifier: MIT
; See program.h: a program runs with all registers given, counters on, and a PMI that keeps what
; it finds. GS is its struct engine_context.

default rel
bits 64

%include "refpmu/hv/registers.inc"

GLOBAL_CTRL	equ 0x38f
APIC_EOI	equ 0xfee000b0
UD2_LENGTH	equ 2

; struct engine_context
%define begin(n)	gs:8 * (n)
%define end(n)		gs:8 * (16 + (n))
%define seen(n)		gs:8 * (34 + (n))
%define pmis		gs:8 * 52
%define enable		gs:8 * 53
%define code		gs:8 * 54
%define faults		gs:8 * 55
%define stack_before	gs:8 * 56

section .text

; void engine_go(void): begin -> end around code.
global engine_go:function hidden
engine_go:
	PUSH_PRESERVED
	mov	[stack_before], rsp
	mov	ecx, GLOBAL_CTRL
	mov	eax, [enable]
	mov	edx, [enable + 4]
	mov	rsp, [begin(4)]
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
	mov	rax, [begin(0)]
	mov	rcx, [begin(1)]
	mov	rdx, [begin(2)]
	mov	rbx, [begin(3)]
	mov	rbp, [begin(5)]
	mov	rsi, [begin(6)]
	mov	rdi, [begin(7)]
	mov	r8, [begin(8)]
	mov	r9, [begin(9)]
	mov	r10, [begin(10)]
	mov	r11, [begin(11)]
	mov	r12, [begin(12)]
	mov	r13, [begin(13)]
	mov	r14, [begin(14)]
	mov	r15, [begin(15)]
	jmp	[code]

; Where a program ends, and where it goes when it has faulted.
global engine_done:function hidden
engine_done:
	mov	[end(0)], rax
	mov	[end(1)], rcx
	mov	[end(2)], rdx
	mov	[end(3)], rbx
	mov	[end(4)], rsp
	mov	[end(5)], rbp
	mov	[end(6)], rsi
	mov	[end(7)], rdi
	mov	[end(8)], r8
	mov	[end(9)], r9
	mov	[end(10)], r10
	mov	[end(11)], r11
	mov	[end(12)], r12
	mov	[end(13)], r13
	mov	[end(14)], r14
	mov	[end(15)], r15
	pushfq
	pop	qword [end(17)]
	mov	ecx, GLOBAL_CTRL
	xor	eax, eax
	xor	edx, edx
	wrmsr
	cli
	cld
	mov	rsp, [stack_before]
	POP_PRESERVED
	ret

; The PMI: all registers into seen, the frame's RIP and flags too. LVTPC stays masked.
global engine_pmi:function hidden
engine_pmi:
	mov	[seen(0)], rax
	mov	[seen(1)], rcx
	mov	[seen(2)], rdx
	mov	[seen(3)], rbx
	mov	[seen(5)], rbp
	mov	[seen(6)], rsi
	mov	[seen(7)], rdi
	mov	[seen(8)], r8
	mov	[seen(9)], r9
	mov	[seen(10)], r10
	mov	[seen(11)], r11
	mov	[seen(12)], r12
	mov	[seen(13)], r13
	mov	[seen(14)], r14
	mov	[seen(15)], r15
	mov	rax, [rsp + 8 * 3]
	mov	[seen(4)], rax
	mov	rax, [rsp]
	mov	[seen(16)], rax
	mov	rax, [rsp + 8 * 2]
	mov	[seen(17)], rax
	inc	qword [pmis]
	mov	eax, APIC_EOI
	mov	dword [rax], 0
	mov	rax, [seen(0)]
	iretq

; #UD, of UD2.
global engine_fault:function hidden
engine_fault:
	inc	qword [faults]
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
