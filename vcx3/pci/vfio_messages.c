/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What each vfio-user message does. Bodies are untrusted: a handler is called only with
 * the bytes that its request structure needs, and checks the rest.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "vfio_user.h"

enum command {
	CMD_VERSION = 1,
	CMD_DMA_MAP = 2,
	CMD_DMA_UNMAP = 3,
	CMD_GET_INFO = 4,
	CMD_GET_REGION_INFO = 5,
	CMD_GET_IRQ_INFO = 7,
	CMD_SET_IRQS = 8,
	CMD_REGION_READ = 9,
	CMD_REGION_WRITE = 10,
	CMD_DEVICE_RESET = 13, /* 14 in older texts; QEMU sends 13 */
};

struct version {
	uint16_t major;
	uint16_t minor;
};

struct dma_map {
	uint32_t argsz;
	uint32_t flags; /* 1: readable, 2: writable */
	uint64_t offset;
	uint64_t iova;
	uint64_t size;
};

struct dma_unmap {
	uint32_t argsz;
	uint32_t flags;
	uint64_t iova;
	uint64_t size;
};

#define DMA_READ 1
#define DMA_WRITE 2
#define UNMAP_ALL 2

struct device_info {
	uint32_t argsz;
	uint32_t flags;
	uint32_t regions;
	uint32_t irqs;
};

#define DEVICE_RESET_PCI 3

struct region_info {
	uint32_t argsz;
	uint32_t flags;
	uint32_t index;
	uint32_t cap_offset;
	uint64_t size;
	uint64_t offset;
};

#define REGION_READ_WRITE 3

struct irq_info {
	uint32_t argsz;
	uint32_t flags;
	uint32_t index;
	uint32_t count;
};

#define IRQ_EVENTFD 1
#define IRQ_INTX_FLAGS 7 /* eventfd, maskable, masks itself */

struct irq_set {
	uint32_t argsz;
	uint32_t flags;
	uint32_t index;
	uint32_t start;
	uint32_t count;
};

#define IRQ_SET_DATA_NONE 0x01
#define IRQ_SET_EVENTFD 0x04
#define IRQ_SET_TRIGGER 0x20

struct region_access {
	uint64_t offset;
	uint32_t region;
	uint32_t count;
};

static int
answer(struct vcx3_vfu *vfu, const void *reply, size_t length)
{
	memcpy(vfu->reply, reply, length);
	return (int)length;
}

static int
negotiate(struct vcx3_vfu *vfu, uint32_t length, int *fds, unsigned int nb_fds)
{
	/* Without write_multiple each write stays one message that is waited for. */
	static const char capabilities[] =
		"{\"capabilities\":{\"max_msg_fds\":16,\"max_data_xfer_size\":65536}}";
	struct version version;

	memcpy(&version, vfu->body, sizeof(version));
	if (version.major != 0)
		return -ENOTSUP;
	version.minor = 0;
	memcpy(vfu->reply, &version, sizeof(version));
	memcpy(vfu->reply + sizeof(version), capabilities, sizeof(capabilities));
	return sizeof(version) + sizeof(capabilities);
}

/* The memory behind a region; -1: what was handed over cannot be mapped. */
static int
map_memory(const struct dma_map *map, int fd, uint8_t **host)
{
	int protection = ((map->flags & DMA_READ) != 0 ? PROT_READ : 0) |
			 ((map->flags & DMA_WRITE) != 0 ? PROT_WRITE : 0);
	struct stat status;
	void *memory;

	if (fstat(fd, &status) != 0)
		return -errno;
	if (map->offset > INT64_MAX || map->size > INT64_MAX - map->offset ||
	    (uint64_t)status.st_size < map->offset + map->size)
		return -EINVAL;
	memory = mmap(NULL, map->size, protection, MAP_SHARED, fd, (off_t)map->offset);
	if (memory == MAP_FAILED)
		return -errno;
	*host = memory;
	return 0;
}

static int
map_dma(struct vcx3_vfu *vfu, uint32_t length, int *fds, unsigned int nb_fds)
{
	struct vcx3_dma_region region = { 0 };
	struct dma_map map;
	int ret = 0;

	memcpy(&map, vfu->body, sizeof(map));
	region.iova = map.iova;
	region.size = map.size;
	region.read = (map.flags & DMA_READ) != 0;
	region.write = (map.flags & DMA_WRITE) != 0;
	if (nb_fds > 0)
		ret = map_memory(&map, fds[0], &region.host);
	if (ret == 0)
		ret = vcx3_pci_dma_map(vfu->pci, &region);
	if (ret < 0 && region.host != NULL)
		munmap(region.host, region.size);
	return ret;
}

static int
unmap_dma(struct vcx3_vfu *vfu, uint32_t length, int *fds, unsigned int nb_fds)
{
	struct dma_unmap unmap;
	int ret = 0;

	memcpy(&unmap, vfu->body, sizeof(unmap));
	if ((unmap.flags & UNMAP_ALL) != 0)
		vcx3_pci_dma_unmap_all(vfu->pci);
	else
		ret = vcx3_pci_dma_unmap(vfu->pci, unmap.iova, unmap.size);
	return ret < 0 ? ret : answer(vfu, &unmap, sizeof(unmap));
}

