; SPDX-License-Identifier: MIT
;
; Workloads of single records that workload.asm's marked loads can't make. They are of taken
; branches, with the direction flag set, at CPL 3 with known registers, and of an instruction whose
; number in the window is known.

default rel
bits 64

%include "tests/measure/workload.inc"

	extern	sample_stack

; as in tests/measure/workload.h
PRECISE_NOPS	equ 256
JUMP_STRIDE	equ 16
SAMPLE_TURNS	equ 6

section .text

; instructions 2n + 128, branches n + 128: the marked ones jump to the next mark, the last one past
; all of them. After each lie NOPs that nothing reaches.
DECLARE jumps, marks_jumps, 2, JUMP_STRIDE,  2, SAMPLE_MARKS,  0, 0,  0, 0,  0, 0, \
	1, SAMPLE_MARKS,  1, 0,  1, SAMPLE_MARKS - 1,  0, 0,  0, 0
BEGIN jumps
.next:	dec	rdi
	jnz	.next
marks_jumps:
%assign i 0
%rep SAMPLE_MARKS
.mark%[i]:
	jmp	short .mark%[i] + JUMP_STRIDE
	times JUMP_STRIDE - 2 nop
%assign i i + 1
%endrep
END jumps

; The marked instructions move RSP by 8 each. CALLS, before them: n calls and returns.
%macro CALLS 0
.next:	call	.function
	dec	rdi
	jnz	.next
	jmp	short .past
.function:
	ret
.past:
%endmacro

; instructions 4n + 130, loads n, stores n + 128, branches 3n + 129: the marked ones are calls, each
; of the next
DECLARE call_sample, marks_call_sample, 5, JUMP_STRIDE, \
	4, 2 + SAMPLE_MARKS,  1, 0,  1, SAMPLE_MARKS,  0, 0, \
	3, 1 + SAMPLE_MARKS,  1, 0,  3, SAMPLE_MARKS,  1, SAMPLE_MARKS,  1, 0
SAMPLE_BEGIN call_sample
	CALLS
marks_call_sample:
%assign i 0
%rep SAMPLE_MARKS
.mark%[i]:
	call	.mark%[i] + JUMP_STRIDE
	times JUMP_STRIDE - 5 nop
%assign i i + 1
%endrep
	lea	rsp, [rsp + 8 * SAMPLE_MARKS]
SAMPLE_END call_sample

; instructions 4n + 643, loads n + 128, stores n + 128, branches 3n + 257: the marked ones are
; returns, each to the next
DECLARE return_sample, marks_return_sample, 1, JUMP_STRIDE, \
	4, 3 + 5 * SAMPLE_MARKS,  1, SAMPLE_MARKS,  1, SAMPLE_MARKS,  0, 0, \
	3, 1 + 2 * SAMPLE_MARKS,  1, SAMPLE_MARKS,  3, 2 * SAMPLE_MARKS - 1,  1, 0,  1, SAMPLE_MARKS
SAMPLE_BEGIN return_sample
	CALLS
	lea	rax, [marks_return_sample + JUMP_STRIDE * SAMPLE_MARKS]
	mov	ecx, SAMPLE_MARKS
.push:	push	rax
	sub	rax, JUMP_STRIDE
	dec	ecx
	jnz	.push
marks_return_sample:
%rep SAMPLE_MARKS
	ret
	times JUMP_STRIDE - 1 nop
%endrep
SAMPLE_END return_sample

; instructions 3n + 385, loads n + 128, branches n: the marked ones are pops
DECLARE pop_sample, marks_pop_sample, 2, 4, \
	3, 1 + 3 * SAMPLE_MARKS,  1, SAMPLE_MARKS,  0, 0,  0, 0,  1, 0
SAMPLE_BEGIN pop_sample
.next:	mov	rax, [rsi]
	dec	rdi
	jnz	.next
	lea	rsp, [rsp - 8 * SAMPLE_MARKS]
marks_pop_sample:
%rep SAMPLE_MARKS
	pop	r8
	nop
	nop
%endrep
SAMPLE_END pop_sample

; instructions 3n + 386, loads n + 128, branches n: the marked loads run with RFLAGS.DF set
DECLARE backward, marks_backward, 7, 9, \
	3, 2 + 3 * SAMPLE_MARKS,  1, SAMPLE_MARKS,  0, 0,  0, 0,  1, 0
BEGIN backward
.next:	mov	rax, [rsi]
	dec	rdi
	jnz	.next
	std
	SAMPLE backward, LOAD
	cld
END backward

; LOCKED instruction: memory is RAX = -1, RCX 1, and of the flags SF and OF alone are 1.
%macro LOCKED 1+
	mov	ecx, 1
	mov	[rsi + SAMPLE_OFFSET], rax
	mov	edx, 0x40000001
	add	edx, edx
	%1
	nop
%endmacro

; instructions 26n + 2, loads 4n, stores 8n, locked loads 4n, branches n: the locked ones are marked
DECLARE lock_kinds, begin_lock_kinds.next + 16, 6, 23,  26, 2,  4, 0,  8, 0,  4, 0,  1, 0
BEGIN lock_kinds
	mov	rax, strict qword -1
	mov	r12, rsi
.next:	LOCKED	lock add qword [rsi + SAMPLE_OFFSET], 1
	LOCKED	lock inc qword [r12 + SAMPLE_OFFSET]
	LOCKED	lock xadd [rsi + SAMPLE_OFFSET], rcx
	LOCKED	lock cmpxchg [rsi + SAMPLE_OFFSET], rcx
	dec	rdi
	jnz	.next
END lock_kinds

