/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Receiving with a program. It judges the page as the device left it, before any mbuf
 * field is written. A page that does not leave stays in its slot, and its descriptor is
 * posted again as it is: with the address behind the full headroom, wherever the program
 * moved the head of that frame. A page that leaves (PASS, TX) is replaced at once from
 * the queue's cache, and that from the mempool, 64 at a time.
 *
 * While the mempool is empty, descriptors go missing: the free ones before rxq->pi + size
 * have no page. Pages that stay then move into the first of them, so that the ring
 * never has a hole and looks to every other function like after a plain burst.
 *
 * A frame with an error never reaches a program. Registering the thread with xdpvm, once,
 * is the only thing here that may allocate.
 */

#include "rx_burst.h"
#include "rx_xdp.h"
#include "xdp_ring.h"
#include "xdp_thread.h"
#include "xdp_tx.h"

/* Pages that an empty cache gets (Linux: PP_ALLOC_CACHE_REFILL). */
#define CACHE_REFILL 64

/* How far ahead the frame that will be judged is fetched. */
#define PREFETCH_DISTANCE 3

/* What no owner_sr_opcode is: every completion is looked at more closely. */
#define NONE_IS_GOOD 0xff

/* A burst on its way. Never leaves the inlined functions, so it lives in registers. */
struct burst {
	struct mlx4x_rxq *rxq;
	struct mlx4x_xdp *xdp;
	struct mlx4x_xdp_prog *prog;
	struct rte_mbuf **pkts;
	uint32_t nb_pkts;		/* frames that the application wants */
	/* The completions up to where a ring starts over. */
	const uint8_t *cqe;		/* of descriptor ci */
	size_t stride;
	uint32_t run_end;		/* descriptor whose completion lies elsewhere */
	uint32_t end;			/* descriptor that this poll does not handle */
	uint8_t good;			/* owner_sr_opcode of one that is there and good */
	bool broken;			/* the queue is in error */

	uint64_t bytes;
	uint32_t ci;
	uint32_t missing;	/* descriptors without a page */
	uint32_t nb_pass;
	uint32_t nb_not_judged;	/* frames that no program saw */
	uint32_t nb_tx;
	uint32_t nb_redirect;	/* that went well or not */
	uint32_t nb_failed;	/* other verdicts that could not be obeyed */
};

__rte_noinline bool
mlx4x_xdp_fill_cache(struct mlx4x_xdp *xdp)
{
	struct page_pool_cache *cache = &xdp->cache;
	struct rte_mempool *mp = xdp->rxq->mp;
	void **pages = (void **)cache->pages;

	if (rte_mempool_get_bulk(mp, pages, CACHE_REFILL) == 0) {
		cache->count = CACHE_REFILL;
		return true;
	}
	while (cache->count < CACHE_REFILL && rte_mempool_get(mp, &pages[cache->count]) == 0)
		cache->count++;
	if (cache->count < CACHE_REFILL)
		xdp->rxq->stats.nombuf++;
	return cache->count != 0;
}

/* Where the device writes the frame of a page. */
static __rte_always_inline uint8_t *
frame_of(const struct mlx4x_rxq *rxq, const struct rte_mbuf *page, bool computed)
{
	if (computed)
		return (uint8_t *)(uintptr_t)page + rxq->data_offset;
	return (uint8_t *)page->buf_addr + rxq->headroom;
}

static __rte_always_inline uint32_t
frame_len(const struct mlx4x_rxq *rxq, const struct mlx4x_cqe *cqe)
{
	return mlx4x_cqe_byte_count(cqe) - rxq->crc_len;
}

/* Puts a page into the descriptor pos. False if its memory is not registered (now). */
static __rte_always_inline bool
place(struct mlx4x_rxq *rxq, uint32_t pos, struct rte_mbuf *page, bool computed)
{
	uint32_t i = pos & rxq->mask;
	struct mlx4x_wqe_data *seg = (struct mlx4x_wqe_data *)rxq->wqes + i;

	if (computed)
		seg->addr = rte_cpu_to_be_64((uintptr_t)frame_of(rxq, page, computed));
	else if (!mlx4x_rx_post_buffer(rxq, seg, page, rxq->headroom))
		return false;
	rxq->slots[i] = page;
	return true;
}

