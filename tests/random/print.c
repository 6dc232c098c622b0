/* SPDX-License-Identifier: MIT */
/* See print.h. */
#include "tests/random/print.h"

#include "kernel/memory/string.h"
#include "kernel/output/fmt.h"

#define LINE 160

static void print_words(struct test *t, const char *name, const u64 *words, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (words[i])
			test_note(t, "draw:\t.%s[%u] = %#lx,", name, i, words[i]);
}

static void print_program(struct test *t, const struct draw_case *c)
{
	char line[LINE];
	size_t used = 0;

	for (unsigned i = 0; i < c->pieces; i++) {
		const struct draw_piece *piece = piece_get(c->piece[i]);
		char name[40];

		if (piece->instance)
			fmt_print(name, sizeof(name), "%s.%u", piece->name, piece->instance);
		else
			fmt_print(name, sizeof(name), "%s", piece->name);
		fmt_print(line + used, sizeof(line) - used, "%s%s", used ? " " : "", name);
		used = strlen(line);
		if (used > 60 || i + 1 == c->pieces) {
			test_note(t, "draw: \"%s%s\"%s", line, i + 1 < c->pieces ? " " : "",
				  i + 1 < c->pieces ? "" : ", &verdict);");
			used = 0;
		}
	}
}

static void print_sampling(struct test *t, const struct draw_case *c)
{
	const struct draw_ds *ds = &c->ds;

	if (c->freeze || c->lvt || c->keep_status || c->stay_masked)
		test_note(t,
			  "draw:\t.freeze = %u, .lvt = %u, .keep_status = %u, .stay_masked = %u,",
			  c->freeze, c->lvt, c->keep_status, c->stay_masked);
	if (!ds->used)
		return;
	test_note(t, "draw:\t.pebs_enable = %#lx, .ds.used = 1, .ds.config = %#lx, .ds.high = %u,",
		  c->pebs_enable, ds->config, ds->high);
	if (ds->recording)
		test_note(t, "draw:\t.ds.recording = 1,");
	test_note(t, "draw:\t.ds.area = %u, .ds.base = %u, .ds.index = %d,", ds->area, ds->base,
		  ds->index);
	test_note(t, "draw:\t.ds.maximum = %d, .ds.threshold = %d,", ds->maximum, ds->threshold);
	print_words(t, "ds.reset", ds->reset, DRAW_COUNTERS);
}

static void print_branches(struct test *t, const struct draw_case *c)
{
	const struct draw_branches *b = &c->branches;

	if (!b->depth)
		return;
	test_note(t, "draw:\t.branches = { .depth = %u, .top = %u, .old = %u, .freeze = %u,",
		  b->depth, b->top, b->old, b->freeze);
	test_note(t, "draw:\t\t.select = %#x, .look = %#lx },", b->select, b->look);
}

void print_case(struct test *t, const struct draw_case *c)
{
	test_note(t, "draw: static const struct draw_case c = {");
	test_note(t, "draw:\t.class = %u, .constant = %#lx,", c->class, c->constant);
	print_words(t, "select", c->select, DRAW_GP);
	print_words(t, "preset", c->preset, DRAW_GP);
	print_words(t, "fixed_preset", c->fixed_preset, DRAW_FIXED);
	print_words(t, "arch.config", c->arch.config, DRAW_COUNTERS);
	if (c->arch.used)
		test_note(t,
			  "draw:\t.arch.used = 1, .arch.place = %u, .arch.size = %u, "
			  ".arch.xmm = %#x, .arch.write = %#x, .arch.threshold = %#x,",
			  c->arch.place, c->arch.size, c->arch.xmm, c->arch.write,
			  c->arch.threshold);
	print_sampling(t, c);
	print_branches(t, c);
	test_note(t, "draw:\t.fixed_control = %#lx, .global = %#lx,", c->fixed_control, c->global);
	test_note(t, "draw:\t.si = %d, .bp = %d, .bx = %d, .high = %u, .upper = %u,", c->si, c->bp,
		  c->bx, c->high, c->upper);
	for (unsigned i = 0; i < DRAW_OPERATIONS; i++)
		if (c->operation[i].msr || c->operation[i].low || c->operation[i].high)
			test_note(t, "draw:\t.operation[%u] = { %#x, %#x, %#x, 0 },", i,
				  c->operation[i].msr, c->operation[i].low, c->operation[i].high);
	test_note(t, "draw: };");
	test_note(t, "draw: session_judge(t, &c,");
	print_program(t, c);
}

void print_wrongs(struct test *t, const struct draw_verdict *v)
{
	for (unsigned i = 0; i < v->wrongs && i < DRAW_WRONG; i++) {
		const struct draw_wrong *w = &v->wrong[i];
		char what[96];

		fmt_print(what, sizeof(what), w->what, w->number);
		test_note(t, "draw: %s: %s: wanted %#lx to %#lx, got %#lx",
			  oracle_claim_name(w->claim), what, w->least, w->most, w->got);
	}
}

/* Print "load_words.1+2": the position of an address in the program. */
static void print_place(struct test *t, const char *what, unsigned i, const struct trace *trace,
			u64 ip, u64 status)
{
	int at = trace_find(trace, ip);
	unsigned first = at < 0 ? 0 : (unsigned)at;

	if (at < 0) {
		test_note(t, "draw: %s %u at %#lx, status %#lx", what, i, ip, status);
		return;
	}
	while (first && trace->step[first - 1].piece == trace->step[at].piece)
		first--;
	test_note(t, "draw: %s %u at %s.%u+%u, status %#lx", what, i,
		  piece_get(trace->step[at].piece)->name,
		  piece_get(trace->step[at].piece)->instance, (unsigned)at - first, status);
}

void print_seen(struct test *t, const struct trace *trace, const struct draw_observation *seen)
{
	for (unsigned i = 0; i < seen->arch.runs; i++)
		test_note(t, "draw: run %u of records: up to record %u, byte %#lx", i,
			  seen->arch.last[i], seen->arch.after[i]);
	if (seen->arch.runs)
		test_note(t, "draw: IA32_PEBS_INDEX %#lx", seen->arch.index);
	for (unsigned i = 0; i < seen->interrupts && i < DRAW_INTERRUPTS_SEEN; i++)
		print_place(t, "interrupt", i, trace, seen->interrupt[i].rip,
			    seen->interrupt[i].status);
	for (unsigned i = 0; i < seen->records && i < DRAW_RECORDS_SEEN; i++) {
		u64 ip = seen->record[i].value[RECORD_rip];

		record_get(&seen->record[i], RECORD_eventing_ip, &ip);
		print_place(t, "record", i, trace, ip, seen->record[i].value[RECORD_status]);
	}
	for (unsigned i = 0; i < ARCH_LBR_MAX_ENTRIES; i++)
		if (seen->branches.looked >> i & 1)
			test_note(t, "draw: entry %u: FROM %#lx, TO %#lx, INFO %#lx", i,
				  seen->branches.entry[i].from, seen->branches.entry[i].to,
				  seen->branches.entry[i].info);
}
