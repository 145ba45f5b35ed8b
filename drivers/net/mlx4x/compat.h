/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What differs between the DPDK releases that the driver builds against, and the
 * compiler's atomic built-ins, which no other file uses by name.
 */

#ifndef MLX4X_COMPAT_H
#define MLX4X_COMPAT_H

#include <rte_version.h>

#if RTE_VERSION < RTE_VERSION_NUM(22, 11, 0, 0)
#error "mlx4x needs DPDK 22.11 or later"
#endif

#define mlx4x_load_relaxed(p) __atomic_load_n((p), __ATOMIC_RELAXED)
#define mlx4x_load_acquire(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define mlx4x_store_relaxed(p, v) __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define mlx4x_add_relaxed(p, v) __atomic_fetch_add((p), (v), __ATOMIC_RELAXED)
#define mlx4x_store_release(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define mlx4x_fetch_add_relaxed(p, v) __atomic_fetch_add((p), (v), __ATOMIC_RELAXED)

#endif /* MLX4X_COMPAT_H */
