/* SPDX-License-Identifier: MIT */
/* Guests that are refused before the machine is borrowed. */
#include "kernel/processor/confidential.h"
#include "host/check.h"

#include <string.h>

/* CPUID.21H of a TDX guest: EBX "Inte", EDX "lTDX", ECX four blanks. */
static const struct confidential_leaf tdx = { 0, 0x65746e49, 0x20202020, 0x5844546c };
/* CPUID.8000001FH: SME, SEV, the page flush MSR and SEV-ES, bit 51. */
static const struct confidential_leaf amd = { 0xf, 51 | 1 << 6, 0, 0 };

static void a_tdx_guest_is_recognised(void)
{
	struct confidential_view view = { .tdx = tdx };

	CHECK(confidential_name(&view) && !strcmp(confidential_name(&view), "Intel TDX"));
	view.tdx.ecx = 0;
	CHECK(!confidential_name(&view), "another leaf 21H");
}

static void a_sev_guest_is_recognised_by_its_firmware_map(void)
{
	struct confidential_view view = { .encryption = amd, .top_entry = BIT(51) | 0x1023 };

	CHECK(confidential_name(&view) && !strcmp(confidential_name(&view), "AMD SEV"));
	view.top_entry = 0x1023;
	CHECK(!confidential_name(&view), "a host, or a guest without encryption");
	view.top_entry = BIT(47) | 0x1023;
	CHECK(!confidential_name(&view), "another bit");
	view = (struct confidential_view){ .top_entry = BIT(51) | BIT(0) };
	CHECK(!confidential_name(&view), "a processor without the leaf");
}

int main(void)
{
	RUN(a_tdx_guest_is_recognised);
	RUN(a_sev_guest_is_recognised_by_its_firmware_map);
	return check_end();
}
