; SPDX-License-Identifier: MIT
;
; hot NAME ROUNDS: runs one of the functions below so often. perf's samples of it are judged by the
; addresses that its symbol table gives (tools/linux/judge.py). No library, linked statically, so
; that these are the addresses at which it runs.
	bits 64
	default rel

SYS_EXIT	equ 60
TABLE_BYTES	equ 64 << 10
STRIDE		equ 64 * 65		; another page and another line each time

	global	_start, spin, touch, write, jump, left, right, table, table_end

	section .bss align=4096
table:	resb	TABLE_BYTES
table_end:

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
