/* SPDX-License-Identifier: MIT */
/* Last branch records of a drawn case, on the calling processor. Each read costs an exit to a
 * hypervisor, so the case says which entries are read. */
#ifndef TESTS_RANDOM_MACHINE_BRANCHES_H
#define TESTS_RANDOM_MACHINE_BRANCHES_H

#include "tests/random/observation.h"

/* The last branch records of this processor. strict: test_is_strict(). */
struct draw_branch_env machine_branches_learn(bool strict);
/* Set them as in the case, before its program; read them after it. */
void machine_branches_open(const struct draw_env *env, const struct draw_case *c);
void machine_branches_look(const struct draw_env *env, const struct draw_case *c,
			   struct draw_observation *seen);
/* Restore them for other tests. */
void machine_branches_close(const struct draw_env *env);

#endif
