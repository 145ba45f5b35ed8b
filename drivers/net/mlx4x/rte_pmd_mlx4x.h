/* SPDX-License-Identifier: BSD-3-Clause */

/**
 * @file
 * What net_mlx4x offers beyond ethdev: XDP programs in the receive path.
 *
 * Device arguments, after the PCI address of the function:
 *
 * - port=N: probe port N of the function, 0 or 1. May be given twice; without it, all
 *   ports are probed.
 * - xdp_prog=PATH: attach an XDP object to every port of the function before traffic.
 * - xdp_sec=NAME: the ELF section of the program wanted, when the object has several.
 * - xdp_verify=auto|kernel|internal|cached|none: who vouches for the program.
 * - xdp_cache=DIR: where it is kept which programs a kernel accepted, for "cached".
 * - xdp_cpumap_queues=N: the last N receive queues of the port are of software; key k of
 *   a CPUMAP leads to the kth of them.
 * - xdp_target=NAME:QUEUE: as rte_pmd_mlx4x_xdp_target(), for a port of that name
 *   whenever it is there. May be given up to eight times.
 * - page_pool=page|packed: make the page pool DPDK's default mempool handler.
 *
 * A port is named after its function and number, for instance "0000:03:00.0_port1".
 *
 * Functions whose name does not say rx are for the control path: they may be called from
 * any thread of the primary process while traffic flows, but not from within a program.
 */

#ifndef RTE_PMD_MLX4X_H
#define RTE_PMD_MLX4X_H

#include <stdbool.h>
#include <stdint.h>

#include <xdpvm.h>

struct rte_mbuf;

