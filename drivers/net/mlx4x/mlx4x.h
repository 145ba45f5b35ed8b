/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The driver's own structures, from the PCI function down to a queue, and what the
 * files of the driver offer each other.
 *
 * One struct mlx4x_dev stands for a PCI function: verbs context, protection domain,
 * memory regions, doorbell page. Its one or two Ethernet ports, struct mlx4x_port,
 * are the private data of their ethdev. All of it lies in memory that secondary
 * processes share; pointers to verbs objects mean something in the primary only.
 *
 * Control operations of a device are serialised by mlx4x_dev::lock. A burst
 * function takes no lock: a queue belongs to the lcore that polls it, except while
 * it is broken (see recovery.c) or stopped.
 */

#ifndef MLX4X_H
#define MLX4X_H

#include <net/if.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <infiniband/mlx4dv.h>
#include <infiniband/verbs.h>

#include <bus_pci_driver.h>
#include <ethdev_driver.h>
#include <rte_common.h>
#include <rte_ether.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include <xdpvm.h>

#include "compat.h"
#include "cqe.h"
#include "flow.h"
#include "log.h"
#include "prm.h"

#define MLX4X_DRIVER_NAME net_mlx4x
#define MLX4X_KMOD_DEP "* ib_uverbs & mlx4_en & mlx4_core & mlx4_ib"

#define MLX4X_MAX_PORTS 2	/* of one PCI function */
#define MLX4X_MAX_DEVICES 32
#define MLX4X_MAX_MAC_ADDRS 128
#define MLX4X_MAX_SGES 32	/* QUERY_DEVICE of every ConnectX-3 */
#define MLX4X_MIN_DESC 64u

/* Two tags may stand in front of the payload (Linux: MLX4_EN_EFF_MTU). */
#define MLX4X_MAX_MTU 9600	/* jumbo frames of 9.6 KB: ConnectX-3 EN product brief */
#define MLX4X_FRAME_OVERHEAD (RTE_ETHER_HDR_LEN + 2 * RTE_VLAN_HLEN)

/* A memory region as the data path needs it. */
struct mlx4x_mr_range {
	uintptr_t start;
	size_t len;
	rte_be32_t lkey;
};

#define MLX4X_MR_MAX_RANGES 1024u

/*
 * All registered ranges of a device, read without a lock from any process: seq is
 * odd while the table is being changed, and different afterwards.
 */
struct mlx4x_mr_table {
	uint32_t seq;
	uint32_t nb_ranges;
	struct mlx4x_mr_range range[MLX4X_MR_MAX_RANGES];
};

struct mlx4x_mr;
TAILQ_HEAD(mlx4x_mr_list, mlx4x_mr);

/* What the device can do, asked once when it is opened. */
struct mlx4x_caps {
	char fw_version[64];
	uint32_t vendor_part_id;
	uint32_t max_wr;
	uint32_t max_queues;
	uint32_t max_rss_queues;
	uint32_t max_tso;	/* largest TSO payload in bytes, 0: no TSO */
	uint64_t rss_fields;	/* IBV_RX_HASH_*, what the RSS hash may cover */
	uint64_t timestamp_mask;	/* 0: completions carry no time stamp */
	uint64_t clock_khz;
	bool checksum;
	bool tunnel;		/* ConnectX-3 Pro */
	bool keep_crc;
	bool is_vf;
};

struct mlx4x_port;

struct mlx4x_dev {
	LIST_ENTRY(mlx4x_dev) next;
	struct rte_pci_device *pci;	/* primary only */
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct rte_intr_handle *async_intr;	/* asynchronous events, see intr.c */
	struct mlx4x_port *port[MLX4X_MAX_PORTS];	/* NULL where none was probed */
	struct mlx4x_caps caps;
	uint8_t nb_phys_ports;
	uint8_t id;		/* index of the doorbell page in mlx4x_uar[] */
	uint32_t nb_secondaries;	/* ports that secondary processes use, each counted */
	uint64_t instance;	/* differs from that of a device which had the id before */
	uint64_t uar_offset;	/* of that page, for mmap() of the verbs context */
	bool removed;		/* the kernel said that the device is gone */
	bool mr_active;		/* mempools are registered as they come */
	bool service_armed;
	unsigned int nb_started;
	int alloc_socket;	/* NUMA node of the rings that verbs allocate next */
	pthread_mutex_t lock;	/* recursive */
	pthread_mutex_t mr_lock;	/* nothing of DPDK's memory may be called under it */
	struct mlx4x_mr_list mrs;
	struct mlx4x_mr_table mr_table;
};

