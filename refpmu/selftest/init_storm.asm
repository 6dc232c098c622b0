; SPDX-License-Identifier: MIT
; What the other processors do in the storm of init_storm.c: real mode, at the beginning of a page
; below 1 MiB, nothing but exits of the hypervisor.

bits 16
section .text

global init_storm_code:data hidden
global init_storm_code_end:data hidden

%define VENDOR	0x100		; offsets in the page: struct init_storm_page
%define ROUNDS	0x104
%define SIGNATURE 0x108

init_storm_code:
	mov	[cs:SIGNATURE], edx	; as INIT left it
	xor	eax, eax
	cpuid
	mov	[cs:VENDOR], ebx
.again:	inc	dword [cs:ROUNDS]
	xor	eax, eax
	cpuid
	jmp	.again
init_storm_code_end:

section .note.GNU-stack noalloc noexec nowrite progbits
