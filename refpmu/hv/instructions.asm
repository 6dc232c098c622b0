; SPDX-License-Identifier: MIT
; What instructions.h can't say in C.
default rel
bits 64
section .text

; void load_descriptor_tables(const struct descriptor_table *gdt,
;			      const struct descriptor_table *idt, u64 code, u64 data)
global load_descriptor_tables:function hidden
load_descriptor_tables:
	lgdt	[rdi]
	lidt	[rsi]
	mov	ds, ecx
	mov	es, ecx
	mov	ss, ecx
	push	rdx
	lea	rax, [.loaded]
	push	rax
	o64 retf
.loaded:
	ret

section .note.GNU-stack noalloc noexec nowrite progbits
