/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Registration of polling threads with xdpvm; see xdp_thread.h.
 */

#include <errno.h>
#include <pthread.h>

#include <rte_lcore.h>

#include "xdp_thread.h"

__thread struct mlx4x_xdp_thread mlx4x_xdp_thread;

static pthread_key_t at_exit;
static pthread_once_t at_exit_once = PTHREAD_ONCE_INIT;

static void
unregister(void *unused)
{
	mlx4x_xdp_thread = (struct mlx4x_xdp_thread){ .kind = MLX4X_XDP_THREAD_UNKNOWN };
	xdpvm_thread_unregister();
}

static void
make_key(void)
{
	pthread_key_create(&at_exit, unregister);
}

/* The CPU that programs see is the lcore, where there is one and its number is free. */
static int
register_here(void)
{
	unsigned int lcore = rte_lcore_id();
	int ret = -EBUSY;

	if (lcore < XDPVM_MAX_THREADS)
		ret = xdpvm_thread_register(lcore);
	return ret == -EBUSY ? xdpvm_thread_register(XDPVM_THREAD_ANY) : ret;
}

bool
mlx4x_xdp_thread_register(void)
{
	int ret;

	if (mlx4x_xdp_thread.kind != MLX4X_XDP_THREAD_UNKNOWN)
		return mlx4x_xdp_thread.kind != MLX4X_XDP_THREAD_REFUSED;
	ret = register_here();
	if (xdpvm_thread_presence(&mlx4x_xdp_thread.presence) != 0) {
		mlx4x_xdp_thread.kind = MLX4X_XDP_THREAD_REFUSED;
		return false;
	}
	if (ret == -EEXIST) {
		mlx4x_xdp_thread.kind = MLX4X_XDP_THREAD_FOREIGN;
		return true;
	}
	mlx4x_xdp_thread.kind = MLX4X_XDP_THREAD_OURS;
	pthread_once(&at_exit_once, make_key);
	pthread_setspecific(at_exit, &at_exit);
	return true;
}
