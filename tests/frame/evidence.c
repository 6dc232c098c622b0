/* SPDX-License-Identifier: MIT */
/* See evidence.h. tools/report/records.py reads the entries, and decodes them by their size. */
#include "tests/frame/evidence.h"

#include "kernel/machine/smp.h"
#include "kernel/memory/string.h"
#include "kernel/output/fmt.h"
#include "kernel/processor/percpu.h"
#include "pmu/adaptive.h"
#include "pmu/counter.h"
#include "pmu/ds.h"

void evidence_begin(struct evidence *evidence)
{
	evidence->kept = evidence->total = 0;
	ds_forget();
}

static void keep(struct evidence *evidence, unsigned number, const void *bytes, size_t size)
{
	evidence->record[evidence->kept].number = number;
	evidence->record[evidence->kept].size = size;
	memcpy(evidence->record[evidence->kept].bytes, bytes,
	       size < EVIDENCE_BYTES ? size : EVIDENCE_BYTES);
	evidence->kept++;
}

/*
 * Adaptive records may differ in size, and each record gives the offset of the next: read them one
 * after the other from the first. false: a record has no valid size, so the size of the set-up is
 * used.
 */
static bool take_walking(struct evidence *evidence)
{
	struct {
		const u8 *bytes;
		size_t size;
	} newest[EVIDENCE_RECORDS];
	const u8 *base = ds_record(0);
	int64_t end = ds_bytes(), at = 0;
	struct adaptive_layout layout;
	unsigned count = 0;

	if (end < ADAPTIVE_BASIC_BYTES || end > DS_BUFFER_BYTES)
		return false;
	for (; at < end; at += layout.size) {
		if (adaptive_read(base + at, (size_t)(end - at), &layout) != ADAPTIVE_WHOLE)
			return false;
		newest[count % EVIDENCE_RECORDS].bytes = base + at;
		newest[count % EVIDENCE_RECORDS].size = layout.size;
		count++;
	}
	evidence->total = count;
	for (unsigned i = count > EVIDENCE_RECORDS ? count - EVIDENCE_RECORDS : 0; i < count; i++)
		keep(evidence, i, newest[i % EVIDENCE_RECORDS].bytes,
		     newest[i % EVIDENCE_RECORDS].size);
	return true;
}

static bool has_adaptive_records(void)
{
	enum record_format format = counter_caps()->record_format;

	return counter_caps()->record_known &&
	       (format == RECORD_ADAPTIVE || format == RECORD_ADAPTIVE_BASIC);
}

void evidence_take(struct evidence *evidence)
{
	unsigned first;

	if (evidence->kept || !ds_was_opened())
		return;
	evidence->cpu = cpu_index();
	if (has_adaptive_records() && take_walking(evidence))
		return;
	evidence->total = ds_records();
	first = evidence->total > EVIDENCE_RECORDS ? evidence->total - EVIDENCE_RECORDS : 0;
	for (unsigned i = first; i < evidence->total && i < DS_CAPACITY; i++)
		keep(evidence, i, ds_record(i), ds_record_size());
	/* A record may be in the buffer although the index doesn't count it. */
	if (!evidence->total && ds_record_written(0))
		keep(evidence, 0, ds_record(0), ds_record_size());
}

static int print_head(const struct evidence *evidence, unsigned i, char *text, size_t size)
{
	int length = fmt_print(text, size, "record %u of %u in the buffer of processor %u",
			       evidence->record[i].number, evidence->total,
			       smp_number(evidence->cpu));

	if (evidence->record[i].size > EVIDENCE_BYTES)
		length += fmt_print(text + length, size - (size_t)length, ", %u of %u bytes",
				    EVIDENCE_BYTES, (unsigned)evidence->record[i].size);
	return length + fmt_print(text + length, size - (size_t)length, ": ");
}

void evidence_print(const struct evidence *evidence, struct tap *tap)
{
	char key[24], text[96 + 2 * EVIDENCE_BYTES];

	for (unsigned i = 0; i < evidence->kept; i++) {
		int length = print_head(evidence, i, text, sizeof(text));

		for (size_t at = 0; at < evidence->record[i].size && at < EVIDENCE_BYTES; at++)
			length += fmt_print(text + length, sizeof(text) - (size_t)length, "%02x",
					    evidence->record[i].bytes[at]);
		fmt_print(key, sizeof(key), "record_%u", i + 1);
		tap_yaml_entry(tap, key, text);
	}
}
