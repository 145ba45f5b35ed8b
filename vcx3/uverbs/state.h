/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What the launcher and the processes below it share: the state folder that VCX3_DIR names,
 * the names of the card, and the kernel's view of its netdevs, which is one for all processes.
 */

#ifndef VCX3_UVERBS_STATE_H
#define VCX3_UVERBS_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "../core/port.h"

#define VCX3_DIR_VARIABLE "VCX3_DIR"

/* Files in the state folder. */
#define VCX3_FILE_ARGS "args" /* the launcher's options, each ended by a zero byte */
#define VCX3_FILE_SHARED "shared" /* struct vcx3_shared */
#define VCX3_FILE_OWNER "owner" /* locked by the process that has objects on the card */
#define VCX3_FILE_DOORBELLS "doorbells" /* socket: those of processes that are not the owner */
#define VCX3_FILE_VIOLATIONS "violations" /* one line each */
#define VCX3_FILE_COUNTERS "counters.json"
#define VCX3_DIR_SYSFS "sys" /* SYSFS_PATH */
#define VCX3_DIR_BUS "bus" /* as /sys/bus/pci */
#define VCX3_DIR_PCI VCX3_DIR_BUS "/devices" /* SYSFS_PCI_DEVICES */

/* Names of the card; the reference's examples (connectx3-device.md A.2, A.3). */
#define VCX3_PCI_ADDRESS "0000:03:00.0"
#define VCX3_IBDEV "mlx4_0"
#define VCX3_UVERBS "uverbs0"
#define VCX3_UVERBS_MAJOR 231
#define VCX3_UVERBS_MINOR 192
#define VCX3_FIRMWARE_MAJOR 2
#define VCX3_FIRMWARE_MINOR 42
#define VCX3_FIRMWARE_PATCH 5000

#define VCX3_IFNAME_SIZE 16

/* One netdev as ioctls see it. Written by any process, under no lock: each field is whole. */
struct vcx3_netdev {
	char name[VCX3_IFNAME_SIZE]; /* "" for a port in InfiniBand mode */
	uint32_t index;
	int32_t tap_fd; /* descriptor in the launcher, -1 without --netdev tap */
	uint8_t mac[6];
	_Atomic uint32_t mtu;
	_Atomic uint32_t flags; /* IFF_*, without IFF_RUNNING */
	_Atomic uint32_t running; /* the link is up */
	_Atomic uint32_t speed_mbps;
	_Atomic uint32_t pause_autoneg;
	_Atomic uint32_t pause_rx;
	_Atomic uint32_t pause_tx;
	_Atomic uint32_t more_tx_rings; /* of its own, beyond the first */
	_Atomic uint32_t more_rx_rings;
	struct vcx3_port_counters counters; /* of the port, as the owner last told */
	struct vcx3_port_counters cleared; /* what they were when the netdev was set up */
};

struct vcx3_shared {
	int32_t launcher;
	_Atomic uint32_t removed; /* the card is unplugged */
	_Atomic uint32_t violations;
	_Atomic uint32_t identifies; /* the port whose LED blinks, 0 = none */
	struct vcx3_netdev netdev[2];
};

#endif /* VCX3_UVERBS_STATE_H */
