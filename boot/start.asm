; SPDX-License-Identifier: MIT
;
; The entry of every EFI program here, instead of gnu-efi's, which differs from version to
; version in where it is and what else it brings. UEFI specification, "x64 Platforms": RCX is the
; image's handle, RDX the system table, RSP is 8 bytes off a multiple of 16, and RDI and RSI are
; the caller's; efi_main is a function of the System V ABI.

bits 64
default rel

EFI_LOAD_ERROR		equ 0x8000000000000001

extern efi_main
extern relocate_image

section .text
global _start
_start:
	push	rdi
	push	rsi
	sub	rsp, 8
	call	relocate_image
	test	eax, eax
	jnz	.strange
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
