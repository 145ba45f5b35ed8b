/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * XDP programs in the receive path. xdp_prog.c makes programs, xdp_chain.c joins them,
 * xdp.c attaches them to ports and queues, rx_xdp.c runs them, xdp_tx.c sends what they
 * send back, xdp_redirect.c what goes elsewhere, xdp_event.c keeps what went wrong,
 * xdp_tel*.c let a tool do all this.
 */

#ifndef MLX4X_XDP_H
#define MLX4X_XDP_H

#include <page_pool_cache.h>
#include <xdpvm.h>
#include <xdpvm_chain.h>

#include "mlx4x.h"
#include "rte_pmd_mlx4x.h"
#include "xdp_event.h"

#define MLX4X_XDP_HEADROOM RTE_PMD_MLX4X_XDP_HEADROOM

/*
 * Completions that one poll handles at least, however few of their frames go up: what
 * the kernel calls the budget.
 */
#define MLX4X_XDP_BUDGET 64u

/* An object that the driver loaded, and its program; a part of one program or more. */
struct mlx4x_xdp_link {
	uint32_t id;
	uint32_t refcnt;		/* under the lock of the device */
	struct xdpvm_object *object;
	struct xdpvm_prog *prog;
	struct xdpvm_run_config config;
	enum xdpvm_verify verify;
	char path[256];
};

/*
 * A program. It belongs to one place: a port, or one of its queues. With several links it
 * is a chain, in which prog is the first one.
 */
struct mlx4x_xdp_prog {
	xdpvm_entry_fn entry;
	void *opaque;			/* what the program finds in buff->opaque */
	uint32_t id;
	struct xdpvm_prog *prog;	/* NULL for a native hook */
	struct xdpvm_chain *chain;	/* NULL for a single program */
	unsigned int nb_links;		/* 0: it is the application's own */
	struct mlx4x_xdp_link *links[XDPVM_CHAIN_MAX];	/* in the order in which they run */
	char name[RTE_PMD_MLX4X_XDP_NAME_SIZE];
};

/* Why a redirect failed, as counters tell it. */
enum mlx4x_xdp_reason {
	MLX4X_XDP_UNKNOWN,	/* there is no such target, or it is stopped */
	MLX4X_XDP_FULL,
	MLX4X_XDP_TOO_LONG,	/* for the MTU of the target */
	MLX4X_XDP_NB_REASONS,
	MLX4X_XDP_TAKEN = MLX4X_XDP_NB_REASONS,	/* it did not fail */
	MLX4X_XDP_DROPPED,	/* nor did this: the program of the entry kept it */
};

/* Frames that one burst may hold back for one place. */
#define MLX4X_XDP_BATCH 64u

/*
 * A way out of one receive queue, to a port: by a send queue that nobody else uses, if
 * it is a port of this driver; else by ethdev.
 */
struct mlx4x_xdp_out {
	struct mlx4x_txq *txq;		/* NULL: by ethdev */
	uint32_t nb;			/* frames of the burst under way */
	uint32_t room;			/* and how many there may be; 0 before the first one */
	uint32_t bytes;			/* of the frames, when they go to a txq */
	uint32_t ifindex;		/* by which programs know the port */
	uint16_t port_id;
	uint16_t tx_queue;		/* of ethdev */
	const struct rte_eth_dev_data *data;
	struct rte_mbuf *pkts[MLX4X_XDP_BATCH];	/* for ethdev */
};

/* All of them but the queue's own port; replaced as a whole. */
struct mlx4x_xdp_outs {
	uint32_t nb;
	struct mlx4x_xdp_out *out[RTE_MAX_ETHPORTS];
};

/* Frames on their way into a ring. */
struct mlx4x_xdp_batch {
	struct rte_ring *ring;
	uint32_t limit;			/* that the ring may hold */
	uint32_t nb;
	struct rte_mbuf *pkts[MLX4X_XDP_BATCH];
};

/*
 * A receive queue with a program: what rx_xdp.c needs beyond struct mlx4x_rxq. There
 * from attach to detach, except while the port is stopped.
 */
struct mlx4x_xdp {
	struct xdpvm_buff buff;		/* the frame under judgement; hot */
	struct mlx4x_xdp_prog *prog;	/* swapped by a replace */
	struct mlx4x_xdp_out own;	/* XDP_TX; its send queue is always there */
	struct mlx4x_rxq *rxq;
	const struct mlx4x_cqe *cqe;	/* of the frame under judgement */
	uint32_t buf_len;		/* bytes behind buf_addr, if computed_addr */
	uint16_t epoch;			/* of the port when the burst took its program */
	uint32_t features;		/* MLX4X_RX_* of rx_common.h */
	bool filters_loopback;		/* a VF hears its own multicast */
	struct mlx4x_xdp_outs *outs;
	uint32_t nb_redirect;		/* frames of the burst under way */
	uint32_t nb_redirect_dropped;	/* of these */
	uint32_t nb_redirect_fail[MLX4X_XDP_NB_REASONS];
	struct mlx4x_xdp_batch batch;
	struct page_pool_cache cache;
};

