/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The counters that judge drivers, as one list, and all of the device's counters as
 * JSON text. Port counters: port.h; violations: strict.h.
 */
#ifndef VCX3_CORE_COUNTERS_H
#define VCX3_CORE_COUNTERS_H

#include <stddef.h>

#include "core.h"

#define VCX3_COUNTERS(X) \
	X(registrations, "memory keys made") \
	X(deregistrations, "memory keys voided") \
	X(registered_bytes, "bytes that live keys cover") \
	X(live_mpts, "memory keys") \
	X(live_cqs, "completion queues") \
	X(live_qps, "queue pairs out of reset, RSS QPs included") \
	X(live_srqs, "shared receive queues") \
	X(live_rules, "steering rules") \
	X(doorbells, "send doorbells seen") \
	X(doorbells_idle, "of these, with no new work") \
	X(cq_arms, "CQ arms seen") \
	X(completion_events, "completion events raised") \
	X(async_events, "asynchronous events raised") \
	X(cqes, "completions written") \
	X(error_cqes, "of these, with an error") \
	X(rx_wqes, "receive WQEs consumed") \
	X(tx_wqes, "send WQEs executed") \
	X(tx_segments, "frames cut by LSO") \
	X(slices, "turns of the engine")

struct vcx3_counters {
#define X(name, text) uint64_t name;
	VCX3_COUNTERS(X)
#undef X
};

const struct vcx3_counters *vcx3_counters_get(const struct vcx3_core *core);

/**
 * All counters as one JSON object:
 * {"device": {...}, "ports": [{"port": 1, ..., "wire": {...}}],
 *  "qps": [{"qpn": N, "doorbells": ...}],
 *  "cqs": [{"cqn": N, "arms": ...}], "violations": {"total": N, RULE: N, ...}}.
 *
 * @return the length without the final NUL as snprintf() counts, even if size is less.
 */
size_t vcx3_counters_json(const struct vcx3_core *core, char *buffer, size_t size);

#endif