/* Gives pages to the first descriptors without one, as far as there are any. */
static __rte_always_inline void
fill_missing(struct burst *b, bool computed)
{
	while (unlikely(b->missing != 0)) {
		struct rte_mbuf *page = mlx4x_xdp_take_page(b->xdp);

		if (page == NULL)
			break;
		if (!place(b->rxq, b->ci + b->rxq->mask + 1 - b->missing, page, computed)) {
			rte_mbuf_raw_free(page);
			break;
		}
		b->missing--;
	}
}

/* The page of descriptor ci is not needed: it is posted again, where there is a place for it. */
static __rte_always_inline void
keep_page(struct burst *b, bool computed)
{
	struct mlx4x_rxq *rxq = b->rxq;
	struct rte_mbuf *page = rxq->slots[b->ci & rxq->mask];

	if (likely(b->missing == 0) ||
	    likely(place(rxq, b->ci + rxq->mask + 1 - b->missing, page, computed)))
		return;
	rte_mbuf_raw_free(page);
	b->missing++;
}

/* The page of descriptor ci has left: another one takes its place. */
static __rte_always_inline void
replace_page(struct burst *b, bool computed)
{
	struct rte_mbuf *page = mlx4x_xdp_take_page(b->xdp);
	uint32_t pos = b->ci;

	if (unlikely(b->missing != 0))
		pos += b->rxq->mask + 1 - b->missing;
	if (likely(page != NULL)) {
		if (likely(place(b->rxq, pos, page, computed)))
			return;
		rte_mbuf_raw_free(page);
	}
	b->missing++;
}

/* XDP_PASS: the page becomes an mbuf. */
static __rte_always_inline void
pass(struct burst *b, struct rte_mbuf *mbuf)
{
	mlx4x_xdp_to_mbuf(b->xdp, mbuf);
	b->bytes += mbuf->pkt_len;
	b->pkts[b->nb_pass++] = mbuf;
	if (b->nb_pass == b->nb_pkts) {
		b->end = b->ci + 1;
		b->run_end = b->end;
	}
}

/* XDP_TX: the page goes to the send ring. False if it stays. */
static __rte_always_inline bool
send_back(struct burst *b, struct rte_mbuf *page, bool computed)
{
	const struct xdpvm_buff *buff = &b->xdp->buff;
	uint32_t len = buff->data_end - buff->data;
	rte_be32_t lkey = b->rxq->mr.lkey;

	if (!computed && mlx4x_tx_lkey(b->xdp->own.txq, (uintptr_t)buff->data, len, &lkey) !=
			MLX4X_TX_SEND)
		return false;
	if (unlikely(!mlx4x_xdp_tx_put(&b->xdp->own, page, buff->data, len, lkey)))
		return false;
	b->nb_tx++;
	return true;
}

static __rte_noinline void
tell(const struct mlx4x_rxq *rxq, const struct mlx4x_xdp *xdp, const struct mlx4x_xdp_prog *prog,
	uint32_t action)
{
	const struct xdpvm_buff *buff = &xdp->buff;

	mlx4x_xdp_event_add(&rxq->port->xdp->events, rxq->idx, prog->id, action, buff->data,
		buff->data_end - buff->data);
}

