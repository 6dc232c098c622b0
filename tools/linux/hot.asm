; SPDX-License-Identifier: MIT
;
; hot NAME ROUNDS: runs one of the functions below so often. perf's samples of it are judged by the
; addresses that its symbol table gives (tools/linux/judge.py). No library, linked statically, so
; that these are the addresses at which it runs.
	bits 64
	default rel

SYS_WRITE	equ 1
SYS_MMAP	equ 9
SYS_EXIT	equ 60
SYS_PERF_EVENT_OPEN equ 298
; struct perf_event_attr and struct perf_event_mmap_page, include/uapi/linux/perf_event.h
TYPE_HARDWARE	equ 0
HW_INSTRUCTIONS	equ 1
USER_ALONE	equ 0x64		; pinned, exclude_kernel, exclude_hv
PAGE_LOCK	equ 8
PAGE_INDEX	equ 12
PROT_READ	equ 1
MAP_SHARED	equ 1
TABLE_BYTES	equ 64 << 10
STRIDE		equ 64 * 65		; another page and another line each time

	global	_start, spin, touch, write, jump, left, right, deep, one, two, three
	global	functions_end, table, table_end

	section .data
attributes:			; 64 bytes: PERF_ATTR_SIZE_VER0
	dd	TYPE_HARDWARE, 64
	dq	HW_INSTRUCTIONS, 0, 0, 0, USER_ALONE, 0, 0

	section .bss align=4096
table:	resb	TABLE_BYTES
table_end:
text:	resb	32
text_end:

	section .text
_start:
	mov	rsi, [rsp + 24]		; argv[2]
	xor	edi, edi
.digit:
	movzx	eax, byte [rsi]
	sub	eax, '0'
	js	.digits_end
	imul	rdi, rdi, 10
	add	rdi, rax
	inc	rsi
	jmp	.digit
.digits_end:
	xor	ecx, ecx
	mov	rsi, [rsp + 16]		; argv[1]
	mov	al, [rsi]
	lea	rdx, [spin]
	cmp	al, 's'
	je	.run
	lea	rdx, [touch]
	cmp	al, 't'
	je	.run
	lea	rdx, [jump]
	cmp	al, 'j'
	je	.run
	lea	rdx, [deep]
	cmp	al, 'd'
	je	.run
	lea	rdx, [read]
	cmp	al, 'r'
	je	.run
	lea	rdx, [write]
.run:
	lea	rsi, [table]
	call	rdx
	mov	eax, SYS_EXIT
	xor	edi, edi
	syscall

; Four instructions a round, one of them a branch.
spin:
	add	rax, rdi
	xor	rax, rdx
	dec	rdi
	jnz	spin
	ret

; A load a round.
touch:
	mov	rax, [rsi + rcx]
	add	rcx, STRIDE
	and	ecx, TABLE_BYTES - 64
	dec	rdi
	jnz	touch
	ret

; A store a round.
write:
	mov	[rsi + rcx], rdi
	add	rcx, STRIDE
	and	ecx, TABLE_BYTES - 64
	dec	rdi
	jnz	write
	ret

; Five branches a round.
jump:
	call	left
	call	right
	dec	rdi
	jnz	jump
	ret
left:
	inc	rax
	ret
right:
	dec	rax
	ret
; The innermost is four calls below _start.
deep:
	call	one
	dec	rdi
	jnz	deep
	ret
one:
	call	two
	ret
two:
	call	three
	ret
three:
	imul	rax, rdi
	add	rax, rdi
	xor	rax, rdi
	ret
functions_end:

; What RDPMC says of an event of this process alone, instructions of CPL 3: prints its index in the
; event's page, and its advance around rdi rounds and around twice as many.
read:
	mov	r12, rdi
	mov	eax, SYS_PERF_EVENT_OPEN
	lea	rdi, [attributes]
	xor	esi, esi		; this process
	mov	rdx, -1			; on any processor
	mov	r10, -1			; no group
	xor	r8d, r8d
	syscall
	mov	r8, rax
	mov	eax, SYS_MMAP
	xor	edi, edi
	mov	esi, 4096
	mov	edx, PROT_READ
	mov	r10d, MAP_SHARED
	xor	r9d, r9d
	syscall
	test	rax, rax
	js	.failed			; nothing is printed
	mov	rbx, rax
	mov	edi, [rbx + PAGE_INDEX]
	call	print
	mov	rdi, r12
	call	measure
	mov	rdi, rax
	call	print
	lea	rdi, [2 * r12]
	call	measure
	mov	rdi, rax
	call	print
	mov	byte [text], 10
	lea	rsi, [text]
	mov	edx, 1
	call	put
.failed:
	ret

; rax = what the counter of the page at rbx advances around rdi rounds of two instructions; again if
; the kernel has changed that page meanwhile.
measure:
	mov	ebp, [rbx + PAGE_LOCK]
	mov	ecx, [rbx + PAGE_INDEX]
	dec	ecx			; 0: it isn't on a counter now, and this faults
	rdpmc
	shl	rdx, 32
	lea	r13, [rdx + rax]
	mov	r14, rdi
.round:
	dec	r14
	jnz	.round
	rdpmc
	shl	rdx, 32
	add	rax, rdx
	sub	rax, r13
	cmp	ebp, [rbx + PAGE_LOCK]
	jne	measure
	ret

; rdi in decimal, and a blank.
print:
	mov	rax, rdi
	lea	rsi, [text_end - 1]
	mov	byte [rsi], ' '
	mov	ecx, 10
.digit:
	xor	edx, edx
	div	rcx
	add	dl, '0'
	dec	rsi
	mov	[rsi], dl
	test	rax, rax
	jnz	.digit
	lea	rdx, [text_end]
	sub	rdx, rsi
put:
	mov	eax, SYS_WRITE
	mov	edi, 1
	syscall
	ret
