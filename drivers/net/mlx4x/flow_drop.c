/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Where dropped frames go: a queue pair that is never made ready, so that the device
 * discards what rules send to it. It exists as long as a rule of the port needs it.
 */

#include <errno.h>
#include <string.h>

#include "mlx4x.h"

static void
destroy(struct mlx4x_drop *drop)
{
	if (drop->qp != NULL)
		ibv_destroy_qp(drop->qp);
	if (drop->cq != NULL)
		ibv_destroy_cq(drop->cq);
	drop->qp = NULL;
	drop->cq = NULL;
}

static int
create(const struct mlx4x_port *port, struct mlx4x_drop *drop)
{
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RAW_PACKET };
	int ret;

	drop->cq = ibv_create_cq(port->dev->ctx, 1, NULL, NULL, 0);
	if (drop->cq == NULL)
		return -errno;
	attr.send_cq = drop->cq;
	attr.recv_cq = drop->cq;
	drop->qp = ibv_create_qp(port->dev->pd, &attr);
	if (drop->qp != NULL)
		return 0;
	ret = -errno;
	destroy(drop);
	return ret;
}

/* A reference to the queue pair. NULL with errno, which is logged. */
struct ibv_qp *
mlx4x_drop_get(struct mlx4x_port *port)
{
	int ret = port->drop.qp == NULL ? create(port, &port->drop) : 0;

	if (ret != 0) {
		MLX4X_LOG(port, ERR, "cannot get a queue pair for frames to drop: %s",
			strerror(-ret));
		errno = -ret;
		return NULL;
	}
	port->drop.refcnt++;
	return port->drop.qp;
}

void
mlx4x_drop_put(struct mlx4x_port *port)
{
	if (--port->drop.refcnt == 0)
		destroy(&port->drop);
}
