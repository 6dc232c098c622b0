; SPDX-License-Identifier: MIT
;
; Pieces whose taken branches are known one by one, for tests/lbr/branches.h. Each row after a piece
; is a branch that is taken: its kind, which is its bit in MSR_LBR_SELECT, its address and its
; target, in the order in which they are taken. The self test proves them by stepping.

default rel
bits 64

%include "tests/measure/workload.inc"

; enum lbr_kind of pmu/lbr.h
CONDITIONAL	equ 2
RELATIVE_CALL	equ 3
INDIRECT_CALL	equ 4
RETURN		equ 5
INDIRECT_JUMP	equ 6
RELATIVE_JUMP	equ 7
FAR_BRANCH	equ 8

; as in tests/lbr/branches.h
LBR_LINKS	equ 96
LBR_LINK_BYTES	equ 8

RFLAGS_TF	equ 0x100
NOT_MAPPED	equ 0x700000000000	; neither what is borrowed nor PAGING_HIGH
RDPMC_CYCLES	equ 0x40000001	; RDPMC_FIXED, counter 1

; PIECE name, marks, bytes of a mark, from one to the next. What is executed between them isn't
; counted by a PMU, so only the branches are declared.
%macro PIECE 4
	DECLARE %1, %2, %3, %4,  0, 0,  0, 0,  0, 0,  0, 0,  0, 0
	BEGIN	%1
%endmacro

; ROWS name, then ROW kind, from, to for each, then ROWS_END name: a struct lbr_piece.
%macro ROWS 1
	section .data
	align	8
rows_%1:
%endmacro
%macro ROW 3
	dq	%2, %3, %1
%endmacro
%macro ROWS_END 1
rows_end_%1:
	global	lbr_piece_%1:data hidden
lbr_piece_%1:
	dq	workload_%1, rows_%1, rows_end_%1
	section .text
%endmacro

section .text

; One branch of each kind, and a conditional one that isn't taken. At any CPL.
PIECE lbr_kinds, begin_lbr_kinds.not_taken, 2, 2
	cmp	rdi, rdi
.not_taken:
	jne	short .conditional
.conditional:
	je	short .jump
	nop
.jump:	jmp	short .target
	nop
.target:
	lea	rax, [.landing]
.indirect:
	jmp	rax
	nop
.landing:
.call:	call	.function
.called:
	lea	rax, [.other_function]
.indirect_call:
	call	rax
.called_too:
	mov	eax, cs
	push	rax
	lea	rax, [.far_target]
	push	rax
.far:	o64 retf
	nop
.far_target:
	jmp	short .past
.function:
	ret
.other_function:
	ret
.past:
END lbr_kinds
ROWS lbr_kinds
	ROW	CONDITIONAL,	begin_lbr_kinds.conditional,	begin_lbr_kinds.jump
	ROW	RELATIVE_JUMP,	begin_lbr_kinds.jump,		begin_lbr_kinds.target
	ROW	INDIRECT_JUMP,	begin_lbr_kinds.indirect,	begin_lbr_kinds.landing
	ROW	RELATIVE_CALL,	begin_lbr_kinds.call,		begin_lbr_kinds.function
	ROW	RETURN,		begin_lbr_kinds.function,	begin_lbr_kinds.called
	ROW	INDIRECT_CALL,	begin_lbr_kinds.indirect_call,	begin_lbr_kinds.other_function
	ROW	RETURN,		begin_lbr_kinds.other_function,	begin_lbr_kinds.called_too
	ROW	FAR_BRANCH,	begin_lbr_kinds.far,		begin_lbr_kinds.far_target
	ROW	RELATIVE_JUMP,	begin_lbr_kinds.far_target,	begin_lbr_kinds.past
ROWS_END lbr_kinds

; The last n of LBR_LINKS jumps, each to the next and the last one to the end; before them one
; indirect jump to the first. At any CPL.
PIECE lbr_chain, links_lbr_chain, 2, LBR_LINK_BYTES
	imul	rdi, rdi, LBR_LINK_BYTES
	lea	rax, [end_lbr_chain]
	sub	rax, rdi
