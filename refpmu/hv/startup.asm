; SPDX-License-Identifier: MIT
; From a SIPI to the hypervisor: real mode, straight into 64-bit mode, the stack of this processor.
; SDM volume 3, "Initializing IA-32e Mode"; APM volume 2, "Enabling SVM".
; The part between startup_begin and startup_end is copied to a page below 1 MiB. FS, GS, TR and
; LDTR stay as INIT left them: they are the guest's.

default rel

%define CODE		0x08
%define DATA		0x10

section .text

global startup_begin:data hidden
global startup_end:data hidden
global startup_values:data hidden
global startup_stacks:data hidden
global startup_entry:data hidden

align 16
startup_begin:
bits 16
	cli
	cld
	mov	ax, cs
	mov	ds, ax
	o32 lgdt [gdtr - startup_begin]
	mov	eax, [cr4_value - startup_begin]
	mov	cr4, eax
	mov	eax, [cr3_value - startup_begin]
	mov	cr3, eax
	mov	ecx, [efer_number - startup_begin]
	mov	eax, [efer_value - startup_begin]
	xor	edx, edx
	wrmsr
	mov	eax, [cr0_value - startup_begin]
	mov	cr0, eax
	jmp	far dword [far_pointer - startup_begin]
bits 64
startup_long:
	clgi
	mov	eax, DATA
	mov	ds, eax
	mov	es, eax
	mov	ss, eax
	jmp	[entry]

align 8
startup_gdt:
	dq	0, 0x00af9b000000ffff, 0x00cf93000000ffff
gdtr:	dw	startup_gdt.end - startup_gdt - 1
; struct startup_values of processors.c; packed
startup_values:
	dd	startup_gdt - startup_begin	; C adds the page's address to these two
far_pointer:
	dd	startup_long - startup_begin
	dw	CODE
cr0_value:	dd	0
cr3_value:	dd	0
cr4_value:	dd	0
efer_number:	dd	0
efer_value:	dd	0
entry:		dq	0
startup_end:
startup_gdt.end	equ	startup_gdt + 24

; In the hypervisor's own memory. No stack yet.
global startup_other:function hidden
startup_other:
	mov	eax, 1
	cpuid
	shr	ebx, 24			; initial APIC id
	lea	rcx, [startup_stacks]
	mov	rsp, [rcx + 8 * rbx]
	test	rsp, rsp
	jz	.unknown
	mov	edi, ebx
	xor	ebp, ebp
	call	[startup_entry]
.unknown:
	hlt
	jmp	.unknown

section .bss
align 8
startup_stacks:	resq	256		; stack tops by APIC id; 0: not a processor of ours
startup_entry:	resq	1		; the hypervisor's function for a started processor

section .note.GNU-stack noalloc noexec nowrite progbits
