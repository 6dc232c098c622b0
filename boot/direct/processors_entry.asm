; SPDX-License-Identifier: MIT
;
; Where a processor comes from its SIPI (kernel/machine/startup.asm): 64-bit mode, the entry's map,
; the GDT of the page below 1 MiB. Its stack is found by its initial APIC id: CPUID leaf 1.

default rel
bits 64

extern direct_stacks
extern direct_processor
global direct_processor_entry:function hidden

%define APIC_ID_SHIFT	24

section .text

direct_processor_entry:
	mov	eax, 1
	cpuid
	shr	ebx, APIC_ID_SHIFT
	lea	rcx, [direct_stacks]
	mov	rsp, [rcx + 8 * rbx]
	test	rsp, rsp
	jz	.end			; not one of ours
	mov	edi, ebx
	xor	ebp, ebp
	call	direct_processor
.end:	cli
	hlt
	jmp	.end

section .note.GNU-stack noalloc noexec nowrite progbits
