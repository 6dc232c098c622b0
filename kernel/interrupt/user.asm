; SPDX-License-Identifier: MIT
;
; Down to CPL 1, 2 or 3 by IRETQ and back by INT. SDM "Returns from an Interrupt or Exception
; Handler Procedure", "Stack Switching in 64-Bit Mode". RFLAGS goes along both ways as it is, so IF
; and TF stay as they were.

default rel
bits 64

%define DEFINE(name, value) name equ value
%include "kernel/processor/selectors.def"
%include "kernel/interrupt/registers.inc"

extern descriptor_set_rsp0
global user_enter:function hidden
global user_return:function hidden
global user_return_end:function hidden

section .text

; u64 user_enter(u64 (*fn)(u64 arg), u64 arg, u64 user_stack_top, u64 code, u64 data): the last two
; are its selectors
user_enter:
	PUSH_PRESERVED
	pushfq
	mov	rbx, rdi
	mov	rbp, rsi
	mov	r12, rdx
	mov	r14, rcx
	mov	r15, r8
	mov	r13, rsp
	and	rsp, -16		; where the processor would align it anyway
	push	r13
	push	r13
	mov	rdi, rsp		; interrupts from there push below what is saved here
	call	descriptor_set_rsp0
	mov	rdi, rbp		; arg
	push	r15
	push	r12
	push	qword [r13]		; RFLAGS as PUSHFQ above left them
	push	r14
	lea	rax, [.user]
	push	rax
	iretq
.user:
	call	rbx			; CPL 1, 2 or 3
	int	VECTOR_USER_RETURN	; RAX is the result

; Where the gate of VECTOR_USER_RETURN leads, on the stack given as RSP0, interrupts off.
user_return:
	add	rsp, 5 * 8		; the frame of INT, "64-Bit Mode Stack Frame"
	pop	rsp			; what user_enter pushed there
	popfq
	POP_PRESERVED
user_return_end:
	ret
