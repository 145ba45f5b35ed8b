/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What differs between the DPDK releases that the driver builds against, and the
 * compiler's atomic built-ins, which no other file uses by name.
 */

#ifndef MLX4X_COMPAT_H
#define MLX4X_COMPAT_H

#include <stddef.h>
#include <stdint.h>

#include <rte_mbuf_ptype.h>
#include <rte_version.h>

#if RTE_VERSION < RTE_VERSION_NUM(22, 11, 0, 0)
#error "mlx4x needs DPDK 22.11 or later"
#endif

#if RTE_VERSION < RTE_VERSION_NUM(23, 3, 0, 0)
#define rte_tel_data_add_dict_uint rte_tel_data_add_dict_u64
#endif

struct rte_eth_dev;
const uint32_t *mlx4x_supported_ptypes(struct rte_eth_dev *eth_dev);

#if RTE_VERSION < RTE_VERSION_NUM(24, 3, 0, 0)
#define mlx4x_supported_ptypes_get mlx4x_supported_ptypes
#else
/* The list is counted, too. */
static inline const uint32_t *
mlx4x_supported_ptypes_get(struct rte_eth_dev *eth_dev, size_t *nb)
{
	const uint32_t *ptypes = mlx4x_supported_ptypes(eth_dev);

	for (*nb = 0; ptypes[*nb] != RTE_PTYPE_UNKNOWN; ++*nb)
		;
	return ptypes;
}
#endif

#define mlx4x_load_relaxed(p) __atomic_load_n((p), __ATOMIC_RELAXED)
#define mlx4x_load_acquire(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define mlx4x_store_relaxed(p, v) __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define mlx4x_add_relaxed(p, v) __atomic_fetch_add((p), (v), __ATOMIC_RELAXED)
#define mlx4x_store_release(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define mlx4x_fetch_add_relaxed(p, v) __atomic_fetch_add((p), (v), __ATOMIC_RELAXED)

#endif /* MLX4X_COMPAT_H */