.first:	jmp	rax
	align	LBR_LINK_BYTES
links_lbr_chain:
%rep LBR_LINKS
	jmp	short $ + LBR_LINK_BYTES
	times LBR_LINK_BYTES - 2 nop
%endrep
END lbr_chain
ROWS lbr_chain
	ROW	INDIRECT_JUMP,	begin_lbr_chain.first,		end_lbr_chain
ROWS_END lbr_chain

; Three calls, one in the other, the second one indirect, the last one backward, then n returns: 0
; to 3. Left in the middle, the stack is put back.
PIECE lbr_nested, begin_lbr_nested.one, 5, 5
	mov	r15, rsp
.one:	call	.first
	jmp	short .out
.third:	dec	rdi
	js	short .out
	ret
.first:	lea	rax, [.second]
.two:	call	rax
	dec	rdi
	js	short .out
	ret
.second:
.three:	call	.third
	dec	rdi
	js	short .out
	ret
.out:	mov	rsp, r15
END lbr_nested
ROWS lbr_nested
	ROW	RELATIVE_CALL,	begin_lbr_nested.one,		begin_lbr_nested.first
	ROW	INDIRECT_CALL,	begin_lbr_nested.two,		begin_lbr_nested.second
	ROW	RELATIVE_CALL,	begin_lbr_nested.three,		begin_lbr_nested.third
ROWS_END lbr_nested

; As many calls in each other as n[15:0] says, all but the first by one instruction; then
; n[31:16] returns. Left in the middle, the stack is put back. At any CPL.
PIECE lbr_deep, begin_lbr_deep.call, 5, 5
	mov	r15, rsp
	mov	eax, edi
	shr	eax, 16
	movzx	edi, di
	dec	edi
.first:	call	.function
	jmp	short .out
.function:
	dec	edi
	js	short .back
.call:	call	.function
.back:	dec	eax
	js	short .out
	ret
.out:	mov	rsp, r15
END lbr_deep
ROWS lbr_deep
	ROW	RELATIVE_CALL,	begin_lbr_deep.first,		begin_lbr_deep.function
	ROW	RELATIVE_CALL,	begin_lbr_deep.call,		begin_lbr_deep.function
ROWS_END lbr_deep

; A breakpoint exception, whose handler returns.
PIECE lbr_breakpoint, begin_lbr_breakpoint.exception, 1, 1
	nop
.exception:
	int3
.after:	nop
END lbr_breakpoint
ROWS lbr_breakpoint
	ROW	FAR_BRANCH,	begin_lbr_breakpoint.exception,	begin_lbr_breakpoint.after
ROWS_END lbr_breakpoint

; An invalid opcode, which its handler skips.
PIECE lbr_undefined, begin_lbr_undefined.exception, 2, 2
	nop
.exception:
	ud2
.after:	nop
END lbr_undefined
ROWS lbr_undefined
	ROW	FAR_BRANCH,	begin_lbr_undefined.exception,	begin_lbr_undefined.after
ROWS_END lbr_undefined

; A load from an address that isn't canonical, and one from a page that isn't mapped.
%macro BAD_LOAD 2
PIECE %1, begin_%1.exception, 3, 3
	mov	rdx, %2
.exception:
	mov	rax, [rdx]
.after:	nop
END %1
ROWS %1
	ROW	FAR_BRANCH,	begin_%1.exception,	begin_%1.after
ROWS_END %1
%endmacro
	BAD_LOAD lbr_protection, 1 << 63
	BAD_LOAD lbr_page_fault, NOT_MAPPED

; A jump, then a single-step trap after .stepped. The handler clears TF.
PIECE lbr_step, begin_lbr_step.stepped, 1, 1
.jump:	jmp	short .target
	nop
.target:
	pushfq
	or	qword [rsp], RFLAGS_TF
	popfq
.stepped:
	nop
	nop
END lbr_step
ROWS lbr_step
	ROW	RELATIVE_JUMP,	begin_lbr_step.jump,		begin_lbr_step.target
