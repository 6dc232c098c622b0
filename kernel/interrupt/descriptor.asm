; SPDX-License-Identifier: MIT
;
; Reading and reloading the segment registers. SDM "Segment Registers", "Far Return".

default rel
bits 64

global segments_read:function hidden
global segments_load:function hidden

section .text

; void segments_read(struct segments *segments)
segments_read:
	mov	[rdi], cs
	mov	[rdi + 2], ss
	mov	[rdi + 4], ds
	mov	[rdi + 6], es
	mov	[rdi + 8], fs
	mov	[rdi + 10], gs
	ret

; void segments_load(const struct table_register *gdt, const struct segments *segments)
; Interrupts are off, and an NMI between LGDT and LIDT has no handler.
segments_load:
	lgdt	[rdi]
	movzx	eax, word [rsi]
	push	rax
	lea	rax, [.reloaded]
	push	rax
	retfq				; CS can't be loaded by MOV
.reloaded:
	mov	ss, [rsi + 2]
	mov	ds, [rsi + 4]
	mov	es, [rsi + 6]
	mov	fs, [rsi + 8]
	mov	gs, [rsi + 10]
	ret
