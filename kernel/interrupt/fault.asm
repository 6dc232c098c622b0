; SPDX-License-Identifier: MIT
;
; Instructions that may fault, and their rows in the exception table. A row holds the distances
; from itself to the instruction and to the place to go on at (struct extable_row).
; At a listed instruction RDI holds a struct fault *, which trap_dispatch fills in.

default rel
bits 64

global fault_rdmsr:function hidden
global fault_wrmsr:function hidden
global fault_wrmsr_row:function hidden
global fault_rdmsr_row:function hidden
global fault_rdpmc:function hidden

%macro EXTABLE 2		; instruction, where to go on
	section .data.extable progbits alloc noexec write align=8
	dd	%1 - $
	dd	%2 - $
	section .text
%endmacro

section .text

; void fault_rdmsr(struct fault *fault, u32 msr, u64 *value)
fault_rdmsr:
	mov	ecx, esi
	mov	rsi, rdx		; RDX is about to be overwritten
.try:	rdmsr
	shl	rdx, 32
	or	rax, rdx
	mov	[rsi], rax
.done:	ret
	EXTABLE .try, .done

; void fault_wrmsr(struct fault *fault, u32 msr, u64 value)
fault_wrmsr:
	mov	ecx, esi
	mov	rax, rdx
	shr	rdx, 32
.try:	wrmsr
.done:	ret
	EXTABLE .try, .done

; void fault_wrmsr_row(struct fault *fault, u32 first, u64 value, u32 count, u32 stride): count
; from 1
fault_wrmsr_row:
	mov	r9d, ecx
	mov	ecx, esi
	mov	rax, rdx
	shr	rdx, 32
.try:	wrmsr
.next:	add	ecx, r8d
	dec	r9d
	jnz	.try
	ret
	EXTABLE .try, .next

; void fault_rdmsr_row(struct fault *fault, u32 first, u64 *values, u32 count): count from 1
fault_rdmsr_row:
	mov	r9d, ecx
	mov	ecx, esi
	mov	rsi, rdx		; RDX is about to be overwritten
.try:	rdmsr
	mov	[rsi], eax
	mov	[rsi + 4], edx
.next:	add	rsi, 8
	inc	ecx
	dec	r9d
	jnz	.try
	ret
	EXTABLE .try, .next

; void fault_rdpmc(struct fault *fault, u32 ecx, u64 *value)
fault_rdpmc:
	mov	ecx, esi
	mov	rsi, rdx
.try:	rdpmc
	shl	rdx, 32
	or	rax, rdx
	mov	[rsi], rax
.done:	ret
	EXTABLE .try, .done
