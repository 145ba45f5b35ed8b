/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The PCI function as a whole: birth, reset, memory map changes, and the way of the
 * core's events into event queues.
 */
#include <errno.h>
#include <string.h>

#include "../core/counters.h"
#include "../core/port.h"
#include "be.h"
#include "cmd.h"
#include "pci.h"

#define EQE_DATA 4 /* offset of data[] in an entry */
#define CATAS_INTERNAL 0x01

static const uint16_t device_ids[] = {
	[VCX3_CX3] = 0x1003,
	[VCX3_CX3_PRO] = 0x1007,
	[VCX3_VF] = 0x1004,
};

static void
push_completion(void *ctx, uint32_t cqn, uint32_t event_queue)
{
	struct vcx3_pci *pci = ctx;
	struct vcx3_eqe event = { .type = VCX3_EQE_COMPLETION };

	put_be32(event.data, 0x04 - EQE_DATA, cqn);
	vcx3_eq_push(&pci->eqs, event_queue, &event);
}

static void
push_async(void *ctx, enum vcx3_event type, uint32_t number, uint8_t syndrome)
{
	struct vcx3_pci *pci = ctx;
	struct vcx3_eqe event = { .type = (uint8_t)type };

	put_be32(event.data, 0x04 - EQE_DATA, number);
	event.data[0x0f - EQE_DATA] = syndrome;
	vcx3_eq_push_async(&pci->eqs, &event);
}

static void
push_port_change(void *ctx, unsigned int port, bool up)
{
	struct vcx3_pci *pci = ctx;
	struct vcx3_eqe event = { .type = VCX3_EQE_PORT_CHANGE, .subtype = up ? 4 : 1 };

	put_be32(event.data, 0x0c - EQE_DATA, port << 28);
	vcx3_eq_push_async(&pci->eqs, &event);
}

static void
show_fatal(void *ctx, const char *reason)
{
	vcx3_pci_catastrophe(ctx, reason);
}

const struct vcx3_sink vcx3_pci_sink = {
	.completion = push_completion,
	.async = push_async,
	.port_change = push_port_change,
	.fatal = show_fatal,
};

void
vcx3_pci_catastrophe(struct vcx3_pci *pci, const char *reason)
{
	size_t length = strnlen(reason, (VCX3_CATAS_WORDS - 1) * sizeof(uint32_t));
	uint8_t text[VCX3_CATAS_WORDS * sizeof(uint32_t)] = { 0 };
	unsigned int i;

	/* Software takes any first word but 0 as fatal; the rest is for its log. */
	put_be32(text, 0, CATAS_INTERNAL << 24);
	memcpy(text + sizeof(uint32_t), reason, length);
	for (i = 0; i < VCX3_CATAS_WORDS; i++)
		pci->catas[i] = be32_at(text, i * sizeof(uint32_t));
}

int
vcx3_pci_init(struct vcx3_pci *pci, const struct vcx3_pci_config *config)
{
	memset(pci, 0, sizeof(*pci));
	pci->device = config->device;
	pci->ports = config->ports;
	pci->cqe_64 = config->cqe_64;
	pci->cqe_size = 32;
	pci->memory = (struct vcx3_memory){ .ops = &vcx3_icm_memory_ops, .ctx = &pci->icm };
	pci->icm.regions = &pci->dma;
	vcx3_irqs_init(&pci->irqs);
	vcx3_eqs_init(&pci->eqs, &pci->irqs, &pci->memory);
	vcx3_config_init(pci->config, device_ids[config->device]);
	pci->qpcs = vcx3_qpc_table_create();
	return pci->qpcs != NULL ? 0 : -ENOMEM;
}

void
vcx3_pci_set_core(struct vcx3_pci *pci, struct vcx3_core *core)
{
	pci->core = core;
}

void
vcx3_pci_fini(struct vcx3_pci *pci)
{
	vcx3_eqs_clear(&pci->eqs);
	vcx3_irqs_fini(&pci->irqs);
	vcx3_icm_clear(&pci->icm);
	vcx3_dma_remove_all(&pci->dma);
	vcx3_qpc_table_destroy(pci->qpcs);
	pci->qpcs = NULL;
}

void
vcx3_pci_forget_objects(struct vcx3_pci *pci)
{
	vcx3_core_reset(pci->core);
	vcx3_eqs_clear(&pci->eqs);
	vcx3_qpc_table_clear(pci->qpcs);
	vcx3_icm_clear(&pci->icm);
	memset(pci->port, 0, sizeof(pci->port));
	pci->running = false;
	pci->dmfs = false;
	pci->cqe_size = 32;
	vcx3_pci_memory_changed(pci);
}

void
vcx3_pci_reset(struct vcx3_pci *pci)
{
	unsigned int port;

	pci->counters.resets++;
	vcx3_pci_forget_objects(pci);
	for (port = 1; port <= pci->ports; port++)
		vcx3_port_set_admin(pci->core, port, false);
	memset(&pci->hcr, 0, sizeof(pci->hcr));
	memset(pci->catas, 0, sizeof(pci->catas));
	pci->owned = 0;
	vcx3_config_init(pci->config, device_ids[pci->device]);
}

uint32_t
vcx3_pci_count_eqs(const struct vcx3_pci *pci)
{
	uint32_t i, live = 0;

	for (i = 0; i < VCX3_EQS; i++)
		live += pci->eqs.table[i].live;
	return live;
}

uint64_t
vcx3_pci_count_rules(const struct vcx3_pci *pci)
{
	uint64_t live = vcx3_counters_get(pci->core)->live_rules;
	unsigned int i;

	for (i = 0; i < pci->ports; i++)
		live -= pci->port[i].nb_a0_rules;
	return live;
}

uint64_t
vcx3_pci_count_live(const struct vcx3_pci *pci)
{
	const struct vcx3_counters *counters = vcx3_counters_get(pci->core);

	return counters->live_mpts + counters->live_cqs + counters->live_qps +
	       counters->live_srqs + vcx3_pci_count_rules(pci) + vcx3_pci_count_eqs(pci);
}

void
vcx3_pci_memory_changed(struct vcx3_pci *pci)
{
	pci->memory.generation++;
	vcx3_core_memory_changed(pci->core);
}

int
vcx3_pci_dma_map(struct vcx3_pci *pci, const struct vcx3_dma_region *region)
{
	int ret = vcx3_dma_add(&pci->dma, region);

	vcx3_pci_memory_changed(pci);
	return ret;
}

int
vcx3_pci_dma_unmap(struct vcx3_pci *pci, uint64_t iova, uint64_t size)
{
	int ret = vcx3_dma_remove(&pci->dma, iova, size);

	vcx3_pci_memory_changed(pci);
	return ret;
}

void
vcx3_pci_dma_unmap_all(struct vcx3_pci *pci)
{
	vcx3_dma_remove_all(&pci->dma);
	vcx3_pci_memory_changed(pci);
}
