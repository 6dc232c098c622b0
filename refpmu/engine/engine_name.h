/* SPDX-License-Identifier: MIT */
/*
 * The engines: which ways (engine/engine.c) instructions may take while they are counted. Where its
 * own way can't be exact, an engine uses the ways of the engines before it in this list.
 */
#ifndef REFPMU_ENGINE_ENGINE_NAME_H
#define REFPMU_ENGINE_ENGINE_NAME_H

enum engine_name {
	ENGINE_STEP,		/* single steps */
	ENGINE_DIRECT,		/* instructions executed one by one without a world switch */
	ENGINE_FAST,		/* translated code: not in every build, nor on every machine */
	ENGINES
};

/*
 * The first instructions after counting has begun are reported to the model one by one, by
 * ENGINE_FAST too. The model has shorter rules for blocks, which know of no branch that isn't
 * taken, so a broken rule for single instructions would change nothing in a test whose code runs in
 * blocks. Most tests count fewer instructions than this.
 */
#define ENGINE_ONE_BY_ONE	128

#endif
