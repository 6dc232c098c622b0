/* SPDX-License-Identifier: MIT */
/* See inventory.h. */
#include "pmu/inventory.h"

#include "kernel/machine/smp.h"
#include "kernel/processor/cpuid.h"
#include "kernel/interrupt/fault.h"
#include "kernel/output/fmt.h"
#include "kernel/processor/percpu.h"
#include "kernel/memory/string.h"
#include "pmu/leaves.h"
#include "spec/msr.h"

#define LINE_SIZE	400

static const struct {
	u32 msr;
	const char *name;
} registers[] = {
	{ MSR_IA32_MISC_ENABLE, "IA32_MISC_ENABLE" },
	{ MSR_IA32_PERF_CAPABILITIES, "IA32_PERF_CAPABILITIES" },
	{ MSR_IA32_DEBUGCTL, "IA32_DEBUGCTL" },
};
#define REGISTERS	(sizeof(registers) / sizeof(registers[0]))

static const struct {
	const char *msr, *name;
	unsigned lo, hi;
} fields[] = {
#define MSR_FIELD(msr, field, lo, hi, cap, access, source) { #msr, #field, lo, hi },
#include "spec/msr.def"
#define MSR_NAME(msr, field, lo, hi, source) { #msr, #field, lo, hi },
#include "spec/msr_name.def"
};

static struct inventory {
	bool kept;
	bool is_there[REGISTERS];
	u64 value[REGISTERS];
	struct leaves leaves;
} cpus[CPU_MAX];

static void cpuid(u32 leaf, u32 subleaf, u32 regs[4])
{
	struct cpuid r = cpuid_read(leaf, subleaf);

	regs[0] = r.eax;
	regs[1] = r.ebx;
	regs[2] = r.ecx;
	regs[3] = r.edx;
}

void inventory_keep(const struct pmu_caps *caps)
{
	struct inventory *cpu = &cpus[cpu_index()];

	if (cpu->kept)
		return;
	leaves_read(&cpu->leaves, caps->hypervisor ? caps->host.leaf : 0, cpuid);
	for (unsigned i = 0; i < REGISTERS; i++)
		cpu->is_there[i] = caps->intel &&
				   (caps->pdcm || registers[i].msr != MSR_IA32_PERF_CAPABILITIES) &&
				   !msr_try_read(registers[i].msr, &cpu->value[i]).raised;
	cpu->kept = true;
}

/* Append " NAME" for a set bit, " NAME=value" for a nonzero field of several bits. */
static void put_words(char *line, size_t size, const char *msr, u64 value)
{
	size_t length = 0;

	line[0] = '\0';
	for (unsigned i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		u64 mask = BITS(fields[i].lo, fields[i].hi);

		if (strcmp(fields[i].msr, msr) || !(value & mask) || length >= size)
			continue;
		if (fields[i].lo == fields[i].hi)
			length += (size_t)fmt_print(line + length, size - length, " %s",
						    fields[i].name);
		else
			length += (size_t)fmt_print(line + length, size - length, " %s=%lu",
						    fields[i].name, (value & mask) >> fields[i].lo);
		value &= ~mask;
	}
	if (value && length < size)
		fmt_print(line + length, size - length, " and bits %#lx", value);
}

static bool same_leaf(const struct leaf *a, const struct leaf *b)
{
	for (unsigned i = 0; b && i < 4; i++)
		if (a->regs[i] != b->regs[i])
			return false;
	return b;
}

/* first: the processor whose values needn't be repeated, or NULL. */
static void describe(struct tap *tap, unsigned number, const struct inventory *first)
{
	const struct inventory *cpu = &cpus[number];
	char words[LINE_SIZE];

	tap_comment(tap,
		    "cpuid of processor %u%s: leaf.subleaf EAX EBX ECX EDX, those that "
		    "aren't 0",
		    smp_number(number), first ? ", where it differs" : "");
	for (unsigned i = 0; i < cpu->leaves.count; i++) {
		const struct leaf *leaf = &cpu->leaves.at[i];

		if (!first ||
		    !same_leaf(leaf, leaves_find(&first->leaves, leaf->number, leaf->subleaf)))
			tap_comment(tap, "cpuid: %08x.%u %08x %08x %08x %08x", leaf->number,
				    leaf->subleaf, leaf->regs[0], leaf->regs[1], leaf->regs[2],
				    leaf->regs[3]);
	}
	for (unsigned i = 0; first && i < first->leaves.count; i++) {
		const struct leaf *leaf = &first->leaves.at[i];

		if (!leaves_find(&cpu->leaves, leaf->number, leaf->subleaf))
			tap_comment(tap, "cpuid: %08x.%u %08x %08x %08x %08x", leaf->number,
				    leaf->subleaf, 0, 0, 0, 0);
	}
	for (unsigned i = 0; i < REGISTERS; i++) {
		if (!cpu->is_there[i] ||
		    (first && first->is_there[i] && first->value[i] == cpu->value[i]))
			continue;
		put_words(words, sizeof(words), registers[i].name, cpu->value[i]);
		tap_comment(tap, "msr: %s = %#lx:%s", registers[i].name, cpu->value[i],
			    words[0] ? words : " all 0");
	}
}

bool inventory_is_first_of_kind(unsigned cpu)
{
	for (unsigned j = 0; j < cpu; j++)
		if (cpus[j].kept && leaves_same_kind(&cpus[cpu].leaves, &cpus[j].leaves))
			return false;
	return cpus[cpu].kept;
}

void inventory_describe(struct tap *tap)
{
	for (unsigned i = 0; i < CPU_MAX; i++) {
		if (inventory_is_first_of_kind(i))
			describe(tap, i, i ? &cpus[CPU_BOOT] : NULL);
	}
}
