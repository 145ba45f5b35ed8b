/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Counters of the whole port, the kernel's traffic included, from the statistics of the
 * kernel's interface (`ethtool -S`): "rx_crc_errors" there is "rx_phy_crc_errors" here.
 *
 * Names are those at probe, so that they and their order never change, whatever the
 * kernel's interface does meanwhile: it has other statistics when its number of rings is
 * changed, and counts from 0 when it is set up. Both happen behind our back, so each read
 * takes names and values anew.
 *
 * All of it lies in shared memory. A secondary process asks the kernel itself, but only
 * the primary writes down what the kernel said, under the lock of the device.
 */

#include <errno.h>
#include <linux/ethtool.h>
#include <stdlib.h>
#include <string.h>

#include <rte_malloc.h>

#include "mlx4x.h"
#include "phy_stats.h"

/*
 * The kernel writes all that it has, whatever room it is told of, so no buffer of the size
 * that it named just before is safe. mlx4_en has less than 200 statistics of the port, and
 * 2 of each of 256 send rings and at most 9 of each of 128 receive rings.
 */
#define MAX_KERNEL_STATS 4096

/* Tries to get names and values that belong together. */
#define MAX_TRIES 3

struct phy_stat {
	char name[ETH_GSTRING_LEN];	/* the kernel's */
	uint64_t last;			/* what it said last */
	uint64_t base;			/* to subtract from that */
};

struct mlx4x_phy_stats {
	unsigned int nb;
	struct phy_stat *stat;
};

/* What the kernel says now: nb names with their values. */
struct kernel_stats {
	uint32_t nb;
	struct ethtool_gstrings *names;
	struct ethtool_stats *values;
};

static int
ask_count(const struct mlx4x_port *port, uint32_t *nb)
{
	union {
		struct ethtool_sset_info info;
		char room[sizeof(struct ethtool_sset_info) + sizeof(uint32_t)];
	} request = { .info = {
		.cmd = ETHTOOL_GSSET_INFO, .sset_mask = RTE_BIT64(ETH_SS_STATS),
	} };
	int ret = mlx4x_netdev_ethtool(port, &request);

	if (ret != 0)
		return ret;
	if (request.info.sset_mask == 0)
		return -EOPNOTSUPP;
	memcpy(nb, request.room + offsetof(struct ethtool_sset_info, data), sizeof(*nb));
	return *nb <= MAX_KERNEL_STATS ? 0 : -E2BIG;
}

static int
ask_once(const struct mlx4x_port *port, struct kernel_stats *kernel)
{
	int ret = ask_count(port, &kernel->nb);

	if (ret != 0)
		return ret;
	kernel->names->cmd = ETHTOOL_GSTRINGS;
	kernel->names->string_set = ETH_SS_STATS;
	kernel->names->len = kernel->nb;
	ret = mlx4x_netdev_ethtool(port, kernel->names);
	if (ret != 0)
		return ret;
	kernel->values->cmd = ETHTOOL_GSTATS;
	kernel->values->n_stats = kernel->nb;
	ret = mlx4x_netdev_ethtool(port, kernel->values);
	if (ret != 0)
		return ret;
	return kernel->names->len == kernel->nb && kernel->values->n_stats == kernel->nb ?
		0 : -EAGAIN;
}

static void
forget_kernel(struct kernel_stats *kernel)
{
	free(kernel->names);
	free(kernel->values);
}

/* To be forgotten after success. */
static int
ask_kernel(const struct mlx4x_port *port, struct kernel_stats *kernel)
{
	int tries, ret = -ENOMEM;

	kernel->names = calloc(1, sizeof(*kernel->names) + MAX_KERNEL_STATS * ETH_GSTRING_LEN);
	kernel->values = calloc(1, sizeof(*kernel->values) + MAX_KERNEL_STATS * sizeof(uint64_t));
	if (kernel->names != NULL && kernel->values != NULL) {
		ret = -EAGAIN;
		for (tries = 0; tries < MAX_TRIES && ret == -EAGAIN; tries++)
			ret = ask_once(port, kernel);
	}
	if (ret != 0)
		forget_kernel(kernel);
	return ret;
}

static const char *
name_at(const struct kernel_stats *kernel, uint32_t i)
{
	return (const char *)kernel->names->data + (size_t)i * ETH_GSTRING_LEN;
}

/* Its place among the kernel's, kernel->nb if it has none of this name. */
static uint32_t
find(const struct kernel_stats *kernel, const char *name)
{
	uint32_t i;

	for (i = 0; i < kernel->nb; i++) {
		if (strncmp(name_at(kernel, i), name, ETH_GSTRING_LEN) == 0)
			break;
	}
	return i;
}

/* "rx_packets" is what the kernel's interface took where there is a "rx_packets_phy". */
static bool
has_phy_twin(const struct kernel_stats *kernel, const char *name)
{
	char twin[ETH_GSTRING_LEN + sizeof("_phy")];

	snprintf(twin, sizeof(twin), "%.*s_phy", ETH_GSTRING_LEN, name);
	return find(kernel, twin) < kernel->nb;
}

