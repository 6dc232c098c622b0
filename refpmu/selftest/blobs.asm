; SPDX-License-Identifier: MIT
; Pieces of code whose exact counts are declared next to them. The counts are those of the body,
; of the events that it meets and of their handlers. Instructions that fault don't retire. Frames
; that events push and IRET pops are no loads and stores.
;
; A body runs at CPL 0 with interrupts off, RBP = the local APIC, EAX, ECX and EDX used; it may
; change all registers. What is to be seen of it is left in the variables of `observed`, which
; are 0 before.

default rel
bits 64

GLOBAL_CTRL	equ 0x38f
COUNTERS_LOW	equ 0xf			; PMC0..3: branches, loads, stores, locked loads
COUNTERS_HIGH	equ 0x1			; fixed counter 0: instructions

PERFEVTSEL3	equ 0x189
PMC3		equ 0xc4
INSTRUCTIONS_WITH_INTERRUPT equ 0x5300c0

APIC		equ 0xfee00000
EOI		equ 0xb0
TPR		equ 0x80
ICR		equ 0x300
LVT_TIMER	equ 0x320
LVTPC		equ 0x340
TIMER_COUNT	equ 0x380
TIMER_DIVIDE	equ 0x3e0
SELF_FIXED	equ 0x44000
SELF_NMI	equ 0x44400

; docs/EXERCISER.md; where nested_paging.h has it.
EXERCISER	equ 0xfef00000
ADDRESS_LOW	equ 0x20
EXERCISER_HERE	equ 0x52584d50

%include "refpmu/hv/registers.inc"
%include "refpmu/selftest/selectors.inc"

; A row of the table that selftest.c walks: struct blob.
%macro BLOB 6				; name, instructions, branches, loads, stores, locked
%push blob
%defstr %$text %1
section .rodata
%%text:	db %$text, 0
section .data
	dq %%text, %1, %2, %3, %4, %5, %6
%assign %$expected 0
section .text
%1:	call	blob_open
%endmacro

; Up to three things that must hold afterwards: a variable of `observed` and its value.
%macro EXPECT 2
section .data
	dq %1, %2
section .text
%assign %$expected %$expected + 1
%endmacro

%macro BLOB_END 0
section .data
%rep 3 - %$expected
	dq 0, 0
%endrep
section .text
	jmp	blob_close
%pop
%endmacro

section .data align=16
global blobs:data hidden
blobs:

section .text
; What is counted besides the body: the last RET here and the first instructions of blob_close.
; The first row, an empty body, measures that.
blob_open:
	pop	rax
	PUSH_PRESERVED
	pushfq
	mov	[saved_rsp], rsp
	push	rax
	mov	ecx, GLOBAL_CTRL
	mov	eax, COUNTERS_LOW
	mov	edx, COUNTERS_HIGH
	mov	ebp, APIC
	wrmsr
	ret

blob_close:
	mov	ecx, GLOBAL_CTRL
	xor	eax, eax
	xor	edx, edx
	wrmsr
	mov	eax, KERNEL_DATA
	mov	ds, eax
	mov	es, eax
	mov	ss, eax
	mov	rsp, [saved_rsp]
	popfq
	POP_PRESERVED
	ret

; What the handlers below cost.
%define INTERRUPT_INSTRUCTIONS	7
%define INTERRUPT_LOADS		3
%define INTERRUPT_STORES	4
%define FAULT_INSTRUCTIONS	10
%define FAULT_LOADS		6
%define FAULT_STORES		5
%define ERROR_INSTRUCTIONS	(FAULT_INSTRUCTIONS + 3)
%define ERROR_LOADS		(FAULT_LOADS + 1)
%define ERROR_STORES		(FAULT_STORES + 2)
%define TRAP_INSTRUCTIONS	2

; Going to CPL 3 and back.
%macro TO_USER 3			; code selector, address, RFLAGS: 8 instructions, 5 stores
	push	USER_DATA
	lea	rax, [user_stack_top]
	push	rax
	push	%3
	push	%1
	lea	rax, [%2]
	push	rax
	iretq
