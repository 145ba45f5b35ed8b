/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Register accesses: BAR0 (command register, reset, ownership, error buffer, clock) and
 * BAR2 (doorbell pages), connectx3-pci.md B.1 and B.2.
 */
#include <errno.h>
#include <string.h>

#include "../core/cq.h"
#include "../core/qp.h"
#include "bar.h"
#include "be.h"
#include "cmd.h"

#define HCR_END (VCX3_REG_HCR + 7 * 4)
#define OWNERSHIP 0x8069c
#define RESET 0xf0010
#define RESET_VALUE 1 /* big endian */
#define LOG_UAR_PAGE 12
#define DOORBELL_SQ 0x14
#define DOORBELL_CQ 0x20
#define DOORBELL_EQ 0x800
#define EQS_PER_UAR 4

uint32_t
vcx3_pci_region_size(uint32_t region)
{
	switch (region) {
	case VCX3_REGION_BAR0:
		return VCX3_BAR0_SIZE;
	case VCX3_REGION_BAR2:
		return VCX3_BAR2_SIZE;
	case VCX3_REGION_CONFIG:
		return VCX3_CONFIG_SIZE;
	default:
		return 0;
	}
}

static bool
is_inside(uint32_t region, uint64_t offset, uint32_t length)
{
	uint32_t size = vcx3_pci_region_size(region);

	return length <= size && offset <= size - length;
}

/* One 32-bit register of BAR0, in CPU byte order. */
static uint32_t
read_register(struct vcx3_pci *pci, uint32_t offset)
{
	if (offset >= VCX3_REG_HCR && offset < HCR_END)
		return pci->hcr.words[(offset - VCX3_REG_HCR) / 4];
	if (offset >= VCX3_REG_CATAS && offset < VCX3_REG_CATAS + VCX3_CATAS_WORDS * 4)
		return pci->catas[(offset - VCX3_REG_CATAS) / 4];
	if (offset == OWNERSHIP) {
		uint32_t owned = pci->owned;

		pci->owned = 1;
		return owned;
	}
	if (offset == VCX3_REG_CLOCK)
		return (uint32_t)(vcx3_core_clock(pci->core) >> 32);
	if (offset == VCX3_REG_CLOCK + 4)
		return (uint32_t)vcx3_core_clock(pci->core);
	return 0;
}

static void
write_register(struct vcx3_pci *pci, uint32_t offset, uint32_t value)
{
	if (offset >= VCX3_REG_HCR && offset < HCR_END - 4)
		pci->hcr.words[(offset - VCX3_REG_HCR) / 4] = value;
	else if (offset == HCR_END - 4)
		vcx3_hcr_control(pci, value);
	else if (offset == OWNERSHIP)
		pci->owned = value;
	else if (offset == RESET && value == RESET_VALUE)
		vcx3_pci_reset(pci);
}

int
vcx3_pci_read(struct vcx3_pci *pci, uint32_t region, uint64_t offset, uint8_t *data,
	      uint32_t length)
{
	uint32_t i;

	if (!is_inside(region, offset, length))
		return -EINVAL;
	memset(data, 0, length);
	if (region == VCX3_REGION_CONFIG)
		memcpy(data, pci->config + offset, length);
	else if (region == VCX3_REGION_BAR0 && (offset | length) % 4 == 0)
		for (i = 0; i < length; i += 4)
			put_be32(data, i, read_register(pci, (uint32_t)offset + i));
	return 0;
}

static void
ring_sq(struct vcx3_pci *pci, uint32_t uar, uint32_t qpn)
{
	if (vcx3_qpc_uar(pci->qpcs, qpn) != uar)
		pci->counters.uar_mismatch++;
	vcx3_qp_kick(pci->core, qpn);
}

static void
arm_cq(struct vcx3_pci *pci, const uint8_t *data)
{
	uint32_t high = be32_at(data, 0);
	uint32_t command = high >> 24 & 7;

	if (command == VCX3_ARM_SOLICITED || command == VCX3_ARM_NEXT)
		vcx3_cq_arm(pci->core, high & 0xffffff, command, be32_at(data, 4) & 0xffffff,
			    high >> 28 & 3);
	else
		pci->counters.doorbells_dropped++;
}

static void
ring_doorbell(struct vcx3_pci *pci, uint32_t offset, const uint8_t *data, uint32_t length)
{
	uint32_t uar = offset >> LOG_UAR_PAGE, place = offset & ((1U << LOG_UAR_PAGE) - 1);

	if (!pci->running)
		pci->counters.doorbells_dropped++;
	else if (place == DOORBELL_SQ && length == 4)
		ring_sq(pci, uar, be32_at(data, 0) >> 8);
	else if (place == DOORBELL_CQ && length == 8)
		arm_cq(pci, data);
	else if (place == DOORBELL_CQ && length == 4)
		memcpy(pci->half_arm, data, 4);
	else if (place == DOORBELL_CQ + 4 && length == 4) {
		memcpy(pci->half_arm + 4, data, 4);
		arm_cq(pci, pci->half_arm);
	} else if (place >= DOORBELL_EQ && place < DOORBELL_EQ + EQS_PER_UAR * 8 &&
		   place % 8 == 0 && length == 4)
		vcx3_eq_doorbell(&pci->eqs, uar * EQS_PER_UAR + (place - DOORBELL_EQ) / 8,
				 be32_at(data, 0));
	else
		pci->counters.doorbells_dropped++;
}

int
vcx3_pci_write(struct vcx3_pci *pci, uint32_t region, uint64_t offset, const uint8_t *data,
	       uint32_t length)
{
	uint32_t i;

	if (!is_inside(region, offset, length))
		return -EINVAL;
	if (region == VCX3_REGION_CONFIG)
		vcx3_config_write(pci->config, (uint32_t)offset, data, length);
	else if (region == VCX3_REGION_BAR2)
		ring_doorbell(pci, (uint32_t)offset, data, length);
	else if ((offset | length) % 4 == 0)
		for (i = 0; i < length; i += 4)
			write_register(pci, (uint32_t)offset + i, be32_at(data, i));
	return 0;
}
