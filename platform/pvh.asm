; SPDX-License-Identifier: MIT
;
; The entry of a program for loaders of PVH (Xen, "x86/HVM direct boot ABI") and of Multiboot2
; (Multiboot2 Specification, "I386 machine state"). Protected mode with flat segments, paging off,
; interrupts off, EBX at what the loader passes (spec/pvh.h, spec/multiboot2.h); no stack and no
; tables are given. From here to 64-bit mode with the first 4 GiB mapped to themselves, and to
; pvh_main(EBX). SDM volume 3A, "Initializing IA-32e Mode".
;
; The image lies at an address that 32-bit code doesn't know: a CALL tells it. The word of stack
; that it takes is the first one that EBX points to, which is put back.
;
; A BIOS may start it on a processor without 64-bit mode: then a line goes to COM1, and that's all.

default rel

%define CODE64		0x08
%define DATA		0x10
%define PRESENT		0x003		; and writable
%define LARGE		0x083
%define LARGE_DEVICE	0x09b		; not cached: PCD and PWT
%define DEVICES		0xfec00000	; from I/O APIC and local APIC on
%define TWO_MIB		0x200000
%define TABLE		4096
%define GIGABYTES	4
%define STACK		0x20000

%define CR0_SET		0x80000022	; PG, NE, MP
%define CR4_SET		0x620		; PAE, OSFXSR, OSXMMEXCPT
%define MXCSR_USUAL	0x1f80		; all exceptions masked
%define MSR_EFER	0xc0000080
%define EFER_LME	0x100
%define LEAF_EXTENDED	0x80000001
%define LM		29		; its EDX: 64-bit mode
%define COM1		0x3f8
%define COM1_LINE	0x3fb
%define LINE_DIVISOR	0x80		; the divisor's two bytes are at COM1
%define LINE_8N1	0x03
%define DIVISOR		1		; 115200
%define COM1_STATUS	0x3fd
%define COM1_EMPTY	0x20
%define STATUS_READS	0x10000

extern pvh_main
extern relocate_image
global pvh_entry:function hidden
global pvh_tables:data hidden

section .text

bits 32
align 16
pvh_entry:
	cli
	cld
	mov	esi, [ebx]
	lea	esp, [ebx + 4]
	call	.here
.here:	pop	ebp
	mov	[ebx], esi
	sub	ebp, .here - pvh_entry	; EBP: where pvh_entry is

	lea	eax, [ebp + to_tables - pvh_entry]
	mov	edi, eax
	add	edi, [eax]		; EDI: the tables
	lea	esp, [ebp + to_stack - pvh_entry]
	add	esp, [esp]

	mov	eax, LEAF_EXTENDED - 1
	push	ebx
	cpuid
	cmp	eax, LEAF_EXTENDED
	jb	no_long_mode
	mov	eax, LEAF_EXTENDED
	cpuid
	bt	edx, LM
	jnc	no_long_mode
	pop	ebx

	lea	eax, [edi + TABLE + PRESENT]
	mov	[edi], eax		; level 4
	mov	ecx, GIGABYTES
	lea	edx, [edi + TABLE]
.level3:
	add	eax, TABLE
	mov	[edx], eax
	add	edx, 8
	loop	.level3

	lea	edx, [edi + 2 * TABLE]	; level 2
	mov	eax, LARGE
	mov	ecx, GIGABYTES * 512
.level2:
	cmp	eax, DEVICES
	jb	.memory
	or	eax, LARGE_DEVICE
.memory:
	mov	[edx], eax
	add	edx, 8
	add	eax, TWO_MIB
	loop	.level2

	mov	eax, cr4
	or	eax, CR4_SET
	mov	cr4, eax
	mov	cr3, edi
	mov	ecx, MSR_EFER
	rdmsr
	or	eax, EFER_LME
	wrmsr
	mov	eax, cr0
	or	eax, CR0_SET
	mov	cr0, eax

	; LGDT from the stack: limit, then the base.
	lea	eax, [ebp + gdt - pvh_entry]
	push	eax
	push	word gdt.end - gdt - 1
	lgdt	[esp]
	lea	eax, [ebp + long_mode - pvh_entry]
	push	dword CODE64
	push	eax
	retf

; COM1 at 115200, 8N1: 16550 data sheet, "Line Control Register", "Divisor Latch".
no_long_mode:
	mov	edx, COM1_LINE
	mov	al, LINE_DIVISOR | LINE_8N1
	out	dx, al
	mov	edx, COM1
	mov	al, DIVISOR
	out	dx, al
	inc	edx
	xor	eax, eax
	out	dx, al
	mov	edx, COM1_LINE
	mov	al, LINE_8N1
	out	dx, al
	lea	esi, [ebp + message - pvh_entry]
.next:	lodsb
	test	al, al
	jz	.end
	mov	ah, al
	mov	ecx, STATUS_READS
	mov	edx, COM1_STATUS
.wait:	in	al, dx
	test	al, COM1_EMPTY
	loopz	.wait
	mov	edx, COM1
	mov	al, ah
	out	dx, al
	jmp	.next
.end:	hlt
	jmp	.end

message: db 13, 10, "This program needs a processor with 64-bit mode.", 13, 10, 0

bits 64
long_mode:
	mov	eax, DATA
	mov	ds, eax
	mov	es, eax
	mov	ss, eax
	xor	eax, eax
	mov	fs, eax
	mov	gs, eax
	lldt	ax
	lea	rsp, [pvh_stack.top]
	xor	ebp, ebp
	fninit
	push	MXCSR_USUAL
	ldmxcsr	[rsp]
	pop	rax
	mov	ebx, ebx
	call	relocate_image
	test	eax, eax
	jnz	.end
	mov	rdi, rbx
	call	pvh_main
.end:	cli
	hlt
	jmp	.end

align 8
gdt:	dq	0, 0x00af9b000000ffff, 0x00cf93000000ffff
.end:
to_tables:	dd	pvh_tables - $
to_stack:	dd	pvh_stack.top - $

; Not in .bss: what a program undoes of its own data mustn't be under its feet (linker.ld).
section .early nobits alloc noexec write align=4096
pvh_tables:	resb	(2 + GIGABYTES) * TABLE
pvh_stack:	resb	STACK
.top:

section .note.GNU-stack noalloc noexec nowrite progbits
