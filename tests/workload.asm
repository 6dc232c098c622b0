; SPDX-License-Identifier: MIT
;
; Workloads: u64 entry(struct workload_call *call), System V convention, at CPL 0; at CPL 3 only
; with call.msr = 0. Registers inside a piece, unless it says otherwise:
;	RDI n, RSI memory, R8 value that switches counting on, R9 off, R10 the MSR (0: leave it)
; Nothing between the two WRMSRs but the piece itself and five instructions without memory
; operands, one of them a branch, so what they add is a constant.

default rel
bits 64

; struct workload_call of tests/workload.c
CALL_N		equ 0
CALL_MEMORY	equ 8
CALL_MSR	equ 16
CALL_ON		equ 24
CALL_OFF	equ 32
CALL_STACK	equ 40

; as in tests/workload.h
SLED_NOPS	equ 256
SAMPLE_MARKS	equ 16
SAMPLE_OFFSET	equ 64
AGAIN_MARKS	equ 8
SAMPLE_RAX	equ 0x7a00000000000a5a
SAMPLE_RBX	equ 0x7b00000000000b5b
SAMPLE_RCX	equ 0x7c00000000000c5c
SAMPLE_RDX	equ 0x7d00000000000d5d
SAMPLE_RDI	equ 0x7e00000000000e5e
SAMPLE_RBP	equ 0x7f00000000000f5f
%define SAMPLE_R(n) (0x7000000000000050 | (n) << 8 | (n))

; DECLARE name, marks, mark length, mark stride, then each and once of: instructions, loads,
; stores, locked loads, branches, conditional, taken, calls, returns. The row is a struct workload.
; Where no more is said, the only branch is a loop's: conditional, and taken but for the last time.
%macro DECLARE 14-22 1, 0, 1, -1, 0, 0, 0, 0
	%defstr %%name %1
	section .rodata
name_%1	db	%%name, 0
	section .data
	align	8
	global	workload_%1:data hidden
workload_%1:
	dq	name_%1
	dq	entry_%1, begin_%1, end_%1, %2
	dd	%3, %4
	dd	%5, %6, %7, %8, %9, %10, %11, %12, %13, %14
	dd	%15, %16, %17, %18, %19, %20, %21, %22
	section .text
%endmacro

%macro SWITCH 1				; write call.msr, unless there is none
	test	r10, r10
	jz	%%skip
	mov	ecx, r10d
	mov	rdx, %1
	mov	eax, %1d
	shr	rdx, 32
	wrmsr
%%skip:
%endmacro

%macro BEGIN 1
	align	64
entry_%1:
	push	rbx
	push	rbp
	push	r12
	push	r13
	push	r14
	push	r15
	mov	rbx, rdi
	mov	rsi, [rbx + CALL_MEMORY]
	mov	rdi, [rbx + CALL_N]
	mov	r8, [rbx + CALL_ON]
	mov	r9, [rbx + CALL_OFF]
	mov	r10, [rbx + CALL_MSR]
	SWITCH	r8
begin_%1:
%endmacro

%macro END 1
end_%1:
	SWITCH	r9
	pop	r15
	pop	r14
	pop	r13
	pop	r12
	pop	rbp
	pop	rbx
	ret
%endmacro

section .text

; ------------------------------------------------------------------ counting
; instructions 3n, loads n, branches n
DECLARE load, 0, 0, 0,  3, 0,  1, 0,  0, 0,  0, 0,  1, 0
BEGIN load
.next:	mov	rax, [rsi]
	dec	rdi
	jnz	.next
END load

; instructions 3n, stores n, branches n
DECLARE store, 0, 0, 0,  3, 0,  0, 0,  1, 0,  0, 0,  1, 0
BEGIN store
.next:	mov	[rsi], rdi
	dec	rdi
	jnz	.next
END store

; instructions 3n; a locked read-modify-write is a load, a locked load and a store
DECLARE lock, 0, 0, 0,  3, 0,  1, 0,  1, 0,  1, 0,  1, 0
BEGIN lock
.next:	lock add qword [rsi], 1
	dec	rdi
	jnz	.next
END lock

