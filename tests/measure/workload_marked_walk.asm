; SPDX-License-Identifier: MIT
;
; Workloads of many records: rounds of MARKED_WALK_MARKS marked loads (or stores). Each of the
; sixteen registers changes once a round, each after another mark. So no two records of a window are
; alike in any field. tests/measure/marked_walk.c knows what each mark finds.

default rel
bits 64

%include "tests/measure/workload.inc"

section .bss
	global	sample_stack:data hidden
sample_stack:
	resq	1
section .text

; as in tests/measure/marked_walk.h
MARKED_WALK_MARKS	equ 14

; STEP register, distance: 8 bytes, whatever the register; flags stay.
%macro STEP 2
	%ifidni %1, rsp
	lea	%1, [dword %1 + %2]
	%else
	lea	%1, [nosplit dword %1 * 1 + %2]
	%endif
%endmacro

; WALK name, LOAD or STORE: STEP follows each, so that the next mark is 15 bytes on. RDI counts the
; rounds down; RSP leaves its place by 16 bytes a round.
%macro WALK 2
SAMPLE_BEGIN %1
	KNOWN_BUT_RDI
marks_%1:
	%2	0
	STEP	rbx, 0x10101
	%2	1
	STEP	rcx, 0x20203
	%2	2
	STEP	rdx, 0x30307
	%2	3
	STEP	rbp, 0x4040b
	%2	4
	STEP	r8, 0x5050d
	%2	5
	STEP	r9, 0x60611
	%2	6
	STEP	r10, 0x70713
	%2	7
	STEP	r11, 0x80817
	%2	8
	STEP	r12, 0x9091d
	%2	9
	STEP	r13, 0xa0a1f
	%2	10
	STEP	r14, 0xb0b25
	%2	11
	STEP	r15, 0xc0c29
	%2	12
	STEP	rsi, 40
	%2	13
	STEP	rsp, -16
	dec	rdi
	jnz	marks_%1
end_%1:
	mov	rsp, [rel sample_stack]
	mov	rbx, [rsp]
	mov	r9, [rbx + CALL_OFF]
	mov	r10, [rbx + CALL_MSR]
	SWITCH	r9
	mov	rsp, [rsp + 8]
	POP_PRESERVED
	ret
%endmacro

; instructions 30n + 13, loads 14n (stores 14n), branches n
DECLARE marked_walk_loads, marks_marked_walk_loads, 7, 15,  30, 13,  MARKED_WALK_MARKS, \
	0,  0, 0,  0, 0,  1, 0
WALK marked_walk_loads, LOAD

DECLARE marked_walk_stores, marks_marked_walk_stores, 7, 15,  30, 13,  0, 0, \
	MARKED_WALK_MARKS, 0,  0, 0,  1, 0
WALK marked_walk_stores, STORE
