; SPDX-License-Identifier: MIT
;
; The pieces of drawn programs (tests/random/piece.h), and the way into such a program and out.

default rel
bits 64

%define DEFINE(name, value) name equ value
%include "kernel/processor/selectors.def"
%include "kernel/interrupt/registers.inc"
%include "tests/random/piece.inc"

; spec/msr.def. SDM "Architectural Performance Monitoring Version 2 Facilities"
MSR_IA32_PERF_GLOBAL_CTRL equ 0x38f

; struct draw_frame and struct draw_operation of tests/random/piece.h
struc frame
%define WORD(name) . %+ name resq 1
%include "tests/random/frame.def"
.result:
endstruc
INSTANCES	equ 3
OPERATIONS	equ 8
VECTORS		equ 16
%define VECTOR	(frame.result + 16 * OPERATIONS)

global draw_code:data hidden
global draw_rows:data hidden
global draw_rows_end:data hidden
global draw_pieces:data hidden
global draw_pieces_end:data hidden
global draw_enter:function hidden

section .data.draw_rows write
	align	8
draw_rows:
section .data.draw_pieces write
	align	8
draw_pieces:

section .text
	align	64
draw_code:

; void draw_enter(struct draw_frame *frame): a window. Its first instruction after the WRMSR goes
; on to the table's first entry; the last piece is "stop".
draw_enter:
	PUSH_PRESERVED
	pushfq
	mov	r14, rdi
	mov	[r14 + frame.saved_rsp], rsp
	mov	rsi, [r14 + frame.rsi]
	mov	rbp, [r14 + frame.rbp]
	mov	rbx, [r14 + frame.rbx]
	mov	r8, [r14 + frame.r8]
	mov	r9, [r14 + frame.r9]
	mov	r10, [r14 + frame.r10]
	mov	r11, [r14 + frame.r11]
	mov	r12, [r14 + frame.r12]
	mov	r13, [r14 + frame.r13]
	mov	r15, [r14 + frame.r15]
	mov	rsp, [r14 + frame.stack]
	mov	rdi, r8
%assign vector 0
%rep VECTORS
	movups	xmm %+ vector, [r14 + VECTOR + 16 * vector]
%assign vector vector + 1
%endrep
	mov	ecx, [r14 + frame.msr]
	mov	eax, [r14 + frame.on]
	mov	edx, [r14 + frame.on + 4]
	times (0 - ($ - draw_code) - 2) & 3 nop	; so that the first piece follows without one
	wrmsr

; The first piece is its last two instructions alone.
%define INSTANCE 0
PIECE start, PIECE_SPECIAL
END
PIECE stop, PIECE_SPECIAL
	N mov ecx, MSR_IA32_PERF_GLOBAL_CTRL
	N xor eax, eax
	N xor edx, edx
	I ROW_WRMSR | ROW_STOP, 0, 0, 0, NOWHERE, NOWHERE, wrmsr
	mov	rsp, [r14 + frame.saved_rsp]
	popfq
	POP_PRESERVED
	ret
END

; Down to CPL 3, 1 or 2 on the same stack, and back by the gate that user_call() uses
; (kernel/interrupt/user.asm), whose return path is made to lead here.
%macro WAY_DOWN 3			; name, selectors of data and code
PIECE %1, PIECE_SPECIAL | PIECE_KERNEL
	N mov rax, rsp
	PUSHES push %2
	PUSHES push rax
	PUSHES pushfq
	PUSHES push %3
	N lea rdx, [rel %%down]
	PUSHES push rdx
	I ROW_BRANCH | ROW_FAR | ROW_MICROCODE | ROW_TO_USER, 5, 0, 40, AT_SP, 8, 0, NOWHERE, iretq
%%down:	N nop
END
%endmacro
	WAY_DOWN to_user, SELECTOR_USER_DATA, SELECTOR_USER_CODE
	WAY_DOWN to_ring1, SELECTOR_RING1_DATA, SELECTOR_RING1_CODE
	WAY_DOWN to_ring2, SELECTOR_RING2_DATA, SELECTOR_RING2_CODE
%macro RETURN_PATH 3			; loads, length, flags
	[section .data.draw_rows write]
	dd	0, ROW_NOT_HERE | %3
	db	%2, %1, 0, 0
	db	AT_NONE, 0
	dw	0
	db	AT_NONE, 0
	dw	0
	__?SECT?__
%assign rows_so_far rows_so_far + 1
%endmacro
global draw_back:function hidden
PIECE to_kernel, PIECE_SPECIAL
%define GATE ROW_BRANCH | ROW_FAR | ROW_MICROCODE | ROW_TO_KERNEL
	I GATE, 0, 5, 0, NOWHERE, NOWHERE, int VECTOR_USER_RETURN
	RETURN_PATH 0, 4, 0		; add rsp, 5 * 8
	RETURN_PATH 1, 1, 0		; pop rsp
	RETURN_PATH 1, 1, 0		; popfq
