/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * XDP_REDIRECT. To a port of this driver the page itself goes, by a send queue on that
 * port that only this receive queue uses, and it comes back to this queue's cache like
 * with XDP_TX; nothing is copied and no mbuf field written. To another port an mbuf goes
 * through ethdev. To an application that reads a ring (XSKMAP) and to a software receive
 * queue (CPUMAP) mbufs go through that ring. All of it is batched, and sent at the end
 * of the burst.
 */

#include <rte_ethdev.h>
#include <rte_memcpy.h>
#include <rte_ring.h>

#include "rx_xdp.h"
#include "xdp_ring.h"
#include "xdp_tx.h"

/* What was accepted before turned out not to fit. */
static void
give_back(struct mlx4x_xdp *xdp, struct rte_mbuf **pkts, uint32_t nb)
{
	uint32_t i;

	for (i = 0; i < nb; i++)
		pkts[i]->next = NULL;	/* see mlx4x_cpumap_stamp() */
	rte_pktmbuf_free_bulk(pkts, nb);
	xdp->nb_redirect -= nb;
	xdp->nb_redirect_fail[MLX4X_XDP_FULL] += nb;
}

/* A port of another driver may be set up with fewer queues at any time. */
static bool
is_open(const struct mlx4x_xdp_out *out)
{
	return out->data->dev_started &&
		(out->txq != NULL || out->tx_queue < out->data->nb_tx_queues);
}

static void
flush_ethdev(struct mlx4x_xdp *xdp, struct mlx4x_xdp_out *out)
{
	uint16_t sent = is_open(out) ?
		rte_eth_tx_burst(out->port_id, out->tx_queue, out->pkts, out->nb) : 0;

	if (sent != out->nb)
		give_back(xdp, out->pkts + sent, out->nb - sent);
	out->nb = 0;
}

static void
flush_batch(struct mlx4x_xdp *xdp)
{
	struct mlx4x_xdp_batch *batch = &xdp->batch;
	uint32_t used = rte_ring_count(batch->ring);
	uint32_t room = used < batch->limit ? batch->limit - used : 0, sent;

	sent = rte_ring_enqueue_burst(batch->ring, (void **)batch->pkts,
		RTE_MIN(room, batch->nb), NULL);
	if (sent != batch->nb)
		give_back(xdp, batch->pkts + sent, batch->nb - sent);
	batch->nb = 0;
}

/* An mbuf into a ring. */
static enum mlx4x_xdp_reason
to_ring(struct mlx4x_xdp *xdp, struct rte_mbuf *page, struct rte_ring *ring, uint32_t limit)
{
	struct mlx4x_xdp_batch *batch = &xdp->batch;

	if (ring == NULL)
		return MLX4X_XDP_UNKNOWN;
	if (batch->nb != 0 && (batch->ring != ring || batch->nb == MLX4X_XDP_BATCH))
		flush_batch(xdp);
	batch->ring = ring;
	batch->limit = limit;
	mlx4x_xdp_to_mbuf(xdp, page);
	batch->pkts[batch->nb++] = page;
	return MLX4X_XDP_TAKEN;
}

static inline bool
is_called(const struct mlx4x_xdp_out *out, uint32_t ifindex)
{
	return out->ifindex == ifindex || RTE_PMD_MLX4X_XDP_IFINDEX(out->port_id) == ifindex;
}

static struct mlx4x_xdp_out *
find_out(struct mlx4x_xdp *xdp, uint32_t ifindex)
{
	const struct mlx4x_xdp_outs *outs = mlx4x_load_acquire(&xdp->outs);
	uint32_t i;

	if (is_called(&xdp->own, ifindex))
		return &xdp->own;
	for (i = 0; i < outs->nb; i++) {
		if (is_called(outs->out[i], ifindex))
			return outs->out[i];
	}
	return NULL;
}

/* Zero copy: the page goes into the ring of the other port. */
static enum mlx4x_xdp_reason
to_own_driver(struct mlx4x_xdp_out *out, struct rte_mbuf *page, const uint8_t *data, uint32_t len)
{
	rte_be32_t lkey;

	mlx4x_tx_check_mr_cache(out->txq);
	if (mlx4x_tx_lkey(out->txq, (uintptr_t)data, len, &lkey) != MLX4X_TX_SEND ||
	    !mlx4x_xdp_tx_put(out, page, data, len, lkey))
		return MLX4X_XDP_FULL;
	return MLX4X_XDP_TAKEN;
}

static enum mlx4x_xdp_reason
to_ethdev(struct mlx4x_xdp *xdp, struct mlx4x_xdp_out *out, struct rte_mbuf *page)
{
	if (out->nb == MLX4X_XDP_BATCH)
		flush_ethdev(xdp, out);
	mlx4x_xdp_to_mbuf(xdp, page);
	out->pkts[out->nb++] = page;
	return MLX4X_XDP_TAKEN;
}

