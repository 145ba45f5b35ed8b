/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Requests and answers of /mlx4x/...: parameters out of a comma string, refusals and
 * bytes into what DPDK's telemetry can hold. Its limits: a request has less than 1024
 * bytes, a string in an answer less than 128, an answer less than 16 KiB; longer texts go
 * as arrays of strings, long lists in pages.
 *
 * Commands run on a thread of the telemetry server, one for each connection, next to
 * every other control path; the lock of the device orders them. That a port goes while one
 * runs is what the lock of requests prevents.
 */

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "xdp_tel.h"

#define PIECE_SIZE (RTE_TEL_MAX_STRING_LEN - 1)
#define HEX_PIECE (PIECE_SIZE / 2)

#define MAX_COMMANDS 32

static const struct mlx4x_tel_command *known[MAX_COMMANDS];
static unsigned int nb_known;
static pthread_mutex_t requests = PTHREAD_MUTEX_INITIALIZER;

#define KEY_NAME(number, name) [MLX4X_TEL_##number] = name,
static const char *const key_names[] = { MLX4X_TEL_KEYS(KEY_NAME) };

static int
find_key(const char *name, uint32_t allowed)
{
	int key;

	for (key = 0; key < MLX4X_TEL_NB_KEYS; key++) {
		if (allowed & 1u << key && strcmp(name, key_names[key]) == 0)
			return key;
	}
	return -1;
}

static int
parse_pair(struct mlx4x_tel_request *request, const struct mlx4x_tel_command *command, char *pair)
{
	char *value = strchr(pair, '=');
	int key;

	if (value == NULL)
		return mlx4x_xdp_refuse(NULL, EINVAL, "%s: \"%s\" is not of the form name=value",
			command->name, pair);
	*value++ = '\0';
	key = find_key(pair, command->needs | command->takes);
	if (key < 0)
		return mlx4x_xdp_refuse(NULL, EINVAL, "%s has no parameter \"%s\"; %s",
			command->name, pair, command->help);
	if (request->value[key] != NULL)
		return mlx4x_xdp_refuse(NULL, EINVAL, "%s: %s= is given twice", command->name, pair);
	request->value[key] = value;
	return 0;
}

int
mlx4x_tel_number(const struct mlx4x_tel_request *request, enum mlx4x_tel_key key,
	uint64_t fallback, uint64_t max, uint64_t *number)
{
	const char *text = request->value[key];
	char *end;

	*number = fallback;
	if (text == NULL)
		return 0;
	errno = 0;
	*number = strtoull(text, &end, 10);
	if (errno == 0 && end != text && *end == '\0' && text[0] != '-' && *number <= max)
		return 0;
	return mlx4x_xdp_refuse(NULL, EINVAL, "%s=%s: not a number from 0 to %" PRIu64,
		key_names[key], text, max);
}

static int
parse_place(struct mlx4x_tel_request *request)
{
	uint64_t number;
	int ret = mlx4x_tel_number(request, MLX4X_TEL_QUEUE, RTE_PMD_MLX4X_XDP_PORT,
		UINT16_MAX - 1, &number);

	request->queue = number;
	if (ret == 0 && request->value[MLX4X_TEL_PORT] != NULL) {
		ret = mlx4x_tel_number(request, MLX4X_TEL_PORT, 0, UINT16_MAX, &number);
		if (ret == 0)
			ret = mlx4x_xdp_port_find(number, &request->port);
	}
	if (ret == 0 && request->port != NULL && request->queue != RTE_PMD_MLX4X_XDP_PORT &&
	    request->queue >= request->port->data->nb_rx_queues)
		ret = mlx4x_xdp_refuse(request->port, EINVAL, "there is no Rx queue %u: the port has "
			"%u", request->queue, request->port->data->nb_rx_queues);
	return ret;
}

static int
parse(struct mlx4x_tel_request *request, const struct mlx4x_tel_command *command,
	const char *params)
{
	char *pair, *rest = request->text;
	int key, ret = 0;

	memset(request->value, 0, sizeof(request->value));
	request->port = NULL;
	snprintf(request->text, sizeof(request->text), "%s", params != NULL ? params : "");
	while (ret == 0 && (pair = strsep(&rest, ",")) != NULL) {
		if (*pair != '\0')
			ret = parse_pair(request, command, pair);
	}
	for (key = 0; key < MLX4X_TEL_NB_KEYS && ret == 0; key++) {
		if (command->needs & 1u << key && request->value[key] == NULL)
			ret = mlx4x_xdp_refuse(NULL, EINVAL, "%s: the request needs %s=; %s",
				command->name, key_names[key], command->help);
	}
	return ret == 0 ? parse_place(request) : ret;
}

static const struct mlx4x_tel_command *
find_command(const char *name)
{
	unsigned int i;

	for (i = 0; i < nb_known; i++) {
		if (strcmp(known[i]->name, name) == 0)
			return known[i];
	}
	return NULL;
}

