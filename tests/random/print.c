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

void print_case(struct test *t, const struct draw_case *c)
{
	test_note(t, "draw: static const struct draw_case c = {");
	test_note(t, "draw:\t.class = %u, .constant = %#lx,", c->class, c->constant);
	print_words(t, "select", c->select, DRAW_GP);
	print_words(t, "preset", c->preset, DRAW_GP);
	print_words(t, "fixed_preset", c->fixed_preset, DRAW_FIXED);
	test_note(t, "draw:\t.fixed_control = %#lx, .global = %#lx,", c->fixed_control, c->global);
	test_note(t, "draw:\t.si = %d, .bp = %d, .bx = %d, .high = %u,", c->si, c->bp, c->bx,
		  c->high);
	for (unsigned i = 0; i < DRAW_OPERATIONS; i++)
		if (c->operation[i].msr || c->operation[i].low || c->operation[i].high)
			test_note(t, "draw:\t.operation[%u] = { %#x, %#x, %#x, 0 },", i,
				  c->operation[i].msr, c->operation[i].low, c->operation[i].high);
	test_note(t, "draw: };");
	test_note(t, "draw: session_judge(&c,");
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