ROWS_END lbr_step

; A jump, n rounds of a loop, a jump. At memory: low halves of fixed counter 1 before and after the
; loop. At CPL 0.
PIECE lbr_delay, begin_lbr_delay.last, 2, 2
.first:	jmp	short .begin
	nop
.begin:	mov	ecx, RDPMC_CYCLES
	rdpmc
	mov	[rsi], eax
.next:	dec	rdi
	jnz	short .next
	rdpmc
	mov	[rsi + 8], eax
.last:	jmp	short .past
	nop
.past:
%rep 4
	nop
%endrep
.soon:	jmp	short .end
	nop
.end:
END lbr_delay
ROWS lbr_delay
	ROW	RELATIVE_JUMP,	begin_lbr_delay.first,		begin_lbr_delay.begin
	ROW	RELATIVE_JUMP,	begin_lbr_delay.last,		begin_lbr_delay.past
	ROW	RELATIVE_JUMP,	begin_lbr_delay.soon,		begin_lbr_delay.end
ROWS_END lbr_delay

; Jumps, each but the first after so many stores and loads of the memory. At any CPL.
%macro ACCESSES 2
%rep %1
	mov	[rsi], eax
%endrep
%rep %2
	mov	eax, [rsi]
%endrep
%endmacro
PIECE lbr_events, begin_lbr_events.first, 2, 2
.first:	jmp	short .none
	nop
.none:	jmp	short .one
	nop
.one:	ACCESSES 1, 0
.after_one:
	jmp	short .two
	nop
.two:	ACCESSES 2, 1
.after_two:
	jmp	short .three
	nop
.three:	ACCESSES 3, 5
.after_three:
	jmp	short .five
	nop
.five:	ACCESSES 5, 2
.after_five:
	jmp	short .loads
	nop
.loads:	ACCESSES 0, 3
.last:	jmp	short .past
	nop
.past:
END lbr_events
ROWS lbr_events
	ROW	RELATIVE_JUMP,	begin_lbr_events.first,		begin_lbr_events.none
	ROW	RELATIVE_JUMP,	begin_lbr_events.none,		begin_lbr_events.one
	ROW	RELATIVE_JUMP,	begin_lbr_events.after_one,	begin_lbr_events.two
	ROW	RELATIVE_JUMP,	begin_lbr_events.after_two,	begin_lbr_events.three
	ROW	RELATIVE_JUMP,	begin_lbr_events.after_three,	begin_lbr_events.five
	ROW	RELATIVE_JUMP,	begin_lbr_events.after_five,	begin_lbr_events.loads
	ROW	RELATIVE_JUMP,	begin_lbr_events.last,		begin_lbr_events.past
ROWS_END lbr_events

; A jump, a store, a conditional branch that is taken, a store, a jump, and right after it another.
PIECE lbr_events_apart, begin_lbr_events_apart.first, 2, 2
.first:	jmp	short .begin
	nop
.begin:	ACCESSES 1, 0
	cmp	rdi, rdi
.conditional:
	je	short .between
	nop
.between:
	ACCESSES 1, 0
.jump:	jmp	short .last
	nop
.last:	jmp	short .past
	nop
.past:
END lbr_events_apart
ROWS lbr_events_apart
	ROW	RELATIVE_JUMP,	begin_lbr_events_apart.first,	begin_lbr_events_apart.begin
	ROW	CONDITIONAL,	begin_lbr_events_apart.conditional, begin_lbr_events_apart.between
	ROW	RELATIVE_JUMP,	begin_lbr_events_apart.jump,	begin_lbr_events_apart.last
	ROW	RELATIVE_JUMP,	begin_lbr_events_apart.last,	begin_lbr_events_apart.past
ROWS_END lbr_events_apart

; A branch of each kind, one instruction before each but the first. At any CPL.
PIECE lbr_log_kinds, begin_lbr_log_kinds.first, 2, 2
	mov	eax, cs
	push	rax
	lea	rax, [.far_target]
	push	rax
	cmp	rdi, rdi
