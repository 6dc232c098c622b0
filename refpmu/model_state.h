/* SPDX-License-Identifier: MIT */
/* The model's state, included by model.h only; nobody but refpmu/model_*.c looks inside. */
#ifndef REFPMU_MODEL_STATE_H
#define REFPMU_MODEL_STATE_H

struct model {
	struct model_config config;
	const struct model_host *host;
};

#endif
