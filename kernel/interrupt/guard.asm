; SPDX-License-Identifier: MIT
;
; Into a function on a stack of its own, and out of it from anywhere. The way out is an IRETQ in
; any case: it is the one instruction that unblocks NMIs. SDM "Handling Multiple NMIs".

default rel
bits 64

%define DEFINE(name, value) name equ value
%include "kernel/processor/selectors.def"
%include "kernel/interrupt/registers.inc"

%define RFLAGS_FIXED	2		; interrupts off, no single stepping

global guard_enter:function hidden
global guard_leave:function hidden
global guard_abort:function hidden

section .text

; void guard_enter(void (*fn)(void *arg), void *arg, u64 stack_top, u64 *caller_rsp)
; Returns with interrupts off, when fn returns or when guard_leave(*caller_rsp) is called.
guard_enter:
	PUSH_PRESERVED
	mov	rbx, rsp
	mov	[rcx], rsp
	mov	rax, rdi
	mov	rdi, rsi
	mov	rsp, rdx
	sti
	call	rax
	cli
	mov	rdi, rbx
	; fall through: fn may have left flags of any kind

; void guard_leave(u64 caller_rsp), never returns to its caller.
guard_leave:
	mov	rax, rdi
	push	SELECTOR_KERNEL_DATA
	push	rax
	push	RFLAGS_FIXED
	push	SELECTOR_KERNEL_CODE
	lea	rax, [.caller]
	push	rax
	iretq
.caller:
	POP_PRESERVED
	ret

; void guard_abort(void): the dispatcher gets the caller's registers in a frame.
guard_abort:
	int	VECTOR_GUARD_ABORT
	ud2				; no guard is running