static int
tell_device(struct vcx3_vfu *vfu, uint32_t length, int *fds, unsigned int nb_fds)
{
	const struct device_info info = {
		.argsz = sizeof(info),
		.flags = DEVICE_RESET_PCI,
		.regions = VCX3_REGIONS,
		.irqs = VCX3_IRQ_TYPES,
	};

	return answer(vfu, &info, sizeof(info));
}

static int
tell_region(struct vcx3_vfu *vfu, uint32_t length, int *fds, unsigned int nb_fds)
{
	struct region_info info;

	memcpy(&info, vfu->body, sizeof(info));
	if (info.index >= VCX3_REGIONS)
		return -EINVAL;
	info.argsz = sizeof(info);
	info.size = vcx3_pci_region_size(info.index);
	info.flags = info.size != 0 ? REGION_READ_WRITE : 0;
	info.cap_offset = 0;
	info.offset = 0;
	return answer(vfu, &info, sizeof(info));
}

static int
tell_irq(struct vcx3_vfu *vfu, uint32_t length, int *fds, unsigned int nb_fds)
{
	struct irq_info info;

	memcpy(&info, vfu->body, sizeof(info));
	if (info.index >= VCX3_IRQ_TYPES)
		return -EINVAL;
	info.argsz = sizeof(info);
	info.count = vcx3_irqs_count(info.index);
	info.flags = info.index == VCX3_IRQ_INTX ? IRQ_INTX_FLAGS : IRQ_EVENTFD;
	return answer(vfu, &info, sizeof(info));
}

static int
set_irqs(struct vcx3_vfu *vfu, uint32_t length, int *fds, unsigned int nb_fds)
{
	struct irq_set set;
	unsigned int i;
	int ret;

	memcpy(&set, vfu->body, sizeof(set));
	if (set.index >= VCX3_IRQ_TYPES)
		return -EINVAL;
	if ((set.flags & IRQ_SET_TRIGGER) == 0) /* masks are the VM's business */
		return 0;
	if ((set.flags & IRQ_SET_DATA_NONE) != 0 && set.count == 0) {
		vcx3_irqs_disable(&vfu->pci->irqs, set.index);
		return 0;
	}
	if ((set.flags & IRQ_SET_EVENTFD) == 0)
		return -ENOTSUP;
	ret = vcx3_irqs_set(&vfu->pci->irqs, set.index, set.start, set.count, fds, nb_fds);
	for (i = 0; ret == 0 && i < nb_fds; i++)
		fds[i] = -1;
	return ret;
}

static int
read_region(struct vcx3_vfu *vfu, uint32_t length, int *fds, unsigned int nb_fds)
{
	struct region_access access;
	int ret;

	memcpy(&access, vfu->body, sizeof(access));
	if (access.count > VCX3_VFU_DATA)
		return -EINVAL;
	ret = vcx3_pci_read(vfu->pci, access.region, access.offset, vfu->reply + sizeof(access),
			    access.count);
	if (ret < 0)
		return ret;
	memcpy(vfu->reply, &access, sizeof(access));
	return (int)(sizeof(access) + access.count);
}

static int
write_region(struct vcx3_vfu *vfu, uint32_t length, int *fds, unsigned int nb_fds)
{
	struct region_access access;
	int ret;

	memcpy(&access, vfu->body, sizeof(access));
	if (access.count != length - sizeof(access))
		return -EINVAL;
	ret = vcx3_pci_write(vfu->pci, access.region, access.offset, vfu->body + sizeof(access),
			     access.count);
	return ret < 0 ? ret : answer(vfu, &access, sizeof(access));
}

static int
reset_device(struct vcx3_vfu *vfu, uint32_t length, int *fds, unsigned int nb_fds)
{
	vcx3_pci_reset(vfu->pci);
	return 0;
}

static const struct {
	uint16_t command;
	uint16_t length; /* at least */
	int (*handle)(struct vcx3_vfu *vfu, uint32_t length, int *fds, unsigned int nb_fds);
} messages[] = {
	{ CMD_VERSION, sizeof(struct version), negotiate },
	{ CMD_DMA_MAP, sizeof(struct dma_map), map_dma },
	{ CMD_DMA_UNMAP, sizeof(struct dma_unmap), unmap_dma },
	{ CMD_GET_INFO, 0, tell_device },
	{ CMD_GET_REGION_INFO, sizeof(struct region_info), tell_region },
	{ CMD_GET_IRQ_INFO, sizeof(struct irq_info), tell_irq },
	{ CMD_SET_IRQS, sizeof(struct irq_set), set_irqs },
	{ CMD_REGION_READ, sizeof(struct region_access), read_region },
	{ CMD_REGION_WRITE, sizeof(struct region_access), write_region },
	{ CMD_DEVICE_RESET, 0, reset_device },
};

int
vcx3_vfu_handle(struct vcx3_vfu *vfu, uint16_t command, uint32_t length, int *fds,
		unsigned int nb_fds)
{
	unsigned int i;

	for (i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
		if (messages[i].command != command)
			continue;
		return length < messages[i].length ? -EINVAL :
		       messages[i].handle(vfu, length, fds, nb_fds);
	}
	return -ENOTSUP;
}
