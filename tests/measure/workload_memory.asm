; SPDX-License-Identifier: MIT
;
; Workloads that force where a load's data comes from and what its translation needs, on any
; machine. Whatever is flushed is in memory. What maps to one set of a cache more often than the set
; has ways isn't in that cache. A page right after its INVLPG has no translation. SDM "CLFLUSH",
; "INVLPG", "PREFETCHh", "PREFETCHW", "CPUID: Deterministic Cache Parameters". R12 is the call's
; stride and R13 its mask, both 0 where the caller gives none. INVLPG wants CPL 0.

default rel
bits 64

%include "tests/measure/workload.inc"

; as in tests/measure/workload.h
TWO_PLACES_COLD		equ 4096
CANCELLED_OFFSET	equ 1024

section .text

; ------------------------------------------------------------------ loads
; instructions 7n + 1, loads n, branches n: [RSI + i * stride], each address after the one before
DECLARE stride, 0, 0, 0,  7, 1,  1, 0,  0, 0,  0, 0,  1, 0
BEGIN stride
	mov	edx, 0
.next:	mov	rax, [rsi + rdx]
	and	eax, 0			; the next address waits for what was loaded
	add	rdx, r12
	add	rdx, rax
	and	rdx, r13
	dec	rdi
	jnz	.next
END stride

; instructions 5n, loads n, branches n: from memory, if anything
DECLARE uncached, 0, 0, 0,  5, 0,  1, 0,  0, 0,  0, 0,  1, 0
BEGIN uncached
.next:	clflush	[rsi]
	mfence
	mov	rax, [rsi]
	dec	rdi
	jnz	.next
END uncached

; instructions 8n, loads 4n, branches n: three of the four find the line on its way
DECLARE pending, 0, 0, 0,  8, 0,  4, 0,  0, 0,  0, 0,  1, 0
BEGIN pending
.next:	clflush	[rsi]
	mfence
	mov	rax, [rsi]
	mov	rdx, [rsi + 8]
	mov	rdx, [rsi + 16]
	mov	rdx, [rsi + 24]
	dec	rdi
	jnz	.next
END pending

; instructions 4n, loads n, branches n: each with a page walk
DECLARE fresh_page, 0, 0, 0,  4, 0,  1, 0,  0, 0,  0, 0,  1, 0
BEGIN fresh_page
.next:	invlpg	[rsi]
	mov	rax, [rsi]
	dec	rdi
	jnz	.next
END fresh_page

; instructions 7n, loads 3n, branches n: two lines that are always near, and one that never is
DECLARE two_places, 0, 0, 0,  7, 0,  3, 0,  0, 0,  0, 0,  1, 0
BEGIN two_places
.next:	clflush	[rsi + TWO_PLACES_COLD]
	mfence
	mov	rax, [rsi]
	mov	rax, [rsi + TWO_PLACES_COLD]
	mov	rax, [rsi + 64]
	dec	rdi
	jnz	.next
END two_places

; PREFETCH name, instruction: instructions 5n, no loads, branches n: a prefetch isn't a load
%macro PREFETCH 2
DECLARE %1, 0, 0, 0,  5, 0,  0, 0,  0, 0,  0, 0,  1, 0
BEGIN %1
%%next:	clflush	[rsi]
	mfence
	%2	[rsi]
	dec	rdi
	jnz	%%next
END %1
%endmacro

PREFETCH prefetch_t0, prefetcht0
PREFETCH prefetch_t1, prefetcht1
PREFETCH prefetch_t2, prefetcht2
PREFETCH prefetch_nta, prefetchnta
PREFETCH prefetch_w, prefetchw

; instructions 7n, loads 2n, stores 2n, branches 3n: the processor expects the RET to return after
; its CALL and may load there; the program never does.
DECLARE cancelled, 0, 0, 0,  7, 0,  2, 0,  2, 0,  0, 0,  3, 0,  1, 0,  3, -1,  1, 0,  1, 0
BEGIN cancelled
.next:	mov	rax, [rsi]
	call	.other
.never:	mov	rax, [rsi + CANCELLED_OFFSET]
	lfence
	jmp	.never
.other:	lea	rax, [.right]
	mov	[rsp], rax
	ret
.right:	dec	rdi
	jnz	.next
END cancelled

; ------------------------------------------------------------------ stores
; instructions 5n, stores n, branches n: never in the nearest cache
DECLARE missed_store, 0, 0, 0,  5, 0,  0, 0,  1, 0,  0, 0,  1, 0
BEGIN missed_store
.next:	clflush	[rsi]
	mfence
	mov	[rsi], rdi
	dec	rdi
	jnz	.next
END missed_store

; instructions 4n, stores n, branches n: each with a page walk
DECLARE fresh_page_store, 0, 0, 0,  4, 0,  0, 0,  1, 0,  0, 0,  1, 0
BEGIN fresh_page_store
.next:	invlpg	[rsi]
	mov	[rsi], rdi
	dec	rdi
	jnz	.next
END fresh_page_store

; STORE_LOAD name, store, load, register: a store of eight bytes, and a load into the register, at
; these offsets: instructions 4n, loads n, stores n, branches n
%macro STORE_LOAD 4
DECLARE %1, 0, 0, 0,  4, 0,  1, 0,  1, 0,  0, 0,  1, 0
BEGIN %1
.next:	mov	[rsi + %2], rdi
	mov	%4, [rsi + %3]
	dec	rdi
	jnz	.next
END %1
%endmacro

STORE_LOAD partial, 66, 64, rax		; six bytes of the store, and two below it
STORE_LOAD partial_above, 64, 66, rax	; and two above it
STORE_LOAD within_store, 64, 66, eax	; four from its middle

; ------------------------------------------------------------------ loads that raise an exception
; u64 user_cancelled(struct cancelled_probe *): in each of `rounds` a load from `cancelled`, which
; may fault, and one from `retired`; at any CPL. The struct begins with the struct fault that the
; exception table wants in RDI.
CANCELLED_PROBE_CANCELLED	equ 24
CANCELLED_PROBE_RETIRED		equ 32
CANCELLED_PROBE_ROUNDS		equ 40
	global	user_cancelled:function hidden
user_cancelled:
	mov	rsi, [rdi + CANCELLED_PROBE_CANCELLED]
	mov	rdx, [rdi + CANCELLED_PROBE_RETIRED]
	mov	rcx, [rdi + CANCELLED_PROBE_ROUNDS]
.try:	mov	rax, [rsi]
.done:	mov	rax, [rdx]
	dec	rcx
	jnz	.try
	ret
	section .data.extable progbits alloc noexec write align=8
	dd	user_cancelled.try - $
	dd	user_cancelled.done - $
	section .text
