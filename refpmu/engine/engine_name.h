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

#endif
