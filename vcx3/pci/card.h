/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The card that a server process has: function, core, wires, runner, and what the
 * control socket and the report at the end need of them.
 */
#ifndef VCX3_PCI_CARD_H
#define VCX3_PCI_CARD_H

#include <stddef.h>

#include "../cmd/options.h"
#include "../core/runner.h"
#include "../wire/wire.h"
#include "pci.h"

struct vcx3_card {
	struct vcx3_options options;
	struct vcx3_pci pci;
	struct vcx3_sink sink;
	struct vcx3_core *core;
	struct vcx3_runner *runner;
	struct vcx3_wire *wires[VCX3_MAX_PORTS];
};

/**
 * Makes the card that the options describe and lets its engine run.
 *
 * @return 0 or a negative errno with a sentence; then nothing is left.
 */
int vcx3_card_create(struct vcx3_card *card, char *reason, size_t size);

void vcx3_card_destroy(struct vcx3_card *card);

/** All counters as JSON, to be freed; NULL without memory. Under the lock. */
char *vcx3_card_counters(struct vcx3_card *card);

/** The live objects of each kind as JSON, to be freed; NULL without memory. Under the lock. */
char *vcx3_card_census(struct vcx3_card *card);

/** Serves one client of the control socket. */
void vcx3_card_control(struct vcx3_card *card, int listener);

#endif
