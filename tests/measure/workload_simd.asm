; SPDX-License-Identifier: MIT
;
; Workloads of arithmetic in vector and x87 registers, of each kind another number, so that what is
; counted says which kind it is. All operands are 0, and their registers are such as any function
; may change.

default rel
bits 64

%include "tests/measure/workload.inc"

; as in tests/measure/workload.h
SIMD_PACKED_SP	equ 1
SIMD_PACKED_DP	equ 2
SIMD_SCALAR_SP	equ 3
SIMD_SCALAR_DP	equ 4
SIMD_MMX_64	equ 5
SIMD_MMX_128	equ 6
X87_ADDITIONS	equ 7
SIMD_ALL	equ SIMD_PACKED_SP + SIMD_PACKED_DP + SIMD_SCALAR_SP + SIMD_SCALAR_DP + \
		SIMD_MMX_64 + SIMD_MMX_128

section .text

; instructions 23n + 3, branches n
DECLARE simd, 0, 0, 0,  2 + SIMD_ALL, 3,  0, 0,  0, 0,  0, 0,  1, 0
BEGIN simd
	xorps	xmm0, xmm0
	pxor	mm0, mm0
.next:
	times SIMD_PACKED_SP addps xmm0, xmm0
	times SIMD_PACKED_DP addpd xmm0, xmm0
	times SIMD_SCALAR_SP addss xmm0, xmm0
	times SIMD_SCALAR_DP addsd xmm0, xmm0
	times SIMD_MMX_64 paddd mm0, mm0
	times SIMD_MMX_128 paddd xmm0, xmm0
	dec	rdi
	jnz	.next
	emms
END simd

; instructions 9n + 2, branches n
DECLARE x87, 0, 0, 0,  2 + X87_ADDITIONS, 2,  0, 0,  0, 0,  0, 0,  1, 0
BEGIN x87
	fldz
.next:
	times X87_ADDITIONS fadd st0, st0
	dec	rdi
	jnz	.next
	fstp	st0
END x87
