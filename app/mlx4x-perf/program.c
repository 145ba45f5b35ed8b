/* SPDX-License-Identifier: BSD-3-Clause */

/* Attaching programs; see program.h. */

#include "program.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_pmd_mlx4x.h>

#include "near.h"

static struct {
	int (*set)(uint16_t port, const struct rte_pmd_mlx4x_xdp_prog *prog);
	int (*load)(uint16_t port, uint16_t queue, const char *path,
		const struct rte_pmd_mlx4x_xdp_options *options);
	int (*unload)(uint16_t port, uint16_t queue, uint32_t id);
	const char *(*error)(void);
	int (*status)(uint16_t port, uint16_t queue, struct rte_pmd_mlx4x_xdp_status *status);
	struct xdpvm_map *(*map_find)(struct xdpvm_object *object, const char *name);
	int (*map_update)(struct xdpvm_map *map, const void *key, const void *value,
		uint64_t flags);
	struct xdpvm_object *object;	/* that is attached */
} driver;

bool
perf_program_possible(const struct perf_options *options)
{
	void *library = dlopen(options->driver, RTLD_NOW | RTLD_NOLOAD);

	if (library == NULL)
		return false;
	*(void **)&driver.set = dlsym(library, "rte_pmd_mlx4x_xdp_set");
	*(void **)&driver.load = dlsym(library, "rte_pmd_mlx4x_xdp_load");
	*(void **)&driver.unload = dlsym(library, "rte_pmd_mlx4x_xdp_unload");
	*(void **)&driver.error = dlsym(library, "rte_pmd_mlx4x_xdp_error");
	*(void **)&driver.status = dlsym(library, "rte_pmd_mlx4x_xdp_status");
	*(void **)&driver.map_find = dlsym(library, "xdpvm_map_find");
	*(void **)&driver.map_update = dlsym(library, "xdpvm_map_update");
	return driver.set != NULL && driver.load != NULL && driver.unload != NULL &&
		driver.error != NULL && driver.status != NULL && driver.map_find != NULL &&
		driver.map_update != NULL;
}

int
perf_program_map_update(const char *map, const void *key, const void *value)
{
	struct xdpvm_map *found = driver.map_find(driver.object, map);

	return found != NULL ? driver.map_update(found, key, value, BPF_ANY) : -ENOENT;
}

static int
fill_maps(uint16_t port, const struct perf_program *program, char *reason, size_t size)
{
	struct rte_pmd_mlx4x_xdp_status status;
	int ret = driver.status(port, RTE_PMD_MLX4X_XDP_PORT, &status);

	driver.object = status.object;
	if (ret == 0)
		ret = program->fill();
	if (ret != 0)
		snprintf(reason, size, "program %s: its maps: %s", program->object,
			strerror(-ret));
	return ret;
}

static int
attach_object(uint16_t port, const char *object)
{
	const struct rte_pmd_mlx4x_xdp_options options = { .replace = true };
	char path[PATH_MAX];
	int ret = perf_find_program(object, path, sizeof(path));

	if (ret == 0)
		ret = driver.load(port, RTE_PMD_MLX4X_XDP_PORT, path, &options);
	return ret < 0 ? ret : 0;
}

/* Queue numbers of the counter of judged frames. */
static int
find_counters(struct perf_work *work)
{
	uint16_t queue;
	int ret = 0;

	for (queue = 0; ret == 0 && queue < work->ports.nb_queues; queue++) {
		char name[RTE_ETH_XSTATS_NAME_SIZE];

		snprintf(name, sizeof(name), "rx_q%u_xdp_packets", queue);
		ret = rte_eth_xstats_get_id_by_name(work->ports.rx, name, &work->judged_id[queue]);
	}
	return ret;
}

int
perf_program_attach(struct perf_work *work, const struct perf_program *program, char *reason,
	size_t size)
{
	const struct rte_pmd_mlx4x_xdp_prog hook = { .hook = program->hook, .arg = work };
	int ret = find_counters(work);

	if (ret == 0)
		ret = program->object != NULL ? attach_object(work->ports.rx, program->object) :
			driver.set(work->ports.rx, &hook);
	if (ret != 0)
		snprintf(reason, size, "program %s: %s",
			program->object != NULL ? program->object : "hook", driver.error());
	else if (program->fill != NULL)
		ret = fill_maps(work->ports.rx, program, reason, size);
	return ret;
}

void
perf_program_detach(struct perf_work *work)
{
	driver.unload(work->ports.rx, RTE_PMD_MLX4X_XDP_PORT, 0);
}

uint64_t
perf_program_judged(const struct perf_work *work)
{
	uint64_t values[PERF_QUEUES_MAX], sum = 0;
	uint16_t queue;

	if (rte_eth_xstats_get_by_id(work->ports.rx, work->judged_id, values,
			work->ports.nb_queues) != work->ports.nb_queues)
		return 0;
	for (queue = 0; queue < work->ports.nb_queues; queue++)
		sum += values[queue];
	return sum;
}
