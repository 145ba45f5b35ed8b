/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The driver over DPDK's telemetry socket: what xdp_tel.c (requests and answers) offers the
 * commands in telemetry.c, xdp_tel_prog.c and, on maps, xdp_tel_map.c. The protocol is
 * doc/xdp_hook.rst.
 */

#ifndef MLX4X_XDP_TEL_H
#define MLX4X_XDP_TEL_H

#include <rte_telemetry.h>

#include "xdp.h"

/* Parameters: name; what it holds. A request is name=value,name=value. */
#define MLX4X_TEL_KEYS(X) \
	X(PORT, "port") \
	X(QUEUE, "queue") \
	X(TXQ, "txq") \
	X(ID, "id") \
	X(PATH, "path") \
	X(SEC, "sec") \
	X(FUNC, "func") \
	X(VERIFY, "verify") \
	X(PIN, "pin") \
	X(REPLACE, "replace") \
	X(SINCE, "since") \
	X(COUNT, "count") \
	X(MAP, "map") \
	X(KEY, "key") \
	X(VALUE, "value") \
	X(FLAGS, "flags") \
	X(TARGET, "target") \
	X(NAME, "name") \
	X(APPEND, "append") \
	X(PRIO, "prio")

#define MLX4X_TEL_KEY_NUMBER(number, name) MLX4X_TEL_##number,
enum mlx4x_tel_key {
	MLX4X_TEL_KEYS(MLX4X_TEL_KEY_NUMBER)
	MLX4X_TEL_NB_KEYS
};

/* DPDK's server reads a request into 1024 bytes. */
#define MLX4X_TEL_REQUEST_SIZE 1024

/* A request, taken apart; what was not given is NULL. */
struct mlx4x_tel_request {
	struct mlx4x_port *port;	/* NULL for commands that need none */
	uint16_t queue;			/* RTE_PMD_MLX4X_XDP_PORT if not given */
	const char *value[MLX4X_TEL_NB_KEYS];
	char text[MLX4X_TEL_REQUEST_SIZE];
};

#define MLX4X_TEL_BIT(key) (1u << MLX4X_TEL_##key)

struct mlx4x_tel_command {
	const char *name;
	const char *help;
	uint32_t needs;			/* MLX4X_TEL_BIT() of parameters that must be there */
	uint32_t takes;			/* and of others that may be */
	/* 0 and an answer in dict, or what mlx4x_xdp_refuse() returned */
	int (*run)(const struct mlx4x_tel_request *request, struct rte_tel_data *dict);
};

/* Adds commands to the server. */
void mlx4x_tel_register(const struct mlx4x_tel_command *commands, unsigned int nb);

/* Before a port is closed: requests for it end, later ones are refused. */
void mlx4x_tel_forget(struct rte_eth_dev *eth_dev);

/* A number parameter: fallback if it was not given. Refuses what is no number up to max. */
int mlx4x_tel_number(const struct mlx4x_tel_request *request, enum mlx4x_tel_key key,
	uint64_t fallback, uint64_t max, uint64_t *number);

/* The program that queue= and id= name, under the lock of the device. NULL: refused. */
struct mlx4x_xdp_prog *mlx4x_tel_prog(const struct mlx4x_tel_request *request);

/* A dict inside a dict, to be filled. NULL if there is no room or no memory. */
struct rte_tel_data *mlx4x_tel_add_dict(struct rte_tel_data *dict, const char *name);

/* Bytes as hex digits: a string, or an array of strings if they are many. */
void mlx4x_tel_add_hex(struct rte_tel_data *dict, const char *name, const uint8_t *bytes,
	size_t nb);

/* A text of any length: an array of strings, to be joined. */
void mlx4x_tel_add_text(struct rte_tel_data *dict, const char *name, const char *text);

#endif /* MLX4X_XDP_TEL_H */
