; SPDX-License-Identifier: MIT
;
; The edges of a borrow, where the processor's shadow stack matters: SDM "Control-flow Enforcement
; Technology". CALLs and RETs between the two ends aren't seen by it. It is switched off with the
; return address of machine_borrow_cpu() on top and on again at the same depth; that address is then
; dropped and machine_return_cpu() returns by a jump. CET is off before CR0.WP may change.
; No emulator at hand has CET: this path has been read, not run.

default rel
bits 64

extern machine_take
extern machine_give
global machine_borrow_cpu:function hidden
global machine_return_cpu:function hidden

%define CR4_CET_BIT	23

section .text

; void machine_borrow_cpu(unsigned cpu)
machine_borrow_cpu:
	pushfq
	cli
	xor	edx, edx
	mov	rax, cr4
	btr	rax, CR4_CET_BIT
	setc	dl			; CET as the owner has it
	jnc	.off
	mov	cr4, rax
.off:	pop	rsi			; RFLAGS
	jmp	machine_take

; void machine_return_cpu(void)
machine_return_cpu:
	sub	rsp, 8
	call	machine_give		; returns with interrupts off; RFLAGS in RAX, CET in RDX
	add	rsp, 8
	test	rdx, rdx
	jz	.off
	mov	rcx, cr4
	bts	rcx, CR4_CET_BIT
	mov	cr4, rcx
	xor	ecx, ecx
	rdsspq	rcx			; a NOP, so 0, unless the shadow stack itself is on
	test	rcx, rcx
	jz	.off
	mov	ecx, 1
	incsspq	rcx
	pop	rcx
	push	rax			; RFLAGS
	popfq
	db	0x3e			; NOTRACK: no ENDBRANCH is wanted there
	jmp	rcx
.off:	push	rax
	popfq
	ret