%endmacro
%define USER_INSTRUCTIONS	(8 + 1 + 3)
%define USER_BRANCHES		(1 + 1 + 1)
%define USER_LOADS		2
%define USER_STORES		5

BLOB empty, 0, 0, 0, 0, 0
BLOB_END

BLOB plain_instructions, 10, 0, 0, 0, 0
	times 10 nop
BLOB_END

BLOB memory_accesses, 13, 0, 5, 6, 2
	lea	rax, [buffer]
	mov	[rax], rax		; store
	mov	rcx, [rax]		; load
	add	qword [rax], 1		; load, store
	lock inc qword [rax]		; locked load, store
	xchg	rcx, [rax]		; locked load, store
	push	rax			; store
	pop	rax			; load
	push	2			; store
	lea	rsp, [rsp + 8]
	nop	dword [rax]		; touches nothing
	prefetcht0 [rax]
	cmp	rax, rcx
BLOB_END

BLOB branches_of_all_kinds, 10, 8, 1, 1, 0
	xor	eax, eax
	jz	.taken
.taken:
	jnz	.not_taken
.not_taken:
	jmp	.next
.next:
	call	.function		; store
	mov	ecx, 1
	jrcxz	.end
	loop	.end
.end:
	jmp	.over
.function:
	ret				; load
.over:
BLOB_END

BLOB loop_to_itself, 6, 5, 0, 0, 0
	mov	ecx, 5
.again:
	loop	.again
BLOB_END

BLOB rep_movsb, 4, 0, 37, 37, 0
	lea	rsi, [buffer]
	lea	rdi, [buffer + 64]
	mov	ecx, 37
	rep movsb
BLOB_END

BLOB rep_of_nothing, 2, 0, 0, 0, 0
	xor	ecx, ecx
	rep movsb
BLOB_END

BLOB rep_stosq, 3, 0, 0, 9, 0
	lea	rdi, [buffer]
	mov	ecx, 9
	rep stosq
BLOB_END

BLOB repe_cmpsb_stops_at_a_difference, 4, 0, 12, 0, 0
	lea	rsi, [compare_1]
	lea	rdi, [compare_2]
	mov	ecx, 16
	repe cmpsb
BLOB_END

BLOB repne_scasb_stops_at_a_match, 4, 0, 6, 0, 0
	lea	rdi, [compare_2]
	mov	eax, 'Y'
	mov	ecx, 16
	repne scasb
BLOB_END

BLOB sti_and_cli, 4, 0, 0, 0, 0
	nop
	sti
	nop
	cli
BLOB_END

BLOB sti_holds_interrupts_off_for_one_instruction, 5 + INTERRUPT_INSTRUCTIONS, 1, \
	INTERRUPT_LOADS, 1 + INTERRUPT_STORES, 0
EXPECT seen_rip, sti_holds_interrupts_off_for_one_instruction.behind
EXPECT events, 1
	mov	dword [rbp + ICR], SELF_FIXED + VECTOR_IPI
	sti
	nop
.behind:
	nop
	cli
BLOB_END

; PMC3 is made to count instructions and to wrap on MOV SS: its interrupt waits one more.
; Locked loads: what PMC3 counts after the wrap, blob_close included.
BLOB mov_ss_holds_interrupts_off_for_one_instruction, 14 + INTERRUPT_INSTRUCTIONS, 1, \
	INTERRUPT_LOADS, 1 + INTERRUPT_STORES, 3 + INTERRUPT_INSTRUCTIONS + 5
EXPECT seen_rip, mov_ss_holds_interrupts_off_for_one_instruction.behind
EXPECT events, 1
	mov	ebx, ss
	mov	dword [rbp + LVTPC], VECTOR_IPI
	mov	ecx, PERFEVTSEL3
	mov	eax, INSTRUCTIONS_WITH_INTERRUPT
	xor	edx, edx
	wrmsr
	mov	ecx, PMC3
	mov	eax, -2
	wrmsr				; is none that counts
	sti
	mov	ss, ebx			; wraps to 0
	nop
