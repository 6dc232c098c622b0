/* SPDX-License-Identifier: MIT */
/* The entry without a firmware. It can't return, so at the end the machine is switched off. */
#include "boot/direct/direct.h"
#include "boot/firmware.h"
#include "boot/session.h"
#include "kernel/interrupt/reset.h"
#include "platform/pvh.h"

void pvh_main(u64 start_info)
{
	const char *wrong = direct_init(start_info);

	if (wrong) {
		firmware_say("TAP version 14");
		firmware_say("Bail out! this program can't be started so:");
		firmware_say(wrong);
		firmware_say("# end of PMUTest86: exit 2");
	} else {
		harness_run();
	}
	firmware_switch_off();
	machine_reset();
}
