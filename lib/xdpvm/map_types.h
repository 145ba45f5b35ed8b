/* SPDX-License-Identifier: BSD-3-Clause */
/* The operations of every map type, one per map_<type>.c; only map.c needs them all. */
#ifndef XDPVM_MAP_TYPES_H
#define XDPVM_MAP_TYPES_H

#include "map.h"

extern const struct xdpvm_map_ops xdpvm_map_array_of_maps_ops;
extern const struct xdpvm_map_ops xdpvm_map_array_ops;
extern const struct xdpvm_map_ops xdpvm_map_cpumap_ops;
extern const struct xdpvm_map_ops xdpvm_map_devmap_hash_ops;
extern const struct xdpvm_map_ops xdpvm_map_devmap_ops;
extern const struct xdpvm_map_ops xdpvm_map_hash_of_maps_ops;
extern const struct xdpvm_map_ops xdpvm_map_hash_ops;
extern const struct xdpvm_map_ops xdpvm_map_lpm_ops;
extern const struct xdpvm_map_ops xdpvm_map_lru_hash_ops;
extern const struct xdpvm_map_ops xdpvm_map_lru_percpu_hash_ops;
extern const struct xdpvm_map_ops xdpvm_map_percpu_array_ops;
extern const struct xdpvm_map_ops xdpvm_map_percpu_hash_ops;
extern const struct xdpvm_map_ops xdpvm_map_perf_ops;
extern const struct xdpvm_map_ops xdpvm_map_prog_array_ops;
extern const struct xdpvm_map_ops xdpvm_map_queue_ops;
extern const struct xdpvm_map_ops xdpvm_map_ringbuf_ops;
extern const struct xdpvm_map_ops xdpvm_map_xskmap_ops;

#endif /* XDPVM_MAP_TYPES_H */
