/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Strict mode: counts and reports violations, and remembers which receive buffers are
 * posted (a hash table with linear probing).
 */
#include <stdlib.h>

#include "device.h"

#define LOG_POSTED 18
#define NB_POSTED (1u << LOG_POSTED)

static const struct {
	const char *name;
	const char *sentence;
} rules[] = {
#define X(name, sentence) { #name, sentence },
	VCX3_RULES(X)
#undef X
};

const char *
vcx3_strict_name(enum vcx3_rule_id rule)
{
	return rules[rule].name;
}

const char *
vcx3_strict_sentence(enum vcx3_rule_id rule)
{
	return rules[rule].sentence;
}

uint64_t
vcx3_strict_count(const struct vcx3_core *core, enum vcx3_rule_id rule)
{
	return core->violations[rule];
}

uint64_t
vcx3_strict_total(const struct vcx3_core *core)
{
	uint64_t total = 0;

	for (unsigned int i = 0; i < VCX3_NB_RULES; i++)
		total += core->violations[i];
	return total;
}

void
vcx3_violate(struct vcx3_core *core, enum vcx3_rule_id rule, const char *object, uint32_t number,
	     const uint32_t *words, uint32_t nb_words)
{
	struct vcx3_violation violation = {
		.rule = rules[rule].name,
		.sentence = rules[rule].sentence,
		.object = object,
		.number = number,
		.nb_words = nb_words,
	};

	core->violations[rule]++;
	for (uint32_t i = 0; i < nb_words; i++)
		violation.words[i] = words[i];
	if (core->config.sink != NULL && core->config.sink->violation != NULL)
		core->config.sink->violation(core->config.sink_ctx, &violation);
}

static uint32_t
home_of(uint64_t address)
{
	return address * UINT64_C(0x9e3779b97f4a7c15) >> (64 - LOG_POSTED);
}

/* The slot that holds an address, or the free one where it would go. */
static uint32_t
find_posted(const struct vcx3_core *core, uint64_t address)
{
	uint32_t slot = home_of(address);

	while (core->posted[slot].address != 0 && core->posted[slot].address != address)
		slot = (slot + 1) & (NB_POSTED - 1);
	return slot;
}

/* Frees a slot and moves up what was displaced by it. */
static void
remove_posted(struct vcx3_core *core, uint32_t slot)
{
	uint32_t next = slot;

	core->nb_posted--;
	for (;;) {
		uint32_t home;

		core->posted[slot].address = 0;
		do {
			next = (next + 1) & (NB_POSTED - 1);
			if (core->posted[next].address == 0)
				return;
			home = home_of(core->posted[next].address);
		} while (((next - home) & (NB_POSTED - 1)) < ((next - slot) & (NB_POSTED - 1)));
		core->posted[slot] = core->posted[next];
		slot = next;
	}
}

void
vcx3_strict_buffer_posted(struct vcx3_core *core, uint32_t qpn, uint64_t address)
{
	uint32_t words[] = { address >> 32, address, 0 };
	uint32_t slot;

	if (address == 0 || core->nb_posted > NB_POSTED / 2)
		return; /* a full table would be slow; rings never hold that many */
	slot = find_posted(core, address);
	if (core->posted[slot].address != 0) {
		words[2] = core->posted[slot].qpn;
		vcx3_violate(core, VCX3_STRICT_rq_same_buffer, "qp", qpn, words, 3);
		return;
	}
	core->posted[slot] = (struct vcx3_posted){ address, qpn };
	core->nb_posted++;
}

void
vcx3_strict_buffer_taken(struct vcx3_core *core, uint64_t address)
{
	uint32_t slot = find_posted(core, address);

	if (address != 0 && core->posted[slot].address != 0)
		remove_posted(core, slot);
}

/* A queue has ended: its buffers are software's again. */
void
vcx3_strict_queue_ended(struct vcx3_core *core, const struct vcx3_qp *qp)
{
	bool has_moved = qp->rq.checked != qp->rq.head;

	while (has_moved) { /* removing may move an entry behind the scan */
		has_moved = false;
		for (uint32_t slot = 0; slot < NB_POSTED; slot++) {
			if (core->posted[slot].address == 0 || core->posted[slot].qpn != qp->qpn)
				continue;
			remove_posted(core, slot);
			has_moved = true;
		}
	}
}

int
vcx3_strict_create(struct vcx3_core *core)
{
	core->posted = calloc(NB_POSTED, sizeof(*core->posted));
	return core->posted != NULL ? 0 : -1;
}
