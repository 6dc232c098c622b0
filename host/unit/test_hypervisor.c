/* SPDX-License-Identifier: MIT */
/* The hypervisor that CPUID shows: signatures at any leaf that may have one, and nothing else. */
#include <string.h>

#include "host/check.h"
#include "pmu/hypervisor.h"

/* The contents of two leaves; for all others a processor returns the data of its highest basic
 * leaf. */
static struct {
	u32 leaf;
	const char *signature;
} leaves[2];

static void cpuid(u32 leaf, u32 regs[4])
{
	static const u32 basic[4] = { 7, 0x340, 0x340, 0 };

	memcpy(regs, basic, sizeof(basic));
	for (unsigned i = 0; i < 2; i++)
		if (leaves[i].signature && leaf == leaves[i].leaf) {
			memset(regs, 0, 4 * sizeof(*regs));
			memcpy(regs + 1, leaves[i].signature, strlen(leaves[i].signature));
		}
}

static struct hypervisor find(bool is_set, u32 a, const char *first, u32 b, const char *second)
{
	leaves[0].leaf = a;
	leaves[0].signature = first;
	leaves[1].leaf = b;
	leaves[1].signature = second;
	return hypervisor_find(is_set, cpuid);
}

static void each_signature_is_known(void)
{
#define HYPERVISOR(token, signature_, title, source) \
	CHECK_EQ(HYPERVISOR_##token, find(true, 0x40000000, signature_, 0, NULL).id); \
	CHECK_STR(signature_, find(true, 0x40000000, signature_, 0, NULL).signature);
#include "spec/hypervisor.def"
	CHECK_EQ(HYPERVISOR_KVM, find(true, 0x40000000, "KVMKVMKVM", 0, NULL).id);
}

static void a_signature_after_hyper_v_s_wins(void)
{
	struct hypervisor h = find(true, 0x40000000, "Microsoft Hv", 0x40000100, "KVMKVMKVM");

	CHECK_EQ(HYPERVISOR_KVM, h.id);
	CHECK_EQ(0x40000100, h.leaf);
	CHECK_STR("KVMKVMKVM", h.signature);
	CHECK_STR("Microsoft Hv", h.first);
	h = find(true, 0x40000000, "Microsoft Hv", 0x4000ff00, "XenVMMXenVMM");
	CHECK_EQ(HYPERVISOR_XEN, h.id);
	h = find(true, 0x40000000, "Microsoft Hv", 0x40010000, "KVMKVMKVM");
	CHECK_EQ(HYPERVISOR_MICROSOFT, h.id, "no guest looks that far");
	CHECK_STR("", h.first);
}

static void a_hidden_one_is_found(void)
{
	CHECK_EQ(HYPERVISOR_KVM, find(false, 0x40000000, "KVMKVMKVM", 0, NULL).id);
}

static void what_no_table_names_is_one_if_it_says_so(void)
{
	CHECK_EQ(HYPERVISOR_OTHER, find(true, 0x40000000, "SomebodyElse", 0, NULL).id);
	CHECK_STR("SomebodyElse", find(true, 0x40000000, "SomebodyElse", 0, NULL).signature);
	CHECK_EQ(HYPERVISOR_NONE, find(false, 0x40000000, "SomebodyElse", 0, NULL).id);
	CHECK_EQ(HYPERVISOR_NONE, find(false, 0, NULL, 0, NULL).id, "a processor's own data");
	CHECK_STR("", find(false, 0, NULL, 0, NULL).signature);
	CHECK_EQ(HYPERVISOR_OTHER, find(true, 0, NULL, 0, NULL).id);
}

int main(void)
{
	RUN(each_signature_is_known);
	RUN(a_signature_after_hyper_v_s_wins);
	RUN(a_hidden_one_is_found);
	RUN(what_no_table_names_is_one_if_it_says_so);
	return check_end();
}
