/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A PCI function as verbs know it: finding its verbs device, opening one context
 * for all its ports, asking what it can do. The rings of the context are taken from
 * DPDK's memory, so that secondary processes see them at the same address.
 */

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_malloc.h>

#include "mlx4x.h"
#include "mp.h"

/* IDs of PCI devices as in QUERY_DEVICE's vendor_part_id. */
#define PART_ID_VF 0x1004
#define PART_ID_CONNECTX3_PRO 0x1007

uint8_t *mlx4x_uar[MLX4X_MAX_DEVICES];

static LIST_HEAD(, mlx4x_dev) devices = LIST_HEAD_INITIALIZER(devices);

/* Reads the PCI address of a verbs device from its sysfs folder. */
static int
read_pci_address(const struct ibv_device *device, struct rte_pci_addr *addr)
{
	char path[sizeof(device->ibdev_path) + sizeof("/device/uevent")];
	char line[256];
	int ret = -ENOENT;
	FILE *file;

	snprintf(path, sizeof(path), "%s/device/uevent", device->ibdev_path);
	file = fopen(path, "r");
	if (file == NULL)
		return -errno;
	while (ret != 0 && fgets(line, sizeof(line), file) != NULL) {
		char slot[sizeof(line)];

		if (sscanf(line, "PCI_SLOT_NAME=%255s", slot) == 1)
			ret = rte_pci_addr_parse(slot, addr) == 0 ? 0 : -EINVAL;
	}
	fclose(file);
	return ret;
}

/* True if the kernel made a verbs device of the function, opened by us or not. */
static bool
kernel_has_verbs_device(const struct rte_pci_device *pci)
{
	char path[256];
	DIR *dir;

	snprintf(path, sizeof(path), "%s/%s/infiniband", rte_pci_get_sysfs_path(), pci->name);
	dir = opendir(path);
	if (dir == NULL)
		return false;
	closedir(dir);
	return true;
}

static void
explain_not_found(const struct rte_pci_device *pci)
{
	if (pci->kdrv == RTE_PCI_KDRV_VFIO || pci->kdrv == RTE_PCI_KDRV_IGB_UIO ||
	    pci->kdrv == RTE_PCI_KDRV_UIO_GENERIC)
		MLX4X_INIT_LOG(ERR, "%s is bound to a user-space I/O driver, but works through "
			"the kernel's: bind it back, dpdk-devbind.py -b mlx4_core %s", pci->name,
			pci->name);
	else if (kernel_has_verbs_device(pci))
		MLX4X_INIT_LOG(ERR, "%s has a verbs device, but no usable /dev/infiniband/uverbs "
			"node: load ib_uverbs, and pass the node into the container", pci->name);
	else
		MLX4X_INIT_LOG(ERR, "%s has no verbs device: load the kernel modules, modprobe -a "
			"mlx4_en mlx4_ib ib_uverbs", pci->name);
}

/*
 * The verbs device of a PCI function, NULL if there is none (which is explained).
 * The caller frees *list after it has opened the device.
 */
struct ibv_device *
mlx4x_device_find(const struct rte_pci_device *pci, struct ibv_device ***list)
{
	struct rte_pci_addr addr;
	int nb_devices = 0, i;

	errno = 0;
	*list = ibv_get_device_list(&nb_devices);
	for (i = 0; *list != NULL && i < nb_devices; i++) {
		if (read_pci_address((*list)[i], &addr) == 0 &&
		    rte_pci_addr_cmp(&addr, &pci->addr) == 0)
			return (*list)[i];
	}
	explain_not_found(pci);
	return NULL;
}

static void *
ring_alloc(size_t size, void *opaque)
{
	const struct mlx4x_dev *dev = opaque;

	return rte_zmalloc_socket("mlx4x ring", size, sysconf(_SC_PAGESIZE),
		dev->alloc_socket);
}

static void
ring_free(void *ring, void *opaque)
{
	rte_free(ring);
}

