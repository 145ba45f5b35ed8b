/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * XDP programs in the receive path. xdp_prog.c makes programs, xdp.c attaches them to
 * ports and queues, rx_xdp.c runs them, xdp_tx.c sends what they send back,
 * xdp_event.c keeps what went wrong, xdp_telemetry.c lets a tool do all this.
 */

#ifndef MLX4X_XDP_H
#define MLX4X_XDP_H

#include <page_pool_cache.h>
#include <xdpvm.h>

#include "mlx4x.h"
#include "rte_pmd_mlx4x.h"
#include "xdp_event.h"

#define MLX4X_XDP_HEADROOM RTE_PMD_MLX4X_XDP_HEADROOM

/*
 * Completions that one poll handles at least, however few of their frames go up: what
 * the kernel calls the budget.
 */
#define MLX4X_XDP_BUDGET 64u

/* A program. It belongs to one place: a port, or one of its queues. */
struct mlx4x_xdp_prog {
	xdpvm_entry_fn entry;
	void *opaque;			/* what the program finds in buff->opaque */
	uint32_t id;
	struct xdpvm_prog *prog;	/* NULL for a native hook */
	struct xdpvm_object *object;	/* ours to close, or NULL */
	enum xdpvm_verify verify;
	char name[RTE_PMD_MLX4X_XDP_NAME_SIZE];
	char path[256];			/* of the object, "" when it is not ours */
};

/*
 * A receive queue with a program: what rx_xdp.c needs beyond struct mlx4x_rxq. There
 * from attach to detach, except while the port is stopped.
 */
struct mlx4x_xdp {
	struct xdpvm_buff buff;		/* the frame under judgement; hot */
	struct mlx4x_xdp_prog *prog;	/* swapped by a replace */
	struct mlx4x_txq *tx;		/* the send queue of XDP_TX */
	struct mlx4x_rxq *rxq;
	const struct mlx4x_cqe *cqe;	/* of the frame under judgement */
	uint32_t buf_len;		/* bytes behind buf_addr, if computed_addr */
	uint32_t features;		/* MLX4X_RX_* of rx_common.h */
	bool filters_loopback;		/* a VF hears its own multicast */
	struct page_pool_cache cache;
};

/* Programs of a port, in struct mlx4x_port. */
struct mlx4x_xdp_port {
	struct mlx4x_xdp_prog *prog;	/* of queues that have none of their own */
	struct mlx4x_xdp_prog *queue_prog[RTE_MAX_QUEUES_PER_PORT];
	eth_rx_burst_t plain_burst;	/* for queues without a program */
	struct mlx4x_xdp_events events;
};

static inline struct mlx4x_xdp_prog *
mlx4x_xdp_prog_of(const struct mlx4x_xdp_port *xport, uint16_t queue)
{
	return xport->queue_prog[queue] != NULL ? xport->queue_prog[queue] : xport->prog;
}

/*
 * Says why something is refused: into the log and into what rte_pmd_mlx4x_xdp_error()
 * returns to this thread. Returns -error. port may be NULL.
 */
int mlx4x_xdp_refuse(const struct mlx4x_port *port, int error, const char *format, ...)
	__rte_format_printf(3, 4);

/* xdp_prog.c */
struct mlx4x_xdp_load {
	const char *path;
	struct rte_pmd_mlx4x_xdp_options options;
};
int mlx4x_xdp_prog_load(const struct mlx4x_port *port, const struct mlx4x_xdp_load *load,
	struct mlx4x_xdp_prog **prog);
int mlx4x_xdp_prog_wrap(const struct mlx4x_port *port,
	const struct rte_pmd_mlx4x_xdp_prog *given, struct mlx4x_xdp_prog **prog);
void mlx4x_xdp_prog_free(struct mlx4x_xdp_prog *prog);
int mlx4x_xdp_verify_parse(const char *text, enum xdpvm_verify *verify);
const char *mlx4x_xdp_verify_name(enum xdpvm_verify verify);

/* xdp.c; the lock of the device is held where nothing else is said */
int mlx4x_xdp_init(struct mlx4x_port *port);
void mlx4x_xdp_fini(struct mlx4x_port *port);
int mlx4x_xdp_start(struct mlx4x_port *port);
void mlx4x_xdp_stop(struct mlx4x_port *port);
eth_rx_burst_t mlx4x_xdp_select(struct mlx4x_port *port, eth_rx_burst_t plain);
int mlx4x_xdp_check_mtu(const struct mlx4x_rxq *rxq, uint16_t mtu);
uint32_t mlx4x_xdp_mtu_max(const struct mlx4x_rxq *rxq);
/* These take the lock; attach takes the program too, even when it fails. NULL detaches. */
int mlx4x_xdp_attach(struct mlx4x_port *port, uint16_t queue, struct mlx4x_xdp_prog *prog,
	bool replace);
int mlx4x_xdp_detach(struct mlx4x_port *port, uint16_t queue, uint32_t id);
int mlx4x_xdp_status(struct mlx4x_port *port, uint16_t queue,
	struct rte_pmd_mlx4x_xdp_status *status);
int mlx4x_xdp_check_free(struct mlx4x_port *port, uint16_t queue, bool replace);
/* The port behind a number, or NULL after a refusal. No lock. */
struct mlx4x_port *mlx4x_xdp_port_find(uint16_t port_id);

/* xdp_tx.c: the send queue of a receive queue */
int mlx4x_xdp_tx_create(struct mlx4x_xdp *xdp);
void mlx4x_xdp_tx_destroy(struct mlx4x_xdp *xdp);

#endif /* MLX4X_XDP_H */