/* Any verdict but DROP. True if the page left. */
static __rte_always_inline bool
obey(struct burst *b, uint32_t action, struct rte_mbuf *page, bool computed)
{
	if (action == XDP_PASS) {
		pass(b, page);
		return true;
	}
	if (action == XDP_TX && b->xdp->buff.data_end - b->xdp->buff.data >= MLX4X_TX_MIN_LEN) {
		if (likely(send_back(b, page, computed)))
			return true;
		b->rxq->stats.xdp_tx_full++;
		b->nb_failed++;
	} else if (action == XDP_REDIRECT) {
		b->nb_redirect++;
		if (mlx4x_xdp_redirect(b->xdp, page))
			return true;
	} else {
		b->rxq->stats.xdp_aborted++;
		b->nb_failed++;
	}
	tell(b->rxq, b->xdp, b->prog, action);
	return false;
}

/* The frame of descriptor ci; true if its page left. */
static __rte_always_inline bool
judge(struct burst *b, const struct mlx4x_cqe *cqe, struct rte_mbuf *page, bool computed)
{
	struct mlx4x_rxq *rxq = b->rxq;
	uint8_t *frame = frame_of(rxq, page, computed);
	struct xdpvm_buff *buff = &b->xdp->buff;
	uint32_t action;

	buff->data = frame;
	buff->data_end = frame + frame_len(rxq, cqe);
	buff->data_meta = frame;
	buff->hard_start = frame - MLX4X_XDP_HEADROOM;
	buff->frame_end = frame - MLX4X_XDP_HEADROOM +
		(computed ? b->xdp->buf_len : page->buf_len);
	b->xdp->cqe = cqe;
	action = b->prog->entry(buff);
	return action != XDP_DROP && obey(b, action, page, computed);
}

/* Own multicast that a virtual function hears again. */
static bool
is_loopback(const struct mlx4x_rxq *rxq, const uint8_t *frame)
{
	const struct rte_ether_hdr *eth = (const struct rte_ether_hdr *)frame;

	return rte_is_multicast_ether_addr(&eth->dst_addr) &&
		rte_is_same_ether_addr(&eth->src_addr, &rxq->port->mac[0]);
}

/* Frames that wait for their target leave; then the counts are final. */
static __rte_noinline void
finish_redirects(struct mlx4x_xdp *xdp)
{
	struct mlx4x_rxq_stats *stats = &xdp->rxq->stats;
	uint32_t *fail = xdp->nb_redirect_fail;

	mlx4x_xdp_redirect_flush(xdp);
	stats->xdp_redirect += xdp->nb_redirect;
	stats->xdp_redirect_dropped += xdp->nb_redirect_dropped;
	stats->xdp_redirect_unknown += fail[MLX4X_XDP_UNKNOWN];
	stats->xdp_redirect_full += fail[MLX4X_XDP_FULL];
	stats->xdp_redirect_too_long += fail[MLX4X_XDP_TOO_LONG];
	stats->xdp_redirect_fail += fail[MLX4X_XDP_UNKNOWN] + fail[MLX4X_XDP_FULL] +
		fail[MLX4X_XDP_TOO_LONG];
	memset(fail, 0, sizeof(xdp->nb_redirect_fail));
	xdp->nb_redirect = 0;
	xdp->nb_redirect_dropped = 0;
}

/* Counters, frames to send, new addresses to the device. */
static __rte_always_inline void
finish(struct burst *b, bool computed)
{
	struct mlx4x_rxq *rxq = b->rxq;
	struct mlx4x_rxq_stats *stats = &rxq->stats;
	uint32_t nb_judged = b->ci - rxq->ci - b->nb_not_judged;

	fill_missing(b, computed);
	rxq->ci = b->ci;
	rxq->pi = b->ci + rxq->mask + 1 - b->missing;
	mlx4x_to_device();
	*rxq->cq_db = rte_cpu_to_be_32((b->ci + rxq->cq_offset) & MLX4X_CQ_CI_MASK);
	mlx4x_to_device();
	*rxq->rq_db = rte_cpu_to_be_32(rxq->pi & UINT16_MAX);
	if (b->nb_redirect != 0)
		finish_redirects(b->xdp);
	if (b->xdp->own.nb != 0) {
		stats->xdp_tx_bytes += b->xdp->own.bytes;
		mlx4x_xdp_tx_flush(&b->xdp->own);
		rxq->xdp_busy = true;
		stats->xdp_tx_doorbells++;
	}
	if (b->nb_pass != 0) {
		stats->packets += b->nb_pass;
		stats->bytes += b->bytes;
		stats->xdp_pass += b->nb_pass;
	}
	stats->xdp_packets += nb_judged;
	stats->xdp_tx += b->nb_tx;
	stats->xdp_drop += nb_judged - b->nb_pass - b->nb_tx - b->nb_failed - b->nb_redirect;
}

