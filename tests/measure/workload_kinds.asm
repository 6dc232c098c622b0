; SPDX-License-Identifier: MIT
;
; Workloads of instructions of unusual kinds, each counted by how many of them retire.

default rel
bits 64

%include "tests/measure/workload.inc"

PAGE		equ 4096

section .text

; instructions 5n, branches n; RBX, which CPUID changes, isn't in use inside a piece
DECLARE kind_cpuid, 0, 0, 0,  5, 0,  0, 0,  0, 0,  0, 0,  1, 0
BEGIN kind_cpuid
.next:	mov	eax, 0
	mov	ecx, 0
	cpuid
	dec	rdi
	jnz	.next
END kind_cpuid

; instructions 4n, branches n. Not stepped: there may be no counter 0.
DECLARE kind_rdpmc, 0, 0, 0,  4, 0,  0, 0,  0, 0,  0, 0,  1, 0
BEGIN kind_rdpmc
.next:	mov	ecx, 0
	rdpmc
	dec	rdi
	jnz	.next
END kind_rdpmc

; instructions 12n, loads 5n and stores 5n (the frame), branches 2n: IRETQ over a NOP
DECLARE kind_iretq, 0, 0, 0,  12, 0,  5, 0,  5, 0,  0, 0,  2, 0,  1, 0,  2, -1
BEGIN kind_iretq
.next:	mov	rdx, rsp
	mov	eax, ss
	push	rax
	push	rdx
	pushfq
	mov	eax, cs
	push	rax
	lea	rax, [.back]
	push	rax
	iretq
	nop				; not executed
.back:	dec	rdi
	jnz	.next
END kind_iretq

; instructions 7n, loads 2n and stores 2n (return address and code segment), branches 2n
DECLARE kind_far_return, 0, 0, 0,  7, 0,  2, 0,  2, 0,  0, 0,  2, 0,  1, 0,  2, -1
BEGIN kind_far_return
.next:	mov	eax, cs
	push	rax
	lea	rax, [.back]
	push	rax
	o64 retf
	nop				; not executed
.back:	dec	rdi
	jnz	.next
END kind_far_return

; instructions 7n, loads n, stores n, branches n: RFLAGS.IF cleared, set, cleared, and as it was.
; Not stepped: some emulators have no trap after STI.
DECLARE kind_flags, 0, 0, 0,  7, 0,  1, 0,  1, 0,  0, 0,  1, 0
BEGIN kind_flags
.next:	pushfq
	cli
	sti
	cli
	popfq
	dec	rdi
	jnz	.next
END kind_flags

; instructions 5n + 1, loads n, stores 2n, branches 3n + 1: RET takes the argument with it
DECLARE kind_return_pop, 0, 0, 0,  5, 1,  1, 0,  2, 0,  0, 0,  3, 1,  1, 0,  3, 0,  1, 0,  1, 0
BEGIN kind_return_pop
.next:	push	rsi
	call	.function
	dec	rdi
	jnz	.next
	jmp	.past
.function:
	ret	8
.past:
END kind_return_pop

; instructions 5n + 2, loads n and stores n (the return addresses), branches 4n: a call and a jump
; to what registers hold
DECLARE kind_indirect, 0, 0, 0,  5, 2,  1, 0,  1, 0,  0, 0,  4, 0,  1, 0,  4, -1,  1, 0,  1, 0
BEGIN kind_indirect
	lea	rax, [.function]
	lea	rdx, [.landed]
.next:	call	rax
	jmp	rdx
.function:
	ret
.landed:
	dec	rdi
	jnz	.next
END kind_indirect

; instructions 6n, branches n: prefetches are no loads
DECLARE kind_prefetch, 0, 0, 0,  6, 0,  0, 0,  0, 0,  0, 0,  1, 0
BEGIN kind_prefetch
.next:	prefetcht0 [rsi]
	prefetcht1 [rsi + 64]
	prefetcht2 [rsi + 128]
	prefetchnta [rsi + 192]
	dec	rdi
	jnz	.next
END kind_prefetch

; instructions 5n + 1, loads 2n, branches n: CMPSQ loads twice
DECLARE kind_compare, 0, 0, 0,  5, 1,  2, 0,  0, 0,  0, 0,  1, 0
BEGIN kind_compare
	mov	rdx, rdi
.next:	mov	rdi, rsi
	cmpsq
	lea	rsi, [rsi - 8]
	dec	rdx
	jnz	.next
END kind_compare

; instructions 2, loads n: one REP LODSB
DECLARE kind_rep_load, 0, 0, 0,  0, 2,  1, 0,  0, 0,  0, 0,  0, 0,  0, 0,  0, 0
BEGIN kind_rep_load
	mov	rcx, rdi
	rep lodsb
END kind_rep_load

; instructions 5n + 1, loads 16n: a REP LODSQ in a round, and two of its loads cross a line's end
DECLARE kind_rep_split, 0, 0, 0,  5, 1,  16, 0,  0, 0,  0, 0,  1, 0
BEGIN kind_rep_split
	mov	rdx, rsi
.next:	mov	ecx, 16
	lea	rsi, [rdx + 4]
	rep lodsq
	dec	rdi
	jnz	.next
END kind_rep_split

; instructions 3n + 1, branches n + 1: the MOV lies in two pages
DECLARE kind_page, 0, 0, 0,  3, 1,  0, 0,  0, 0,  0, 0,  1, 1,  1, 0,  1, 0
BEGIN kind_page
	jmp	.across
	align	PAGE
	times PAGE - 3 int3
.across:
	mov	rax, 0x1122334455667788
	dec	rdi
	jnz	.across
END kind_page

; instructions 3n + 1, loads n, branches n + 1: the load lies in two pages, and what of it is in the
; second one is no load
DECLARE kind_page_load, 0, 0, 0,  3, 1,  1, 0,  0, 0,  0, 0,  1, 1,  1, 0,  1, 0
BEGIN kind_page_load
	jmp	.across
	align	PAGE
	times PAGE - 3 int3
.across:
	mov	rax, [rsi + 0x90]
	dec	rdi
	jnz	.across
END kind_page_load