.behind:
	nop
	cli
BLOB_END

BLOB an_interrupt_comes_behind_the_store_that_sends_it, 5 + INTERRUPT_INSTRUCTIONS, 1, \
	INTERRUPT_LOADS, 1 + INTERRUPT_STORES, 0
EXPECT seen_rip, an_interrupt_comes_behind_the_store_that_sends_it.behind
EXPECT events, 1
	sti
	nop
	mov	dword [rbp + ICR], SELF_FIXED + VECTOR_IPI
.behind:
	nop
	cli
BLOB_END

; An interrupt somewhere in the string; it is still one instruction.
BLOB hlt_ends_with_the_interrupt, 5 + INTERRUPT_INSTRUCTIONS, 1, INTERRUPT_LOADS, \
	1 + INTERRUPT_STORES, 0
EXPECT seen_rip, hlt_ends_with_the_interrupt.behind
EXPECT events, 1
	mov	dword [rbp + ICR], SELF_FIXED + VECTOR_IPI
	sti
	hlt
.behind:
	nop
	cli
BLOB_END

BLOB instructions_without_a_trap, 5, 0, 0, 0, 0
	pause
	nop
	pause
	pause
	nop
BLOB_END

BLOB instructions_with_an_exit, 8, 0, 0, 0, 0
	xor	eax, eax
	cpuid
	xor	ecx, ecx
	rdpmc
	mov	ecx, 0x186
	rdmsr
	wrmsr
	rdtsc
BLOB_END

BLOB mov_ss_in_front_of_anything, 8, 0, 0, 1, 0
	mov	ebx, ss
	mov	ss, ebx
	mov	ss, ebx
	cpuid
	mov	eax, ss
	mov	ss, eax
	pushfq
	nop
BLOB_END

BLOB flags_are_stored_without_a_foreign_trap_flag, 5, 0, 2, 3, 0
EXPECT seen_flags, 0x202
	push	0x202
	popfq
	pushfq
	pop	qword [seen_flags]
	cli
BLOB_END

BLOB int_n_and_iretq, 2, 2, 0, 0, 0
	int	VECTOR_INT
BLOB_END

BLOB an_invalid_instruction, 1 + FAULT_INSTRUCTIONS, 1, FAULT_LOADS, FAULT_STORES, 0
EXPECT seen_rip, an_invalid_instruction.fault
EXPECT seen_flags, 0x46
EXPECT events, 1
	cmp	eax, eax
.fault:
	ud2
BLOB_END

BLOB a_page_fault, 1 + ERROR_INSTRUCTIONS, 1, ERROR_LOADS, ERROR_STORES, 0
EXPECT seen_rip, a_page_fault.fault
EXPECT seen_error, 2
EXPECT seen_cr2, 0x7f0000000123
	mov	rdi, 0x7f0000000123
.fault:
	mov	[rdi], al
BLOB_END

BLOB a_general_protection_fault, 1 + ERROR_INSTRUCTIONS, 1, ERROR_LOADS, ERROR_STORES, 0
EXPECT seen_rip, a_general_protection_fault.fault
EXPECT seen_error, 0
EXPECT events, 1
	mov	ecx, 0xc5			; there are four counters
.fault:
	rdmsr
BLOB_END

; The #GP can't be delivered, its stack isn't mapped: a page fault takes its place, on a stack of
; its own.
BLOB a_fault_whose_stack_faults, 4 + ERROR_INSTRUCTIONS, 1, ERROR_LOADS, ERROR_STORES, 0
EXPECT seen_cr2, 0x7f00000000f0 - 8
EXPECT seen_error, 2
EXPECT events, 1
	mov	rbx, rsp
	mov	rsp, 0x7f00000000f0
	mov	ecx, 0xc5
	rdmsr
	mov	rsp, rbx
BLOB_END

; A second NMI, sent by the handler of the first, waits for its IRET.
BLOB nmis_do_not_nest, 3 + 11 + 8, 6, 10, 1 + 4 + 3, 0
EXPECT events, 2
EXPECT nested, 0
	nop
	mov	dword [rbp + ICR], SELF_NMI
	nop
