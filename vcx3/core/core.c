/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The instance: birth, the turn of the engine, reset, death.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

#include "device.h"

#define SERVICE_NS 1000000 /* between looks at the far ends of the wires */
#define CACHE_LINE 64
#define LOG_MAX_TABLE 24 /* QPNs and CQNs have 24 bits */

#if defined(__x86_64__)
__attribute__((target("clflushopt")))
static void
flush_optimized(uintptr_t line, uintptr_t end)
{
	for (; line < end; line += CACHE_LINE)
		_mm_clflushopt((void *)line);
}

/* Old machines have only the ordered, slower instruction. */
void
vcx3_make_cold(const struct vcx3_core *core, const void *address, uint64_t len)
{
	uintptr_t line = (uintptr_t)address & ~(uintptr_t)(CACHE_LINE - 1);
	uintptr_t end = (uintptr_t)address + len;

	if (core->has_clflushopt) {
		flush_optimized(line, end);
		return;
	}
	for (; line < end; line += CACHE_LINE)
		_mm_clflush((void *)line);
}

/* CPUID leaf 7, EBX bit 23. */
static bool
find_clflushopt(void)
{
	unsigned int eax, ebx = 0, ecx, edx;

	return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && ebx & 1u << 23;
}
#else
/* Other machines keep their lines: only benchmarks ask. */
void
vcx3_make_cold(const struct vcx3_core *core, const void *address, uint64_t len)
{
}

static bool
find_clflushopt(void)
{
	return false;
}
#endif

static uint64_t
monotonic_ns(void *ctx)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * UINT64_C(1000000000) + now.tv_nsec;
}

static bool
is_config_good(const struct vcx3_core_config *config)
{
	return config->ports >= 1 && config->ports <= VCX3_MAX_PORTS &&
	       config->log_max_qp <= LOG_MAX_TABLE && config->log_max_cq <= LOG_MAX_TABLE &&
	       config->log_max_srq <= LOG_MAX_TABLE && config->log_max_mpt <= LOG_MAX_TABLE &&
	       (config->mtu == 0 || (config->mtu >= VCX3_MIN_MTU && config->mtu <= VCX3_MAX_MTU));
}

static int
make_tables(struct vcx3_core *core)
{
	const struct vcx3_core_config *config = &core->config;

	core->nb_qps = 1u << (config->log_max_qp > 0 ? config->log_max_qp : 19);
	core->nb_cqs = 1u << (config->log_max_cq > 0 ? config->log_max_cq : 16);
	core->nb_srqs = 1u << (config->log_max_srq > 0 ? config->log_max_srq : 16);
	core->nb_mpts = 1u << (config->log_max_mpt > 0 ? config->log_max_mpt : 19);
	core->qps = calloc(core->nb_qps, sizeof(*core->qps));
	core->cqs = calloc(core->nb_cqs, sizeof(*core->cqs));
	core->srqs = calloc(core->nb_srqs, sizeof(*core->srqs));
	core->mpts = calloc(core->nb_mpts, sizeof(*core->mpts));
	core->live_cqs = calloc(core->nb_cqs, sizeof(*core->live_cqs));
	core->frame = malloc(VCX3_WIRE_FRAME_MAX);
	core->payload = malloc(VCX3_LSO_MAX);
	if (core->qps == NULL || core->cqs == NULL || core->srqs == NULL || core->mpts == NULL ||
	    core->live_cqs == NULL || core->frame == NULL || core->payload == NULL)
		return -ENOMEM;
	return config->strict && vcx3_strict_create(core) != 0 ? -ENOMEM : 0;
}

static int
make_port(struct vcx3_core *core, struct vcx3_port *port, unsigned int number)
{
	const struct vcx3_core_config *config = &core->config;

	port->number = number;
	port->carrier = true;
	port->speed_mbps = config->speed_mbps > 0 ? config->speed_mbps : 40000;
	port->flows = calloc(VCX3_FLOW_CACHE, sizeof(*port->flows));
	vcx3_port_set_mtu(core, number, config->mtu > 0 ? config->mtu : 1500);
	return port->flows != NULL ? 0 : -ENOMEM;
}

int
vcx3_core_create(const struct vcx3_core_config *config, struct vcx3_core **out)
{
	struct vcx3_core *core;
	int result;

	if (!is_config_good(config))
		return -EINVAL;
	core = calloc(1, sizeof(*core));
	if (core == NULL)
		return -ENOMEM;
	core->config = *config;
	if (core->config.now_ns == NULL)
		core->config.now_ns = monotonic_ns;
	core->memory.ops = config->memory_ops;
	core->memory.ctx = config->memory_ctx;
	core->steer_generation = 1;
	core->has_clflushopt = find_clflushopt();
	core->now_ns = vcx3_core_now_ns(core);
	result = make_tables(core);
	for (unsigned int i = 0; i < config->ports && result == 0; i++)
		result = make_port(core, &core->ports[i], i + 1);
	if (result != 0) {
		vcx3_core_destroy(core);
		return result;
	}
	*out = core;
	return 0;
}

