; SPDX-License-Identifier: MIT
; Two sectors of this program's file, for disk.c to find on the disk: a signature, and a function.

section .text align=512

%macro SECTOR 3			; last byte of the signature, value, NOPs
	align	512
%%begin:
	db	"PMUTest86 sector"
	db	"0000000 of code", %1
	times	%3 nop
	mov	eax, %2
	ret
	times	512 - ($ - %%begin) int3
%endmacro

global disk_sectors:data hidden
	align	512
disk_sectors:
SECTOR	"1", 0x1001, 2
SECTOR	"2", 0x2002, 11

section .note.GNU-stack noalloc noexec nowrite progbits
