; SPDX-License-Identifier: MIT
; Entering and leaving the guest, and the host's interrupt stubs. APM volume 2, "SVM".
;
; The hypervisor runs with the global interrupt flag clear. It opens interrupts only in
; svm_poll_interrupts and svm_wait, to acknowledge what is to be delivered to the guest in software.
; No stub ever executes IRET: that would end the NMI blocking which belongs to the guest. Only
; svm_unblock_nmi does, for an NMI that the guest never sees.

default rel
bits 64

%include "refpmu/hv/registers.inc"

section .text

; void svm_launch(void (*host)(void *argument, u64 rip, u64 rsp), void *stack_top,
;		  void *argument)
; Called by the firmware's side; host() makes the caller a guest that returns from here.
global svm_launch:function hidden
svm_launch:
	PUSH_PRESERVED
	pushfq
	cli
	mov	rax, rdi
	mov	rdi, rdx
	mov	rdx, rsp		; the guest's RSP
	mov	rsp, rsi
	lea	rsi, [.in_guest]	; the guest's RIP
	xor	ebp, ebp
	call	rax
	ud2				; host() doesn't return
.in_guest:
	popfq
	POP_PRESERVED
	ret

; void svm_run(u64 vmcb_address, u64 gpr[16])
; One VMRUN. gpr[] is in encoding order; RAX and RSP live in the VMCB.
global svm_run:function hidden
svm_run:
	PUSH_PRESERVED
	push	rsi
	mov	rax, rdi
	LOAD_MOST rsi
	mov	rdi, [rsi + gpr.rdi]
	mov	rsi, [rsi + gpr.rsi]
global svm_entry:data hidden
svm_entry:
	vmrun
	push	rsi
	mov	rsi, [rsp + 8]
	STORE_MOST rsi
	mov	[rsi + gpr.rdi], rdi
	pop	rax
	mov	[rsi + gpr.rsi], rax
	pop	rsi
	POP_PRESERVED
	cld
	ret

; void svm_save(u64 vmcb_address): FS, GS, TR, LDTR and the MSRs that VMRUN doesn't switch.
global svm_save:function hidden
svm_save:
	mov	rax, rdi
	vmsave
	ret

; Windows. RBX holds the address of a struct pending_irq { u32 vector; u32 nmi; } while one is open;
; the stubs below use RAX, RCX and RDX freely. At most one interrupt and one NMI are taken.

; void svm_poll_interrupts(struct pending_irq *pending, bool interrupts): take a pending NMI and, if
; asked for, a pending interrupt, without waiting.
global svm_poll_interrupts:function hidden
svm_poll_interrupts:
	push	rbx
	mov	rbx, rdi
window_begin:
	test	esi, esi
	jz	.masked
	sti
.masked:
	stgi
	nop				; QEMU looks for interrupts between translation blocks
	jmp	.next			; ends one block
.next:
	nop
	cli
	clgi
window_end:
	pop	rbx
	ret

; void svm_wait(struct pending_irq *pending, bool interrupts): wait for an NMI or, if asked for, an
; interrupt; take what came. Returns without either only when the processor woke for nothing.
global svm_wait:function hidden
svm_wait:
	push	rbx
	mov	rbx, rdi
wait_begin:
	test	esi, esi
	jz	.masked
	sti
.masked:
	stgi
wait_halt:
	hlt				; the stubs skip it when they come just before it
wait_after:
	cli
	clgi
wait_end:
	pop	rbx
	ret

; void svm_unblock_nmi(void): the IRET of an NMI that was for the hypervisor.
global svm_unblock_nmi:function hidden
svm_unblock_nmi:
	mov	rdx, rsp
	mov	ecx, ss
	push	rcx
	push	rdx
	pushfq
	mov	ecx, cs
	push	rcx
	lea	rcx, [.unblocked]
	push	rcx
	iretq
.unblocked:
	ret

; 256 stubs of 16 bytes: the address of stub v is host_stubs + 16 * v.
align 16
global host_stubs:function hidden
host_stubs:
%assign v 0
%rep 256
	align 16
	push	strict dword v
	jmp	strict near stub_common
%assign v v + 1
%endrep

; In a window there are no exceptions, so [rsp + 8] is RIP; an error code can't be mistaken for
; an address in the window.
stub_common:
	cld
	lea	rax, [window_begin]
	cmp	[rsp + 8], rax
	jb	.fatal
	lea	rax, [wait_end]
	cmp	[rsp + 8], rax
	ja	.fatal
	pop	rax			; vector
	cmp	eax, 2
	je	.nmi
	mov	[rbx], eax
	jmp	.resume
.nmi:
	mov	dword [rbx + 4], 1
.resume:
	; One is enough; and after POPF the next would find RIP outside the window.
	and	qword [rsp + 16], ~(1 << 9)
	mov	rcx, [rsp]
	lea	rax, [wait_halt]
	cmp	rcx, rax
	jne	.return
	lea	rcx, [wait_after]
.return:
	mov	rdx, [rsp + 16]
	mov	rsp, [rsp + 24]
	push	rdx
	popfq
	jmp	rcx
.fatal:
	pop	rdi
	mov	rsi, [rsp]
	mov	rdx, [rsp + 8]
	mov	rcx, cr2
	and	rsp, ~15
extern host_exception
	call	host_exception
	ud2

section .note.GNU-stack noalloc noexec nowrite progbits