BLOB_END

; #DB after each instruction after the POPFQ that sets the flag, up to and including the one
; that clears it, but not after MOV SS.
BLOB own_trap_flag, 20 + 16 * TRAP_INSTRUCTIONS, 16, 4 + 16, 6 + 16, 0
EXPECT events, 16
	mov	r12d, ss
	push	RFLAGS_TF + 2
	popfq
	nop
	xor	eax, eax
	cpuid
	mov	ss, r12d
	nop
	push	rax
	pop	rax
	pause
	sti
	cli
	lea	rdi, [buffer]
	mov	ecx, 1
	rep stosb
	mov	dword [rbp + TPR], 0xd0
	pushfq
	and	qword [rsp], ~RFLAGS_TF
	popfq
BLOB_END

BLOB apic_stores_of_other_forms, 7, 0, 3, 4, 1
EXPECT seen_flags, 0x70
	mov	eax, 0x30
	xchg	eax, [rbp + TPR]
	or	dword [rbp + TPR], 0x40
	mov	ecx, [rbp + TPR]
	mov	[seen_flags], rcx
	mov	eax, 0xd0
	mov	[rbp + TPR], eax
BLOB_END

; A register that keeps what is written, and one that is read only.
BLOB exerciser_stores_of_all_forms, 11, 0, 4, 7, 1
EXPECT seen_rip, 0x1234
EXPECT seen_flags, 0x1238
EXPECT seen_error, EXERCISER_HERE
	mov	ebx, EXERCISER
	mov	dword [rbx + ADDRESS_LOW], 0x1234
	mov	eax, 0x1230
	xchg	eax, [rbx + ADDRESS_LOW]
	or	dword [rbx + ADDRESS_LOW], 8
	mov	ecx, [rbx + ADDRESS_LOW]
	mov	[seen_flags], rcx
	mov	[seen_rip], rax
	mov	[rbx], eax
	mov	ecx, [rbx]
	mov	[seen_error], rcx
BLOB_END

BLOB user_mode, 4 + USER_INSTRUCTIONS, USER_BRANCHES, 1 + USER_LOADS, 1 + USER_STORES, 0
	TO_USER	USER_CODE64, .user, 2
.user:
	nop
	push	rax
	pop	rax
	nop
	int	VECTOR_RETURN
BLOB_END

BLOB syscall_and_sysret, 6 + USER_INSTRUCTIONS, 2 + USER_BRANCHES, USER_LOADS, 1 + USER_STORES, 0
EXPECT seen_flags, 2
	TO_USER	USER_CODE64, .user, 2
.user:
	nop
	syscall
	nop
	int	VECTOR_RETURN
BLOB_END

; The mask clears TF on the way in, SYSRET sets it again: #DB after both NOPs and SYSRET.
BLOB syscall_with_own_trap_flag, 6 + USER_INSTRUCTIONS + 3 * TRAP_INSTRUCTIONS, \
	2 + USER_BRANCHES + 3, USER_LOADS + 3, 1 + USER_STORES + 3, 0
EXPECT events, 3
EXPECT seen_flags, RFLAGS_TF + 2
	TO_USER	USER_CODE64, .user, RFLAGS_TF + 2
.user:
	nop
	syscall
	nop
	int	VECTOR_RETURN
BLOB_END

BLOB compatibility_mode, 5 + 4 + USER_INSTRUCTIONS, USER_BRANCHES, 1 + USER_LOADS, \
	6 + USER_STORES, 0
EXPECT seen_flags, 0x12345678
	mov	edx, USER_DATA
	mov	ds, edx
	mov	es, edx
	lea	rdi, [buffer]
	lea	rsi, [seen_flags]
	TO_USER	USER_CODE32, .user, 2
bits 32
.user:
	push	dword 0x12345678
	pop	dword [esi]
	mov	ecx, 4
	rep stosd
	int	VECTOR_RETURN
bits 64
BLOB_END

section .data
	dq 0