/* Not what mlx4_en counts of its own rings. */
static bool
is_of_port(const struct kernel_stats *kernel, const char *name)
{
	static const char *const of_rings[] = {
		"rx_alloc", "rx_csum", "rx_xdp", "tx_chksum", "tx_timeout",
	};
	unsigned int i;

	if (strncmp(name, "rx_", 3) != 0 && strncmp(name, "tx_", 3) != 0)
		return false;
	for (i = 0; i < RTE_DIM(of_rings); i++) {
		if (strncmp(name, of_rings[i], strlen(of_rings[i])) == 0)
			return false;
	}
	return !has_phy_twin(kernel, name);
}

static void
take_names(struct mlx4x_phy_stats *stats, const struct kernel_stats *kernel)
{
	uint32_t i;

	for (i = 0; i < kernel->nb; i++) {
		struct phy_stat *stat = &stats->stat[stats->nb];

		if (!is_of_port(kernel, name_at(kernel, i)))
			continue;
		snprintf(stat->name, sizeof(stat->name), "%.*s", ETH_GSTRING_LEN - 1,
			name_at(kernel, i));
		stat->last = kernel->values->data[i];
		stat->base = stat->last;
		stats->nb++;
	}
}

static int
make_stats(struct mlx4x_port *port, const struct kernel_stats *kernel)
{
	struct mlx4x_phy_stats *stats = rte_zmalloc("mlx4x phy stats", sizeof(*stats), 0);

	if (stats == NULL)
		return -ENOMEM;
	stats->stat = rte_calloc("mlx4x phy stats", kernel->nb + 1, sizeof(stats->stat[0]), 0);
	if (stats->stat == NULL) {
		rte_free(stats);
		return -ENOMEM;
	}
	take_names(stats, kernel);
	port->phy_stats = stats;
	return 0;
}

void
mlx4x_phy_stats_init(struct mlx4x_port *port)
{
	struct kernel_stats kernel;
	int ret;

	if (port->dev->caps.is_vf)
		return;		/* the kernel is told nothing of the port either */
	ret = ask_kernel(port, &kernel);
	if (ret == 0) {
		ret = make_stats(port, &kernel);
		forget_kernel(&kernel);
	}
	if (ret != 0)
		MLX4X_LOG(port, WARNING, "no statistics of the kernel interface, so no rx_phy_ "
			"and tx_phy_: %s", strerror(-ret));
}

void
mlx4x_phy_stats_fini(struct mlx4x_port *port)
{
	if (port->phy_stats != NULL)
		rte_free(port->phy_stats->stat);
	rte_free(port->phy_stats);
	port->phy_stats = NULL;
}

unsigned int
mlx4x_phy_stats_count(const struct mlx4x_port *port)
{
	return port->phy_stats != NULL ? port->phy_stats->nb : 0;
}

/* "rx_packets_phy" and "rx_jabbers" become "rx_phy_packets" and "rx_phy_jabbers". */
void
mlx4x_phy_stats_name(const struct mlx4x_port *port, unsigned int i, char *name, size_t size)
{
	const char *kernel = port->phy_stats->stat[i].name;
	const char *end = strstr(kernel, "_phy");

	snprintf(name, size, "%.3sphy_%.*s", kernel,
		end != NULL ? (int)(end - kernel - 3) : ETH_GSTRING_LEN, kernel + 3);
}

/* Where the kernel has begun anew, what it had counted before is kept. */
static void
follow(struct phy_stat *stat, uint64_t now)
{
	if (now < stat->last)
		stat->base -= stat->last;
	stat->last = now;
}

/* A secondary process works on a copy: what is written down is the primary's. */
void
mlx4x_phy_stats_read(const struct mlx4x_port *port, uint64_t *values)
{
	bool primary = rte_eal_process_type() == RTE_PROC_PRIMARY;
	unsigned int i, nb = mlx4x_phy_stats_count(port);
	struct kernel_stats kernel = { .nb = 0 };
	bool told = nb != 0 && ask_kernel(port, &kernel) == 0;

	for (i = 0; i < nb; i++) {
		struct phy_stat copy = port->phy_stats->stat[i];
		struct phy_stat *stat = primary ? &port->phy_stats->stat[i] : &copy;
		uint32_t at = told ? find(&kernel, stat->name) : 0;

		if (at < kernel.nb)
			follow(stat, kernel.values->data[at]);
		if (values != NULL)
			values[i] = stat->last - stat->base;
	}
	if (told)
		forget_kernel(&kernel);
}

void
mlx4x_phy_stats_reset(const struct mlx4x_port *port)
{
	unsigned int i, nb = mlx4x_phy_stats_count(port);

	mlx4x_phy_stats_read(port, NULL);
	for (i = 0; i < nb; i++)
		port->phy_stats->stat[i].base = port->phy_stats->stat[i].last;
}