/* Doorbell page of each device, mapped by each process for itself. */
extern uint8_t *mlx4x_uar[MLX4X_MAX_DEVICES];

/*
 * Counters of a queue: field, end of the xstats name ("rx_q0_" or "tx_q0_" comes in
 * front), what it counts. Struct, xstats, telemetry and documentation follow this
 * list; a new counter is a new line here.
 */
#define MLX4X_RXQ_COUNTERS(X) \
	X(packets, "packets", "frames handed to the application") \
	X(bytes, "bytes", "their bytes, without CRC") \
	X(cqe_errors, "cqe_errors", "frames that the device completed with an error") \
	X(bad_fcs, "bad_fcs", "frames with a wrong checksum, dropped") \
	X(nombuf, "nombuf", "refills that found the mempool empty") \
	X(loopback, "loopback_filtered", "own multicast frames that came back, dropped") \
	X(xdp_packets, "xdp_packets", "frames that a program judged: the sum of the next seven") \
	X(xdp_pass, "xdp_pass", "of these, handed to the application") \
	X(xdp_drop, "xdp_drop", "of these, dropped by the program") \
	X(xdp_aborted, "xdp_aborted", "of these, dropped because of an error or unknown verdict") \
	X(xdp_tx, "xdp_tx", "of these, sent back") \
	X(xdp_tx_full, "xdp_tx_full", "of these, dropped because the send ring was full") \
	X(xdp_redirect, "xdp_redirect", "of these, handed to another place") \
	X(xdp_redirect_fail, "xdp_redirect_fail", "of these, dropped on the way elsewhere") \
	X(xdp_redirect_dropped, "xdp_redirect_dropped", "redirected, then dropped by the program of " \
		"the entry") \
	X(cpumap_dropped, "cpumap_dropped", "frames that the program of a CPUMAP entry did not pass") \
	X(cpumap_stale, "cpumap_stale", "frames dropped because that program was gone") \
	X(xdp_redirect_unknown, "xdp_redirect_unknown", "failed: there is no such target, or " \
		"it is stopped") \
	X(xdp_redirect_full, "xdp_redirect_full", "failed: the target has no room") \
	X(xdp_redirect_too_long, "xdp_redirect_too_long", "failed: too long for the target") \
	X(xdp_tx_bytes, "xdp_tx_bytes", "bytes that left by the send queue of XDP_TX, without CRC") \
	X(xdp_tx_err, "xdp_tx_err", "of the frames sent back, lost to an error of the send queue") \
	X(xdp_tx_doorbells, "xdp_tx_doorbells", "doorbells rung for frames of XDP_TX") \
	X(xdp_xmit, "xdp_xmit", "frames redirected to ports of this driver, without a copy") \
	X(xdp_xmit_bytes, "xdp_xmit_bytes", "their bytes, without CRC") \
	X(xdp_xmit_err, "xdp_xmit_err", "of these frames, lost to an error of the send queue") \
	X(xdp_xmit_doorbells, "xdp_xmit_doorbells", "doorbells rung for them") \
	X(recoveries, "recoveries", "times that the queue was taken out of its error state")

#define MLX4X_TXQ_COUNTERS(X) \
	X(packets, "packets", "frames handed to the device") \
	X(bytes, "bytes", "their bytes, without CRC") \
	X(cqe_errors, "cqe_errors", "frames that the device completed with an error") \
	X(malformed, "malformed", "frames that no descriptor can describe, dropped") \
	X(no_lkey, "no_lkey", "frames in memory that cannot be registered, dropped") \
	X(mr_miss, "mr_miss", "frames whose memory was not in the cache of the queue") \
	X(ring_full, "ring_full", "bursts cut short because the ring was full") \
	X(recoveries, "recoveries", "times that the queue was taken out of its error state")