static __rte_always_inline void
begin(struct burst *b, bool computed)
{
	b->ci = b->rxq->ci;
	b->missing = b->rxq->mask + 1 - (b->rxq->pi - b->rxq->ci);
	b->xdp->epoch = mlx4x_load_acquire(&b->rxq->port->xdp->epoch);
	b->prog = mlx4x_load_acquire(&b->xdp->prog);
	b->xdp->buff.opaque = b->prog->opaque;
	mlx4x_xdp_bind(&b->xdp->buff);
	if (b->rxq->xdp_busy) {
		bool sending = mlx4x_xdp_tx_drain(b->xdp->own.txq, b->xdp);

		b->rxq->xdp_busy = mlx4x_xdp_redirect_drain(b->xdp) || sending;
	}
	if (!computed)
		mlx4x_tx_check_mr_cache(b->xdp->own.txq);
	fill_missing(b, computed);
}

/* Finds the completion of descriptor ci and those behind it. False if the poll ends here. */
static __rte_always_inline bool
begin_run(struct burst *b)
{
	const struct mlx4x_rxq *rxq = b->rxq;
	uint32_t cq_ci = b->ci + rxq->cq_offset, size = rxq->mask + 1;

	if (b->ci == b->end)
		return false;
	b->cqe = (const uint8_t *)mlx4x_rxq_cqe(rxq, cq_ci);
	b->stride = (size_t)1 << rxq->cqe_shift;
	b->good = b->xdp->filters_loopback ? NONE_IS_GOOD :
		MLX4X_CQE_OPCODE_RECV_SEND | (cq_ci & size ? MLX4X_CQE_OWNER_MASK : 0);
	b->run_end = b->ci + RTE_MIN(b->end - b->ci, size - (cq_ci & rxq->mask));
	return true;
}

enum completion {
	COMPLETION_NONE,	/* the device has not written it yet */
	COMPLETION_FRAME,
	COMPLETION_OTHER,	/* counted; no program sees it */
	COMPLETION_FLUSH,	/* the queue is in error */
};

/* The completion of descriptor ci, which is not simply a good frame. */
static __rte_noinline enum completion
look_closer(struct mlx4x_rxq *rxq, const struct mlx4x_xdp *xdp, const struct mlx4x_cqe *cqe,
	uint32_t ci, const uint8_t *frame)
{
	if (!mlx4x_cqe_is_ready(cqe, ci + rxq->cq_offset, rxq->mask + 1))
		return COMPLETION_NONE;
	mlx4x_from_device();
	if (mlx4x_rx_is_bad(cqe))
		return mlx4x_rx_count_bad(rxq, cqe) ? COMPLETION_OTHER : COMPLETION_FLUSH;
	if (!xdp->filters_loopback || !is_loopback(rxq, frame))
		return COMPLETION_FRAME;
	rxq->stats.loopback++;
	return COMPLETION_OTHER;
}

static __rte_always_inline bool
is_good(const struct burst *b, const struct mlx4x_cqe *cqe)
{
	if (unlikely(mlx4x_load_relaxed(&cqe->owner_sr_opcode) != b->good))
		return false;
	mlx4x_from_device();
	return likely(!mlx4x_cqe_is_bad_fcs(cqe));
}

