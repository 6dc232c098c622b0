; SPDX-License-Identifier: MIT
;
; Transactions for tests/tsx/transaction.h: SDM volume 1, "Programming with Intel Transactional
; Synchronization Extensions"; volume 2, "XBEGIN". System V convention.

default rel
bits 64

section .text

; PIECE name: the row, a struct transaction, and the way in up to XBEGIN. Inside: RDI words,
; ECX n. After an abort the processor has put all registers back but RAX. CAUSE name: the next
; instruction is there to abort; END name says there is none where no CAUSE has.
%macro ROW 2
	%defstr %%name %1
	section .rodata
%%text	db %%name, 0
	section .data
	align	8
	global	transaction_%1:data hidden
transaction_%1:
	dq	%%text, run_%1, begin_%1, end_%1, fallback_%1, cause_%1, %2
	section .text
	align	64
run_%1:
	mov	ecx, esi
%endmacro

%macro PIECE 1
	ROW	%1, 0
	xbegin	fallback_%1
begin_%1:
%endmacro

; The same with an elided lock, XACQUIRE to XRELEASE: SDM volume 1, "Hardware Lock Elision". After
; an abort the processor goes on with XCHG, without elision, and then at its fallback, which is
; what follows it.
LOCK_OUTER	equ 512
LOCK_INNER	equ 576

%macro ELIDED 1
	ROW	%1, 1
	mov	eax, 1
	xacquire xchg [rdi + LOCK_OUTER], eax
begin_%1:
fallback_%1:
%endmacro

%macro CAUSE 1
cause_%1:
%define has_cause_%1
%endmacro

; END name: committed, all ones; aborted, EAX.
%macro END 1
end_%1:
%ifndef has_cause_%1
cause_%1:
%endif
	mov	rax, -1
	ret
fallback_%1:
	mov	eax, eax
	ret
%endmacro

; END_ELIDED name: all ones if XTEST finds the lock still elided, else 0.
%macro END_ELIDED 1
	xtest
	setnz	al
	movzx	eax, al
	neg	rax
	xrelease mov dword [rdi + LOCK_OUTER], 0
end_%1:
%ifndef has_cause_%1
cause_%1:
%endif
	ret
%endmacro

; One store, then n loads with a NOP each.
%macro BODY 0
	inc	qword [rdi]
%%load:	mov	r8, [rdi + 8]
	nop
	dec	ecx
	jnz	%%load
%endmacro

; Its second store to a line is no conflict with the first.
PIECE commit
	BODY
	inc	qword [rdi + 16]
	xend
END commit

PIECE xabort
	BODY
	CAUSE	xabort
	xabort	0x5a
	xend
END xabort

; "XABORT, CPUID, PAUSE" abort on any implementation.
PIECE pause
	BODY
	CAUSE	pause
	pause
	xend
END pause

; Exceptions: #UD, #DE (ECX is 0), and #GP of an address that isn't canonical.
PIECE undefined
	BODY
	CAUSE	undefined
	ud2
	xend
END undefined

PIECE divide
	BODY
	CAUSE	divide
	div	ecx
	xend
END divide

PIECE address
	BODY
	mov	r8, 1 << 63
	CAUSE	address
	mov	r8, [r8]
	xend
END address

; A store to each of n lines.
PIECE stores
.store:	mov	[rdi], rdi
	add	rdi, 64
	dec	ecx
	jnz	.store
	xend
END stores

; A load from each of n lines.
PIECE loads
.load:	mov	r8, [rdi]
	add	rdi, 64
	dec	ecx
	jnz	.load
	xend
END loads

; n loads of a line of their own, which another processor may write to.
PIECE watch
.load:	mov	r8, [rdi + 64]
	dec	ecx
	jnz	.load
	xend
END watch

; "The processor ... transfers execution to the fallback of the outermost".
PIECE nested
	inc	qword [rdi]
	xbegin	inner_nested
	mov	r8, [rdi + 8]
	CAUSE	nested
	xabort	0x5a
	xend
	xend
	jmp	end_nested
inner_nested:	mov	eax, 0xdead
	ret
END nested

; Loads before one that is nested, and in it; XABORT there, or after its XEND.
PIECE nested_inside
	BODY
	mov	ecx, esi
	xbegin	inner_nested_inside
	BODY
	CAUSE	nested_inside
	xabort	0x5a
	xend
	xend
	jmp	end_nested_inside
inner_nested_inside:	mov	eax, 0xdead
	ret
END nested_inside

; One store and loads in the inner one of two, and of three; all end by XEND. A processor that went
; to the fallback of an inner one would say that it committed.
PIECE nested_commit
	xbegin	end_nested_commit
	BODY
	xend
	xend
END nested_commit

PIECE nested_deep
	xbegin	end_nested_deep
	xbegin	end_nested_deep
	BODY
	xend
	xend
	xend
END nested_deep

; The loads before an inner one, and after it.
PIECE nested_first
	BODY
	xbegin	end_nested_first
	xend
	xend
END nested_first

PIECE nested_last
	xbegin	end_nested_last
	xend
	BODY
	xend
END nested_last

; A store to each of n lines in a nested one.
PIECE nested_stores
	xbegin	end_nested_stores
.store:	mov	[rdi], rdi
	add	rdi, 64
	dec	ecx
	jnz	.store
	xend
	xend
END nested_stores

PIECE nested_after
	BODY
	mov	ecx, esi
	xbegin	inner_nested_after
	BODY
	xend
	CAUSE	nested_after
	xabort	0x5a
	xend
	jmp	end_nested_after
inner_nested_after:	mov	eax, 0xdead
	ret
END nested_after

ELIDED elided
	BODY
END_ELIDED elided

ELIDED elided_pause
	BODY
	CAUSE	elided_pause
	pause
END_ELIDED elided_pause

; A lock in a lock.
ELIDED elided_nested
	mov	eax, 1
	xacquire xchg [rdi + LOCK_INNER], eax
	BODY
	CAUSE	elided_nested
	pause
	xrelease mov dword [rdi + LOCK_INNER], 0
END_ELIDED elided_nested

; The same without PAUSE.
ELIDED elided_well
	mov	eax, 1
	xacquire xchg [rdi + LOCK_INNER], eax
	BODY
	xrelease mov dword [rdi + LOCK_INNER], 0
END_ELIDED elided_well

; n loads of a line that another processor may write to.
ELIDED elided_watch
.load:	mov	r8, [rdi + 64]
	dec	ecx
	jnz	.load
END_ELIDED elided_watch

; A store to each of n lines, not to the lock.
ELIDED elided_stores
	mov	r9, rdi
.store:	mov	[rdi + 8], rcx
	add	rdi, 64
	dec	ecx
	jnz	.store
	mov	rdi, r9
END_ELIDED elided_stores
