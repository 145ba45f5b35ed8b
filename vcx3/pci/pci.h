/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vcx3 as a PCI function: registers and firmware commands in front of a core.
 *
 * Not thread safe: every call is made under the lock of the core (core/runner.h).
 * Everything that software hands over is checked; what is wrong gets a status code or
 * is dropped (connectx3-pci.md B).
 */
#ifndef VCX3_PCI_PCI_H
#define VCX3_PCI_PCI_H

#include <stdbool.h>
#include <stdint.h>

#include "../core/core.h"
#include "config.h"
#include "dma.h"
#include "eq.h"
#include "icm.h"
#include "irq.h"

#define VCX3_CATAS_WORDS 16

/** Register regions, as VFIO numbers them. */
enum vcx3_region {
	VCX3_REGION_BAR0 = 0,
	VCX3_REGION_BAR2 = 2,
	VCX3_REGION_CONFIG = 7,
	VCX3_REGIONS = 9,
};

struct vcx3_qpc_table;

/** What was refused or dropped, for the report at the end. */
#define VCX3_PCI_COUNTERS(X) \
	X(commands, "firmware commands") \
	X(commands_failed, "of these, answered with another status than 0") \
	X(commands_unknown, "of these, unknown") \
	X(doorbells_dropped, "writes to no doorbell, or of the wrong size") \
	X(uar_mismatch, "doorbells on a page that the queue does not belong to") \
	X(left_at_close, "objects that were still alive at CLOSE_HCA") \
	X(violations, "rules of strict mode that were broken") \
	X(resets, "resets by register, by the VM or by a lost connection")

struct vcx3_pci_counters {
#define X(name, text) uint64_t name;
	VCX3_PCI_COUNTERS(X)
#undef X
};

/** The command register's words and what the running command needs. */
struct vcx3_hcr {
	uint32_t words[7]; /* CPU byte order */
};

struct vcx3_pci_port {
	uint8_t mac_table[128][8]; /* A0 steering */
	bool a0_given;
	uint32_t a0_base_qpn;
	uint32_t a0_promisc; /* bit 31: on; the rest is the QPN */
	uint32_t a0_multicast; /* bits 31:30: mode */
	uint64_t a0_rules[130];
	unsigned int nb_a0_rules;
};

struct vcx3_pci {
	struct vcx3_core *core;
	enum vcx3_device device;
	unsigned int ports;
	struct vcx3_memory memory; /* for the event queues; the core has its own */
	struct vcx3_dma dma;
	struct vcx3_icm icm;
	struct vcx3_irqs irqs;
	struct vcx3_eqs eqs;
	struct vcx3_hcr hcr;
	uint8_t config[VCX3_CONFIG_SIZE];
	uint32_t owned; /* ownership register */
	uint32_t catas[VCX3_CATAS_WORDS];
	bool running; /* between INIT_HCA and CLOSE_HCA */
	bool cqe_64; /* 64-byte CQEs and EQEs are offered */
	bool dmfs; /* device managed flow steering, else A0 */
	uint8_t cqe_size;
	uint8_t half_arm[8]; /* a CQ doorbell that comes as two words */
	struct vcx3_qpc_table *qpcs;
	struct vcx3_pci_port port[VCX3_MAX_PORTS];
	struct vcx3_pci_counters counters;
	uint8_t in[4096]; /* mailboxes of the running command */
	uint8_t out[4096];
};

struct vcx3_pci_config {
	enum vcx3_device device;
	unsigned int ports;
	bool cqe_64; /**< offer 64-byte CQEs and EQEs */
};

/** The sink and the memory that the core must be created with; their context is the pci. */
extern const struct vcx3_sink vcx3_pci_sink;

/** Names of the firmware commands, NULL behind the last: for the core that is created. */
extern const char *const vcx3_pci_commands[];

/** Where memory_ctx of the core points to. */
static inline void *
vcx3_pci_memory_ctx(struct vcx3_pci *pci)
{
	return &pci->icm;
}

/** @return 0 or -ENOMEM. */
int vcx3_pci_init(struct vcx3_pci *pci, const struct vcx3_pci_config *config);

/** The core that stands behind; before any other call. */
void vcx3_pci_set_core(struct vcx3_pci *pci, struct vcx3_core *core);

/** Frees all but the core. */
void vcx3_pci_fini(struct vcx3_pci *pci);

/** Reset as by the register: everything that software made is gone. */
void vcx3_pci_reset(struct vcx3_pci *pci);

/** Size in bytes of a region; 0 = there is none. */
uint32_t vcx3_pci_region_size(uint32_t region);

/** Register accesses. @return 0, or -EINVAL beyond the region; then nothing happens. */
int vcx3_pci_read(struct vcx3_pci *pci, uint32_t region, uint64_t offset, uint8_t *data,
		  uint32_t length);
int vcx3_pci_write(struct vcx3_pci *pci, uint32_t region, uint64_t offset, const uint8_t *data,
		   uint32_t length);

/** The guest's memory map has changed. @return as vcx3_dma_add(), vcx3_dma_remove(). */
int vcx3_pci_dma_map(struct vcx3_pci *pci, const struct vcx3_dma_region *region);
int vcx3_pci_dma_unmap(struct vcx3_pci *pci, uint64_t iova, uint64_t size);
void vcx3_pci_dma_unmap_all(struct vcx3_pci *pci);

/** Steering rules that software has made; not what A0 steering makes of a port's settings. */
uint64_t vcx3_pci_count_rules(const struct vcx3_pci *pci);

/** Event queues that software has made and not destroyed. */
uint32_t vcx3_pci_count_eqs(const struct vcx3_pci *pci);

/** Objects that software has made and not destroyed. */
uint64_t vcx3_pci_count_live(const struct vcx3_pci *pci);

/** Tells core and event queues that translations have become void. */
void vcx3_pci_memory_changed(struct vcx3_pci *pci);

/** Fills the error buffer, which the driver polls. */
void vcx3_pci_catastrophe(struct vcx3_pci *pci, const char *reason);

#endif