#ifdef __cplusplus
extern "C" {
#endif

/** Name of the driver, as in struct rte_eth_dev_info::driver_name. */
#define RTE_PMD_MLX4X_DRIVER_NAME "net_mlx4x"

/** Bytes in front of a frame that a program may use (XDP_PACKET_HEADROOM of Linux). */
#define RTE_PMD_MLX4X_XDP_HEADROOM 256

/** Instead of a queue number: the whole port, also the queues that it gets later. */
#define RTE_PMD_MLX4X_XDP_PORT UINT16_MAX

/**
 * What a receive hash covers, with the values of enum xdp_rss_hash_type of Linux
 * (include/net/xdp.h).
 */
#define RTE_PMD_MLX4X_XDP_RSS_IPV4 (1u << 0)
#define RTE_PMD_MLX4X_XDP_RSS_IPV6 (1u << 1)
#define RTE_PMD_MLX4X_XDP_RSS_DYNHDR (1u << 2)	/**< IPv4 options or IPv6 extension headers. */
#define RTE_PMD_MLX4X_XDP_RSS_L4 (1u << 3)
#define RTE_PMD_MLX4X_XDP_RSS_TCP (1u << 4)
#define RTE_PMD_MLX4X_XDP_RSS_UDP (1u << 5)

/** Bytes of a program's name and of its section with their NUL. */
#define RTE_PMD_MLX4X_XDP_NAME_SIZE 64

/**
 * A program of the application's own: a native C hook, or one of an object that the
 * application has loaded with xdpvm. One of @p hook and @p prog is set.
 */
struct rte_pmd_mlx4x_xdp_prog {
	const char *name;	/**< Shown in status and events; NULL: a default. */
	/**
	 * Judges one frame: returns XDP_DROP, XDP_PASS, XDP_TX, XDP_REDIRECT; any other
	 * value is XDP_ABORTED. Runs on the lcore that polls the queue, on the bytes as
	 * they came, before any mbuf field is written; it may move data, data_end and
	 * data_meta as struct xdpvm_buff says. With XDP_REDIRECT it fills in
	 * buff->redirect: the kind and the target, for a broadcast the map and its flags.
	 * It must not block.
	 */
	xdpvm_entry_fn hook;
	void *arg;		/**< Reaches the hook as buff->opaque. */
	struct xdpvm_prog *prog;	/**< Must stay loaded while it is attached. */
};

/**
 * Attach, replace or detach the application's program, at once on all queues of a port.
 *
 * Each queue judges every frame by exactly one program; no frame is lost. When the call
 * returns, no queue runs the previous program any more and its memory may go.
 *
 * @param port_id
 *   A port of this driver, started or not. The program survives stop, start and changes
 *   of the number of queues.
 * @param prog
 *   The program, copied; NULL detaches.
 * @return
 *   0 or a negative errno, and rte_pmd_mlx4x_xdp_error() says why; then the previous
 *   program goes on: -ENODEV not a port of this driver; -EINVAL; -EOPNOTSUPP frames of
 *   the MTU do not fit one buffer behind 256 bytes of headroom; -ENOTSUP in a secondary
 *   process; -ENOMEM; what the device returned.
 */
int rte_pmd_mlx4x_xdp_set(uint16_t port_id, const struct rte_pmd_mlx4x_xdp_prog *prog);

/**
 * The same for one queue, whose program goes before that of the port.
 *
 * @param queue_id
 *   A queue, or RTE_PMD_MLX4X_XDP_PORT. The choice is kept by number when the port is
 *   reconfigured. Detaching gives the queue back to the program of the port.
 * @return
 *   As rte_pmd_mlx4x_xdp_set(); -EINVAL also for a queue that the port does not have,
 *   -ENOENT when there is nothing to detach.
 */
int rte_pmd_mlx4x_xdp_queue_set(uint16_t port_id, uint16_t queue_id,
	const struct rte_pmd_mlx4x_xdp_prog *prog);

/** How rte_pmd_mlx4x_xdp_load() loads; zero means default everywhere. */
struct rte_pmd_mlx4x_xdp_options {
	const char *section;	/**< ELF section of the program wanted. */
	const char *function;	/**< Its function name. */
	const char *pin_dir;	/**< A bpffs folder for maps that the object pins. */
	enum xdpvm_verify verify;
	enum xdpvm_engine engine;
	bool replace;		/**< Take the place of a program; else that is -EBUSY. */
	/**
	 * Join the programs of objects that are attached there, if any: up to ten run in the
	 * order and by the rules of libxdp's dispatcher (xdpvm_chain.h).
	 */
	bool append;
	uint32_t priority;	/**< In a chain, lower ones earlier; 0: what the object says. */
};

/**
 * Load an unmodified XDP object and attach its program, alone or in a chain.
 *
 * @param port_id
 *   A port of this driver.
 * @param queue_id
 *   A queue, or RTE_PMD_MLX4X_XDP_PORT.
 * @param path
 *   The ELF object as clang writes it.
 * @param options
 *   NULL for defaults.
 * @return
 *   The number (above 0) of the program, or a negative errno as
 *   rte_pmd_mlx4x_xdp_queue_set() and xdpvm_object_load(); -EBUSY when a program is
 *   attached there and neither replace nor append is set; -ENOTSUP when append finds a
 *   program of the application, -E2BIG when it finds ten.
 */
int rte_pmd_mlx4x_xdp_load(uint16_t port_id, uint16_t queue_id, const char *path,
	const struct rte_pmd_mlx4x_xdp_options *options);

/**
 * Detach whatever program is attached.
 *
 * @param id
 *   Only if the program there has this number; of a program in a chain: only that one,
 *   the others go on. 0: any.
 * @return
 *   0; -ENOENT when no (such) program is attached there; else as
 *   rte_pmd_mlx4x_xdp_queue_set().
 */
int rte_pmd_mlx4x_xdp_unload(uint16_t port_id, uint16_t queue_id, uint32_t id);

/** What is attached somewhere. */
struct rte_pmd_mlx4x_xdp_status {
	uint32_t id;		/**< Number of the program, never used again; 0: none. */
	char name[RTE_PMD_MLX4X_XDP_NAME_SIZE];
	char section[RTE_PMD_MLX4X_XDP_NAME_SIZE];	/**< Empty for native hooks. */
	bool native;		/**< A C hook. */
	struct xdpvm_prog *prog;	/**< NULL for native hooks; valid while attached. */
	struct xdpvm_object *object;	/**< Of a program that this driver loaded, else NULL. */
};

/**
 * Tell which program judges the frames of a queue, or is the port's.
 *
 * @return
 *   0, -ENODEV or -EINVAL.
 */
int rte_pmd_mlx4x_xdp_status(uint16_t port_id, uint16_t queue_id,
	struct rte_pmd_mlx4x_xdp_status *status);

/**
 * From within a hook: what the device said of the frame under judgement, as the
 * metadata kfuncs of Linux tell it (Documentation/networking/xdp-rx-metadata.rst).
 *
 * @param buff
 *   What the hook was given.
 * @param type
 *   RTE_PMD_MLX4X_XDP_RSS_* of the frame, 0 if it is not IP.
 * @return
 *   0; -ENODATA when the port does not hash (RTE_ETH_RX_OFFLOAD_RSS_HASH).
 */
int rte_pmd_mlx4x_xdp_rx_hash(const struct xdpvm_buff *buff, uint32_t *hash, uint32_t *type);

/**
 * The same for the time of arrival, in units of the device's clock
 * (rte_eth_read_clock()).
 *
 * @return
 *   0; -ENODATA without RTE_ETH_RX_OFFLOAD_TIMESTAMP.
 */
int rte_pmd_mlx4x_xdp_rx_timestamp(const struct xdpvm_buff *buff, uint64_t *timestamp);

/**
 * The same for the outer VLAN tag, which is in the frame too.
 *
 * @param proto
 *   The tag's EtherType, 0x8100 or 0x88a8, host byte order.
 * @return
 *   0; -ENODATA when there is no tag; -EOPNOTSUPP with RTE_ETH_RX_OFFLOAD_TIMESTAMP: a
 *   completion holds the tag or the time.
 */
int rte_pmd_mlx4x_xdp_rx_vlan_tag(const struct xdpvm_buff *buff, uint16_t *proto, uint16_t *tci);

/**
 * How programs name a DPDK port, for bpf_redirect() and in DEVMAPs. A port that has an
 * interface of the kernel is also known by the ifindex of that.
 */
#define RTE_PMD_MLX4X_XDP_IFINDEX(port_id) (UINT32_C(1000000000) + (port_id))

/**
 * Let programs of a port redirect to a port of another driver. Ports of this driver
 * reach each other without being asked, and without a copy.
 *
 * Redirects to a port that is stopped, or has fewer send queues, fail and are counted.
 * A port that is closed or removed is forgotten, and its number with it. Take the permission
 * back before that: as with every sender, a target must not be closed during a burst.
 *
 * @param port_id
 *   A port of this driver.
 * @param target
 *   The other port, configured or not.
 * @param tx_queue
 *   Frames of receive queue i leave by send queue tx_queue + i of the target, on the
 *   thread that polls i: nobody else may use it.
 * @param on
 *   False takes the permission back.
 * @return
 *   0; -ENODEV; -EINVAL when the target is a port of this driver, or is configured with
 *   too few send queues.
 */
int rte_pmd_mlx4x_xdp_target(uint16_t port_id, uint16_t target, uint16_t tx_queue, bool on);

/**
 * Answers bpf_fib_lookup() of programs. Runs within a burst on any thread that polls, on
 * several at a time: it must not block, allocate or make a system call.
 *
 * @param ingress
 *   ifindex of the port that received the frame.
 * @param params
 *   What the program asks, and room for the answer: struct bpf_fib_lookup of linux/bpf.h.
 *   An ifindex in the answer is one that programs can redirect to.
 * @param flags
 *   BPF_FIB_LOOKUP_* of the program; others than Linux knows were refused before.
 * @return
 *   BPF_FIB_LKUP_RET_* or a negative errno, which the program gets.
 */
typedef int (*rte_pmd_mlx4x_xdp_fib_fn)(void *arg, uint32_t ingress,
	struct bpf_fib_lookup *params, uint32_t flags);

/**
 * Let the application answer bpf_fib_lookup() for the programs of all ports.
 *
 * When the call returns, no thread is inside the previous function.
 *
 * @param lookup
 *   NULL: every lookup answers BPF_FIB_LKUP_RET_NOT_FWDED, as it does at first.
 * @return
 *   0, or -ENOMEM; then the previous function goes on.
 */
int rte_pmd_mlx4x_xdp_fib_set(rte_pmd_mlx4x_xdp_fib_fn lookup, void *arg);

/**
 * Make a ring that programs can redirect to, in the place of an AF_XDP socket.
 *
 * @param size
 *   Packets that it holds, up to 1048576. What comes to a full ring is dropped and
 *   counted rx_xdp_redirect_full.
 * @param socket
 *   NUMA node or SOCKET_ID_ANY.
 * @return
 *   The number of the ring, to be stored in XSKMAPs; or -EINVAL, -ENOSPC, -ENOMEM.
 */
int rte_pmd_mlx4x_xdp_xsk_create(uint32_t size, int socket);

/**
 * Take packets out of such a ring. One thread at a time; any thread.
 *
 * @return
 *   Packets in the array; they are the caller's.
 */
uint16_t rte_pmd_mlx4x_xdp_xsk_rx_burst(int number, struct rte_mbuf **pkts, uint16_t nb_pkts);

/**
 * Free a ring and the packets in it. XSKMAPs that still hold its number lead nowhere.
 *
 * @return
 *   0, or -ENOENT.
 */
int rte_pmd_mlx4x_xdp_xsk_free(int number);

/**
 * The sentence that says why the last call of this thread failed, with names and
 * limits; valid until its next call of this interface. Never NULL.
 */
const char *rte_pmd_mlx4x_xdp_error(void);

#ifdef __cplusplus
}
#endif

#endif /* RTE_PMD_MLX4X_H */
