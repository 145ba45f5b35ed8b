/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Threads that run programs. A burst is online with xdpvm from its first look at a
 * program to its end, and offline otherwise: so a lcore that stops polling never holds
 * up who wants to free a program.
 */

#ifndef MLX4X_XDP_THREAD_H
#define MLX4X_XDP_THREAD_H

#include <stdbool.h>

#include <rte_branch_prediction.h>
#include <xdpvm.h>

enum mlx4x_xdp_kind {
	MLX4X_XDP_THREAD_UNKNOWN,	/* has not run a program yet */
	MLX4X_XDP_THREAD_OURS,
	MLX4X_XDP_THREAD_FOREIGN,	/* the application registered it and keeps it online */
	MLX4X_XDP_THREAD_REFUSED,	/* XDPVM_MAX_THREADS are registered */
};

struct mlx4x_xdp_thread {
	enum mlx4x_xdp_kind kind;
	struct xdpvm_presence presence;	/* unless refused */
};

/* Loads instead of calls, each burst: there is room for a few bytes of a plugin. */
extern __thread struct mlx4x_xdp_thread mlx4x_xdp_thread
	__attribute__((tls_model("initial-exec")));

/* Registers the calling thread. False if it cannot run programs. */
bool mlx4x_xdp_thread_register(void);

static inline bool
mlx4x_xdp_enter(void)
{
	if (likely(mlx4x_xdp_thread.kind == MLX4X_XDP_THREAD_OURS)) {
		xdpvm_presence_begin(&mlx4x_xdp_thread.presence);
		return true;
	}
	return mlx4x_xdp_thread_register();
}

static inline void
mlx4x_xdp_leave(void)
{
	if (likely(mlx4x_xdp_thread.kind == MLX4X_XDP_THREAD_OURS))
		xdpvm_presence_end(&mlx4x_xdp_thread.presence);
}

/* Queues may wander between threads. */
static inline void
mlx4x_xdp_bind(struct xdpvm_buff *buff)
{
	if (unlikely(buff->thread != mlx4x_xdp_thread.presence.thread))
		xdpvm_buff_bind(buff);
}

#endif /* MLX4X_XDP_THREAD_H */
