; SPDX-License-Identifier: MIT
;
; A loader or a firmware puts the image anywhere: ELF's dynamic section says which of its words
; hold addresses (System V ABI, "Dynamic Section"; the AMD64 supplement, "Relocation Types"). Nearly
; all of them are in the compact table DT_RELR (System V ABI, "Relative Relocation Table"): an even
; entry is the offset of a word, an odd one a bitmap of the 63 words after those seen so far. The
; words themselves hold what the base is added to.

bits 64
default rel

DT_NULL			equ 0
DT_RELA			equ 7
DT_RELASZ		equ 8
DT_RELRSZ		equ 35
DT_RELR			equ 36
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

extern ImageBase
extern _DYNAMIC

section .text

; Once, before anything else of the image. RAX: 0, or 1 for a relocation of another kind. Changes
; RAX, RSI, RDI and R8 to R11 alone.
global relocate_image:function hidden
relocate_image:
	lea	r8, [ImageBase]
	xor	r9d, r9d		; the table of DT_RELA, and its bytes
	xor	r10d, r10d
	xor	esi, esi		; that of DT_RELR
	xor	edi, edi
	lea	rax, [_DYNAMIC]
.tag:
	mov	r11, [rax + dynamic.tag]
	cmp	r11, DT_NULL
	je	.tables
	cmp	r11, DT_RELA
	cmove	r9, [rax + dynamic.value]
	cmp	r11, DT_RELASZ
	cmove	r10, [rax + dynamic.value]
	cmp	r11, DT_RELR
	cmove	rsi, [rax + dynamic.value]
	cmp	r11, DT_RELRSZ
	cmove	rdi, [rax + dynamic.value]
	add	rax, dynamic_size
	jmp	.tag
.tables:
	add	r9, r8
	add	rsi, r8
	add	rdi, rsi		; where it ends

.rela:
	test	r10, r10
	jz	.relr
	cmp	dword [r9 + rela.type], R_X86_64_RELATIVE
	jne	.strange
	mov	rax, [r9 + rela.offset]
	mov	r11, [r9 + rela.addend]
	add	r11, r8
	mov	[r8 + rax], r11
	add	r9, rela_size
	sub	r10, rela_size
	jmp	.rela

.relr:
	cmp	rsi, rdi
	jae	.done
	mov	r11, [rsi]
	add	rsi, 8
	test	r11b, 1
	jnz	.bitmap
	lea	rax, [r8 + r11]		; RAX: the word after those seen
	add	[rax], r8
	add	rax, 8
	jmp	.relr
.bitmap:
	lea	r9, [rax + 63 * 8]
.bit:
	shr	r11, 1			; the first one drops the mark
	jz	.seen
	test	r11b, 1
	jz	.next
	add	[rax], r8
.next:
	add	rax, 8
	jmp	.bit
.seen:
	mov	rax, r9
	jmp	.relr
.done:
	xor	eax, eax
	ret
.strange:
	mov	eax, 1
	ret

section .note.GNU-stack noalloc noexec nowrite progbits
