; SPDX-License-Identifier: MIT
; Running one instruction with other registers: see emulate.h. RSP is ours all the time.

default rel
bits 64

%include "refpmu/hv/registers.inc"

section .text

; void emulate_call(u64 gpr[16], u64 *rflags, const void *code)
global emulate_call:function hidden
emulate_call:
	PUSH_PRESERVED
	push	rsi
	push	rdi
	push	rdx
	push	qword [rsi]
	mov	rax, [rdi + gpr.rax]
	LOAD_MOST rdi
	mov	rsi, [rdi + gpr.rsi]
	mov	rdi, [rdi + gpr.rdi]
	popfq
	call	[rsp]
	mov	[rsp], rdi		; over the code's address
	mov	rdi, [rsp + 8]
	mov	[rdi + gpr.rax], rax
	STORE_MOST rdi
	mov	[rdi + gpr.rsi], rsi
	pop	rax
	mov	[rdi + gpr.rdi], rax
	pop	rdi
	pop	rsi
	pushfq
	pop	qword [rsi]
	cld
	POP_PRESERVED
	ret

section .note.GNU-stack noalloc noexec nowrite progbits