#define MLX4X_COUNTER_FIELD(field, name, what) uint64_t field;

struct mlx4x_rxq_stats {
	MLX4X_RXQ_COUNTERS(MLX4X_COUNTER_FIELD)
};

struct mlx4x_txq_stats {
	MLX4X_TXQ_COUNTERS(MLX4X_COUNTER_FIELD)
};

struct mlx4x_xdp;

/* Who may touch a queue. */
enum mlx4x_queue_state {
	MLX4X_QUEUE_RUNNING = 0,	/* the lcore that polls it */
	MLX4X_QUEUE_BROKEN,		/* recovery.c: the device stopped it, a burst saw it */
	MLX4X_QUEUE_STOPPED,		/* the control path */
};

/*
 * Receive queue. Ring, slots and completion queue have the same number of entries:
 * descriptor i uses ring entry and slot i & mask and completion i + cq_offset. The
 * offset is 0 until the ring is reset: the device then starts the ring from its
 * first entry, but goes on in the completion queue. A descriptor of a scattering
 * queue has 1 << log_sges slots, of which nb_sges are in use.
 */
struct mlx4x_rxq {
	/* Hot: what every burst reads or writes. */
	const uint8_t *cqes;		/* the meaningful half of completion 0 */
	struct rte_mbuf **slots;	/* the buffer of each posted segment, else NULL */
	const struct mlx4x_rx_meaning *meaning;
	uint64_t rearm;			/* data_off, refcnt, nb_segs, port of a fresh mbuf */
	uint32_t ci;			/* completions consumed */
	uint32_t pi;			/* descriptors posted */
	uint32_t mask;			/* entries - 1 */
	uint8_t cqe_shift;
	uint8_t state;			/* enum mlx4x_queue_state, see recovery.c */
	uint8_t crc_len;		/* what byte_cnt holds beyond the frame */
	uint8_t log_sges;
	struct mlx4x_xdp *xdp;		/* the program, NULL without one */
	uint32_t cq_offset;		/* completion number of descriptor 0, see below */
	bool xdp_busy;			/* frames of XDP_TX wait for their completion */

	/* Warm: what a refill needs. */
	uint8_t *wqes __rte_cache_min_aligned;
	struct rte_mempool *mp;
	volatile rte_be32_t *rq_db;	/* doorbell records */
	volatile rte_be32_t *cq_db;
	uint32_t refill_batch;		/* free descriptors that are worth a refill */
	uint32_t data_offset;		/* from mbuf to packet data, if computed_addr */
	uint16_t headroom;
	uint8_t log_stride;		/* of the ring in bytes */
	uint8_t nb_sges;
	bool computed_addr;		/* one region, and buffers that follow their mbuf */
	struct mlx4x_rxq_stats stats;
	struct mlx4x_rxq_stats stats_base;	/* what reset subtracts */

	/* Cold: the control path. */
	struct mlx4x_port *port;
	uint16_t idx;
	uint16_t nb_desc;		/* as asked for: buffers */
	int socket;
	uint64_t offloads;
	bool deferred_start;
	struct rte_ring *ring;		/* of a software queue, see xdp_cpumap.c */
	struct xdpvm_buff *ring_buff;	/* for programs of entries */
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_wq *wq;
	struct mlx4dv_cq dv_cq;
	uint8_t last_syndrome;		/* of the last completion with an error */
	uint8_t last_vendor_err;
	struct mlx4x_mr_range mr;	/* the region of the last buffer posted */
	uint32_t mr_seq;		/* of the table when it was found */
};
static_assert(offsetof(struct mlx4x_rxq, wqes) == RTE_CACHE_LINE_MIN_SIZE,
	"a burst without refill stays in the first cache line of the queue");

