; SPDX-License-Identifier: MIT
;
; Workloads for adaptive PEBS records: marked accesses with known vector registers, after a known
; chain of branches, and with a stack pointer that each mark moves.

default rel
bits 64

%include "tests/measure/workload.inc"

	extern	sample_stack

; as in tests/measure/workload.h
CHAIN_LINKS	equ 48
CHAIN_STRIDE	equ 16
JUMP_STRIDE	equ 16
XMM_SAVED	equ 16384	; the caller's, in the memory
%define SAMPLE_XMM(n) (0xb1c2d300e4f5a600 + 0x0000010100000003 * (n))

section .text

; 64 instructions, 16 stores
%macro KNOWN_XMM 0
%assign %%i 0
%rep 16
	movups	[rsi + XMM_SAVED + 16 * %%i], xmm%[%%i]
	mov	rax, SAMPLE_XMM(%%i)
	movq	xmm%[%%i], rax
	pshufd	xmm%[%%i], xmm%[%%i], 0x14
%assign %%i %%i + 1
%endrep
%endmacro

; 16 loads
%macro RESTORE_XMM 0
%assign %%i 0
%rep 16
	movups	xmm%[%%i], [rsi + XMM_SAVED + 16 * %%i]
%assign %%i %%i + 1
%endrep
%endmacro

; instructions 3n + 478, loads n + 144, stores 16, branches n. XMMn holds SAMPLE_XMM(n), and in its
; upper half the same with its halves exchanged. All are put back as they were.
DECLARE xmm_sample, marks_xmm_sample, 7, 9, \
	3, 14 + 80 + 3 * SAMPLE_MARKS,  1, 16 + SAMPLE_MARKS,  0, 16,  0, 0,  1, 0
SAMPLE_BEGIN xmm_sample
.next:	mov	rax, [rsi]
	dec	rdi
	jnz	.next
	KNOWN_XMM
	KNOWN_REGISTERS
	SAMPLE xmm_sample, LOAD
	RESTORE_XMM
SAMPLE_END xmm_sample

; instructions 2n + 222, loads 16, stores 16, branches n + 128: the same with marked jumps, each to
; the next mark, as in jumps of workload_record.asm
DECLARE xmm_jumps, marks_xmm_jumps, 2, JUMP_STRIDE, \
	2, 14 + 80 + SAMPLE_MARKS,  0, 16,  0, 16,  0, 0, \
	1, SAMPLE_MARKS,  1, 0,  1, SAMPLE_MARKS - 1,  0, 0,  0, 0
SAMPLE_BEGIN xmm_jumps
.next:	dec	rdi
	jnz	.next
	KNOWN_XMM
	KNOWN_REGISTERS
marks_xmm_jumps:
%assign i 0
%rep SAMPLE_MARKS
.mark%[i]:
	jmp	short .mark%[i] + JUMP_STRIDE
	times JUMP_STRIDE - 2 nop
%assign i i + 1
%endrep
	RESTORE_XMM
SAMPLE_END xmm_jumps

; instructions 3n + 446, loads n + 128, branches n + 48: a chain of jumps, CHAIN_STRIDE bytes each,
; ends at the first mark.
DECLARE chain_sample, marks_chain_sample, 7, 9, \
	3, 14 + CHAIN_LINKS + 3 * SAMPLE_MARKS,  1, SAMPLE_MARKS,  0, 0,  0, 0, \
	1, CHAIN_LINKS,  1, 0,  1, CHAIN_LINKS - 1
SAMPLE_BEGIN chain_sample
.next:	mov	rax, [rsi]
	dec	rdi
	jnz	.next
	KNOWN_REGISTERS
%assign i 0
%rep CHAIN_LINKS
.link%[i]:
	jmp	short .link%[i] + CHAIN_STRIDE
	times CHAIN_STRIDE - 2 nop
%assign i i + 1
%endrep
	SAMPLE chain_sample, LOAD
SAMPLE_END chain_sample

; instructions 3n + 399, stores n + 128, branches n: the marked instructions are pushes.
DECLARE push_sample, marks_push_sample, 2, 4, \
	3, 15 + 3 * SAMPLE_MARKS,  0, 0,  1, SAMPLE_MARKS,  0, 0,  1, 0
SAMPLE_BEGIN push_sample
.next:	mov	[rsi], rdi
	dec	rdi
	jnz	.next
	KNOWN_REGISTERS
marks_push_sample:
%rep SAMPLE_MARKS
	push	r8
	nop
	nop
%endrep
	lea	rsp, [rsp + 8 * SAMPLE_MARKS]
SAMPLE_END push_sample