; instructions 3n + 398, loads n + 128, branches n: workload_sample on its caller's stack, and so at
; CPL 3 too. Returns RSP as it is in the window.
DECLARE user_sample, marks_user_sample, 7, 9, \
	3, 14 + 3 * SAMPLE_MARKS,  1, SAMPLE_MARKS,  0, 0,  0, 0,  1, 0
	align	64
entry_user_sample:
	PUSH_PRESERVED
	push	rdi
	mov	rbx, rdi
	mov	rsi, [rbx + CALL_MEMORY]
	mov	rdi, [rbx + CALL_N]
	mov	r8, [rbx + CALL_ON]
	mov	r10, [rbx + CALL_MSR]
	SWITCH	r8
begin_user_sample:
.next:	mov	rax, [rsi]
	dec	rdi
	jnz	.next
	KNOWN_REGISTERS
	SAMPLE user_sample, LOAD
end_user_sample:
	mov	rbx, [rsp]
	mov	r9, [rbx + CALL_OFF]
	mov	r10, [rbx + CALL_MSR]
	SWITCH	r9
	mov	rax, rsp
	add	rsp, 8
	POP_PRESERVED
	ret

; PRECISE name, fourth instruction: five instructions, then the marks.
%macro PRECISE 2
	BEGIN	%1
	mov	ecx, 1
	lfence			; RDPMC isn't serializing: it may miss events before it
	rdpmc
	%2
	mov	[rsi], rax
marks_%1:
%endmacro

; instructions 261, whatever n is; stores 1: what RDPMC of counter 1 reads as the third instruction,
; at memory. NOP i is instruction 6 + i. Only where there are counters: the self test leaves it out.
DECLARE precise, marks_precise, 1, 1,  0, 5 + PRECISE_NOPS,  0, 0,  0, 1,  0, 0,  0, 0
PRECISE precise, {lfence}
	times PRECISE_NOPS nop
END precise

; instructions 261, branches 256, whatever n is; stores 1: the same with jumps, each to the next.
DECLARE precise_jumps, marks_precise_jumps, 2, 2, \
	0, 5 + PRECISE_NOPS,  0, 0,  0, 1,  0, 0,  0, PRECISE_NOPS
PRECISE precise_jumps, {lfence}
	times PRECISE_NOPS db 0xeb, 0	; JMP to the next instruction
END precise_jumps

; The same with conditional branches, each to the next instruction: JE, which is taken, and JNE in
; turn. CMP sets ZF in the place of the second LFENCE.
DECLARE precise_conditional, marks_precise_conditional, 2, 2, \
	0, 5 + PRECISE_NOPS,  0, 0,  0, 1,  0, 0,  0, PRECISE_NOPS
PRECISE precise_conditional, {cmp ecx, ecx}
%rep PRECISE_NOPS / 2
	db	0x74, 0, 0x75, 0
%endrep
END precise_conditional

; Marked loads of seven bytes into each register but RSP and RSI, in turn. The last of a turn are of
; 32 bits, with a REX prefix that means nothing, of 16 and of 8 bits, MUL, and XCHG.
%macro LOAD_INTO 2
	mov	%2, [dword rsi + SAMPLE_OFFSET + 8 * (%1)]
	nop
	nop
%endmacro

; instructions 3n + 14 + 3 * 114, loads n + 114, stores 6, locked loads 6, branches n
DECLARE sample_registers, marks_sample_registers, 7, 9, \
	3, 14 + 3 * SAMPLE_TURNS * 19,  1, SAMPLE_TURNS * 19,  0, SAMPLE_TURNS,  0, SAMPLE_TURNS, \
	1, 0
SAMPLE_BEGIN sample_registers
.next:	mov	rax, [rsi]
	dec	rdi
	jnz	.next
	KNOWN_REGISTERS
marks_sample_registers:
%assign i 0
%rep SAMPLE_TURNS
	LOAD_INTO i, rax
	LOAD_INTO i + 1, rbx
	LOAD_INTO i + 2, rcx
	LOAD_INTO i + 3, rdx
	LOAD_INTO i + 4, rdi
	LOAD_INTO i + 5, rbp
	LOAD_INTO i + 6, r8
	LOAD_INTO i + 7, r9
	LOAD_INTO i + 8, r10
	LOAD_INTO i + 9, r11
	LOAD_INTO i + 10, r12
	LOAD_INTO i + 11, r13
	LOAD_INTO i + 12, r14
	LOAD_INTO i + 13, r15
	db	0x40
	LOAD_INTO i + 14, ecx
	LOAD_INTO i + 15, bx
	LOAD_INTO i + 16, r13b
	mul	qword [dword rsi + SAMPLE_OFFSET + 8 * (i + 17)]
	nop
	nop
	xchg	r12, [dword rsi + SAMPLE_OFFSET + 8 * (i + 18)]
	nop
	nop
%assign i i + 19
%endrep
SAMPLE_END sample_registers

; instructions 3n + 398, loads 128, stores n + 128, branches n: each mark adds to memory
%macro ADD_TO_MEMORY 1
	add	[dword rsi + SAMPLE_OFFSET + 8 * %1], rax
%endmacro
DECLARE sample_add, marks_sample_add, 7, 9, \
	3, 14 + 3 * SAMPLE_MARKS,  0, SAMPLE_MARKS,  1, SAMPLE_MARKS,  0, 0,  1, 0
SAMPLE_BEGIN sample_add
.next:	mov	[rsi], rdi
	dec	rdi
	jnz	.next
	KNOWN_REGISTERS
	SAMPLE sample_add, ADD_TO_MEMORY
SAMPLE_END sample_add
