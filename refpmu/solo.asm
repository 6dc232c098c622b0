; SPDX-License-Identifier: MIT
; Running one instruction with other registers: see solo.h. RSP is ours all the time.

default rel
bits 64
section .text

; void solo_call(u64 gpr[16], u64 *rflags, const void *code)
global solo_call:function hidden
solo_call:
	push	rbx
	push	rbp
	push	r12
	push	r13
	push	r14
	push	r15
	push	rsi
	push	rdi
	push	rdx
	push	qword [rsi]
	mov	rax, [rdi + 8 * 0]
	mov	rcx, [rdi + 8 * 1]
	mov	rdx, [rdi + 8 * 2]
	mov	rbx, [rdi + 8 * 3]
	mov	rbp, [rdi + 8 * 5]
	mov	rsi, [rdi + 8 * 6]
	mov	r8, [rdi + 8 * 8]
	mov	r9, [rdi + 8 * 9]
	mov	r10, [rdi + 8 * 10]
	mov	r11, [rdi + 8 * 11]
	mov	r12, [rdi + 8 * 12]
	mov	r13, [rdi + 8 * 13]
	mov	r14, [rdi + 8 * 14]
	mov	r15, [rdi + 8 * 15]
	mov	rdi, [rdi + 8 * 7]
	popfq
	call	[rsp]
	mov	[rsp], rdi		; over the code's address
	mov	rdi, [rsp + 8]
	mov	[rdi + 8 * 0], rax
	mov	[rdi + 8 * 1], rcx
	mov	[rdi + 8 * 2], rdx
	mov	[rdi + 8 * 3], rbx
	mov	[rdi + 8 * 5], rbp
	mov	[rdi + 8 * 6], rsi
	mov	[rdi + 8 * 8], r8
	mov	[rdi + 8 * 9], r9
	mov	[rdi + 8 * 10], r10
	mov	[rdi + 8 * 11], r11
	mov	[rdi + 8 * 12], r12
	mov	[rdi + 8 * 13], r13
	mov	[rdi + 8 * 14], r14
	mov	[rdi + 8 * 15], r15
	pop	rax
	mov	[rdi + 8 * 7], rax
	pop	rdi
	pop	rsi
	pushfq
	pop	qword [rsi]
	cld
	pop	r15
	pop	r14
	pop	r13
	pop	r12
	pop	rbp
	pop	rbx
	ret

section .note.GNU-stack noalloc noexec nowrite progbits