; instructions 6n, branches 3n: never taken, always taken, the loop's
DECLARE branch, 0, 0, 0,  6, 0,  0, 0,  0, 0,  0, 0,  3, 0,  2, 0,  2, -1,  0, 0,  0, 0
BEGIN branch
.next:	test	rsi, rsi
	jz	.next			; memory is never at 0
	jmp	.over
.over:	nop
	dec	rdi
	jnz	.next
END branch

; instructions 10n, loads 3n, stores 2n, locked loads n, branches 2n
DECLARE mixed, 0, 0, 0,  10, 0,  3, 0,  2, 0,  1, 0,  2, 0,  2, 0,  1, -1,  0, 0,  0, 0
BEGIN mixed
.next:	mov	rax, [rsi]
	mov	[rsi + 8], rax
	nop
	mov	rdx, [rsi + 16]
	lock add qword [rsi + 24], 1
	test	rsi, rsi
	jz	.next
	lea	rax, [rsi + 1]
	dec	rdi
	jnz	.next
END mixed

; instructions 19n, loads n, branches n: most cycles retire no load
DECLARE sparse, 0, 0, 0,  19, 0,  1, 0,  0, 0,  0, 0,  1, 0
BEGIN sparse
.next:	mov	rax, [rsi]
	times 16 nop
	dec	rdi
	jnz	.next
END sparse

; instructions 4n + 1, loads n and stores n (the return addresses), branches 3n + 1
DECLARE call, 0, 0, 0,  4, 1,  1, 0,  1, 0,  0, 0,  3, 1,  1, 0,  3, 0,  1, 0,  1, 0
BEGIN call
.next:	call	.function
	dec	rdi
	jnz	.next
	jmp	.past
.function:
	ret
.past:
END call

; instructions 3, whatever n is; stores n as the manual's loop of iterations has them
DECLARE rep, 0, 0, 0,  0, 3,  0, 0,  1, 0,  0, 0,  0, 0,  0, 0,  0, 0,  0, 0,  0, 0
BEGIN rep
	mov	rcx, rdi
	mov	rdi, rsi
	rep stosb
END rep

; ------------------------------------------------------------------ where an interrupt lands
; instructions 2n + 256, branches n: the last branch is right before the first NOP
DECLARE sled, marks_sled, 1, 1,  2, SLED_NOPS,  0, 0,  0, 0,  0, 0,  1, 0
BEGIN sled
.next:	dec	rdi
	jnz	.next
marks_sled:
	times SLED_NOPS nop
END sled

; ------------------------------------------------------------------ what a record holds
; instructions 3n + 80, loads n + 8, branches n: a pause between the nth load and the marked ones
DECLARE again, marks_again, 7, 8,  3, 64 + 2 * AGAIN_MARKS,  1, AGAIN_MARKS,  0, 0,  0, 0,  1, 0
BEGIN again
.next:	mov	rax, [rsi]
	dec	rdi
	jnz	.next
	times 64 nop
marks_again:
%assign i 0
%rep AGAIN_MARKS
	mov	rax, [dword rsi + SAMPLE_OFFSET + 8 * i]
	nop
%assign i i + 1
%endrep
END again

; The sample pieces fill all sixteen registers, so the call's address and the caller's RSP wait at
; the top of a stack of their own. Marked instructions are 7 bytes, with two NOPs behind each:
; nothing fuses with them, and the next instruction is never a mark.
%macro SAMPLE_BEGIN 1
	align	64
entry_%1:
	push	rbx
	push	rbp
	push	r12
	push	r13
	push	r14
	push	r15
	mov	rbx, rdi
	mov	rsi, [rbx + CALL_MEMORY]
	mov	rdi, [rbx + CALL_N]
	mov	r8, [rbx + CALL_ON]
	mov	r10, [rbx + CALL_MSR]
	mov	rax, [rbx + CALL_STACK]
	mov	[rax], rbx
	mov	[rax + 8], rsp
	mov	rsp, rax
	SWITCH	r8
begin_%1:
%endmacro

