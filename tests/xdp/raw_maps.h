/* SPDX-License-Identifier: BSD-3-Clause */
/* One map of each type that raw programs (raw.h) use, ours and the kernel's. */
#ifndef XDPVM_TEST_RAW_MAPS_H
#define XDPVM_TEST_RAW_MAPS_H

#include "map.h"
#include "raw.h"

/* Values are RAW_VALUE bytes and keys RAW_KEY, where the type leaves the choice. */
#define RAW_KEY 8
#define RAW_VALUE 16
#define RAW_ENTRIES 4

enum raw_map {
	RAW_ARRAY,
	RAW_HASH,
	RAW_PERCPU_ARRAY,
	RAW_PERCPU_HASH,
	RAW_LRU_HASH,
	RAW_RINGBUF,
	RAW_QUEUE,
	RAW_PROG_ARRAY,
	RAW_PERF,
	RAW_DEVMAP,
	RAW_RODATA,		/* one frozen value, "text" */
	RAW_GLOBALS,		/* one value */
	RAW_OUTER,		/* an array of maps like RAW_ARRAY, which is its element 0 */
	RAW_MAPS,
};

/* Instructions that load the address of a map, and of a place in its only value. */
#define LD_MAP(d, map) \
	INSN(BPF_LD | BPF_IMM | BPF_DW, d, BPF_PSEUDO_MAP_IDX, 0, map), INSN(0, 0, 0, 0, 0)
#define LD_VALUE(d, map, at) \
	INSN(BPF_LD | BPF_IMM | BPF_DW, d, BPF_PSEUDO_MAP_IDX_VALUE, 0, map), INSN(0, 0, 0, 0, at)

/* Made anew; hashes have one element, whose key is 0. kernel: the kernel's, too. */
int raw_maps_create(struct raw_maps *maps, bool kernel);
void raw_maps_destroy(struct raw_maps *maps);

#endif /* XDPVM_TEST_RAW_MAPS_H */
