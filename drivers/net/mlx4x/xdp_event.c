/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The ring of exceptions; see xdp_event.h.
 */

#include <string.h>

#include <rte_atomic.h>
#include <rte_common.h>
#include <rte_cycles.h>

#include "compat.h"
#include "xdp_event.h"

/*
 * Writers of several queues take numbers, so that each has a place of its own until the
 * ring has gone round. A writer that is held up for a whole round may mix its bytes into
 * a later event; nothing but this log depends on them.
 */
void
mlx4x_xdp_event_add(struct mlx4x_xdp_events *events, uint16_t queue, uint32_t prog_id,
	uint32_t action, const uint8_t *data, uint32_t len)
{
	uint64_t nb = mlx4x_fetch_add_relaxed(&events->nb, 1);
	struct mlx4x_xdp_event *event = &events->ring[nb % MLX4X_XDP_EVENTS];
	uint32_t kept = RTE_MIN(len, MLX4X_XDP_EVENT_BYTES);

	mlx4x_store_relaxed(&event->number, 0);
	rte_smp_wmb();
	event->tsc = rte_rdtsc();
	event->queue = queue;
	event->prog_id = prog_id;
	event->action = action;
	event->len = len;
	memcpy(event->bytes, data, kept);
	memset(event->bytes + kept, 0, MLX4X_XDP_EVENT_BYTES - kept);
	mlx4x_store_release(&event->number, nb + 1);
}

bool
mlx4x_xdp_event_get(const struct mlx4x_xdp_events *events, uint64_t number,
	struct mlx4x_xdp_event *event)
{
	const struct mlx4x_xdp_event *place = &events->ring[(number - 1) % MLX4X_XDP_EVENTS];

	if (mlx4x_load_acquire(&place->number) != number)
		return false;
	*event = *place;
	rte_smp_rmb();
	return mlx4x_load_relaxed(&place->number) == number;
}
