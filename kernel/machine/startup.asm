; SPDX-License-Identifier: MIT
;
; A processor that has lost everything to an INIT, from its SIPI back to 64-bit mode. What lies
; between startup_begin and startup_end is copied to a page below 1 MiB, with its values filled in
; (kernel/machine/startup.c), and left at once. SDM volume 3A, "Multiple-Processor (MP)
; Initialization", "Switching to Protected Mode", "Initializing IA-32e Mode".

default rel

%define CODE32	0x08
%define CODE64	0x10
%define DATA	0x18
%define CR0_PROTECTED 0x11		; PE and ET: caches on, paging off

extern startup_stack
extern smp_restarted
global startup_begin:data hidden
global startup_end:data hidden
global startup_values:data hidden
global startup_entry:function hidden

section .text

align 16
startup_begin:
bits 16
	cli
	cld
	mov	ax, cs
	mov	ds, ax
	xor	ebx, ebx
	mov	bx, cs
	shl	ebx, 4			; the page
	o32 lgdt [gdtr - startup_begin]
	mov	eax, CR0_PROTECTED
	mov	cr0, eax
	jmp	far dword [far32 - startup_begin]
bits 32
protected:
	mov	eax, DATA
	mov	ds, eax
	mov	ss, eax
	mov	eax, [ebx + cr4_value - startup_begin]
	mov	cr4, eax
	mov	eax, [ebx + cr3_value - startup_begin]
	mov	cr3, eax
	mov	ecx, [ebx + efer_number - startup_begin]
	mov	eax, [ebx + efer_value - startup_begin]
	xor	edx, edx
	wrmsr
	mov	eax, [ebx + cr0_value - startup_begin]
	mov	cr0, eax
	jmp	far dword [ebx + far64 - startup_begin]
bits 64
long_mode:
	jmp	[entry]

align 8
gdt:	dq	0, 0x00cf9b000000ffff, 0x00af9b000000ffff, 0x00cf93000000ffff
gdtr:	dw	gdtr - gdt - 1
; struct startup_values of kernel/machine/startup.c: packed, addresses relative to the page at first
startup_values:
	dd	gdt - startup_begin
far32:	dd	protected - startup_begin
	dw	CODE32
far64:	dd	long_mode - startup_begin
	dw	CODE64
cr0_value:	dd	0
cr3_value:	dd	0
cr4_value:	dd	0
efer_number:	dd	0
efer_value:	dd	0
entry:	dq	0
startup_end:

; Under our map, with the GDT above still in use.
startup_entry:
	mov	rsp, [startup_stack]
	xor	ebp, ebp
	call	smp_restarted
	ud2

section .note.GNU-stack noalloc noexec nowrite progbits
