/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Order between the processor and the device, named by what must be ordered. On
 * x86 the coherent-memory cases cost nothing: loads and stores stay in program
 * order there, only the compiler has to be held.
 */

#ifndef MLX4X_BARRIER_H
#define MLX4X_BARRIER_H

#include <rte_atomic.h>

/* After the owner bit was read: the rest of what the device wrote may be read. */
static inline void
mlx4x_from_device(void)
{
	rte_io_rmb();
}

/* Before an owner bit or a doorbell record is written: what it publishes is in memory. */
static inline void
mlx4x_to_device(void)
{
	rte_io_wmb();
}

/* Before a doorbell register is written: all descriptors are in memory. */
static inline void
mlx4x_before_doorbell(void)
{
	rte_io_wmb();
}

/* Between an arm record and the arm register, which read what the other wrote. */
static inline void
mlx4x_before_arm(void)
{
	rte_wmb();
}

#endif /* MLX4X_BARRIER_H */
