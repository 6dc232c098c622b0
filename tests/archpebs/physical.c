/* SPDX-License-Identifier: MIT */
/*
 * IA32_PEBS_BASE is a physical address (Linux writes virt_to_phys of its buffer). All other tests
 * map their buffer to itself, where physical and linear address are the same number. Here the
 * linear address with that number is mapped to another page.
 */
#include "kernel/interrupt/fault.h"
#include "kernel/memory/pages.h"
#include "kernel/memory/paging.h"
#include "spec/msr.h"
#include "tests/archpebs/archpebs.h"

#define IN_FRAME	0x5a	/* bytes of the page at the physical address */
#define IN_LINEAR	0xa5	/* of the page that is mapped at the same linear address */

static void fill(u8 *page, u8 byte)
{
	for (unsigned i = 0; i < PAGE_SIZE; i++)
		((volatile u8 *)page)[i] = byte;
}

/* Bytes of the page from `from` on that aren't this one. */
static unsigned changed(const u8 *page, u64 from, u8 byte)
{
	unsigned count = 0;

	for (u64 i = from; i < PAGE_SIZE; i++)
		count += ((const volatile u8 *)page)[i] != byte;
	return count;
}

static u64 quadword(const u8 *page, unsigned at)
{
	return *(const volatile u64 *)(uintptr_t)(page + at);
}

/*
 * APEBS-37  The buffer must be where IA32_PEBS_BASE says in physical memory, whatever linear
 *           address maps to it.
 *           Linux: virt_to_phys of the buffer
 *
 * Given  a page at physical address A, and another one that is mapped at linear address A; each has
 *        its own byte everywhere
 * When   IA32_PEBS_BASE is A, and each of IA32_PMC0 to IA32_PMC3 makes a record of a marked load
 * Then   the record is at the beginning of the page at physical address A, and WR has grown by its
 *        bytes; the rest of this page and the whole page at linear address A are unchanged
 * Control: WR has grown
 */
TEST(archpebs, record_is_at_the_physical_address_although_another_page_is_mapped_there,
     REQS(APEBS_37), NEEDS(need_perfmon, need_arch_load, need_events), .under_every_fault = true)
{
	const struct pages *pages = pages_get();

	FOR_EACH_COUNTER (c, arch_load_counters()) {
		const struct arch_run run = { .counter = c };
		u64 bytes;

		fill(pages->moved_frame, IN_FRAME);
		fill(pages->moved, IN_LINEAR);
		arch_pebs_open(0, ARCH_PEBS_NEVER);
		msr_write(MSR_IA32_PEBS_BASE, (u64)(uintptr_t)pages->moved);
		arch_go_on(&run);
		bytes = arch_pebs_written();
		if (!bytes)
			test_missed(t);
		if (!CONTROL(t, APEBS_37, bytes, "WR has grown, IA32_PMC%u", c))
			return;
		CHECK_EQ(t, APEBS_37, bytes, arch_record_bytes(pages->moved_frame, bytes),
			 "bytes of the record at the physical address; IA32_PMC%u", c);
		CHECK(t, APEBS_37,
		      workload_mark_at(&workload_sample, SAMPLE_MARKS,
				       quadword(pages->moved_frame, AT_EVENTING_IP)) >= 0,
		      "EventingIP %#lx at the physical address is a marked load",
		      quadword(pages->moved_frame, AT_EVENTING_IP));
		CHECK_EQ(t, APEBS_37, 0, changed(pages->moved_frame, bytes, IN_FRAME),
			 "bytes written after the record");
		CHECK_EQ(t, APEBS_37, 0, changed(pages->moved, 0, IN_LINEAR),
			 "bytes written at the linear address");
		arch_pebs_close();
	}
}
