/* SPDX-License-Identifier: MIT */
/* See evidence.h. tools/report/records.py reads the entries, and decodes them by their size. */
#include "tests/frame/evidence.h"

#include "kernel/machine/smp.h"
#include "kernel/memory/string.h"
#include "kernel/output/fmt.h"
#include "kernel/processor/percpu.h"
#include "pmu/ds.h"

void evidence_begin(struct evidence *evidence)
{
	evidence->kept = evidence->total = 0;
	ds_forget();
}

static void keep(struct evidence *evidence, unsigned number)
{
	evidence->record[evidence->kept].number = number;
	evidence->record[evidence->kept].size = ds_record_size();
	memcpy(evidence->record[evidence->kept].bytes, ds_record(number), ds_record_size());
	evidence->kept++;
}

void evidence_take(struct evidence *evidence)
{
	unsigned first;

	if (evidence->kept || !ds_was_opened())
		return;
	evidence->cpu = cpu_index();
	evidence->total = ds_records();
	first = evidence->total > EVIDENCE_RECORDS ? evidence->total - EVIDENCE_RECORDS : 0;
	for (unsigned i = first; i < evidence->total && i < DS_CAPACITY; i++)
		keep(evidence, i);
	/* One that the index doesn't count. */
	if (!evidence->total && ds_record_written(0))
		keep(evidence, 0);
}

void evidence_print(const struct evidence *evidence, struct tap *tap)
{
	char key[24], text[96 + 2 * RECORD_MAX_SIZE];

	for (unsigned i = 0; i < evidence->kept; i++) {
		int length = fmt_print(text, sizeof(text),
				       "record %u of %u in the buffer of processor %u: ",
				       evidence->record[i].number, evidence->total,
				       smp_number(evidence->cpu));

		for (size_t at = 0; at < evidence->record[i].size; at++)
			length += fmt_print(text + length, sizeof(text) - (size_t)length, "%02x",
					    evidence->record[i].bytes[at]);
		fmt_print(key, sizeof(key), "record_%u", i + 1);
		tap_yaml_entry(tap, key, text);
	}
}
