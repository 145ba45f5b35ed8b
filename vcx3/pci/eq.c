/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Event queues: creation, the doorbell, and writing an entry.
 */
#include <string.h>

#include "be.h"
#include "eq.h"
#include "icm.h"

/* Offsets in the EQ context (connectx3-pci.md B.8). */
#define EQC_LOG_SIZE 0x0c
#define EQC_VECTOR 0x17
#define EQC_LOG_PAGE 0x18
#define EQC_MTT_HIGH 0x1b
#define EQC_MTT_LOW 0x1c

#define EQE_SIZE 32
#define EQE_OWNER 31
#define OWNER_HW 0x80
#define LOG_SIZE_MAX 22
#define INDEX_MASK 0xffffff
#define DOORBELL_ARM 0x80000000U

void
vcx3_eqs_init(struct vcx3_eqs *eqs, struct vcx3_irqs *irqs, const struct vcx3_memory *memory)
{
	memset(eqs, 0, sizeof(*eqs));
	eqs->irqs = irqs;
	eqs->memory = memory;
	vcx3_eqs_clear(eqs);
}

void
vcx3_eqs_clear(struct vcx3_eqs *eqs)
{
	uint32_t i;

	for (i = 0; i < VCX3_EQS; i++)
		vcx3_eq_destroy(eqs, i);
	for (i = 0; i < VCX3_EVENT_TYPES; i++)
		eqs->by_type[i] = VCX3_NO_EQ;
	eqs->eqe_size = EQE_SIZE;
}

/* The part of an entry that software reads: the second half of one of 64 bytes. */
static uint8_t *
entry_at(struct vcx3_eqs *eqs, struct vcx3_eq *eq, uint32_t index)
{
	uint64_t slot = index & ((1U << eq->log_size) - 1);
	uint8_t *entry = vcx3_map_at(&eq->map, eqs->memory, slot * eqs->eqe_size);

	return entry != NULL ? entry + eqs->eqe_size - EQE_SIZE : NULL;
}

/* Software hands over zeroed memory, in which every entry reads as valid. */
static enum vcx3_status
own_entries(struct vcx3_eqs *eqs, struct vcx3_eq *eq)
{
	uint32_t i;

	for (i = 0; i < 1U << eq->log_size; i++) {
		uint8_t *entry = entry_at(eqs, eq, i);

		if (entry == NULL)
			return VCX3_BAD_PARAM;
		entry[EQE_OWNER] = OWNER_HW;
	}
	return VCX3_OK;
}

enum vcx3_status
vcx3_eq_create(struct vcx3_eqs *eqs, uint32_t eqn, const uint8_t *context)
{
	uint8_t log_size = context[EQC_LOG_SIZE] & 0x1f;
	uint8_t log_page = (context[EQC_LOG_PAGE] & 0x3f) + 12;
	struct vcx3_object object;
	struct vcx3_eq *eq;
	enum vcx3_status status;

	if (eqn >= VCX3_EQS)
		return VCX3_BAD_INDEX;
	eq = &eqs->table[eqn];
	if (eq->live)
		return VCX3_BAD_RES_STATE;
	if (log_size > LOG_SIZE_MAX || log_page > 30)
		return VCX3_BAD_PARAM;
	object = vcx3_icm_object((uint64_t)context[EQC_MTT_HIGH] << 32 |
				 be32_at(context, EQC_MTT_LOW), log_page, 0);
	*eq = (struct vcx3_eq){ .log_size = log_size, .vector = context[EQC_VECTOR], .armed = true };
	memcpy(eq->context, context, sizeof(eq->context));
	if (vcx3_map_init(&eq->map, eqs->memory, &object, (uint64_t)eqs->eqe_size << log_size,
			  true) < 0)
		return VCX3_EXCEED_LIM;
	status = own_entries(eqs, eq);
	eq->live = true;
	if (status != VCX3_OK)
		vcx3_eq_destroy(eqs, eqn);
	return status;
}

enum vcx3_status
vcx3_eq_destroy(struct vcx3_eqs *eqs, uint32_t eqn)
{
	if (eqn >= VCX3_EQS)
		return VCX3_BAD_INDEX;
	if (!eqs->table[eqn].live)
		return VCX3_BAD_RES_STATE;
	vcx3_map_fini(&eqs->table[eqn].map);
	eqs->table[eqn].live = false;
	return VCX3_OK;
}

enum vcx3_status
vcx3_eq_route(struct vcx3_eqs *eqs, uint32_t eqn, uint64_t mask, bool unmap)
{
	uint32_t type;

	if (eqn >= VCX3_EQS || !eqs->table[eqn].live)
		return VCX3_BAD_INDEX;
	for (type = 0; type < VCX3_EVENT_TYPES; type++) {
		if ((mask & UINT64_C(1) << type) == 0)
			continue;
		if (!unmap)
			eqs->by_type[type] = eqn;
		else if (eqs->by_type[type] == eqn)
			eqs->by_type[type] = VCX3_NO_EQ;
	}
	return VCX3_OK;
}

static void
fire(struct vcx3_eqs *eqs, struct vcx3_eq *eq)
{
	eq->armed = false;
	vcx3_irqs_raise(eqs->irqs, eq->vector);
}

void
vcx3_eq_doorbell(struct vcx3_eqs *eqs, uint32_t eqn, uint32_t value)
{
	struct vcx3_eq *eq;

	if (eqn >= VCX3_EQS || !eqs->table[eqn].live)
		return;
	eq = &eqs->table[eqn];
	eq->consumer = value & INDEX_MASK;
	if ((value & DOORBELL_ARM) == 0)
		return;
	eq->armed = true;
	if (((eq->producer ^ eq->consumer) & INDEX_MASK) != 0)
		fire(eqs, eq);
}

void
vcx3_eq_push(struct vcx3_eqs *eqs, uint32_t eqn, const struct vcx3_eqe *event)
{
	uint32_t used;
	uint8_t *entry;
	struct vcx3_eq *eq;

	if (eqn >= VCX3_EQS || !eqs->table[eqn].live)
		return;
	eq = &eqs->table[eqn];
	used = (eq->producer - eq->consumer) & INDEX_MASK;
	entry = entry_at(eqs, eq, eq->producer);
	if (used >= 1U << eq->log_size || entry == NULL) {
		eq->lost++;
		return;
	}
	entry[0] = 0;
	entry[1] = event->type;
	entry[2] = 0;
	entry[3] = event->subtype;
	memcpy(entry + 4, event->data, sizeof(event->data));
	__atomic_store_n(&entry[EQE_OWNER],
			 (eq->producer >> eq->log_size & 1) != 0 ? OWNER_HW : 0, __ATOMIC_RELEASE);
	eq->producer++;
	if (eq->armed)
		fire(eqs, eq);
}

void
vcx3_eq_push_async(struct vcx3_eqs *eqs, const struct vcx3_eqe *event)
{
	if (event->type < VCX3_EVENT_TYPES && eqs->by_type[event->type] != VCX3_NO_EQ)
		vcx3_eq_push(eqs, eqs->by_type[event->type], event);
}