#define MLX4X_MR_CACHE_SIZE 8

/*
 * Send queue. pi, ci and done count blocks of 64 bytes (TXBB) and run freely;
 * slots[i & mask] is the frame whose first block is i.
 */
struct mlx4x_txq {
	/* Hot: what every burst reads or writes. */
	uint8_t *wqes;
	struct rte_mbuf **slots;
	const uint8_t *cqes;
	uint32_t pi;			/* next block to write */
	uint32_t ci;			/* first block whose frame is not freed */
	uint32_t done;			/* first block that the device still works on */
	uint32_t mask;			/* blocks in the ring - 1 */
	uint32_t limit;			/* blocks that may be in use */
	uint32_t cq_ci;
	uint32_t cq_mask;
	uint8_t cqe_shift;
	uint8_t state;			/* enum mlx4x_queue_state */
	uint8_t dev_id;			/* of mlx4x_uar[] */
	uint8_t free_mode;		/* enum mlx4x_tx_free */
	uint32_t free_thresh;		/* completed blocks that are worth a free */

	/* Second line: memory keys, doorbells. */
	struct mlx4x_mr_range mr;	/* of the last frame */
	uint32_t mr_seq;		/* of the table when the cache was filled */
	rte_be32_t doorbell_qpn;
	const struct mlx4x_mr_table *mr_table;
	volatile rte_be32_t *cq_db;
	struct mlx4x_xdp *xdp;

	/* Warm. */
	struct mlx4x_txq_stats stats __rte_cache_min_aligned;
	struct mlx4x_txq_stats stats_base;
	uintptr_t wanted_addr;		/* memory that recovery.c shall register, or 0 */
	uintptr_t refused_addr;		/* and that it could not */
	struct mlx4x_mr_range mr_cache[MLX4X_MR_CACHE_SIZE];
	uint32_t mr_cache_next;
	bool wants_destination;		/* a VF, see tx_multi.c */
	uint8_t last_syndrome;		/* of the last completion with an error */
	uint8_t last_vendor_err;

	/* Cold: the control path. */
	struct mlx4x_port *port;
	uint16_t idx;
	uint16_t nb_desc;
	int socket;
	uint64_t offloads;
	uint64_t own_offloads;		/* those asked for with the queue, not the port */
	bool deferred_start;
	bool internal;			/* no application sees it: xdp_tx.c */
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct mlx4dv_cq dv_cq;
};
static_assert(offsetof(struct mlx4x_txq, mr) == RTE_CACHE_LINE_MIN_SIZE,
	"ring state of a send queue fits its first cache line");
static_assert(offsetof(struct mlx4x_txq, stats) == 2 * RTE_CACHE_LINE_MIN_SIZE,
	"a burst needs two cache lines of a send queue, and its counters");

/* How completed frames go back, decided when the queue is set up. */
enum mlx4x_tx_free {
	MLX4X_TX_FREE_ANY,	/* single segments from any pool */
	MLX4X_TX_FREE_FAST,	/* one pool, one reference (MBUF_FAST_FREE) */
	MLX4X_TX_FREE_CHAIN,	/* chains; descriptors of several blocks */
};

/* Verbs objects that spread as their conf says, shared by the rules that want the same. */
struct mlx4x_rss {
	TAILQ_ENTRY(mlx4x_rss) next;
	uint32_t refcnt;
	struct mlx4x_rss_conf conf;
	struct ibv_rwq_ind_table *ind_table;
	struct ibv_qp *qp;
};
TAILQ_HEAD(mlx4x_rss_list, mlx4x_rss);

/* The rules that make a port take what its MAC table, VLANs and modes say. */
struct mlx4x_steer_rule;
struct mlx4x_steer {
	struct mlx4x_steer_rule *rules;	/* sorted, see steer.c */
	size_t nb_rules;
};

/* Where rules of rte_flow send what they drop. */
struct mlx4x_drop {
	uint32_t refcnt;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
};

TAILQ_HEAD(mlx4x_flow_list, rte_flow);

