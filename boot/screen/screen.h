/* SPDX-License-Identifier: MIT */
/*
 * The screen of a run, and its keys. Drawing happens when one of these is called and at no other
 * time, so never while a test runs. Without a screen each of them does nothing.
 */
#ifndef BOOT_SCREEN_SCREEN_H
#define BOOT_SCREEN_SCREEN_H

#include "boot/screen/keys.h"
#include "kernel/output/raster.h"
#include "spec/types.h"

/* From now on the screen is this program's: the framebuffer, or one that the firmware draws on, for
 * which that has to be given back the machine: between groups. After machine_init(), machine given
 * back. */
void screen_open(bool wanted, const struct raster *framebuffer, const struct soak *soak);
bool screen_is_open(void);

/* A line of the log. Draws nothing. */
void screen_line(const char *line);
/* Group n of so many begins, n from 1; a test of it is about to run. Draw what has changed. */
void screen_group(unsigned n, unsigned count);
void screen_begin_test(const char *name);

/* Between two groups, machine given back: keys that were pressed. false: the run shall end. */
bool screen_go_on(void);
/* The same between two tests, for which the machine should be given back now and then: is it time
 * to? */
bool screen_is_due(void);
void screen_poll(void);
/* Has a key ended the run? */
bool screen_is_ended(void);
/* Has a key ended it? */
bool screen_has_stopped(void);
/* The run is over: show what it comes to. */
void screen_end(void);
/* Count what the run came to, for the next one. */
void screen_keep_result(struct soak *soak);
/* What the person in front of it wants next, for which this waits. tests: with ACTION_TESTS which
 * ones. Machine given back. */
enum key_action screen_ask(char *tests, size_t size);
/* The result in short, for the page with its QR Code; it must outlive screen_ask(). */
void screen_set_result(const char *text);
/* Say what a key has done, when screen_ask() is called again. */
void screen_say(const char *text);

#endif
