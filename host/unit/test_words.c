/* SPDX-License-Identifier: MIT */
/* The words of a PVH loader's command line: words for Linux are removed, all others stay. */
#include "boot/direct/words.h"
#include "host/check.h"

static char text[200], left[40];

static size_t take(const char *line)
{
	size_t length = strlen(line);

	strcpy(text, line);
	memset(left, 'x', sizeof(left));
	length = words_of_ours(text, length, left, sizeof(left));
	text[length] = '\0';
	return length;
}

static void words_for_linux_are_left_alone(void)
{
	take("at_end=reset pci=off root=/dev/vda rw virtio_mmio.device=4K@0xd0001000:6 "
	     "tests=pmi.*");
	CHECK_STR("at_end=reset tests=pmi.*", text);
	CHECK_STR(" pci=off root=/dev/vda rw virtio_mmio.d", left);
	take("pci=off");
	CHECK_STR("", text);
	CHECK_STR(" pci=off", left);
	take("\tro  console=ttyS0\tdraw=2s ro");
	CHECK_STR("\t draw=2s ", text);
}

static void all_others_stay(void)
{
	static const char *const lines[] = {
		"",
		" ",
		"at_end=exit",
		"tests=root.* require=PMI",
		"row=1 rwx pcie=off",
		"pci root",
		"  a=b\t c=d ",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		CHECK_EQ(strlen(lines[i]), take(lines[i]), "%zu", i);
		CHECK_STR(lines[i], text);
		CHECK_STR("", left);
	}
}

int main(void)
{
	RUN(words_for_linux_are_left_alone);
	RUN(all_others_stay);
	return check_end();
}
