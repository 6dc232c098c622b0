; SPDX-License-Identifier: MIT
; See smc.c and xmc.c: what runs while counters count, with as many instructions as those
; say.

default rel
bits 64
%include "refpmu/hv/registers.inc"

GLOBAL_CTRL	equ 0x38f
COUNTERS_LOW	equ 0xf
COUNTERS_HIGH	equ 0x1

section .text

; u64 smc_count(u64 (*code)(void *), void *argument): with counters on.
global smc_count:function hidden
smc_count:
	PUSH_PRESERVED
	mov	r12, rdi
	mov	rdi, rsi
	mov	ecx, GLOBAL_CTRL
	mov	eax, COUNTERS_LOW
	mov	edx, COUNTERS_HIGH
	wrmsr
	call	r12
	mov	r12, rax
	mov	ecx, GLOBAL_CTRL
	xor	eax, eax
	xor	edx, edx
	wrmsr
	mov	rax, r12
	POP_PRESERVED
	ret

global smc_nothing:function hidden
smc_nothing:
	ret

; ---- one processor: struct turns ----
CODE		equ 0
CHANGE		equ 8
TURNS		equ 16
VALUE		equ 24
PLACE		equ 40
INVALID		equ 48			; 16 bytes, of INVPCID; the address is their second half

; Now the one, now the other; what the code returns, in their order. 11 instructions, and 12 each
; time besides the code and the change; branches 1 and 5.
global smc_turns:function hidden
smc_turns:
	push	rbx
	push	r12
	push	r13
	mov	rbx, rdi
	mov	r12, [rbx + TURNS]
	xor	r13d, r13d
.again:
	xor	esi, esi
	call	[rbx + CHANGE]
	call	[rbx + CODE]
	lea	r13, [r13 + 2 * r13]
	add	r13, rax
	mov	esi, 1
	call	[rbx + CHANGE]
	call	[rbx + CODE]
	lea	r13, [r13 + 2 * r13]
	add	r13, rax
	dec	r12
	jnz	.again
	mov	rax, r13
	pop	r13
	pop	r12
	pop	rbx
	ret

; Changes to the state ESI, with the number of their instructions after them.
%macro CHANGE 1
global %1:function hidden
%1:	mov	rax, [rbx + VALUE + 8 * rsi]
%endmacro

CHANGE change_cr3			; 3
	mov	cr3, rax
	ret

CHANGE change_by_store			; 4
	mov	rcx, [rbx + PLACE]
	mov	[rcx], rax
	ret

CHANGE change_table_invlpg		; 6
	mov	rcx, [rbx + PLACE]
	mov	[rcx], rax
	mov	rcx, [rbx + INVALID + 8]
	invlpg	[rcx]
	ret

CHANGE change_table_cr3			; 6
	mov	rcx, [rbx + PLACE]
	mov	[rcx], rax
	mov	rax, cr3
	mov	cr3, rax
	ret

CHANGE change_table_invpcid		; 6
	mov	rcx, [rbx + PLACE]
	mov	[rcx], rax
	xor	ecx, ecx
	invpcid	rcx, [rbx + INVALID]
	ret

; ---- nothing there: struct probe ----
; Reads that all fault. 4 instructions, and 3 and the handler's each time; branches 1, 1 and its.
global smc_probe:function hidden
smc_probe:
	mov	rdx, [rdi]
	mov	rsi, [rdi + 8]
	mov	rcx, [rdi + 16]
.again:	mov	rax, [rdx]			; 3 bytes
	add	rdx, rsi
	dec	rcx
	jnz	.again
	ret

; ---- two processors: struct meeting ----
MEET_CODE	equ 0
MEET_SEEN	equ 8
MEET_TOLD	equ 12
MEET_STOP	equ 16
MEET_ROUNDS	equ 20
MEET_WAITS	equ 24
MEET_FRESH	equ 32

; The code, with EBX = ECX = 0 and RDX = the structure: 8 instructions, 2 branches.
global xmc_plain:function hidden
xmc_plain:
	push	rbx
	mov	rdx, rdi
	xor	ebx, ebx
	xor	ecx, ecx
	call	[rdi + MEET_CODE]
	pop	rbx
	nop
	ret

; "Handling Self- and Cross-Modifying Code": ask for the next version, wait till it is said to be
; there, serialise, run it. 12 instructions, and 8 each time besides the code, what serialises and
; 5 for each time of waiting; branches 1, 3 and 2.
global xmc_protocol:function hidden
xmc_protocol:
	push	rbx
	push	r12
	push	r13
	mov	rbx, rdi
	xor	r12d, r12d
	xor	r13d, r13d
.again:
	inc	r12d
	mov	[rbx + MEET_SEEN], r12d
.wait:
	inc	qword [rbx + MEET_WAITS]
	cmp	dword [rbx + MEET_STOP], 0
	jne	.stop
	cmp	[rbx + MEET_TOLD], r12d
	jne	.wait
	call	[rbx + MEET_FRESH]
	call	[rbx + MEET_CODE]
	lea	r13, [r13 + 2 * r13]
	add	r13, rax
	cmp	r12d, [rbx + MEET_ROUNDS]
	jne	.again
.stop:
	mov	rax, r13
	pop	r13
	pop	r12
	pop	rbx
	nop
	ret

global xmc_fresh_cpuid:function hidden
xmc_fresh_cpuid:			; 6
	push	rbx
	xor	eax, eax
	xor	ecx, ecx
	cpuid
	pop	rbx
	ret

global xmc_fresh_invlpg:function hidden
xmc_fresh_invlpg:			; 3
	mov	rax, [rbx + MEET_CODE]
	invlpg	[rax]
	ret

global xmc_fresh_iret:function hidden
xmc_fresh_iret:			; 11
	mov	rcx, rsp
	mov	eax, ss
	push	rax
	push	rcx
	pushfq
	mov	eax, cs
	push	rax
	lea	rax, [.back]
	push	rax
	iretq
.back:	ret

section .note.GNU-stack noalloc noexec nowrite progbits
