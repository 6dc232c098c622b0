/* SPDX-License-Identifier: MIT */
/*
 * refpmu-fault NAME[@PARAMETER...]: a program for Linux on the reference PMU. From now on that rule
 * is broken; "none": no rule. The name is that of run-qemu.sh --fault. Exit status 1: no such
 * fault, 2: no reference PMU.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "refpmu/launch/fault.h"
#include "refpmu/vmm/hypercall.h"

static void say_elsewhere(void)
{
	static const char
		words[] = "refpmu-fault: this isn't the reference PMU, or another version\n";

	(void)!write(STDERR_FILENO, words, sizeof(words) - 1);
}

/* VMMCALL has raised #UD, as on a processor. */
static void end_elsewhere(int number)
{
	(void)number;
	say_elsewhere();
	_exit(2);
}

int main(int n, char **words)
{
	struct hypercall_fault request = { 0 };
	const char *wrong = "usage: refpmu-fault NAME[@PARAMETER...], or none";
	enum fault_id fault = FAULT_NONE;
	u64 status;

	if (n == 2)
		wrong = launch_fault((struct span){ words[1], strlen(words[1]) }, &fault,
				     &request.when);
	if (wrong) {
		fprintf(stderr, "refpmu-fault: %s\n", wrong);
		return 1;
	}
	signal(SIGILL, end_elsewhere);
	signal(SIGSEGV, end_elsewhere);
	request.fault = fault;
	status = hypercall(HYPERCALL_FAULT, &request);
	if (status != HYPERCALL_DONE)
		say_elsewhere();
	return status == HYPERCALL_DONE ? 0 : 2;
}
