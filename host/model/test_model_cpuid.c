/* SPDX-License-Identifier: MIT */
/* What CPUID answers, from the worst that the machine below may say: every bit set. */
#include "host/check.h"
#include "host/model/rig.h"

enum { EAX, EBX, ECX, EDX };

static struct rig r;
static u32 regs[4];

static void ask(u32 leaf, u32 subleaf, u32 below)
{
	for (unsigned i = 0; i < 4; i++)
		regs[i] = below;
	model_cpuid(&r.m, leaf, subleaf, regs);
}

static void open(bool hyper_threading)
{
	rig_open(&r, FAULT_NONE, 0, hyper_threading);
}

static void vendor(void)
{
	open(true);
	ask(0, 0, 0);
	CHECK_EQ(0xd, regs[EAX]);
	CHECK(!memcmp(&regs[EBX], "Genu", 4) && !memcmp(&regs[EDX], "ineI", 4) &&
	      !memcmp(&regs[ECX], "ntel", 4));
}

/* 06_3CH stepping 3 is the signature 000306C3H. */
static void signature_and_features(void)
{
	open(true);
	ask(1, 0, 0xffffffff);
	CHECK_EQ(0x000306c3, regs[EAX]);
	CHECK_EQ(0, regs[ECX] & 0x80000000, "no hypervisor");
	CHECK_EQ(0xff01ffff, regs[EBX], "one logical processor; APIC ID and CLFLUSH stay");
	ask(1, 0, 0);
	CHECK_EQ(0x8014, regs[ECX], "DTES64, DS-CPL, PDCM");
	CHECK_EQ(0x200000, regs[EDX], "DS");
}

static void brand(void)
{
	char text[49] = "";

	open(true);
	for (u32 i = 0; i < 3; i++) {
		ask(0x80000002 + i, 0, 0xffffffff);
		memcpy(text + 16 * i, regs, 16);
	}
	CHECK_STR("Intel(R) Core(TM) i7-4770 CPU @ 3.40GHz", text);
}

static void performance_monitoring(void)
{
	open(true);
	ask(0xa, 0, 0xffffffff);
	CHECK_EQ(0x07300403, regs[EAX], "version 3, 4 counters, 48 bits, 7 events");
	CHECK_EQ(0x18, regs[EBX], "no last-level cache events");
	CHECK_EQ(0, regs[ECX]);
	CHECK_EQ(0x603, regs[EDX], "3 fixed counters, 48 bits");
	open(false);
	ask(0xa, 0, 0);
	CHECK_EQ(0x07300803, regs[EAX], "8 counters");
}

static void no_transactions(void)
{
	open(true);
	ask(7, 0, 0xffffffff);
	CHECK_EQ(0xfffff7ef, regs[EBX]);
}

static void one_processor(void)
{
	open(true);
	ask(4, 0, 0xffffffff);
	CHECK_EQ(0, regs[EAX] >> 14);
	ask(0xb, 0, 0xffffffff);
	CHECK_EQ(1, regs[EBX]);
	CHECK_EQ(0x100, regs[ECX]);
	ask(0xb, 1, 0xffffffff);
	CHECK_EQ(1, regs[EBX]);
	CHECK_EQ(0x201, regs[ECX]);
	ask(0xb, 2, 0xffffffff);
	CHECK_EQ(0, regs[EBX]);
	CHECK_EQ(2, regs[ECX]);
}

static void check_zero(u32 leaf)
{
	ask(leaf, 0, 0xffffffff);
	CHECK_EQ(0, regs[EAX] | regs[EBX] | regs[ECX] | regs[EDX], "leaf %#x", leaf);
}

static void nothing_of_amd_nor_of_a_hypervisor(void)
{
	static const u32 empty[] = {
		0xe, 0x14, 0x1f, 0x23, 0x3fffffff, 0x40000000, 0x40000001, 0x400000ff, 0x4fffffff,
		0x80000005, 0x80000009, 0x8000000a, 0x80000019, 0x8000001d, 0x8000001e, 0x8000001f,
		0x8fffffff, 0xc0000000, 0xffffffff,
	};

	open(true);
	for (size_t i = 0; i < sizeof(empty) / sizeof(empty[0]); i++)
		check_zero(empty[i]);
	ask(0x80000000, 0, 0xffffffff);
	CHECK_EQ(0x80000008, regs[EAX]);
	CHECK_EQ(0, regs[EBX] | regs[ECX] | regs[EDX]);
	ask(0x80000001, 0, 0xffffffff);
	CHECK_EQ(0x121, regs[ECX], "no SVM");
	CHECK_EQ(0x2c100800, regs[EDX]);
	ask(0x80000008, 0, 0xffffffff);
	CHECK_EQ(0xffff, regs[EAX]);
	CHECK_EQ(0, regs[EBX] | regs[ECX] | regs[EDX]);
}

static void other_leaves_stay(void)
{
	open(true);
	ask(0xd, 0, 0x12345678);
	CHECK_EQ(0x12345678, regs[EAX]);
	CHECK_EQ(0x12345678, regs[EDX]);
	ask(7, 1, 0x12345678);
	CHECK_EQ(0x12345678, regs[EBX]);
}

int main(void)
{
	RUN(vendor);
	RUN(signature_and_features);
	RUN(brand);
	RUN(performance_monitoring);
	RUN(no_transactions);
	RUN(one_processor);
	RUN(nothing_of_amd_nor_of_a_hypervisor);
	RUN(other_leaves_stay);
	return check_end();
}
