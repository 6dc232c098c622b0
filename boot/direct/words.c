/* SPDX-License-Identifier: MIT */
/* See words.h. */
#include "boot/direct/words.h"
#include "kernel/memory/string.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* If a word of the list ends with '=', any value may follow. */
static bool is_linux(const char *word, size_t length)
{
	static const char *const words[] = { "pci=", "root=", "virtio_mmio.device=", "console=",
					     "ro", "rw" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t n = strlen(words[i]);

		if (length >= n && !memcmp(word, words[i], n) &&
		    (length == n || words[i][n - 1] == '='))
			return true;
	}
	return false;
}

size_t words_of_ours(char *text, size_t length, char *left, size_t size)
{
	size_t kept = 0, listed = 0;

	for (size_t at = 0, end; at < length; at = end) {
		for (end = at + 1; end < length && !is_blank(text[end - 1]);)
			end++;
		/* The word includes the blank after it, if there is one. */
		if (!is_linux(text + at, end - at - is_blank(text[end - 1]))) {
			for (size_t i = at; i < end; i++)
				text[kept++] = text[i];
			continue;
		}
		if (listed + 1 < size)
			left[listed++] = ' ';
		for (size_t i = at; i < end && !is_blank(text[i]) && listed + 1 < size; i++)
			left[listed++] = text[i];
	}
	if (size)
		left[listed] = '\0';
	return kept;
}
