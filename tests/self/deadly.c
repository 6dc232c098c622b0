/* SPDX-License-Identifier: MIT */
/*
 * What kills a processor, or a test. Run only when asked for by name (tests/frame/suite.c): each is
 * an ERROR where the platform lets the processor be started again, and the end of the run where it
 * doesn't, or where the processor is the first one. The tests behind it show that it costs nothing
 * else.
 */
#include "kernel/apic.h"
#include "kernel/descriptor.h"
#include "kernel/intr.h"
#include "tests/frame/needs.h"
#include "tests/measure/together.h"

#define DEADLINE_MS	500u

static void hang(struct trap_frame *frame)
{
	(void)frame;
	for (;;)
		__asm__ volatile("pause");
}

/* NMIs are blocked until the IRET that never comes; interrupts are off. */
TEST(deadly, a_hang_inside_an_nmi_handler, NO_REQS, NEEDS(NULL), .deadline_ms = DEADLINE_MS)
{
	intr_disable();
	intr_set_handler(VECTOR_NMI, hang);
	apic_self_nmi();
	hang(NULL);
	test_note(t, "an endless loop ended");
}

/* Where there is an HPET its NMI ends it; where there is none, and on another processor, an NMI of
 * another processor. */
TEST(deadly, a_loop_with_interrupts_off, NO_REQS, NEEDS(NULL), .deadline_ms = DEADLINE_MS)
{
	intr_disable();
	hang(NULL);
	test_note(t, "an endless loop ended");
}

/* "Interrupt 8, Double Fault Exception": an exception that finds no handler, nor does the next. */
TEST(deadly, a_triple_fault, NO_REQS, NEEDS(NULL), .deadline_ms = DEADLINE_MS)
{
	const struct table_register none = { 0, 0 };

	__asm__ volatile("lidt %0; ud2" :: "m"(none));
	test_note(t, "a processor without interrupt table went on");
}

static void meet_or_fail(void *arg)
{
	if (together_side() == 0)
		together_meet(arg);
	else
		__asm__ volatile("ud2");
}

/* An ERROR that tells the other processor's #UD, long before any deadline. */
TEST(deadly, an_exception_beside_a_barrier, NO_REQS, NEEDS(need_second_processor))
{
	static struct together both;

	together_run(t, &both, smp_second(), meet_or_fail, &both);
	test_note(t, "who waited for it went on");
}