.first:	jmp	short .equal
	nop
.equal:	nop
.conditional:
	je	short .begin
	nop
.begin:	lea	rax, [.landing]
.indirect:
	jmp	rax
	nop
.landing:
	nop
.call:	call	.function
.called:
	lea	rax, [.other_function]
.indirect_call:
	call	rax
.called_too:
	nop
.far:	o64 retf
	nop
.function:
	nop
.return:
	ret
.other_function:
	nop
.other_return:
	ret
.far_target:
	nop
.last:	jmp	short .past
	nop
.past:
END lbr_log_kinds
ROWS lbr_log_kinds
	ROW	RELATIVE_JUMP, begin_lbr_log_kinds.first, begin_lbr_log_kinds.equal
	ROW	CONDITIONAL, begin_lbr_log_kinds.conditional, begin_lbr_log_kinds.begin
	ROW	INDIRECT_JUMP, begin_lbr_log_kinds.indirect, begin_lbr_log_kinds.landing
	ROW	RELATIVE_CALL, begin_lbr_log_kinds.call, begin_lbr_log_kinds.function
	ROW	RETURN, begin_lbr_log_kinds.return, begin_lbr_log_kinds.called
	ROW	INDIRECT_CALL, begin_lbr_log_kinds.indirect_call, begin_lbr_log_kinds.other_function
	ROW	RETURN, begin_lbr_log_kinds.other_return, begin_lbr_log_kinds.called_too
	ROW	FAR_BRANCH, begin_lbr_log_kinds.far, begin_lbr_log_kinds.far_target
	ROW	RELATIVE_JUMP, begin_lbr_log_kinds.last, begin_lbr_log_kinds.past
ROWS_END lbr_log_kinds

; A jump, one in a transaction, one after it. At memory: 1 if it committed.
PIECE lbr_transaction, begin_lbr_transaction.inside, 2, 2
	mov	qword [rsi], 0
.before:
	jmp	short .begin
	nop
.begin:	xbegin	.aborted
.inside:
	jmp	short .target
	nop
.target:
	xend
	mov	qword [rsi], 1
.aborted:
.after:	jmp	short .past
	nop
.past:
END lbr_transaction
ROWS lbr_transaction
	ROW	RELATIVE_JUMP,	begin_lbr_transaction.before,	begin_lbr_transaction.begin
	ROW	RELATIVE_JUMP,	begin_lbr_transaction.inside,	begin_lbr_transaction.target
	ROW	RELATIVE_JUMP,	begin_lbr_transaction.after,	begin_lbr_transaction.past
ROWS_END lbr_transaction

; n rounds of a loop in a transaction, with a branch by the sign of a linear congruence.
PIECE lbr_transaction_random, 0, 0, 0
	rdtsc
	mov	rdx, rax
	xbegin	.aborted
.next:	imul	rdx, rdx, 0x5851f42d
	inc	rdx
	js	.same
	nop
.same:	dec	rdi
	jnz	.next
	xend
.aborted:
END lbr_transaction_random
ROWS lbr_transaction_random
ROWS_END lbr_transaction_random

; lbr_transaction with another one in it: a jump before it, in it, after its XEND.
PIECE lbr_tx_nested, begin_lbr_tx_nested.inside, 2, 2
	mov	qword [rsi], 0
.before:
	jmp	short .begin
	nop
.begin:	xbegin	.aborted
.outer:	jmp	short .inner
	nop
.inner:	xbegin	.aborted
.inside:
	jmp	short .target
	nop
.target:
	xend
.outer_again:
	jmp	short .end
	nop
.end:	xend
	mov	qword [rsi], 1
.aborted:
.after:	jmp	short .past
	nop
.past:
END lbr_tx_nested
ROWS lbr_tx_nested
	ROW	RELATIVE_JUMP,	begin_lbr_tx_nested.before, begin_lbr_tx_nested.begin
	ROW	RELATIVE_JUMP,	begin_lbr_tx_nested.outer, begin_lbr_tx_nested.inner
	ROW	RELATIVE_JUMP,	begin_lbr_tx_nested.inside, begin_lbr_tx_nested.target
	ROW	RELATIVE_JUMP,	begin_lbr_tx_nested.outer_again, begin_lbr_tx_nested.end
	ROW	RELATIVE_JUMP,	begin_lbr_tx_nested.after, begin_lbr_tx_nested.past
