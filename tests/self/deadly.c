/* SPDX-License-Identifier: MIT */
/*
 * Tests that hang or shut down a processor. They run only when named (tests/frame/suite.c). If the
 * processor can be restarted, each is an ERROR. If it can't, or if it is the first processor, the
 * run ends. The tests after them show that nothing else is affected.
 */
#include "kernel/interrupt/apic.h"
#include "kernel/interrupt/descriptor.h"
#include "kernel/interrupt/intr.h"
#include "tests/frame/needs.h"
#include "tests/measure/two_cpus.h"

#define DEADLINE_MS	500u

static void hang(struct trap_frame *frame)
{
	(void)frame;
	for (;;)
		__asm__ volatile("pause");
}

/*
 * A test of the harness itself: it decides no requirement.
 *
 * Given  interrupts off, and a handler of NMIs that never returns: NMIs are blocked until its IRET
 * When   the processor sends itself an NMI
 * Then   the test is an ERROR where the platform starts the processor again, and the end of the
 *        run otherwise
 */
TEST(deadly, hang_inside_an_nmi_handler_is_an_error, NO_REQS, NEEDS(NULL),
     .deadline_ms = DEADLINE_MS)
{
	intr_disable();
	intr_set_handler(VECTOR_NMI, hang);
	apic_self_nmi();
	hang(NULL);
	test_note(t, "an endless loop ended");
}

/*
 * A test of the harness itself: it decides no requirement.
 *
 * Given  interrupts off
 * When   the processor loops for ever
 * Then   an NMI ends the test as an ERROR: the HPET's, or without one, and on another processor,
 *        another processor's
 */
TEST(deadly, loop_with_interrupts_off_is_an_error, NO_REQS, NEEDS(NULL), .deadline_ms = DEADLINE_MS)
{
	intr_disable();
	hang(NULL);
	test_note(t, "an endless loop ended");
}

/*
 * A test of the harness itself: it decides no requirement.
 *
 * Given  an interrupt table without entries: "Interrupt 8, Double Fault Exception" says that an
 *        exception that finds no handler, nor a handler of #DF, shuts the processor down
 * When   the processor executes UD2
 * Then   the test is an ERROR where the platform starts the processor again, and the end of the
 *        run otherwise
 */
TEST(deadly, triple_fault_is_an_error, NO_REQS, NEEDS(NULL), .deadline_ms = DEADLINE_MS)
{
	const struct table_register none = { 0, 0 };

	__asm__ volatile("lidt %0; ud2" ::"m"(none));
	test_note(t, "a processor without interrupt table went on");
}

static void hang_for_good(void *arg)
{
	two_cpus_barrier(arg);
	intr_disable();
	intr_set_handler(VECTOR_NMI, hang);
	apic_self_nmi();
	hang(NULL);
}

/*
 * A test of the harness itself: it decides no requirement.
 *
 * Given  two processors, each in a handler of NMIs that never returns
 * When   nothing can interrupt either of them
 * Then   the platform's watchdog resets the machine, and the next boot of the stick names this test
 */
TEST(deadly, hang_of_every_processor_is_a_crash, NO_REQS, NEEDS(need_second_processor),
     .deadline_ms = DEADLINE_MS)
{
	static struct two_cpus both;

	two_cpus_run(t, &both, smp_second(), hang_for_good, &both);
	test_note(t, "endless loops ended");
}

static void meet_or_fail(void *arg)
{
	if (two_cpus_side() == 0)
		two_cpus_barrier(arg);
	else
		__asm__ volatile("ud2");
}

/*
 * A test of the harness itself: it decides no requirement.
 *
 * Given  two processors, of which the first waits at a barrier for both
 * When   the other one executes UD2 before it gets there
 * Then   the test is an ERROR that reports the other processor's #UD, long before any deadline
 */
TEST(deadly, exception_on_another_processor_ends_a_barrier, NO_REQS, NEEDS(need_second_processor))
{
	static struct two_cpus both;

	two_cpus_run(t, &both, smp_second(), meet_or_fail, &both);
	test_note(t, "the processor that waited for it continued");
}
