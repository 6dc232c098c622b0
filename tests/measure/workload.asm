; SPDX-License-Identifier: MIT
;
; Workloads of counting, of interrupts and of single records. workload_marked_walk.asm has those of
; many records, workload.inc what they share.

default rel
bits 64

%include "tests/measure/workload.inc"

	extern	sample_stack

; as in tests/measure/workload.h
SLED_NOPS	equ 256
LONG_SLED_NOPS	equ 2560
AGAIN_MARKS	equ 128

IA32_PMC0	equ 0xc1

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

; instructions 13n + 3 to 14n + 3, branches 2n: the first of a round goes by an unpredictable bit.
; How many are taken isn't known, so the self test leaves this piece out. It goes over a NOP: that a
; branch to the instruction after it was predicted wrongly may be no misprediction.
DECLARE random, 0, 0, 0,  13, 3,  0, 0,  0, 0,  0, 0,  2, 0
BEGIN random
	rdtsc
	lea	rdx, [rax * 2 + 1]
	nop
.next:	mov	rax, rdx		; Marsaglia, "Xorshift RNGs"
	shl	rax, 13
	xor	rdx, rax
	mov	rax, rdx
	shr	rax, 7
	xor	rdx, rax
	mov	rax, rdx
	shl	rax, 17
	xor	rdx, rax
	test	edx, 0x10000
	jz	.same
	nop
.same:	dec	rdi
	jnz	.next
END random

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

; instructions 4n, loads n and stores n, both across a cache line's end, branches n
DECLARE split, 0, 0, 0,  4, 0,  1, 0,  1, 0,  0, 0,  1, 0
BEGIN split
.next:	mov	rax, [rsi + 61]
	mov	[rsi + 125], rax
	dec	rdi
	jnz	.next
END split

; instructions 3n + 1, branches n; n additions of four packed numbers, all 0, and one XORPS. The
; register is one that any function may change.
DECLARE packed, 0, 0, 0,  3, 1,  0, 0,  0, 0,  0, 0,  1, 0
BEGIN packed
	xorps	xmm0, xmm0
.next:	addps	xmm0, xmm0
	dec	rdi
	jnz	.next
END packed

; instructions 3, whatever n is; stores n as the manual's loop of iterations has them
DECLARE rep, 0, 0, 0,  0, 3,  0, 0,  1, 0,  0, 0,  0, 0,  0, 0,  0, 0,  0, 0,  0, 0
BEGIN rep
	mov	rcx, rdi
	mov	rdi, rsi
	rep stosb
END rep

; instructions 6, stores 1: IA32_PMC0 right after the opening, to memory. Not for the self test:
; there may be no such register.
DECLARE opening, 0, 0, 0,  0, 6,  0, 0,  0, 1,  0, 0,  0, 0,  0, 0,  0, 0,  0, 0,  0, 0
BEGIN opening
	lfence
	mov	ecx, IA32_PMC0
	rdmsr
	shl	rdx, 32
	or	rax, rdx
	mov	[rsi], rax
END opening

; ------------------------------------------------------------------ where an interrupt lands
; instructions 2n + 256, branches n: the last branch is right before the first NOP
DECLARE sled, marks_sled, 1, 1,  2, SLED_NOPS,  0, 0,  0, 0,  0, 0,  1, 0
BEGIN sled
.next:	dec	rdi
	jnz	.next
marks_sled:
	times SLED_NOPS nop
END sled

; the same, longer than any interrupt is expected to be late
DECLARE long_sled, marks_long_sled, 1, 1,  2, LONG_SLED_NOPS,  0, 0,  0, 0,  0, 0,  1, 0
BEGIN long_sled
.next:	dec	rdi
	jnz	.next
marks_long_sled:
	times LONG_SLED_NOPS nop
END long_sled

; ------------------------------------------------------------------ what a record holds
; instructions 3n + 320, loads n + 128, branches n: a pause between the nth load and the marked ones
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

; instructions 3n + 398, loads n + 128, branches n
DECLARE sample, marks_sample, 7, 9,  3, 14 + 3 * SAMPLE_MARKS,  1, SAMPLE_MARKS,  0, 0,  0, 0,  1, 0
SAMPLE_BEGIN sample
.next:	mov	rax, [rsi]
	dec	rdi
	jnz	.next
	KNOWN_REGISTERS
	SAMPLE sample, LOAD
SAMPLE_END sample

; instructions 3n + 398, stores n + 128, branches n
DECLARE sample_store, marks_sample_store, 7, 9, \
	3, 14 + 3 * SAMPLE_MARKS,  0, 0,  1, SAMPLE_MARKS,  0, 0,  1, 0
SAMPLE_BEGIN sample_store
.next:	mov	[rsi], rdi
	dec	rdi
	jnz	.next
	KNOWN_REGISTERS
	SAMPLE sample_store, STORE
SAMPLE_END sample_store

; ------------------------------------------------------------------ instructions that may fault
; u64 selftest_noncanonical(struct fault *fault): a load that raises #GP on every processor; the
; address of that load. The row is what kernel/interrupt/fault.c looks up.
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
