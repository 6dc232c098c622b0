; SPDX-License-Identifier: MIT
;
; Loads in compatibility mode: SDM "Compatibility Mode". Down by a far return, back by a far jump;
; no stack in between, because the upper half of RSP isn't kept. Code and call below 4 GiB.

default rel
bits 64

%define DEFINE(name, value) name equ value
%include "kernel/processor/selectors.def"
%include "kernel/interrupt/registers.inc"

; struct compat_call of tests/pebs/compat.c
CALL_MEMORY	equ 0
CALL_N		equ 8
CALL_MSR	equ 16
CALL_ON		equ 24
CALL_BACK	equ 32			; offset and selector of a far pointer

section .bss
	global	compat_rsp:data hidden
compat_rsp:				; RSP in compatibility mode
saved_rsp:
	resq	1

%define COMPAT_R(n) (0x6000000000000040 | (n) << 8 | (n))

section .text
; void compat_loads(struct compat_call *call): at CPL 0, interrupts off.
; EAX what was loaded, EBX call, ECX the MSR, EDX 0, ESI memory, EDI n and less, EBP and R8 to R15
; known to tests/pebs/compat.c.
	global	compat_loads:function hidden
	global	compat_begin:function hidden
	global	compat_end:function hidden
compat_loads:
	PUSH_PRESERVED
	mov	[rel saved_rsp], rsp
	mov	rbx, rdi
	mov	esi, [rbx + CALL_MEMORY]
	mov	edi, [rbx + CALL_N]
	mov	ebp, 0x7f5f0f5f
	lea	rax, [rel back]
	mov	[rbx + CALL_BACK], eax
	mov	word [rbx + CALL_BACK + 4], SELECTOR_KERNEL_CODE
	mov	eax, SELECTOR_KERNEL_DATA
	mov	ds, eax
%assign i 8
%rep 8
	mov	r%[i], COMPAT_R(i)
%assign i i + 1
%endrep
	push	SELECTOR_COMPAT_CODE
	lea	rax, [rel compat]
	push	rax
	o64 retf

bits 32
compat:
	mov	ecx, [ebx + CALL_MSR]
	mov	eax, [ebx + CALL_ON]
	xor	edx, edx
	wrmsr
compat_begin:
.next:	mov	eax, [esi]
	dec	edi
	jnz	.next
compat_end:
	xor	eax, eax
	wrmsr
	jmp	far [ebx + CALL_BACK]

bits 64
back:
	mov	rsp, [rel saved_rsp]
	xor	eax, eax
	mov	ds, eax
	POP_PRESERVED
	ret