struct mlx4x_xdp_port;
struct mlx4x_phy_stats;

/* An Ethernet port: the private data of its ethdev. */
struct mlx4x_port {
	struct mlx4x_dev *dev;
	struct rte_eth_dev_data *data;
	uint8_t number;			/* of the verbs port: 1 or 2 */
	bool isolated;			/* rte_flow: only the application's own rules */
	bool started;
	uint16_t nb_soft_queues;	/* the last ones for receiving: xdp_cpumap.c */
	uint16_t kernel_mtu;		/* of the netdev before we came */
	unsigned int if_index;
	struct rte_intr_handle *rx_intr;	/* receive interrupts, see rx_intr.c */
	/* Receive hash of the port. */
	uint64_t default_fields;	/* IBV_RX_HASH_* */
	uint8_t rss_key[MLX4X_RSS_KEY_SIZE];
	uint64_t hashed_fields;		/* what every hash in use covers, see rss.c */
	struct mlx4x_rss *default_rss;
	struct mlx4x_rss_list rss_list;
	/* Which frames the port takes. Primary process only, but for the MAC table. */
	struct mlx4x_steer steer;
	struct mlx4x_flow_list flows;	/* of the application, in order of creation */
	struct mlx4x_drop drop;
	struct rte_ether_addr *mc_addrs;	/* multicast groups joined */
	uint32_t nb_mc_addrs;
	struct mlx4x_xdp_port *xdp;
	struct mlx4x_phy_stats *phy_stats;	/* NULL if the kernel tells none */
	bool led_is_on;
	pthread_t led_thread;		/* while it is */
	struct rte_ether_addr mac[MLX4X_MAX_MAC_ADDRS];
	/* Packet types and flags, see cqe.h. Table 0 is for frames outside a tunnel. */
	struct mlx4x_rx_meaning meaning[MLX4X_RX_TABLE_SIZE];
	struct mlx4x_rx_meaning tunnel_meaning[MLX4X_RX_TUN_TABLES][MLX4X_RX_TABLE_SIZE];
	bool ptype_hidden;
	/* Dynamic mbuf field of time stamps, if the offload is on. */
	uint64_t timestamp_flag;
	int timestamp_offset;
};

static inline struct mlx4x_port *
mlx4x_port_of(struct rte_eth_dev *eth_dev)
{
	return eth_dev->data->dev_private;
}

/* Receive queues that the device knows: all but the last ones, which are of software. */
static inline uint16_t
mlx4x_nb_device_rxqs(const struct mlx4x_port *port)
{
	return port->data->nb_rx_queues - port->nb_soft_queues;
}

static inline void
mlx4x_lock(struct mlx4x_dev *dev)
{
	pthread_mutex_lock(&dev->lock);
}

static inline void
mlx4x_unlock(struct mlx4x_dev *dev)
{
	pthread_mutex_unlock(&dev->lock);
}

/* args.c */
#define MLX4X_XDP_PATH 256	/* bytes of a path, the last one 0 */
#define MLX4X_XDP_TARGETS 8	/* that devargs of a device can name */

/* Ports of other drivers, by name, and the first of their send queues for redirects. */
struct mlx4x_xdp_targets {
	unsigned int nb;
	struct {
		char name[RTE_ETH_NAME_MAX_LEN];
		uint16_t tx_queue;
	} target[MLX4X_XDP_TARGETS];
};

struct mlx4x_args {
	uint32_t port_mask;	/* ports asked for, bit 0 is the first; 0: all */
	char xdp_prog[MLX4X_XDP_PATH];	/* of an object, or empty */
	char xdp_sec[64];
	enum xdpvm_verify xdp_verify;
	char xdp_cache[MLX4X_XDP_PATH];	/* folder of accepted programs, or empty */
	uint16_t cpumap_queues;
	struct mlx4x_xdp_targets targets;
};
int mlx4x_args_parse(struct mlx4x_args *args, const struct rte_devargs *devargs);

/* device.c: a PCI function as verbs know it */
struct ibv_device *mlx4x_device_find(const struct rte_pci_device *pci,
	struct ibv_device ***list);