%macro KNOWN_REGISTERS 0
	mov	rax, SAMPLE_RAX
	mov	rbx, SAMPLE_RBX
	mov	rcx, SAMPLE_RCX
	mov	rdx, SAMPLE_RDX
	mov	rdi, SAMPLE_RDI
	mov	rbp, SAMPLE_RBP
	mov	r8, SAMPLE_R(8)
	mov	r9, SAMPLE_R(9)
	mov	r10, SAMPLE_R(10)
	mov	r11, SAMPLE_R(11)
	mov	r12, SAMPLE_R(12)
	mov	r13, SAMPLE_R(13)
	mov	r14, SAMPLE_R(14)
	mov	r15, SAMPLE_R(15)
%endmacro

%macro SAMPLE_END 1
end_%1:
	mov	rbx, [rsp]
	mov	r9, [rbx + CALL_OFF]
	mov	r10, [rbx + CALL_MSR]
	SWITCH	r9
	mov	rsp, [rsp + 8]
	pop	r15
	pop	r14
	pop	r13
	pop	r12
	pop	rbp
	pop	rbx
	ret
%endmacro

; instructions 3n + 62, loads n + 16, branches n
DECLARE sample, marks_sample, 7, 9,  3, 14 + 3 * SAMPLE_MARKS,  1, SAMPLE_MARKS,  0, 0,  0, 0,  1, 0
SAMPLE_BEGIN sample
.next:	mov	rax, [rsi]
	dec	rdi
	jnz	.next
	KNOWN_REGISTERS
marks_sample:
%assign i 0
%rep SAMPLE_MARKS
	add	rax, [dword rsi + SAMPLE_OFFSET + 8 * i]
	nop
	nop
%assign i i + 1
%endrep
SAMPLE_END sample

; instructions 3n + 62, stores n + 16, branches n
DECLARE sample_store, marks_sample_store, 7, 9, \
	3, 14 + 3 * SAMPLE_MARKS,  0, 0,  1, SAMPLE_MARKS,  0, 0,  1, 0
SAMPLE_BEGIN sample_store
.next:	mov	[rsi], rdi
	dec	rdi
	jnz	.next
	KNOWN_REGISTERS
marks_sample_store:
%assign i 0
%rep SAMPLE_MARKS
	mov	[dword rsi + SAMPLE_OFFSET + 8 * i], rax
	nop
	nop
%assign i i + 1
%endrep
SAMPLE_END sample_store

; ------------------------------------------------------------------ instructions that may fault
; u64 selftest_noncanonical(struct fault *fault): a load that raises #GP on every processor; the
; address of that load. The row is what kernel/fault.c looks up.
	global	selftest_noncanonical:function hidden
selftest_noncanonical:
	mov	rax, 0x8000000000000000
.try:	mov	rax, [rax]
.done:	lea	rax, [.try]
	ret
	section .data.extable progbits alloc noexec write align=8
	dd	selftest_noncanonical.try - $
	dd	selftest_noncanonical.done - $
	section .text

; u64 user_load(struct user_probe *): loads from probe->address, which may fault; at any CPL.
; u64 user_rdpmc(struct user_probe *): RDPMC of probe->ecx; at any CPL.
; struct user_probe begins with the struct fault that the exception table wants in RDI.
PROBE_ADDRESS	equ 24
PROBE_ECX	equ 32
	global	user_load:function hidden
user_load:
	mov	rsi, [rdi + PROBE_ADDRESS]
.try:	mov	rax, [rsi]
.done:	ret
	section .data.extable progbits alloc noexec write align=8
	dd	user_load.try - $
	dd	user_load.done - $
	section .text

	global	user_rdpmc:function hidden
user_rdpmc:
	mov	ecx, [rdi + PROBE_ECX]
	xor	eax, eax
	xor	edx, edx
.try:	rdpmc
.done:	shl	rdx, 32
	or	rax, rdx
	ret
	section .data.extable progbits alloc noexec write align=8
	dd	user_rdpmc.try - $
	dd	user_rdpmc.done - $
	section .text

; u64 selftest_cs(u64): the code segment it runs in.
	global	selftest_cs:function hidden
selftest_cs:
	mov	eax, cs
	ret
