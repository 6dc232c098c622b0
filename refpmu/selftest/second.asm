; SPDX-License-Identifier: MIT
; Another processor on its way from a SIPI into C: real mode, straight into 64-bit mode, with the
; page tables and the stack that second.c gives it. SDM volume 3, "Initializing IA-32e Mode".

%define CODE		0x08
%define DATA		0x10
%define CR4_PAE_FXSR	0x220
%define CR0_PG_PE	0x80000001
%define EFER		0xc0000080
%define EFER_LME	0x100

section .text

global second_code:data hidden
global second_code_end:data hidden
global second_values:data hidden

align 16
second_code:
bits 16
	cli
	mov	ax, cs
	mov	ds, ax
	o32 lgdt [gdtr - second_code]
	mov	eax, CR4_PAE_FXSR
	mov	cr4, eax
	mov	eax, [cr3_value - second_code]
	mov	cr3, eax
	mov	ecx, EFER
	mov	eax, EFER_LME
	xor	edx, edx
	wrmsr
	mov	eax, CR0_PG_PE
	mov	cr0, eax
	jmp	far dword [far_pointer - second_code]
bits 64
second_long:
	mov	eax, DATA
	mov	ds, eax
	mov	es, eax
	mov	ss, eax
	mov	rsp, [rel stack]
	mov	rdi, [rel argument]
	call	[rel entry]
.stop:	hlt
	jmp	.stop

align 8
second_gdt:
	dq	0, 0x00af9b000000ffff, 0x00cf93000000ffff
gdt_end:
gdtr:	dw	gdt_end - second_gdt - 1
; struct second_values of second.c; packed
second_values:
	dd	second_gdt - second_code	; C adds the page's address to these two
far_pointer:
	dd	second_long - second_code
	dw	CODE
cr3_value:	dd	0
stack:		dq	0
argument:	dq	0
entry:		dq	0
second_code_end:

section .note.GNU-stack noalloc noexec nowrite progbits