struct mlx4x_dev *mlx4x_device_open(struct rte_pci_device *pci);
void mlx4x_device_close(struct mlx4x_dev *dev);
struct mlx4x_dev *mlx4x_device_of(const struct rte_pci_device *pci);
int mlx4x_read_clock(struct rte_eth_dev *eth_dev, uint64_t *clock);

/* probe.c */
int mlx4x_learn_from_kernel(struct mlx4x_port *port);

/* ethdev.c */
extern const struct eth_dev_ops mlx4x_ops;
extern const struct eth_dev_ops mlx4x_secondary_ops;
int mlx4x_dev_stop(struct rte_eth_dev *eth_dev);
int mlx4x_dev_close(struct rte_eth_dev *eth_dev);
uint64_t mlx4x_rx_offload_capa(const struct mlx4x_dev *dev);
uint64_t mlx4x_tx_offload_capa(const struct mlx4x_dev *dev);

/* netdev.c: the kernel's interface of the same port */
int mlx4x_netdev_name(const struct mlx4x_port *port, char ifname[IF_NAMESIZE]);
int mlx4x_netdev_get_mac(const struct mlx4x_port *port, struct rte_ether_addr *mac);
int mlx4x_netdev_get_mtu(const struct mlx4x_port *port, uint16_t *mtu);
int mlx4x_netdev_set_mtu(const struct mlx4x_port *port, uint16_t mtu);
int mlx4x_netdev_set_up(const struct mlx4x_port *port, bool up);
int mlx4x_netdev_ethtool(const struct mlx4x_port *port, void *command);
int mlx4x_set_link_up(struct rte_eth_dev *eth_dev);
int mlx4x_set_link_down(struct rte_eth_dev *eth_dev);
int mlx4x_link_update(struct rte_eth_dev *eth_dev, int wait_to_complete);
int mlx4x_flow_ctrl_get(struct rte_eth_dev *eth_dev, struct rte_eth_fc_conf *conf);
int mlx4x_flow_ctrl_set(struct rte_eth_dev *eth_dev, struct rte_eth_fc_conf *conf);
int mlx4x_mtu_set(struct rte_eth_dev *eth_dev, uint16_t mtu);

/* rxq.c */
int mlx4x_rx_queue_setup(struct rte_eth_dev *eth_dev, uint16_t idx, uint16_t nb_desc,
	unsigned int socket, const struct rte_eth_rxconf *conf, struct rte_mempool *mp);
void mlx4x_rx_queue_release(struct rte_eth_dev *eth_dev, uint16_t idx);
int mlx4x_rxq_start_all(struct mlx4x_port *port);
void mlx4x_rxq_stop_all(struct mlx4x_port *port);
int mlx4x_rxq_reset(struct mlx4x_rxq *rxq);
int mlx4x_rxq_go(struct mlx4x_rxq *rxq);
int mlx4x_rx_queue_start(struct rte_eth_dev *eth_dev, uint16_t idx);
int mlx4x_rx_queue_stop(struct rte_eth_dev *eth_dev, uint16_t idx);
uint32_t mlx4x_rxq_max_frame(const struct mlx4x_rxq *rxq, uint16_t mtu);
uint32_t mlx4x_rxq_nb_sges(const struct mlx4x_rxq *rxq, uint16_t mtu);

/* rx_refill.c */
void mlx4x_rx_refill(struct mlx4x_rxq *rxq);
bool mlx4x_rx_post_buffer(struct mlx4x_rxq *rxq, struct mlx4x_wqe_data *seg,
	const struct rte_mbuf *mbuf, uint32_t headroom);

/* rx_table.c */
void mlx4x_rx_table_build(struct mlx4x_port *port);
int mlx4x_ptypes_set(struct rte_eth_dev *eth_dev, uint32_t mask);

/* rx_select.c: the burst function that fits the configuration */
eth_rx_burst_t mlx4x_rx_select(struct rte_eth_dev *eth_dev);
const char *mlx4x_rx_burst_name(eth_rx_burst_t burst);

