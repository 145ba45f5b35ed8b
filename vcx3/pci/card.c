/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From options to a running card, and its counters as text.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../cmd/wires.h"
#include "../core/counters.h"
#include "../core/fault.h"
#include "../core/port.h"
#include "card.h"

#define MAX_VIOLATIONS_PRINTED 64
#define COUNTERS_EXTRA 1024
/* A polling engine would take a whole processor from the VM. */
#define ENGINE_SPIN_US 50
#define ENGINE_SLEEP_US 500

static uint64_t
now_ns(void *ctx)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static void
print_sentence(void *ctx, const char *sentence)
{
	fprintf(stderr, "vcx3: %s\n", sentence);
}

static void
print_violation(void *ctx, const struct vcx3_violation *violation)
{
	struct vcx3_pci *pci = ctx;
	uint32_t i;

	if (pci->counters.violations++ >= MAX_VIOLATIONS_PRINTED)
		return;
	fprintf(stderr, "vcx3: rule %s broken by %s 0x%x: %s; words:", violation->rule,
		violation->object, violation->number, violation->sentence);
	for (i = 0; i < violation->nb_words; i++)
		fprintf(stderr, " %08x", violation->words[i]);
	fputc('\n', stderr);
}

static int
create_core(struct vcx3_card *card)
{
	const struct vcx3_options *options = &card->options;
	const struct vcx3_pci_config pci_config = {
		.device = (enum vcx3_device)options->identity,
		.ports = options->ports,
		.cqe_64 = options->cqe_size == 64,
	};
	const struct vcx3_core_config config = {
		.device = pci_config.device,
		.ports = options->ports,
		.speed_mbps = options->speed_mbps,
		.mtu = options->mtu,
		.strict = options->strict,
		.vlan_insert = options->vlan_insert,
		.cold_cqe = options->cold,
		.cold_data = options->cold_data,
		.memory_ops = &vcx3_icm_memory_ops,
		.memory_ctx = vcx3_pci_memory_ctx(&card->pci),
		.sink = &card->sink,
		.sink_ctx = &card->pci,
		.commands = vcx3_pci_commands,
	};
	int ret = vcx3_pci_init(&card->pci, &pci_config);

	if (ret == 0)
		ret = vcx3_core_create(&config, &card->core);
	if (ret == 0)
		vcx3_pci_set_core(&card->pci, card->core);
	return ret;
}

static int
open_wires(struct vcx3_card *card, char *reason, size_t size)
{
	struct vcx3_wire_env env[VCX3_MAX_PORTS];
	struct vcx3_wire_plan plan;
	unsigned int i;
	int ret = vcx3_options_wires(&card->options, &plan, reason, size);

	for (i = 0; i < card->options.ports; i++) {
		env[i] = (struct vcx3_wire_env){ .now_ns = now_ns, .log = print_sentence };
		memcpy(env[i].mac, card->options.mac, sizeof(env[i].mac));
		env[i].mac[5] += i;
		vcx3_port_set_mac(card->core, i + 1, env[i].mac);
		vcx3_port_set_admin(card->core, i + 1, false); /* until INIT_PORT */
	}
	if (ret == 0)
		ret = vcx3_wire_plan_open(&plan, env, card->wires, reason, size);
	for (i = 0; ret == 0 && i < card->options.ports; i++)
		vcx3_port_attach_wire(card->core, i + 1, card->wires[i]);
	return ret;
}

static int
add_faults(struct vcx3_card *card, char *reason, size_t size)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; ret == 0 && i < card->options.nb_faults; i++)
		ret = vcx3_fault_add(card->core, card->options.fault[i], reason, size);
	return ret;
}

int
vcx3_card_create(struct vcx3_card *card, char *reason, size_t size)
{
	const struct vcx3_runner_config runner = {
		.thread = true,
		.cpu = card->options.engine_cpu,
		.wake = VCX3_WAKE_KICK,
		.spin_us = ENGINE_SPIN_US,
		.sleep_us = ENGINE_SLEEP_US,
	};
	int ret;

	card->sink = vcx3_pci_sink;
	card->sink.violation = print_violation;
	ret = create_core(card);
	if (ret < 0)
		snprintf(reason, size, "cannot make the device: %s", strerror(-ret));
	if (ret == 0)
		ret = open_wires(card, reason, size);
	if (ret == 0)
		ret = add_faults(card, reason, size);
	if (ret == 0) {
		ret = vcx3_runner_create(card->core, &runner, &card->runner);
		if (ret < 0)
			snprintf(reason, size, "cannot start the engine: %s", strerror(-ret));
	}
	if (ret < 0)
		vcx3_card_destroy(card);
	return ret;
}

void
vcx3_card_destroy(struct vcx3_card *card)
{
	unsigned int i;

	if (card->runner != NULL)
		vcx3_runner_destroy(card->runner);
	for (i = 0; i < card->options.ports; i++) {
		if (card->wires[i] == NULL)
			continue;
		vcx3_port_attach_wire(card->core, i + 1, NULL);
		vcx3_wire_close(card->wires[i]);
	}
	if (card->core != NULL)
		vcx3_core_destroy(card->core);
	vcx3_pci_fini(&card->pci);
}

char *
vcx3_card_census(struct vcx3_card *card)
{
	const struct vcx3_counters *live = vcx3_counters_get(card->core);
	char *text;

	if (asprintf(&text, "{\"mpt\": %llu, \"cq\": %llu, \"qp\": %llu, \"srq\": %llu, "
			    "\"rule\": %llu, \"eq\": %u}",
		     (unsigned long long)live->live_mpts, (unsigned long long)live->live_cqs,
		     (unsigned long long)live->live_qps, (unsigned long long)live->live_srqs,
		     (unsigned long long)vcx3_pci_count_rules(&card->pci),
		     vcx3_pci_count_eqs(&card->pci)) < 0)
		return NULL;
	return text;
}

/* The core's object with the function's own counters and the census as its first members. */
char *
vcx3_card_counters(struct vcx3_card *card)
{
	size_t length = vcx3_counters_json(card->core, NULL, 0) + COUNTERS_EXTRA, used = 0;
	char *census = vcx3_card_census(card);
	char *text = census != NULL ? malloc(length) : NULL;

	if (text == NULL) {
		free(census);
		return NULL;
	}
	used += (size_t)snprintf(text, length, "{\"pci\": {\"live\": %llu",
				 (unsigned long long)vcx3_pci_count_live(&card->pci));
#define X(name, what) \
	used += (size_t)snprintf(text + used, length - used, ", \"" #name "\": %llu", \
				 (unsigned long long)card->pci.counters.name);
	VCX3_PCI_COUNTERS(X)
#undef X
	used += (size_t)snprintf(text + used, length - used, "}, \"census\": %s, ", census);
	free(census);
	vcx3_counters_json(card->core, text + used - 1, length - used + 1);
	text[used - 1] = ' '; /* over the core's opening brace */
	return text;
}
