/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Interrupt descriptors and how they fire.
 */
#include <errno.h>
#include <unistd.h>

#include "irq.h"

static void
replace(int *place, int fd)
{
	if (*place >= 0)
		close(*place);
	*place = fd;
}

static void
signal_fd(int fd)
{
	const uint64_t one = 1;
	ssize_t done = write(fd, &one, sizeof(one));

	/* An eventfd whose counter is full has an interrupt waiting already. */
	(void)done;
}

void
vcx3_irqs_init(struct vcx3_irqs *irqs)
{
	unsigned int i;

	*irqs = (struct vcx3_irqs){ .intx = -1 };
	for (i = 0; i < VCX3_MSIX_VECTORS; i++)
		irqs->msix[i] = -1;
}

void
vcx3_irqs_fini(struct vcx3_irqs *irqs)
{
	vcx3_irqs_disable(irqs, VCX3_IRQ_INTX);
	vcx3_irqs_disable(irqs, VCX3_IRQ_MSIX);
}

uint32_t
vcx3_irqs_count(uint32_t type)
{
	return type == VCX3_IRQ_INTX ? 1 : type == VCX3_IRQ_MSIX ? VCX3_MSIX_VECTORS : 0;
}

int
vcx3_irqs_set(struct vcx3_irqs *irqs, uint32_t type, uint32_t start, uint32_t count, const int *fds,
	      uint32_t nb)
{
	uint32_t room = vcx3_irqs_count(type), i;

	if (start > room || count > room - start || nb > count)
		return -EINVAL;
	if (type == VCX3_IRQ_INTX) {
		if (count == 1)
			replace(&irqs->intx, nb == 1 ? fds[0] : -1);
		return 0;
	}
	irqs->msix_enabled = true;
	for (i = 0; i < count; i++) {
		uint32_t vector = start + i;

		replace(&irqs->msix[vector], i < nb ? fds[i] : -1);
		if (i < nb && (irqs->pending & 1U << vector) != 0) {
			irqs->pending &= (uint16_t)~(1U << vector);
			signal_fd(fds[i]);
		}
	}
	return 0;
}

void
vcx3_irqs_disable(struct vcx3_irqs *irqs, uint32_t type)
{
	unsigned int i;

	if (type == VCX3_IRQ_INTX)
		replace(&irqs->intx, -1);
	if (type != VCX3_IRQ_MSIX)
		return;
	for (i = 0; i < VCX3_MSIX_VECTORS; i++)
		replace(&irqs->msix[i], -1);
	irqs->pending = 0;
	irqs->msix_enabled = false;
}

void
vcx3_irqs_raise(struct vcx3_irqs *irqs, uint32_t vector)
{
	if (!irqs->msix_enabled) {
		if (irqs->intx >= 0)
			signal_fd(irqs->intx);
		return;
	}
	if (vector >= VCX3_MSIX_VECTORS)
		return;
	if (irqs->msix[vector] >= 0)
		signal_fd(irqs->msix[vector]);
	else
		irqs->pending |= (uint16_t)(1U << vector);
}