; Of the stepping engine: a string that takes longer than the timer, a byte at a time.
global stepped_blobs:data hidden
stepped_blobs:
section .text

BLOB an_interrupt_in_a_rep_string, 10 + INTERRUPT_INSTRUCTIONS, 1, 10000 + INTERRUPT_LOADS, \
	10000 + 4 + INTERRUPT_STORES, 0
EXPECT events, 1
	mov	dword [rbp + TIMER_DIVIDE], 0xb
	mov	dword [rbp + LVT_TIMER], VECTOR_IPI
	mov	dword [rbp + TIMER_COUNT], 20000000	; 20 ms of QEMU's timer
	sti
	lea	rsi, [big_buffer]
	lea	rdi, [big_buffer]
	mov	ecx, 10000			; 200 ms and more when stepped
	rep movsb
	cli
	mov	dword [rbp + LVT_TIMER], 0x10000
BLOB_END

section .data
	dq 0

; Of the fast one, the same.
global fast_blobs:data hidden
fast_blobs:
section .text

BLOB an_interrupt_in_a_long_rep_string, 9 + INTERRUPT_INSTRUCTIONS, 1, \
	4000000 + INTERRUPT_LOADS, 4 + INTERRUPT_STORES, 0
EXPECT events, 1
	mov	dword [rbp + TIMER_DIVIDE], 0xb
	mov	dword [rbp + LVT_TIMER], VECTOR_IPI
	mov	dword [rbp + TIMER_COUNT], 1000000	; 1 ms: the string takes 4 or more
	sti
	mov	esi, 0x100000
	mov	ecx, 4000000
	rep lodsb
	cli
	mov	dword [rbp + LVT_TIMER], 0x10000
BLOB_END

section .data
	dq 0

; ---- handlers ----
section .text

global interrupt_handler:function hidden
interrupt_handler:
	push	rax
	mov	rax, [rsp + 8]
	mov	[seen_rip], rax
	inc	dword [events]
	mov	dword [rbp + EOI], 0
	pop	rax
	iretq

; Faults skip the instruction.
global error_handler:function hidden
error_handler:
	pop	qword [seen_error]
	mov	r15, cr2
	mov	[seen_cr2], r15
global fault_handler:function hidden
fault_handler:
	push	rax
	mov	rax, [rsp + 8]
	mov	[seen_rip], rax
	mov	rax, [rsp + 24]
	mov	[seen_flags], rax
	inc	dword [events]
	mov	rax, [skip]
	add	[rsp + 8], rax
	pop	rax
	iretq

global trap_handler:function hidden
trap_handler:
	inc	dword [events]
	iretq

global nmi_handler:function hidden
nmi_handler:
	inc	dword [events]
	inc	dword [depth]
	cmp	dword [depth], 1
	je	.first_level
	mov	dword [nested], 1
.first_level:
	cmp	dword [events], 1
	jne	.done
	mov	dword [rbp + ICR], SELF_NMI
	nop
	nop
.done:
	dec	dword [depth]
	iretq

global int_handler:function hidden
int_handler:
	iretq

; Goes on after the INT, at CPL 0.
global return_handler:function hidden
return_handler:
	mov	rax, [rsp]
	mov	rsp, [saved_rsp]
	jmp	rax

global syscall_handler:function hidden
syscall_handler:
	mov	[seen_flags], r11
	nop
	o64 sysret

section .rodata
compare_1: db "abcdeXghijklmnop"
compare_2: db "abcdeYghijklmnop"

section .bss align=16
buffer:	resb 256
big_buffer: resb 10000
	alignb 16
saved_rsp: resq 1
	resb 4096
user_stack_top: resq 2

global skip:data hidden
skip:	resq 1				; length of the instructions that fault

global observed:data hidden
global observed_end:data hidden
observed:
seen_rip: resq 1
seen_flags: resq 1
seen_error: resq 1
seen_cr2: resq 1
global seen_error:data hidden
global seen_cr2:data hidden
global events:data hidden
events:	resq 1
depth:	resq 1
nested:	resq 1
observed_end:

section .note.GNU-stack noalloc noexec nowrite progbits
