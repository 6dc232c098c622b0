; SPDX-License-Identifier: MIT
; See engines.c: a program runs with all registers given, counters on, and a PMI that keeps what
; it finds.

default rel
bits 64

GLOBAL_CTRL	equ 0x38f
APIC_EOI	equ 0xfee000b0

section .text

; void engine_go(void): engine_begin -> engine_end around engine_code.
global engine_go:function hidden
engine_go:
	push	rbx
	push	rbp
	push	r12
	push	r13
	push	r14
	push	r15
	mov	[saved], rsp
	mov	ecx, GLOBAL_CTRL
	mov	eax, [engine_enable]
	mov	edx, [engine_enable + 4]
	mov	rsp, [engine_begin + 8 * 4]
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
	mov	rax, [engine_begin + 8 * 0]
	mov	rcx, [engine_begin + 8 * 1]
	mov	rdx, [engine_begin + 8 * 2]
	mov	rbx, [engine_begin + 8 * 3]
	mov	rbp, [engine_begin + 8 * 5]
	mov	rsi, [engine_begin + 8 * 6]
	mov	rdi, [engine_begin + 8 * 7]
	mov	r8, [engine_begin + 8 * 8]
	mov	r9, [engine_begin + 8 * 9]
	mov	r10, [engine_begin + 8 * 10]
	mov	r11, [engine_begin + 8 * 11]
	mov	r12, [engine_begin + 8 * 12]
	mov	r13, [engine_begin + 8 * 13]
	mov	r14, [engine_begin + 8 * 14]
	mov	r15, [engine_begin + 8 * 15]
	jmp	[engine_code]

; Where a program ends, and where it goes when it has faulted.
global engine_done:function hidden
engine_done:
	mov	[engine_end + 8 * 0], rax
	mov	[engine_end + 8 * 1], rcx
	mov	[engine_end + 8 * 2], rdx
	mov	[engine_end + 8 * 3], rbx
	mov	[engine_end + 8 * 4], rsp
	mov	[engine_end + 8 * 5], rbp
	mov	[engine_end + 8 * 6], rsi
	mov	[engine_end + 8 * 7], rdi
	mov	[engine_end + 8 * 8], r8
	mov	[engine_end + 8 * 9], r9
	mov	[engine_end + 8 * 10], r10
	mov	[engine_end + 8 * 11], r11
	mov	[engine_end + 8 * 12], r12
	mov	[engine_end + 8 * 13], r13
	mov	[engine_end + 8 * 14], r14
	mov	[engine_end + 8 * 15], r15
	pushfq
	pop	qword [engine_end + 8 * 17]
	mov	ecx, GLOBAL_CTRL
	xor	eax, eax
	xor	edx, edx
	wrmsr
	cli
	cld
	mov	rsp, [saved]
	pop	r15
	pop	r14
	pop	r13
	pop	r12
	pop	rbp
	pop	rbx
	ret

; The PMI: all registers into engine_seen, the frame's RIP and flags too. LVTPC stays masked.
global engine_pmi:function hidden
engine_pmi:
	mov	[engine_seen + 8 * 0], rax
	mov	[engine_seen + 8 * 1], rcx
	mov	[engine_seen + 8 * 2], rdx
	mov	[engine_seen + 8 * 3], rbx
	mov	[engine_seen + 8 * 5], rbp
	mov	[engine_seen + 8 * 6], rsi
	mov	[engine_seen + 8 * 7], rdi
	mov	[engine_seen + 8 * 8], r8
	mov	[engine_seen + 8 * 9], r9
	mov	[engine_seen + 8 * 10], r10
	mov	[engine_seen + 8 * 11], r11
	mov	[engine_seen + 8 * 12], r12
	mov	[engine_seen + 8 * 13], r13
	mov	[engine_seen + 8 * 14], r14
	mov	[engine_seen + 8 * 15], r15
	mov	rax, [rsp + 8 * 3]
	mov	[engine_seen + 8 * 4], rax
	mov	rax, [rsp]
	mov	[engine_seen + 8 * 16], rax
	mov	rax, [rsp + 8 * 2]
	mov	[engine_seen + 8 * 17], rax
	inc	qword [engine_pmis]
	mov	eax, APIC_EOI
	mov	dword [rax], 0
	mov	rax, [engine_seen]
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
global engine_begin:data hidden
global engine_end:data hidden
global engine_seen:data hidden
global engine_pmis:data hidden
global engine_code:data hidden
global engine_enable:data hidden
engine_begin:	resq 16
engine_end:	resq 18
engine_seen:	resq 18			; registers, RIP, RFLAGS
engine_pmis:	resq 1
engine_code:	resq 1
engine_enable:	resq 1
saved:		resq 1
scratch:	resb 512

section .note.GNU-stack noalloc noexec nowrite progbits