/* Programs of a port, in struct mlx4x_port. */
struct mlx4x_xdp_port {
	struct mlx4x_xdp_prog *prog;	/* of queues that have none of their own */
	struct mlx4x_xdp_prog *queue_prog[RTE_MAX_QUEUES_PER_PORT];
	eth_rx_burst_t plain_burst;	/* for queues without a program */
	uint16_t epoch;			/* counts changes of programs, see xdp_cpumap.c */
	/* By port: first send queue for redirects to it, + 1; 0: none. See xdp_target.c. */
	uint32_t target_queue[RTE_MAX_ETHPORTS];
	struct mlx4x_xdp_targets wanted;	/* when they come */
	bool listens;			/* to ports that come and go */
	char cache_dir[MLX4X_XDP_PATH];	/* for verify=cached; empty: none */
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
/* One program of several, which it has in common with others. */
int mlx4x_xdp_prog_of_links(const struct mlx4x_port *port, struct mlx4x_xdp_link *const *links,
	unsigned int nb, struct mlx4x_xdp_prog **prog);
void mlx4x_xdp_prog_free(struct mlx4x_xdp_prog *prog);
int mlx4x_xdp_verify_parse(const char *text, enum xdpvm_verify *verify);
const char *mlx4x_xdp_verify_name(enum xdpvm_verify verify);

/* xdp_chain.c: what a chain becomes by a program more or less */
int mlx4x_xdp_chain_add(const struct mlx4x_port *port, const struct mlx4x_xdp_prog *old,
	const struct mlx4x_xdp_prog *more, struct mlx4x_xdp_prog **joined);
int mlx4x_xdp_chain_remove(const struct mlx4x_port *port, const struct mlx4x_xdp_prog *old,
	uint32_t id, struct mlx4x_xdp_prog **rest);

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
/* The same, behind or in front of what is attached there. */
int mlx4x_xdp_append(struct mlx4x_port *port, uint16_t queue, struct mlx4x_xdp_prog *prog);
int mlx4x_xdp_detach(struct mlx4x_port *port, uint16_t queue, uint32_t id);
int mlx4x_xdp_status(struct mlx4x_port *port, uint16_t queue,
	struct rte_pmd_mlx4x_xdp_status *status);
int mlx4x_xdp_check_free(struct mlx4x_port *port, uint16_t queue, bool replace);
/* The port behind a number; NULL after a refusal. No lock. */
int mlx4x_xdp_port_find(uint16_t port_id, struct mlx4x_port **port);

/*
 * Around every operation that may touch programs of several devices: before the lock of
 * a device. Who holds it may take the locks of several devices.
 */
void mlx4x_xdp_lock(void);
void mlx4x_xdp_unlock(void);

/* xdp_fib.c: on the thread that runs a program */
int mlx4x_xdp_fib_lookup(struct xdpvm_buff *buff, struct bpf_fib_lookup *params, int size,
	uint32_t flags);

/* xdp_tx.c: send queues of a receive queue, on its own port or on another one */
struct mlx4x_txq *mlx4x_xdp_tx_create(const struct mlx4x_xdp *xdp, struct mlx4x_port *port);
void mlx4x_xdp_tx_destroy(struct mlx4x_txq *txq);

/* xdp_out.c: the ways out of queues; mlx4x_xdp_lock() and the lock of the queue are held */
int mlx4x_xdp_outs_init(struct mlx4x_xdp *xdp);
void mlx4x_xdp_outs_fini(struct mlx4x_xdp *xdp);
/* A port has started or is about to stop: all queues with a program learn it. */
void mlx4x_xdp_outs_update(const struct mlx4x_port *leaving);
/* What a port may redirect to has changed. */
void mlx4x_xdp_outs_update_port(struct mlx4x_port *port);
/* By which programs know a port, besides RTE_PMD_MLX4X_XDP_IFINDEX(). No lock. */
uint32_t mlx4x_xdp_ifindex_of(uint16_t port_id);
/* The port behind a number if it is of this driver, else NULL. No lock. */
struct mlx4x_port *mlx4x_own_port(uint16_t port_id);

/* xdp_target.c; no lock is held */
int mlx4x_xdp_target_set(struct mlx4x_port *port, uint16_t target, uint16_t tx_queue, bool on);
int mlx4x_xdp_targets_init(struct mlx4x_port *port, const struct mlx4x_xdp_targets *wanted);
void mlx4x_xdp_targets_fini(struct mlx4x_port *port);

#endif /* MLX4X_XDP_H */