/* The completion of descriptor ci. False if the poll ends in front of it. */
static __rte_always_inline bool
take(struct burst *b, bool computed)
{
	const struct mlx4x_cqe *cqe = (const struct mlx4x_cqe *)b->cqe;
	struct mlx4x_rxq *rxq = b->rxq;
	struct rte_mbuf *page = rxq->slots[b->ci & rxq->mask];

	if (unlikely(!is_good(b, cqe))) {
		enum completion kind = look_closer(rxq, b->xdp, cqe, b->ci,
			frame_of(rxq, page, computed));

		b->broken = kind == COMPLETION_FLUSH;
		if (kind == COMPLETION_OTHER) {
			b->nb_not_judged++;
			keep_page(b, computed);
		}
		if (kind != COMPLETION_FRAME)
			return kind == COMPLETION_OTHER;
	}
	if (computed)
		rte_prefetch0(frame_of(rxq, rxq->slots[(b->ci + PREFETCH_DISTANCE) & rxq->mask],
			computed));
	if (judge(b, cqe, page, computed))
		replace_page(b, computed);
	else
		keep_page(b, computed);
	return true;
}

static __rte_always_inline uint16_t
receive(struct mlx4x_rxq *rxq, struct mlx4x_xdp *xdp, struct rte_mbuf **pkts, uint16_t nb_pkts,
	bool computed)
{
	struct burst b = { .rxq = rxq, .xdp = xdp, .pkts = pkts, .nb_pkts = nb_pkts };

	begin(&b, computed);
	b.end = nb_pkts == 0 ? b.ci : b.ci + RTE_MAX(nb_pkts, MLX4X_XDP_BUDGET);
	b.run_end = b.ci;
	while ((b.ci != b.run_end || begin_run(&b)) && take(&b, computed)) {
		b.ci++;
		b.cqe += b.stride;
	}
	finish(&b, computed);
	if (unlikely(b.broken))
		mlx4x_store_release(&rxq->state, MLX4X_QUEUE_BROKEN);
	return b.nb_pass;
}

static uint16_t
receive_computed(struct mlx4x_rxq *rxq, struct mlx4x_xdp *xdp, struct rte_mbuf **pkts,
	uint16_t nb_pkts)
{
	return receive(rxq, xdp, pkts, nb_pkts, true);
}

static uint16_t
receive_general(struct mlx4x_rxq *rxq, struct mlx4x_xdp *xdp, struct rte_mbuf **pkts,
	uint16_t nb_pkts)
{
	return receive(rxq, xdp, pkts, nb_pkts, false);
}

/* True if a poll would find nothing to do. */
static __rte_always_inline bool
is_idle(const struct mlx4x_rxq *rxq)
{
	uint32_t cq_ci = rxq->ci + rxq->cq_offset;

	return !mlx4x_cqe_is_ready(mlx4x_rxq_cqe(rxq, cq_ci), cq_ci, rxq->mask + 1) &&
		!rxq->xdp_busy && rxq->pi - rxq->ci == rxq->mask + 1;
}

/* All queues of a port of which at least one has a program. */
uint16_t
mlx4x_rx_burst_xdp(void *queue, struct rte_mbuf **pkts, uint16_t nb_pkts)
{
	struct mlx4x_rxq *rxq = queue;
	struct mlx4x_xdp *xdp;
	uint16_t nb;

	if (unlikely(rxq->state != MLX4X_QUEUE_RUNNING))
		return rxq->ring != NULL ? mlx4x_cpumap_burst(rxq, pkts, nb_pkts) : 0;
	if (is_idle(rxq) || !mlx4x_xdp_enter())
		return 0;
	xdp = mlx4x_load_acquire(&rxq->xdp);
	if (xdp == NULL)
		nb = rxq->port->xdp->plain_burst(queue, pkts, nb_pkts);
	else if (rxq->computed_addr)
		nb = receive_computed(rxq, xdp, pkts, nb_pkts);
	else
		nb = receive_general(rxq, xdp, pkts, nb_pkts);
	mlx4x_xdp_leave();
	return nb;
}
