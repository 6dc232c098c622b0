/* SPDX-License-Identifier: MIT */
/*
 * The screen of a run, and its keys. Drawing happens only in calls of these functions, so never
 * while a test runs. Without a screen they do nothing.
 */
#ifndef BOOT_SCREEN_SCREEN_H
#define BOOT_SCREEN_SCREEN_H

#include "boot/screen/keys.h"
#include "kernel/machine/machine.h"
#include "spec/types.h"

/* From now on this program uses the screen: the framebuffer, or a screen on which the firmware
 * draws. The firmware can draw only while it has the machine, between groups. After machine_init(),
 * while the firmware has the machine. */
void screen_open(bool wanted, const struct machine_setup *setup, const struct soak *soak);
bool screen_is_open(void);

/* A line of the log. Draws nothing. */
void screen_line(const char *line);
/* Group n of so many begins, n from 1; a test of it is about to run. Draw what has changed. */
void screen_group(unsigned n, unsigned count);
void screen_begin_test(const char *name);

/* Between two groups, while the firmware has the machine: handle the keys that were pressed. false:
 * a key ended the run. */
bool screen_go_on(void);
/* Between two tests: is it time to give the machine back, so that keys can be read? */
bool screen_is_due(void);
void screen_poll(void);
/* Has a key asked to end the run? */
bool screen_is_ended(void);
/* Did screen_go_on() return false? */
bool screen_has_stopped(void);
/* The run is over: show its result. */
void screen_end(void);
/* Add the run's result to the soak, for the next run. */
void screen_keep_result(struct soak *soak);
/* Wait for a key that requests an action. tests: with ACTION_TESTS the tests to run. While the
 * firmware has the machine. */
enum key_action screen_ask(char *tests, size_t size);
/* The result in short, for the page with its QR Code; it must outlive screen_ask(). */
void screen_set_result(const char *text);
/* Set the text about a key's effect, which the next screen_ask() shows. */
void screen_say(const char *text);

#endif
