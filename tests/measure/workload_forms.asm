; SPDX-License-Identifier: MIT
;
; Accesses of two kinds at once: split and with page walks, locked and to a line that was flushed.
; The same registers as in workload_memory.asm. SDM "INVLPG", "CLFLUSH", "LOCK".

default rel
bits 64

%include "tests/measure/workload.inc"

LINE	equ 64
SPLIT	equ 61			; eight bytes from here on cross the line's end

section .text

; instructions 5n, loads n, branches n: each with a page walk for each page that it is in
DECLARE split_fresh_load, 0, 0, 0,  5, 0,  1, 0,  0, 0,  0, 0,  1, 0
BEGIN split_fresh_load
.next:	invlpg	[rsi]
	invlpg	[rsi + LINE]
	mov	rax, [rsi + SPLIT]
	dec	rdi
	jnz	.next
END split_fresh_load

; instructions 5n, stores n, branches n: the same of stores
DECLARE split_fresh_store, 0, 0, 0,  5, 0,  0, 0,  1, 0,  0, 0,  1, 0
BEGIN split_fresh_store
.next:	invlpg	[rsi]
	invlpg	[rsi + LINE]
	mov	[rsi + SPLIT], rdi
	dec	rdi
	jnz	.next
END split_fresh_store

; instructions 4n, loads n, stores n, locked loads n, branches n: a line that was just flushed,
; which LOCK waits for
DECLARE missed_lock, 0, 0, 0,  4, 0,  1, 0,  1, 0,  1, 0,  1, 0
BEGIN missed_lock
.next:	clflush	[rsi]
	lock add qword [rsi], 1
	dec	rdi
	jnz	.next
END missed_lock

; instructions 3n, loads n, stores n, locked loads n, branches n: of 1, 2 and 4 bytes
%macro NARROW_LOCK 2
DECLARE %1, 0, 0, 0,  3, 0,  1, 0,  1, 0,  1, 0,  1, 0
BEGIN %1
.next:	lock add %2 [rsi], 1
	dec	rdi
	jnz	.next
END %1
%endmacro
	NARROW_LOCK lock_byte, byte
	NARROW_LOCK lock_word, word
	NARROW_LOCK lock_dword, dword

; instructions 3n, loads n, stores n, locked loads n, branches n: across a line's end
DECLARE split_lock, 0, 0, 0,  3, 0,  1, 0,  1, 0,  1, 0,  1, 0
BEGIN split_lock
.next:	lock add qword [rsi + SPLIT], 1
	dec	rdi
	jnz	.next
END split_lock

; instructions 7n, loads 5n, stores 5n, locked loads 5n, branches n: one, two, four and eight bytes,
; and XCHG, each in a quadword of its own. Five, so that every 32nd or 33rd isn't the same always.
DECLARE lock_widths, 0, 0, 0,  7, 0,  5, 0,  5, 0,  5, 0,  1, 0
BEGIN lock_widths
.next:	lock add byte [rsi], 1
	lock add word [rsi + 8], 1
	lock add dword [rsi + 16], 1
	lock add qword [rsi + 24], 1
	xchg	[rsi + 32], eax
	dec	rdi
	jnz	.next
END lock_widths

; instructions 3n, loads n, stores n, locked loads n, branches n: XCHG locks without a prefix
DECLARE exchange, 0, 0, 0,  3, 0,  1, 0,  1, 0,  1, 0,  1, 0
BEGIN exchange
.next:	xchg	[rsi], rax
	dec	rdi
	jnz	.next
END exchange

; instructions 6n, stores n, branches n: to a line that was flushed, with a page walk
DECLARE missed_fresh_store, 0, 0, 0,  6, 0,  0, 0,  1, 0,  0, 0,  1, 0
BEGIN missed_fresh_store
.next:	clflush	[rsi]
	invlpg	[rsi]
	mfence
	mov	[rsi], rdi
	dec	rdi
	jnz	.next
END missed_fresh_store

; instructions 6n, stores n, branches n: across a line's end, both lines flushed
DECLARE missed_split_store, 0, 0, 0,  6, 0,  0, 0,  1, 0,  0, 0,  1, 0
BEGIN missed_split_store
.next:	clflush	[rsi]
	clflush	[rsi + LINE]
	mfence
	mov	[rsi + SPLIT], rdi
	dec	rdi
	jnz	.next
END missed_split_store

; instructions 6n, loads n, stores n, locked loads n, branches n: the same, locked
DECLARE missed_split_lock, 0, 0, 0,  6, 0,  1, 0,  1, 0,  1, 0,  1, 0
BEGIN missed_split_lock
.next:	clflush	[rsi]
	clflush	[rsi + LINE]
	mfence
	lock add qword [rsi + SPLIT], 1
	dec	rdi
	jnz	.next
END missed_split_lock

; instructions 5n, branches n: both lines flushed, and nothing accessed
DECLARE flush, 0, 0, 0,  5, 0,  0, 0,  0, 0,  0, 0,  1, 0
BEGIN flush
.next:	clflush	[rsi]
	clflush	[rsi + LINE]
	mfence
	dec	rdi
	jnz	.next
END flush