/* While this lasts no port goes. */
static int
run(const struct mlx4x_tel_command *command, const char *params, struct rte_tel_data *dict)
{
	struct mlx4x_tel_request request;
	int ret;

	pthread_mutex_lock(&requests);
	ret = parse(&request, command, params);
	if (ret == 0)
		ret = command->run(&request, dict);
	pthread_mutex_unlock(&requests);
	return ret;
}

/* Without operations of this driver it is not found any more. */
void
mlx4x_tel_forget(struct rte_eth_dev *eth_dev)
{
	static const struct eth_dev_ops none;

	pthread_mutex_lock(&requests);
	eth_dev->dev_ops = &none;
	pthread_mutex_unlock(&requests);
}

/* Every command: an answer, or a refusal as {"error": [...], "errno": n}. */
static int
handle(const char *name, const char *params, struct rte_tel_data *dict)
{
	int ret;

	rte_tel_data_start_dict(dict);
	ret = run(find_command(name), params, dict);
	if (ret == 0)
		return 0;
	rte_tel_data_start_dict(dict);
	mlx4x_tel_add_text(dict, "error", rte_pmd_mlx4x_xdp_error());
	rte_tel_data_add_dict_int(dict, "errno", -ret);
	return 0;
}

/* From constructors: there is nobody to tell a failure to, the command is then absent. */
void
mlx4x_tel_register(const struct mlx4x_tel_command *commands, unsigned int nb)
{
	unsigned int i;

	for (i = 0; i < nb && nb_known < MAX_COMMANDS; i++) {
		known[nb_known++] = &commands[i];
		rte_telemetry_register_cmd(commands[i].name, handle, commands[i].help);
	}
}

struct mlx4x_xdp_prog *
mlx4x_tel_prog(const struct mlx4x_tel_request *request)
{
	const struct mlx4x_xdp_port *xport = request->port->xdp;
	uint16_t i, nb = request->port->data->nb_rx_queues;
	struct mlx4x_xdp_prog *prog = NULL;
	uint64_t id;

	if (mlx4x_tel_number(request, MLX4X_TEL_ID, 0, UINT32_MAX, &id) != 0)
		return NULL;
	if (request->queue != RTE_PMD_MLX4X_XDP_PORT)
		prog = mlx4x_xdp_prog_of(xport, request->queue);
	else if (id == 0 || (xport->prog != NULL && xport->prog->id == id))
		prog = xport->prog;
	else
		for (i = 0; i < nb && (prog == NULL || prog->id != id); i++)
			prog = xport->queue_prog[i];
	if (prog != NULL && (id == 0 || prog->id == id))
		return prog;
	if (id != 0)
		mlx4x_xdp_refuse(request->port, ENOENT, "program %" PRIu64 " is not attached there",
			id);
	else
		mlx4x_xdp_refuse(request->port, ENOENT, "no program is attached there");
	return NULL;
}

struct rte_tel_data *
mlx4x_tel_add_dict(struct rte_tel_data *dict, const char *name)
{
	struct rte_tel_data *inner = rte_tel_data_alloc();

	if (inner == NULL)
		return NULL;
	rte_tel_data_start_dict(inner);
	if (rte_tel_data_add_dict_container(dict, name, inner, 0) == 0)
		return inner;
	rte_tel_data_free(inner);
	return NULL;
}

/* An array of strings inside a dict. */
static struct rte_tel_data *
add_strings(struct rte_tel_data *dict, const char *name)
{
	struct rte_tel_data *array = rte_tel_data_alloc();

	if (array == NULL)
		return NULL;
	rte_tel_data_start_array(array, RTE_TEL_STRING_VAL);
	if (rte_tel_data_add_dict_container(dict, name, array, 0) == 0)
		return array;
	rte_tel_data_free(array);
	return NULL;
}

static void
format_hex(char text[PIECE_SIZE + 1], const uint8_t *bytes, size_t nb)
{
	static const char digits[] = "0123456789abcdef";
	size_t i;

	for (i = 0; i < nb; i++) {
		text[2 * i] = digits[bytes[i] >> 4];
		text[2 * i + 1] = digits[bytes[i] & 0xf];
	}
	text[2 * nb] = '\0';
}

void
mlx4x_tel_add_hex(struct rte_tel_data *dict, const char *name, const uint8_t *bytes, size_t nb)
{
	char text[PIECE_SIZE + 1];
	struct rte_tel_data *array;
	size_t n;

	if (nb <= HEX_PIECE) {
		format_hex(text, bytes, nb);
		rte_tel_data_add_dict_string(dict, name, text);
		return;
	}
	array = add_strings(dict, name);
	for (; nb != 0 && array != NULL; nb -= n, bytes += n) {
		n = RTE_MIN(nb, (size_t)HEX_PIECE);
		format_hex(text, bytes, n);
		rte_tel_data_add_array_string(array, text);
	}
}

void
mlx4x_tel_add_text(struct rte_tel_data *dict, const char *name, const char *text)
{
	struct rte_tel_data *array = add_strings(dict, name);
	char piece[PIECE_SIZE + 1];

	for (; *text != '\0' && array != NULL; text += strlen(piece)) {
		snprintf(piece, sizeof(piece), "%s", text);
		rte_tel_data_add_array_string(array, piece);
	}
}
