/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Interrupts: an eventfd per MSI-X vector, or the one of INTx, as the VM hands them over.
 */
#ifndef VCX3_PCI_IRQ_H
#define VCX3_PCI_IRQ_H

#include <stdbool.h>
#include <stdint.h>

#define VCX3_MSIX_VECTORS 16

/** Interrupt types, as VFIO numbers them. */
enum vcx3_irq_type {
	VCX3_IRQ_INTX = 0,
	VCX3_IRQ_MSIX = 2,
	VCX3_IRQ_TYPES = 5,
};

struct vcx3_irqs {
	int intx;
	int msix[VCX3_MSIX_VECTORS];
	uint16_t pending; /* MSI-X vectors that fired without a descriptor */
	bool msix_enabled;
};

void vcx3_irqs_init(struct vcx3_irqs *irqs);

/** Closes all descriptors. */
void vcx3_irqs_fini(struct vcx3_irqs *irqs);

/** How many interrupts of a type there are. */
uint32_t vcx3_irqs_count(uint32_t type);

/**
 * Gives vectors [start, start + count) their descriptors; the first nb get one, which
 * belongs to the table from then on, the others lose theirs.
 *
 * @return 0 or -EINVAL; then no descriptor was taken.
 */
int vcx3_irqs_set(struct vcx3_irqs *irqs, uint32_t type, uint32_t start, uint32_t count,
		  const int *fds, uint32_t nb);

/** Switches a type off. */
void vcx3_irqs_disable(struct vcx3_irqs *irqs, uint32_t type);

/** Fires the interrupt of an event queue. */
void vcx3_irqs_raise(struct vcx3_irqs *irqs, uint32_t vector);

#endif
