; SPDX-License-Identifier: MIT
;
; Accesses of other sizes and kinds than the aligned eight bytes of workload_memory.asm, with the
; same registers. Each piece accesses what its comment says, wherever RSI points to.
; SDM "Memory Ordering", "MOVUPS", "INVLPG".

default rel
bits 64

%include "tests/measure/workload.inc"

ACCESS_STORE	equ 256			; as in tests/measure/workload.h

section .text

; instructions 4n, loads n, stores n, branches n: one byte each
DECLARE bytes, 0, 0, 0,  4, 0,  1, 0,  1, 0,  0, 0,  1, 0
BEGIN bytes
.next:	mov	al, [rsi]
	mov	[rsi + ACCESS_STORE], al
	dec	rdi
	jnz	.next
END bytes

; instructions 4n, loads n, stores n, branches n: sixteen bytes each, in a register that any
; function may change
DECLARE sixteen, 0, 0, 0,  4, 0,  1, 0,  1, 0,  0, 0,  1, 0
BEGIN sixteen
.next:	movups	xmm0, [rsi]
	movups	[rsi + ACCESS_STORE], xmm0
	dec	rdi
	jnz	.next
END sixteen

; instructions 5n + 1, stores n, branches n: [RSI + i * stride], enough for TLBs to lose them
DECLARE stride_store, 0, 0, 0,  5, 1,  0, 0,  1, 0,  0, 0,  1, 0
BEGIN stride_store
	mov	edx, 0
.next:	mov	[rsi + rdx], rdi
	add	rdx, r12
	and	rdx, r13
	dec	rdi
	jnz	.next
END stride_store

; instructions 5n + 1, loads n, stores n, locked loads n, branches n: [RSI + i * stride]
DECLARE stride_lock, 0, 0, 0,  5, 1,  1, 0,  1, 0,  1, 0,  1, 0
BEGIN stride_lock
	mov	edx, 0
.next:	lock add qword [rsi + rdx], 1
	add	rdx, r12
	and	rdx, r13
	dec	rdi
	jnz	.next
END stride_lock

; instructions 4n, loads n, stores n, locked loads n, branches n: each with a page walk
DECLARE fresh_page_lock, 0, 0, 0,  4, 0,  1, 0,  1, 0,  1, 0,  1, 0
BEGIN fresh_page_lock
.next:	invlpg	[rsi]
	lock add qword [rsi], 1
	dec	rdi
	jnz	.next
END fresh_page_lock

; instructions 7n, loads n, branches n: a page walk, and two lines from memory for each load
DECLARE slow_split, 0, 0, 0,  7, 0,  1, 0,  0, 0,  0, 0,  1, 0
BEGIN slow_split
.next:	clflush	[rsi]
	clflush	[rsi + 64]
	invlpg	[rsi]
	mfence
	mov	rax, [rsi + 61]
	dec	rdi
	jnz	.next
END slow_split