/* txq.c */
int mlx4x_tx_queue_setup(struct rte_eth_dev *eth_dev, uint16_t idx, uint16_t nb_desc,
	unsigned int socket, const struct rte_eth_txconf *conf);
void mlx4x_tx_queue_release(struct rte_eth_dev *eth_dev, uint16_t idx);
void mlx4x_txq_follow_port(struct mlx4x_txq *txq);
int mlx4x_txq_restart(struct mlx4x_txq *txq);
void mlx4x_txq_drain(struct mlx4x_txq *txq);
int mlx4x_txq_stop(struct mlx4x_txq *txq);
void mlx4x_txq_free_all(struct mlx4x_txq *txq);
struct mlx4x_txq *mlx4x_txq_create_internal(struct mlx4x_port *port, uint16_t idx,
	uint16_t nb_desc, int socket);
void mlx4x_txq_destroy(struct mlx4x_txq *txq);
int mlx4x_tx_queue_start(struct rte_eth_dev *eth_dev, uint16_t idx);
int mlx4x_tx_queue_stop(struct rte_eth_dev *eth_dev, uint16_t idx);

/* tx_select.c: the burst function that fits the configuration */
eth_tx_burst_t mlx4x_tx_select(struct rte_eth_dev *eth_dev);
void mlx4x_tx_select_again(struct rte_eth_dev *eth_dev);
const char *mlx4x_tx_burst_name(eth_tx_burst_t burst);

/* tx_complete.c */
void mlx4x_tx_free_done(struct mlx4x_txq *txq);
int mlx4x_tx_done_cleanup(void *queue, uint32_t free_cnt);

/* rss.c: verbs objects that spread frames over queues */
struct mlx4x_rss *mlx4x_rss_get(struct mlx4x_port *port, const struct mlx4x_rss_conf *conf);
void mlx4x_rss_put(struct mlx4x_port *port, struct mlx4x_rss *rss);

/* rss_conf.c: the receive hash of a port */
uint64_t mlx4x_rss_hf_supported(const struct mlx4x_dev *dev);
uint16_t mlx4x_rss_default_queues(const struct mlx4x_port *port);
void mlx4x_rss_default_conf(const struct mlx4x_port *port, struct mlx4x_rss_conf *conf);
int mlx4x_rss_configure(struct mlx4x_port *port);
int mlx4x_rss_hash_update(struct rte_eth_dev *eth_dev, struct rte_eth_rss_conf *rss);
int mlx4x_rss_hash_conf_get(struct rte_eth_dev *eth_dev, struct rte_eth_rss_conf *rss);
uint16_t mlx4x_reta_size(const struct mlx4x_dev *dev);
int mlx4x_reta_query(struct rte_eth_dev *eth_dev, struct rte_eth_rss_reta_entry64 *reta,
	uint16_t size);
int mlx4x_reta_update(struct rte_eth_dev *eth_dev, struct rte_eth_rss_reta_entry64 *reta,
	uint16_t size);

/* steer.c: rules of the device for MAC table, VLANs and modes */
int mlx4x_steer_update(struct mlx4x_port *port);
int mlx4x_steer_retarget(struct mlx4x_port *port);
void mlx4x_steer_remove_all(struct mlx4x_port *port);

/* filter.c: what the application says about the frames that the port takes */
int mlx4x_promiscuous_enable(struct rte_eth_dev *eth_dev);
int mlx4x_promiscuous_disable(struct rte_eth_dev *eth_dev);
int mlx4x_allmulticast_enable(struct rte_eth_dev *eth_dev);
int mlx4x_allmulticast_disable(struct rte_eth_dev *eth_dev);
int mlx4x_mac_addr_add(struct rte_eth_dev *eth_dev, struct rte_ether_addr *addr, uint32_t index,
	uint32_t pool);
void mlx4x_mac_addr_remove(struct rte_eth_dev *eth_dev, uint32_t index);
int mlx4x_mac_addr_set(struct rte_eth_dev *eth_dev, struct rte_ether_addr *addr);
int mlx4x_mc_addr_list_set(struct rte_eth_dev *eth_dev, struct rte_ether_addr *addrs,
	uint32_t nb_addrs);