static int
share_rings(struct mlx4x_dev *dev)
{
	struct mlx4dv_ctx_allocators allocators = {
		.alloc = ring_alloc,
		.free = ring_free,
		.data = dev,
	};

	return -mlx4dv_set_context_attr(dev->ctx, MLX4DV_SET_CTX_ATTR_BUF_ALLOCATORS, &allocators);
}

static uint32_t
floor_power_of_2(uint32_t value)
{
	return value == 0 ? 0 : rte_align32prevpow2(value);
}

static int
query_caps(struct mlx4x_dev *dev)
{
	struct mlx4x_caps *caps = &dev->caps;
	struct ibv_device_attr_ex attr = { 0 };
	const struct ibv_device_attr *base = &attr.orig_attr;
	int ret = ibv_query_device_ex(dev->ctx, NULL, &attr);

	if (ret != 0) {
		MLX4X_INIT_LOG(ERR, "%s: cannot query the verbs device: %s", dev->pci->name,
			strerror(ret));
		return -ret;
	}
	snprintf(caps->fw_version, sizeof(caps->fw_version), "%s", base->fw_ver);
	caps->vendor_part_id = base->vendor_part_id;
	caps->max_wr = base->max_qp_wr;
	caps->max_queues = RTE_MIN(base->max_cq, base->max_qp);
	caps->max_queues = RTE_MIN(caps->max_queues, (uint32_t)RTE_MAX_QUEUES_PER_PORT);
	caps->max_rss_queues = floor_power_of_2(attr.rss_caps.max_rwq_indirection_table_size);
	caps->checksum = base->device_cap_flags & IBV_DEVICE_RAW_IP_CSUM;
	caps->tunnel = caps->checksum && base->vendor_part_id == PART_ID_CONNECTX3_PRO;
	caps->keep_crc = attr.raw_packet_caps & IBV_RAW_PACKET_CAP_SCATTER_FCS;
	caps->rss_fields = attr.rss_caps.rx_hash_fields_mask;
	if (attr.tso_caps.supported_qpts & (1u << IBV_QPT_RAW_PACKET))
		caps->max_tso = attr.tso_caps.max_tso;
	caps->timestamp_mask = attr.completion_timestamp_mask;
	caps->clock_khz = attr.hca_core_clock;
	caps->is_vf = dev->pci->id.device_id == PART_ID_VF;
	dev->nb_phys_ports = RTE_MIN(base->phys_port_cnt, MLX4X_MAX_PORTS);
	return 0;
}

static int
open_context(struct mlx4x_dev *dev)
{
	struct ibv_device **list;
	struct ibv_device *device = mlx4x_device_find(dev->pci, &list);
	int ret = 0;

	if (device == NULL) {
		ret = -ENODEV;
	} else {
		dev->ctx = ibv_open_device(device);
		if (dev->ctx == NULL) {
			ret = errno != 0 ? -errno : -EIO;
			MLX4X_INIT_LOG(ERR, "%s: cannot open %s: %s", dev->pci->name,
				ibv_get_device_name(device), strerror(-ret));
		}
	}
	if (list != NULL)
		ibv_free_device_list(list);
	return ret;
}

static int
open_verbs(struct mlx4x_dev *dev)
{
	int ret = open_context(dev);

	if (ret == 0)
		ret = query_caps(dev);
	if (ret != 0)
		return ret;
	ret = share_rings(dev);
	if (ret != 0) {
		MLX4X_INIT_LOG(ERR, "%s: libmlx4 does not take ring memory from DPDK: %s",
			dev->pci->name, strerror(-ret));
		return ret;
	}
	dev->pd = ibv_alloc_pd(dev->ctx);
	if (dev->pd == NULL) {
		ret = -errno;
		MLX4X_INIT_LOG(ERR, "%s: cannot allocate a protection domain: %s", dev->pci->name,
			strerror(-ret));
		return ret;
	}
	return 0;
}

