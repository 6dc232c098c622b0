/* SPDX-License-Identifier: MIT */
/* What a broken NetBurst processor remembers: of a core, and of each logical processor. */
#ifndef REFPMU_FAULTS_NETBURST_STATE_H
#define REFPMU_FAULTS_NETBURST_STATE_H

#include "spec/netburst.h"
#include "spec/types.h"

struct netburst_core_faults {
	u32 pmi_later;		/* bit n: nb-pmi-one-count-late holds counter n's PMI */
	u64 last_ds_area;	/* nb-ds-area-shared */
	/* nb-counters-per-thread: the logical processor that has written it last */
	u8 counter_writer[NB_COUNTERS], cccr_writer[NB_COUNTERS];
	u32 forced;		/* nb-force-ovf-once: bit n, counter n has been */
	u64 first_had[NB_COUNTERS];	/* nb-second-lost: thread 0, last */
	u32 tick;
};

struct netburst_thread_faults {
	u32 seen;		/* instructions */
	u64 own_pebs_enable, own_matrix_vert, own_escr;
	u8 previous_record[NB64_BYTES];
};

#endif