static uint32_t
length(const struct mlx4x_xdp *xdp)
{
	return xdp->buff.data_end - xdp->buff.data;
}

static enum mlx4x_xdp_reason
check_port(const struct mlx4x_xdp_out *out, uint32_t len)
{
	if (out == NULL || !is_open(out))
		return MLX4X_XDP_UNKNOWN;
	/* One tag on top of the MTU, as Linux (is_skb_forwardable()). */
	if (len > (uint32_t)out->data->mtu + RTE_ETHER_HDR_LEN + RTE_VLAN_HLEN ||
	    len < MLX4X_TX_MIN_LEN)
		return MLX4X_XDP_TOO_LONG;
	return MLX4X_XDP_TAKEN;
}

/* The program of a DEVMAP entry, on the frame as it is about to leave. False: it stays. */
static bool
lets_out(struct mlx4x_xdp *xdp, const struct mlx4x_xdp_out *out, struct xdpvm_prog *prog)
{
	uint32_t action;

	if (prog == NULL)
		return true;
	xdp->buff.egress_ifindex = out->ifindex;
	action = xdpvm_run(prog, &xdp->buff);
	xdp->buff.egress_ifindex = 0;
	if (action != XDP_PASS)
		xdp->nb_redirect_dropped++;
	return action == XDP_PASS && length(xdp) >= MLX4X_TX_MIN_LEN;
}

static enum mlx4x_xdp_reason
to_port(struct mlx4x_xdp *xdp, struct mlx4x_xdp_out *out, struct rte_mbuf *page,
	struct xdpvm_prog *prog)
{
	enum mlx4x_xdp_reason reason = check_port(out, length(xdp));

	if (reason != MLX4X_XDP_TAKEN)
		return reason;
	if (!lets_out(xdp, out, prog))
		return MLX4X_XDP_DROPPED;
	return out->txq != NULL ? to_own_driver(out, page, xdp->buff.data, length(xdp)) :
		to_ethdev(xdp, out, page);
}

/* A copy by ethdev goes at once, behind those that wait: its loss is not a failed redirect. */
static bool
send_copy(struct mlx4x_xdp *xdp, struct mlx4x_xdp_out *out, struct rte_mbuf *copy)
{
	if (out->nb != 0)
		flush_ethdev(xdp, out);
	mlx4x_xdp_to_mbuf(xdp, copy);
	return rte_eth_tx_burst(out->port_id, out->tx_queue, &copy, 1) == 1;
}

/* The frame under judgement moves into another page, at the same place. */
static void
move_frame(struct mlx4x_xdp *xdp, const struct rte_mbuf *from, const struct rte_mbuf *to)
{
	ptrdiff_t distance = (uint8_t *)to->buf_addr - (uint8_t *)from->buf_addr;
	struct xdpvm_buff *buff = &xdp->buff;

	rte_memcpy(buff->data + distance, buff->data, length(xdp));
	buff->data += distance;
	buff->data_end += distance;
	buff->data_meta += distance;
	buff->hard_start += distance;
	buff->frame_end += distance;
}

/* A copy of the frame under judgement, for one more target. */
static void
copy_to_port(struct mlx4x_xdp *xdp, struct mlx4x_xdp_out *out, const struct rte_mbuf *page,
	struct xdpvm_prog *prog)
{
	const struct xdpvm_buff saved = xdp->buff;
	struct rte_mbuf *copy;
	bool taken;

	if (check_port(out, length(xdp)) != MLX4X_XDP_TAKEN)
		return;
	copy = mlx4x_xdp_take_page(xdp);
	if (copy == NULL)
		return;
	move_frame(xdp, page, copy);
	if (!lets_out(xdp, out, prog))
		taken = false;
	else if (out->txq != NULL)
		taken = to_own_driver(out, copy, xdp->buff.data, length(xdp)) == MLX4X_XDP_TAKEN;
	else
		taken = send_copy(xdp, out, copy);
	if (!taken)
		rte_mbuf_raw_free(copy);
	xdp->buff = saved;
}

/* A target of a broadcast. */
struct target {
	struct mlx4x_xdp_out *out;
	struct xdpvm_prog *prog;
};

/* A walk over the entries of a DEVMAP. */
struct walk {
	struct xdpvm_redirect redirect;	/* as the program left it; programs of entries run */
	uint32_t key;
	bool started;
};