ROWS_END lbr_tx_nested

; A jump before a transaction, a branch of each kind but far ones in it, a jump after it.
PIECE lbr_tx_kinds, begin_lbr_tx_kinds.before, 2, 2
	mov	qword [rsi], 0
.before:
	jmp	short .begin
	nop
.begin:	xbegin	.aborted
.call:	call	.function
.called:
	lea	rax, [.function]
.indirect_call:
	call	rax
.called_too:
	xor	eax, eax
.conditional:
	jz	short .next
	nop
.next:	lea	rax, [.landing]
.indirect:
	jmp	rax
.function:
	ret
.landing:
	xend
	mov	qword [rsi], 1
.aborted:
.after:	jmp	short .past
	nop
.past:
END lbr_tx_kinds
ROWS lbr_tx_kinds
	ROW	RELATIVE_JUMP,	begin_lbr_tx_kinds.before,	begin_lbr_tx_kinds.begin
	ROW	RELATIVE_CALL,	begin_lbr_tx_kinds.call,	begin_lbr_tx_kinds.function
	ROW	RETURN,		begin_lbr_tx_kinds.function,	begin_lbr_tx_kinds.called
	ROW	INDIRECT_CALL,	begin_lbr_tx_kinds.indirect_call, begin_lbr_tx_kinds.function
	ROW	RETURN,		begin_lbr_tx_kinds.function,	begin_lbr_tx_kinds.called_too
	ROW	CONDITIONAL,	begin_lbr_tx_kinds.conditional,	begin_lbr_tx_kinds.next
	ROW	INDIRECT_JUMP,	begin_lbr_tx_kinds.indirect,	begin_lbr_tx_kinds.landing
	ROW	RELATIVE_JUMP,	begin_lbr_tx_kinds.after,	begin_lbr_tx_kinds.past
ROWS_END lbr_tx_kinds

; A jump, one in a transaction that an instruction of that many bytes then ends, one after it. At
; memory: EAX of the abort.
%macro ABORTED 3+
PIECE %1, begin_%1.cause, %2, %2
	mov	rdx, 1 << 63	; not canonical
.before:
	jmp	short .begin
	nop
.begin:	xbegin	.aborted
.inside:
	jmp	short .cause
	nop
.cause:	%3
.aborted:
	mov	[rsi], rax
.after:	jmp	short .past
	nop
.past:
END %1
ROWS %1
	ROW	RELATIVE_JUMP,	begin_%1.before,	begin_%1.begin
	ROW	RELATIVE_JUMP,	begin_%1.inside,	begin_%1.cause
	ROW	FAR_BRANCH,	begin_%1.cause,		begin_%1.aborted
	ROW	RELATIVE_JUMP,	begin_%1.after,		begin_%1.past
ROWS_END %1
%endmacro
	ABORTED	lbr_abort, 3, xabort 0x5a
	ABORTED	lbr_abort_fault, 3, mov rax, [rdx]

; A lock that is elided until PAUSE aborts that: the jump then is taken again with the lock held.
; The lock is at memory.
PIECE lbr_elided, begin_lbr_elided.cause, 2, 2
	mov	eax, 1
.acquire:
	xacquire xchg [rsi], eax
.inside:
	jmp	short .cause
	nop
.cause:	pause
	xrelease mov dword [rsi], 0
END lbr_elided
ROWS lbr_elided
	ROW	RELATIVE_JUMP,	begin_lbr_elided.inside,	begin_lbr_elided.cause
	ROW	FAR_BRANCH,	begin_lbr_elided.cause,		begin_lbr_elided.acquire
	ROW	RELATIVE_JUMP,	begin_lbr_elided.inside,	begin_lbr_elided.cause
ROWS_END lbr_elided
