; SPDX-License-Identifier: MIT
; What machine.c can't say in C.
default rel
bits 64
section .text

; u64 machine_faults(void (*instruction)(void), u32 ecx, u64 rax, u32 edx)
; Run one of the routines below with these registers; how many exceptions did it raise?
global machine_faults:function hidden
extern events
machine_faults:
	push	rbx
	push	r15
	mov	rax, rdx
	mov	edx, ecx
	mov	ecx, esi
	mov	qword [events], 0
	call	rdi
	mov	rax, [events]
	pop	r15
	pop	rbx
	ret

%macro INSTRUCTION 1
global do_%1:function hidden
do_%1:	%1
	ret
%endmacro
INSTRUCTION rdmsr
INSTRUCTION wrmsr
INSTRUCTION rdpmc
INSTRUCTION vmmcall
INSTRUCTION vmrun
INSTRUCTION vmsave
INSTRUCTION stgi
INSTRUCTION clgi

section .note.GNU-stack noalloc noexec nowrite progbits
