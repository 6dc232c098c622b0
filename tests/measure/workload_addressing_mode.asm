; SPDX-License-Identifier: MIT
;
; One load, or one store, a round, always at one address that addressing_mode.c knows, through each
; way in which an instruction names its operand. SDM "Operand Addressing", "MOVS", "LODS", "STOS".

default rel
bits 64

%include "tests/measure/workload.inc"

; as in tests/measure/addressing_mode.h
ADDRESSING_OFFSET	equ 8
ADDRESSING_INDEX	equ 5
ADDRESSING_ABSOLUTE	equ 0x8000
ADDRESSING_TARGET	equ 256

section .data
	align	8
	global	addressing_mode_word:data hidden
addressing_mode_word:
	dq	0

section .text

; LOOP_OF: the operand is what differs. Instructions 3n, a load (or a store) and a branch a round.
%macro LOAD_FORM 2
DECLARE %1, 0, 0, 0,  3, 0,  1, 0,  0, 0,  0, 0,  1, 0
BEGIN %1
.next:	mov	rax, %2
	dec	rdi
	jnz	.next
END %1
%endmacro

%macro STORE_FORM 2
DECLARE %1, 0, 0, 0,  3, 0,  0, 0,  1, 0,  0, 0,  1, 0
BEGIN %1
.next:	mov	%2, rax
	dec	rdi
	jnz	.next
END %1
%endmacro

	LOAD_FORM load_base, [rsi]
	LOAD_FORM load_disp8, [byte rsi + ADDRESSING_OFFSET]
	LOAD_FORM load_disp32, [dword rsi + ADDRESSING_TARGET]
	LOAD_FORM load_rip, [rel addressing_mode_word]
	LOAD_FORM load_absolute, [abs ADDRESSING_ABSOLUTE]
	LOAD_FORM load_fs, [fs:rsi + ADDRESSING_OFFSET]
	LOAD_FORM load_gs, [gs:rsi + ADDRESSING_OFFSET]
	STORE_FORM store_disp32, [dword rsi + ADDRESSING_TARGET]
	STORE_FORM store_rip, [rel addressing_mode_word]
	STORE_FORM store_fs, [fs:rsi + ADDRESSING_OFFSET]
	STORE_FORM store_gs, [gs:rsi + ADDRESSING_OFFSET]

; instructions 3n + 1
DECLARE load_index, 0, 0, 0,  3, 1,  1, 0,  0, 0,  0, 0,  1, 0
BEGIN load_index
	mov	ecx, ADDRESSING_INDEX
.next:	mov	rax, [rsi + rcx * 8 + ADDRESSING_OFFSET]
	dec	rdi
	jnz	.next
END load_index

; instructions 3n + 1
DECLARE store_index, 0, 0, 0,  3, 1,  0, 0,  1, 0,  0, 0,  1, 0
BEGIN store_index
	mov	ecx, ADDRESSING_INDEX
.next:	mov	[rsi + rcx * 8 + ADDRESSING_OFFSET], rax
	dec	rdi
	jnz	.next
END store_index

; instructions 3n + 1, loads n: the address has 32 bits, beyond which the sum wraps
DECLARE load_wrapped, 0, 0, 0,  3, 1,  1, 0,  0, 0,  0, 0,  1, 0
BEGIN load_wrapped
	mov	ecx, 0 - ADDRESSING_TARGET
.next:	mov	rax, [ecx + ADDRESSING_ABSOLUTE + ADDRESSING_TARGET]
	dec	rdi
	jnz	.next
END load_wrapped

; instructions 4n, loads n into the register that has the address
DECLARE load_own_base, 0, 0, 0,  4, 0,  1, 0,  0, 0,  0, 0,  1, 0
BEGIN load_own_base
.next:	lea	rax, [rsi + ADDRESSING_OFFSET]
	mov	rax, [rax]
	dec	rdi
	jnz	.next
END load_own_base

; instructions 4n, loads n, stores n, locked loads n: exchanges of the address with what is there
DECLARE store_own_base, 0, 0, 0,  4, 0,  1, 0,  1, 0,  1, 0,  1, 0
BEGIN store_own_base
.next:	lea	rax, [rsi + ADDRESSING_OFFSET]
	xchg	rax, [rax]
	dec	rdi
	jnz	.next
END store_own_base

; instructions 4n, loads n: LODSQ goes on to the next word, LEA back
DECLARE load_string, 0, 0, 0,  4, 0,  1, 0,  0, 0,  0, 0,  1, 0
BEGIN load_string
.next:	lodsq
	lea	rsi, [rsi - 8]
	dec	rdi
	jnz	.next
END load_string

; instructions 4n + 2, stores n
DECLARE store_string, 0, 0, 0,  4, 2,  0, 0,  1, 0,  0, 0,  1, 0
BEGIN store_string
	mov	rcx, rdi
	mov	rdi, rsi
.next:	stosq
	lea	rdi, [rdi - 8]
	dec	rcx
	jnz	.next
END store_string

; instructions 5n + 2, loads n from RSI, stores n to ADDRESSING_TARGET after it
DECLARE move_string, 0, 0, 0,  5, 2,  1, 0,  1, 0,  0, 0,  1, 0
BEGIN move_string
	mov	rcx, rdi
	lea	rdi, [rsi + ADDRESSING_TARGET]
.next:	movsq
	lea	rsi, [rsi - 8]
	lea	rdi, [rdi - 8]
	dec	rcx
	jnz	.next
END move_string

; On a stack of their own, the word below its top; R11 keeps the other one.
%macro STACK_BEGIN 1
BEGIN %1
	mov	r11, rsp
	mov	rsp, r14
%endmacro

%macro STACK_END 1
	mov	rsp, r11
END %1
%endmacro

; instructions 4n + 3, stores n
DECLARE store_push, 0, 0, 0,  4, 3,  0, 0,  1, 0,  0, 0,  1, 0
STACK_BEGIN store_push
.next:	push	rdi
	lea	rsp, [rsp + 8]
	dec	rdi
	jnz	.next
STACK_END store_push

; instructions 4n + 3, loads n
DECLARE load_pop, 0, 0, 0,  4, 3,  1, 0,  0, 0,  0, 0,  1, 0
STACK_BEGIN load_pop
.next:	lea	rsp, [rsp - 8]
	pop	rax
	dec	rdi
	jnz	.next
STACK_END load_pop

; instructions 4n + 4, loads n and stores n, branches 3n + 1
DECLARE call_return, 0, 0, 0,  4, 4,  1, 0,  1, 0,  0, 0,  3, 1,  1, 0,  3, 0,  1, 0,  1, 0
STACK_BEGIN call_return
.next:	call	.function
	dec	rdi
	jnz	.next
	jmp	.past
.function:
	ret
.past:
STACK_END call_return
