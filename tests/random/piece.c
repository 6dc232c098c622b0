/* SPDX-License-Identifier: MIT */
/* See piece.h. */
#include "tests/random/piece.h"

#include "kernel/memory/string.h"

unsigned piece_count(void)
{
	return (unsigned)(draw_pieces_end - draw_pieces);
}

const struct draw_piece *piece_get(unsigned i)
{
	return &draw_pieces[i];
}

unsigned piece_rows(unsigned i)
{
	u32 end = i + 1 < piece_count() ? draw_pieces[i + 1].first :
					  (u32)(draw_rows_end - draw_rows);

	return end - draw_pieces[i].first;
}

int piece_find(const char *name, unsigned instance)
{
	for (unsigned i = 0; i < piece_count(); i++)
		if (draw_pieces[i].instance == instance && !strcmp(draw_pieces[i].name, name))
			return (int)i;
	return -1;
}