static void
release_objects(struct vcx3_core *core)
{
	while (core->live_qps != NULL)
		vcx3_qp_release(core, core->live_qps);
	for (uint32_t i = 0; core->counters.live_srqs > 0 && i < core->nb_srqs; i++)
		if (core->srqs[i] != NULL)
			vcx3_srq_release(core, core->srqs[i]);
	while (core->counters.live_cqs > 0)
		vcx3_cq_release(core, core->live_cqs[0]);
	for (uint32_t i = 0; core->counters.live_mpts > 0 && i < core->nb_mpts; i++)
		if (core->mpts[i] != NULL)
			vcx3_mpt_destroy(core, vcx3_mpt_key(i));
	vcx3_rules_release(core);
}

void
vcx3_core_reset(struct vcx3_core *core)
{
	release_objects(core);
	core->memory.generation++;
	core->is_dead = false;
}

void
vcx3_core_destroy(struct vcx3_core *core)
{
	release_objects(core);
	for (unsigned int i = 0; i < VCX3_MAX_PORTS; i++)
		free(core->ports[i].flows);
	free(core->qps);
	free(core->cqs);
	free(core->srqs);
	free(core->mpts);
	free(core->live_cqs);
	free(core->frame);
	free(core->payload);
	free(core->posted);
	free(core);
}

static unsigned int
run_qps(struct vcx3_core *core)
{
	unsigned int moved = 0;

	for (struct vcx3_qp *qp = core->live_qps; qp != NULL; qp = qp->next) {
		if (qp->state == VCX3_QP_RTS && qp->sq.count > 0)
			moved += vcx3_sq_run(core, qp);
		if (qp->state != VCX3_QP_ERROR)
			continue;
		moved += vcx3_rq_flush(core, qp);
		if (qp->sq.count > 0)
			moved += vcx3_sq_flush(core, qp);
	}
	return moved;
}

static void
service_wires(struct vcx3_core *core)
{
	bool is_due = core->now_ns - core->service_ns >= SERVICE_NS;

	for (unsigned int i = 0; i < core->config.ports; i++) {
		struct vcx3_port *port = &core->ports[i];

		if (port->wire == NULL)
			continue;
		vcx3_wire_flush(port->wire);
		if (is_due)
			vcx3_wire_service(port->wire);
		vcx3_port_watch_link(core, port);
	}
	if (is_due)
		core->service_ns = core->now_ns;
}

unsigned int
vcx3_core_run(struct vcx3_core *core)
{
	unsigned int moved = 0;

	if (core->is_dead)
		return 0;
	core->now_ns = vcx3_core_now_ns(core);
	core->counters.slices++;
	moved += run_qps(core);
	for (unsigned int i = 0; i < core->config.ports; i++)
		moved += vcx3_port_receive(core, &core->ports[i]);
	for (uint64_t i = 0; i < core->counters.live_cqs; i++)
		moved += vcx3_cq_run(core, core->live_cqs[i]);
	service_wires(core);
	return moved;
}

void
vcx3_core_memory_changed(struct vcx3_core *core)
{
	core->memory.generation++;
}

uint64_t
vcx3_core_now_ns(const struct vcx3_core *core)
{
	return core->config.now_ns(core->config.now_ctx);
}

uint64_t
vcx3_core_clock(const struct vcx3_core *core)
{
	uint64_t now_ns = vcx3_core_now_ns(core);

	return now_ns / 1000000 * VCX3_CLOCK_KHZ + now_ns % 1000000 * VCX3_CLOCK_KHZ / 1000000;
}

bool
vcx3_core_is_dead(const struct vcx3_core *core)
{
	return core->is_dead;
}

void
vcx3_core_die(struct vcx3_core *core, const char *reason)
{
	if (core->is_dead)
		return;
	core->is_dead = true;
	if (core->config.sink != NULL && core->config.sink->fatal != NULL)
		core->config.sink->fatal(core->config.sink_ctx, reason);
}

void
vcx3_raise(struct vcx3_core *core, enum vcx3_event event, uint32_t number, uint8_t syndrome)
{
	core->counters.async_events++;
	if (core->config.sink != NULL && core->config.sink->async != NULL)
		core->config.sink->async(core->config.sink_ctx, event, number, syndrome);
}
