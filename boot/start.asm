; SPDX-License-Identifier: MIT
;
; The entry of every EFI program here, in the place of gnu-efi's, which differs from version to
; version in where it is and what else it brings. UEFI specification, "x64 Platforms": RCX is the
; image's handle, RDX the system table, RSP is 8 bytes off a multiple of 16, and RDI and RSI are
; the caller's; efi_main is a function of the System V ABI.
;
; Firmware has put the image anywhere: ELF's dynamic section says which of its words hold
; addresses (System V ABI, "Dynamic Section"; the AMD64 supplement, "Relocation Types").

bits 64
default rel

DT_NULL			equ 0
DT_RELA			equ 7
DT_RELASZ		equ 8
R_X86_64_RELATIVE	equ 8

struc dynamic
	.tag		resq 1
	.value		resq 1
endstruc

struc rela
	.offset		resq 1
	.type		resd 1
	.symbol		resd 1
	.addend		resq 1
endstruc

EFI_LOAD_ERROR		equ 0x8000000000000001

extern ImageBase
extern _DYNAMIC
extern efi_main

section .text
global _start
_start:
	push	rdi
	push	rsi
	sub	rsp, 8

	lea	r8, [ImageBase]
	xor	r9d, r9d		; the table, and its bytes
	xor	r10d, r10d
	lea	rax, [_DYNAMIC]
.tag:
	mov	r11, [rax + dynamic.tag]
	cmp	r11, DT_NULL
	je	.entry
	cmp	r11, DT_RELA
	cmove	r9, [rax + dynamic.value]
	cmp	r11, DT_RELASZ
	cmove	r10, [rax + dynamic.value]
	add	rax, dynamic_size
	jmp	.tag

.next:
	cmp	dword [r9 + rela.type], R_X86_64_RELATIVE
	jne	.strange
	mov	rax, [r9 + rela.offset]
	mov	r11, [r9 + rela.addend]
	add	r11, r8
	mov	[r8 + rax], r11
	add	r9, rela_size
	sub	r10, rela_size
	jmp	.more
.entry:
	add	r9, r8
.more:
	test	r10, r10
	jnz	.next

	mov	rdi, rcx
	mov	rsi, rdx
	call	efi_main
.return:
	add	rsp, 8
	pop	rsi
	pop	rdi
	ret
.strange:
	mov	rax, EFI_LOAD_ERROR
	jmp	.return