%rep PRESERVED_COUNT
	RETURN_PATH 1, 2, 0		; POP_PRESERVED
%endrep
	RETURN_PATH 1, 1, ROW_BRANCH | ROW_TAKEN | ROW_RETURN	; ret
draw_back:
	LOAD AT_14, 8, frame.stack, mov rsp, [r14 + frame.stack]
END

; Operations of the table at R13.
%macro OPERATION_PIECES 1
%define SLOT (16 * %1)
PIECE write%1, PIECE_KERNEL | PIECE_WRITE
	LOAD AT_13, 4, SLOT, mov ecx, [r13 + SLOT]
	LOAD AT_13, 4, SLOT + 4, mov eax, [r13 + SLOT + 4]
	LOAD AT_13, 4, SLOT + 8, mov edx, [r13 + SLOT + 8]
	I ROW_WRMSR, 0, 0, 0, NOWHERE, NOWHERE, wrmsr
END
PIECE read%1, PIECE_KERNEL | PIECE_READ
	LOAD AT_13, 4, SLOT, mov ecx, [r13 + SLOT]
	N mov rax, r8
	N mov rdx, r9
	I ROW_RDMSR, 0, 0, 0, NOWHERE, NOWHERE, rdmsr
	STORE AT_14, 8, frame.result + 16 * %1, mov [r14 + frame.result + 16 * %1], rax
	STORE AT_14, 8, frame.result + 16 * %1 + 8, mov [r14 + frame.result + 16 * %1 + 8], rdx
END
PIECE rdpmc%1, PIECE_RDPMC
	LOAD AT_13, 4, SLOT, mov ecx, [r13 + SLOT]
	N mov rax, r8
	N mov rdx, r9
	I ROW_RDPMC, 0, 0, 0, NOWHERE, NOWHERE, rdpmc
	STORE AT_14, 8, frame.result + 16 * %1, mov [r14 + frame.result + 16 * %1], rax
	STORE AT_14, 8, frame.result + 16 * %1 + 8, mov [r14 + frame.result + 16 * %1 + 8], rdx
END
%endmacro
%assign operation 0
%rep OPERATIONS
	OPERATION_PIECES operation
%assign operation operation + 1
%endrep

; A write, RDMSR or RDPMC that must be refused. While a program with it runs the gate of #GP leads
; to .fault (SDM "64-Bit Mode Stack Frame": RSP aligned to 16, six quadwords), which goes on after
; it.
%define SLOT (16 * (OPERATIONS - 1))
global draw_elsewhere:data hidden
%macro REFUSED_PIECE 3			; name, flags, instruction
PIECE %1, PIECE_KERNEL | PIECE_REFUSED | %2
	LOAD AT_13, 4, SLOT, mov ecx, [r13 + SLOT]
	LOAD AT_13, 4, SLOT + 4, mov eax, [r13 + SLOT + 4]
	LOAD AT_13, 4, SLOT + 8, mov edx, [r13 + SLOT + 8]
.try:	I ROW_REFUSED | ROW_MICROCODE | ROW_IF_CLEARED, 0, 6, -48, NOWHERE, NOWHERE, %3
END
.fault:	PUSHES push rax
	N lea rax, [rel .try]
	LOAD AT_SP, 8, 16, cmp [rsp + 16], rax
	POPS pop rax
	JUMP ROW_CONDITIONAL, jne .elsewhere
	POPS pop rax			; the error code
	STORE AT_14, 8, frame.result + SLOT, mov [r14 + frame.result + SLOT], rax
	STORE AT_14, 8, frame.result + SLOT + 8, mov [r14 + frame.result + SLOT + 8], rsp
	BOTH 0, AT_SP, 8, 0, add qword [rsp], 2
	I ROW_BRANCH | ROW_FAR | ROW_MICROCODE | ROW_IF_SET, 5, 0, 40, AT_SP, 8, 0, NOWHERE, iretq
.elsewhere:
	jmp	[rel draw_elsewhere]
%endmacro
	REFUSED_PIECE refused7, 0, wrmsr
	REFUSED_PIECE refused_read7, PIECE_READ, rdmsr
	REFUSED_PIECE refused_rdpmc7, PIECE_RDPMC, rdpmc

%include "tests/random/pieces.inc"
%define INSTANCE 1
%include "tests/random/pieces.inc"
%define INSTANCE 2
%include "tests/random/pieces.inc"

section .data
	align	8
draw_elsewhere:
	dq	0
section .data.draw_rows
draw_rows_end:
section .data.draw_pieces
draw_pieces_end:

section .note.GNU-stack noalloc noexec nowrite progbits
