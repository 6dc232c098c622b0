/* SPDX-License-Identifier: MIT */
/* Last branch records of a drawn case, on the processor that calls: each read costs a hypervisor's
 * exit, so the case says which entries are looked at. */
#ifndef TESTS_RANDOM_MACHINE_BRANCHES_H
#define TESTS_RANDOM_MACHINE_BRANCHES_H

#include "tests/random/observation.h"

/* What there is. strict: test_is_strict(). */
struct draw_branch_env machine_branches_learn(bool strict);
/* As the case has them before its program, and what they hold after it. */
void machine_branches_open(const struct draw_env *env, const struct draw_case *c);
void machine_branches_look(const struct draw_env *env, const struct draw_case *c,
			   struct draw_observation *seen);
/* For others. */
void machine_branches_close(const struct draw_env *env);

#endif