/* The next target that there is; false behind the last. */
static bool
next_target(struct mlx4x_xdp *xdp, struct walk *walk, struct target *target)
{
	struct xdpvm_map *map = walk->redirect.map;
	struct bpf_devmap_val value;

	while (xdpvm_map_next_key(map, walk->started ? &walk->key : NULL, &walk->key) == 0) {
		walk->started = true;
		memset(&value, 0, sizeof(value));
		if (xdpvm_map_lookup(map, &walk->key, &value) != 0)
			continue;
		target->out = find_out(xdp, value.ifindex);
		target->prog = xdpvm_map_entry_prog(map, value.bpf_prog.id);
		if (target->out != NULL && !(target->out == &xdp->own &&
				walk->redirect.flags & BPF_F_EXCLUDE_INGRESS))
			return true;
	}
	return false;
}

/*
 * To every entry of the map: copies, and the page itself to the last one. It counts as
 * one redirect, which has failed if the last target does not take it; what the others
 * took shows in their counters.
 */
static enum mlx4x_xdp_reason
broadcast(struct mlx4x_xdp *xdp, struct rte_mbuf *page)
{
	struct walk walk = { .redirect = xdp->buff.redirect };
	struct target target, next;

	if (!next_target(xdp, &walk, &target))
		return MLX4X_XDP_UNKNOWN;
	for (; next_target(xdp, &walk, &next); target = next)
		copy_to_port(xdp, target.out, page, target.prog);
	return to_port(xdp, target.out, page, target.prog);
}

/* The queue size of the entry bounds the ring. */
static enum mlx4x_xdp_reason
to_cpu(struct mlx4x_xdp *xdp, struct rte_mbuf *page)
{
	const struct xdpvm_redirect *redirect = &xdp->buff.redirect;
	const struct bpf_cpumap_val *value = redirect->value;
	enum mlx4x_xdp_reason reason;

	reason = to_ring(xdp, page, mlx4x_cpumap_ring(xdp->rxq->port, redirect->target),
		value != NULL ? mlx4x_load_relaxed(&value->qsize) : UINT32_MAX);
	if (reason == MLX4X_XDP_TAKEN && redirect->prog != NULL)
		mlx4x_cpumap_stamp(page, redirect->prog, xdp->epoch);
	return reason;
}

static enum mlx4x_xdp_reason
hand_on(struct mlx4x_xdp *xdp, struct rte_mbuf *page)
{
	const struct xdpvm_redirect *redirect = &xdp->buff.redirect;

	switch (redirect->kind) {
	case XDPVM_REDIRECT_IFINDEX:
	case XDPVM_REDIRECT_DEV:
		return to_port(xdp, find_out(xdp, redirect->target), page, redirect->prog);
	case XDPVM_REDIRECT_DEV_ALL:
		return broadcast(xdp, page);
	case XDPVM_REDIRECT_CPU:
		return to_cpu(xdp, page);
	case XDPVM_REDIRECT_XSK:
		return to_ring(xdp, page, mlx4x_xdp_xsk_ring(redirect->target), UINT32_MAX);
	default:
		return MLX4X_XDP_UNKNOWN;
	}
}

bool
mlx4x_xdp_redirect(struct mlx4x_xdp *xdp, struct rte_mbuf *page)
{
	enum mlx4x_xdp_reason reason = hand_on(xdp, page);

	if (reason < MLX4X_XDP_NB_REASONS) {
		xdp->nb_redirect_fail[reason]++;
		return false;
	}
	xdp->nb_redirect++;
	return reason == MLX4X_XDP_TAKEN;
}

/* The frames for a port of this driver leave. */
static void
flush_own_driver(struct mlx4x_rxq *rxq, struct mlx4x_xdp_out *out)
{
	rxq->stats.xdp_xmit += out->nb;
	rxq->stats.xdp_xmit_bytes += out->bytes;
	rxq->stats.xdp_xmit_doorbells++;
	mlx4x_xdp_tx_flush(out);
	rxq->xdp_busy = true;
}

void
mlx4x_xdp_redirect_flush(struct mlx4x_xdp *xdp)
{
	const struct mlx4x_xdp_outs *outs = mlx4x_load_acquire(&xdp->outs);
	uint32_t i;

	for (i = 0; i < outs->nb; i++) {
		struct mlx4x_xdp_out *out = outs->out[i];

		if (out->nb == 0)
			continue;
		if (out->txq == NULL)
			flush_ethdev(xdp, out);
		else
			flush_own_driver(xdp->rxq, out);
	}
	if (xdp->batch.nb != 0)
		flush_batch(xdp);
}

bool
mlx4x_xdp_redirect_drain(struct mlx4x_xdp *xdp)
{
	const struct mlx4x_xdp_outs *outs = mlx4x_load_acquire(&xdp->outs);
	bool busy = false;
	uint32_t i;

	for (i = 0; i < outs->nb; i++) {
		if (outs->out[i]->txq != NULL)
			busy |= mlx4x_xdp_tx_drain(outs->out[i]->txq, xdp);
	}
	return busy;
}
