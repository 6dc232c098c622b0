/* SPDX-License-Identifier: MIT */
/*
 * Which ways (engine/engine.c) instructions may take while they are counted. Each engine falls back
 * to the ways of those before it where its own can't be exact.
 */
#ifndef REFPMU_ENGINE_ENGINE_NAME_H
#define REFPMU_ENGINE_ENGINE_NAME_H

enum engine_name {
	ENGINE_STEP,		/* single steps */
	ENGINE_DIRECT,		/* instructions executed one by one without a world switch */
	ENGINE_FAST,		/* translated code: not in every build, nor on every machine */
	ENGINES
};

#endif