static void
close_verbs(struct mlx4x_dev *dev)
{
	if (dev->pd != NULL)
		ibv_dealloc_pd(dev->pd);
	if (dev->ctx != NULL)
		ibv_close_device(dev->ctx);
}

static void
init_locks(struct mlx4x_dev *dev)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&dev->lock, &attr);
	pthread_mutex_init(&dev->mr_lock, NULL);
	pthread_mutexattr_destroy(&attr);
}

static int
free_id(void)
{
	uint64_t used = 0;
	struct mlx4x_dev *dev;
	int id;

	static_assert(MLX4X_MAX_DEVICES <= 64, "ids fit a mask");
	LIST_FOREACH(dev, &devices, next)
		used |= UINT64_C(1) << dev->id;
	for (id = 0; id < MLX4X_MAX_DEVICES && (used >> id & 1); id++)
		;
	return id;
}

/* Opens a PCI function. NULL with rte_errno if it cannot be, which is explained. */
struct mlx4x_dev *
mlx4x_device_open(struct rte_pci_device *pci)
{
	struct mlx4x_dev *dev;
	int id = free_id();
	int ret;

	if (id == MLX4X_MAX_DEVICES) {
		MLX4X_INIT_LOG(ERR, "%s: more than %d devices", pci->name, MLX4X_MAX_DEVICES);
		rte_errno = ENOSPC;
		return NULL;
	}
	dev = rte_zmalloc_socket("mlx4x device", sizeof(*dev), RTE_CACHE_LINE_SIZE,
		pci->device.numa_node);
	if (dev == NULL) {
		MLX4X_INIT_LOG(ERR, "%s: no memory for the device; are hugepages set up?", pci->name);
		rte_errno = ENOMEM;
		return NULL;
	}
	dev->pci = pci;
	dev->id = id;
	dev->instance = rte_get_tsc_cycles();
	dev->alloc_socket = pci->device.numa_node;
	TAILQ_INIT(&dev->mrs);
	init_locks(dev);
	ret = open_verbs(dev);
	if (ret == 0)
		ret = mlx4x_mr_init(dev);
	if (ret == 0)
		ret = mlx4x_async_start(dev);
	if (ret == 0)
		ret = mlx4x_mp_init();
	if (ret != 0) {
		mlx4x_async_stop(dev);
		mlx4x_mr_fini(dev);
		close_verbs(dev);
		rte_free(dev);
		rte_errno = -ret;
		return NULL;
	}
	LIST_INSERT_HEAD(&devices, dev, next);
	return dev;
}

/* Closes a device whose ports are all closed. */
void
mlx4x_device_close(struct mlx4x_dev *dev)
{
	LIST_REMOVE(dev, next);
	mlx4x_mp_fini();
	mlx4x_async_stop(dev);
	mlx4x_mr_fini(dev);
	close_verbs(dev);
	mlx4x_uar[dev->id] = NULL;
	pthread_mutex_destroy(&dev->mr_lock);
	pthread_mutex_destroy(&dev->lock);
	rte_free(dev);
}

/* The open device of a PCI function, or NULL. */
struct mlx4x_dev *
mlx4x_device_of(const struct rte_pci_device *pci)
{
	struct mlx4x_dev *dev;

	LIST_FOREACH(dev, &devices, next) {
		if (dev->pci == pci)
			return dev;
	}
	return NULL;
}

/* The clock that Rx time stamps come from, in its own ticks. */
int
mlx4x_read_clock(struct rte_eth_dev *eth_dev, uint64_t *clock)
{
	const struct mlx4x_dev *dev = mlx4x_port_of(eth_dev)->dev;
	struct ibv_values_ex values = { .comp_mask = IBV_VALUES_MASK_RAW_CLOCK };
	int ret = ibv_query_rt_values_ex(dev->ctx, &values);

	if (ret == 0)
		*clock = (uint64_t)values.raw_clock.tv_nsec & dev->caps.timestamp_mask;
	return -ret;
}
