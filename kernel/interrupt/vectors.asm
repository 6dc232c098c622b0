; SPDX-License-Identifier: MIT
;
; The way from an interrupt or exception to C and back: 256 stubs of 16 bytes each, so that the
; gate of vector v is vectors_begin + 16 * v and no table of pointers needs relocating.
; SDM "64-Bit Mode Stack Frame". Entered with interrupts off through interrupt gates, on the
; interrupted stack, RSP0 or an IST stack; leaves by IRETQ, which also unblocks NMIs.
; No SWAPGS: nothing here uses GS.

default rel
bits 64

%include "kernel/interrupt/registers.inc"

extern trap_dispatch
global vectors_begin:function hidden
global intr_window:function hidden
global vectors_with_error_code:data hidden

section .text

; Vectors that push an error code: SDM "Error Code" and the entries of "Exception and Interrupt
; Reference"; 29 and 30 are AMD's #VC and #SX.
%macro IF_ERROR_CODE 1
	%if %1 == 8 || (%1 >= 10 && %1 <= 14) || %1 == 17 || %1 == 21 || %1 == 29 || %1 == 30
		%assign has_error 1
	%else
		%assign has_error 0
	%endif
%endmacro

align 16
vectors_begin:
%assign vector 0
%assign with_error 0
%rep 256
	align 16
	IF_ERROR_CODE vector
	%assign with_error with_error | (has_error << (vector & 31))
	%if !has_error
	push	0			; trap_frame.error
	%endif
	push	vector			; trap_frame.vector
	jmp	vectors_common
	%assign vector vector + 1
%endrep

; u32: bit n is vector n. None from 32 on has one.
section .rodata
vectors_with_error_code:
	dd	with_error
section .text

; What struct trap_frame begins with.
vectors_common:
	PUSH_LIST ALL
	cld
	mov	rdi, rsp		; still aligned to 16: the processor aligned RSP, and
%if (ALL_COUNT + 7) % 2		; pushed five quadwords; vector and error are two
	%error
%endif
	call	trap_dispatch
	POP_LIST ALL
	add	rsp, 16			; vector and error
	iretq

; void intr_window(void). STI holds interrupts off for one more instruction; PAUSE is where an
; emulator that looks only between blocks of instructions looks as well.
intr_window:
	sti
	nop
	pause
	nop
	nop
	cli
	ret
