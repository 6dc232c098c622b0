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
INSTRUCTION vmload
INSTRUCTION vmsave
INSTRUCTION stgi
INSTRUCTION clgi
INSTRUCTION skinit
INSTRUCTION invlpga
INSTRUCTION femms

%macro MOVE 1
global do_load_%1:function hidden
do_load_%1:
	mov	%1, rax
	ret
%endmacro
MOVE cr0
MOVE cr3
MOVE cr4

; An instruction breakpoint at a NOP, and at one after MOV SS, with interrupts masked.
global do_breakpoint:function hidden
do_breakpoint:
	lea	rax, [.here]
	mov	dr0, rax
	mov	eax, 0x402
	mov	dr7, rax
.here:	nop
	mov	eax, 0x400
	mov	dr7, rax
	ret

global do_breakpoint_in_shadow:function hidden
do_breakpoint_in_shadow:
	lea	rax, [.here]
	mov	dr0, rax
	mov	eax, 0x402
	mov	dr7, rax
	mov	eax, ss
	mov	ss, eax
.here:	nop
	mov	eax, 0x400
	mov	dr7, rax
	ret

; With RF, so that the instruction runs when it returns.
global breakpoint_handler:function hidden
breakpoint_handler:
	inc	qword [events]
	or	qword [rsp + 16], 1 << 16
	iretq

section .note.GNU-stack noalloc noexec nowrite progbits