void mlx4x_mc_addr_list_free(struct mlx4x_port *port);
int mlx4x_vlan_filter_set(struct rte_eth_dev *eth_dev, uint16_t vid, int on);
int mlx4x_vlan_offload_set(struct rte_eth_dev *eth_dev, int mask);

/* flow.c: rte_flow */
int mlx4x_flow_ops_get(struct rte_eth_dev *eth_dev, const struct rte_flow_ops **ops);
int mlx4x_flow_start(struct mlx4x_port *port);
void mlx4x_flow_stop(struct mlx4x_port *port);
void mlx4x_flow_fini(struct mlx4x_port *port);
int mlx4x_flow_retarget_begin(struct mlx4x_port *port);
void mlx4x_flow_retarget_end(struct mlx4x_port *port, bool commit);

/* flow_drop.c */
struct ibv_qp *mlx4x_drop_get(struct mlx4x_port *port);
void mlx4x_drop_put(struct mlx4x_port *port);

/* mr.c */
int mlx4x_mr_init(struct mlx4x_dev *dev);
void mlx4x_mr_fini(struct mlx4x_dev *dev);
int mlx4x_mr_activate(struct mlx4x_dev *dev);
int mlx4x_mr_add_pool(struct mlx4x_dev *dev, struct rte_mempool *mp);
int mlx4x_mr_add_memseg(struct mlx4x_dev *dev, uintptr_t addr);
int mlx4x_mr_pool_is_one_range(struct mlx4x_dev *dev, struct rte_mempool *mp,
	struct mlx4x_mr_range *range);
bool mlx4x_mr_find(const struct mlx4x_mr_table *table, uintptr_t addr, size_t len,
	struct mlx4x_mr_range *range, uint32_t *seq);
int mlx4x_dma_map(struct rte_pci_device *pci, void *addr, uint64_t iova, size_t len);
int mlx4x_dma_unmap(struct rte_pci_device *pci, void *addr, uint64_t iova, size_t len);

/* recovery.c */
void mlx4x_service_start(struct mlx4x_dev *dev);
void mlx4x_service_stop(struct mlx4x_dev *dev);

/* intr.c */
int mlx4x_async_start(struct mlx4x_dev *dev);
void mlx4x_async_stop(struct mlx4x_dev *dev);
int mlx4x_is_removed(struct rte_eth_dev *eth_dev);

/* rx_intr.c */
int mlx4x_rx_intr_start(struct rte_eth_dev *eth_dev);
void mlx4x_rx_intr_stop(struct rte_eth_dev *eth_dev);
int mlx4x_rx_intr_enable(struct rte_eth_dev *eth_dev, uint16_t idx);
int mlx4x_rx_intr_disable(struct rte_eth_dev *eth_dev, uint16_t idx);

/* stats.c */
int mlx4x_stats_get(struct rte_eth_dev *eth_dev, struct rte_eth_stats *stats);
int mlx4x_stats_reset(struct rte_eth_dev *eth_dev);

/* xstats.c */
int mlx4x_xstats_get_names(struct rte_eth_dev *eth_dev, struct rte_eth_xstat_name *names,
	unsigned int size);
int mlx4x_xstats_get(struct rte_eth_dev *eth_dev, struct rte_eth_xstat *xstats,
	unsigned int size);
int mlx4x_xstats_reset(struct rte_eth_dev *eth_dev);

/* module.c: the transceiver */
int mlx4x_get_module_info(struct rte_eth_dev *eth_dev, struct rte_eth_dev_module_info *info);
int mlx4x_get_module_eeprom(struct rte_eth_dev *eth_dev, struct rte_dev_eeprom_info *info);

/* led.c */
int mlx4x_led_on(struct rte_eth_dev *eth_dev);
int mlx4x_led_off(struct rte_eth_dev *eth_dev);

#endif /* MLX4X_H */
