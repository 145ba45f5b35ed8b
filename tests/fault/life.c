/* SPDX-License-Identifier: BSD-3-Clause */

/* See life.h. */

#include "life.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_log.h>
#include <rte_malloc.h>

#include "self_port.h"

/* vcx3 keeps the numbers of some closed event descriptors taken, so many that it is full. */
#define WARM_UP 20

static FILE *log_stream;
static char *log_text;
static size_t log_size;

static struct {
	unsigned int heap_blocks;
	unsigned int descriptors;
} usual;

bool
life_listen(void)
{
	log_stream = open_memstream(&log_text, &log_size);
	return log_stream != NULL && rte_openlog_stream(log_stream) == 0;
}

bool
life_has_spoken(void)
{
	bool spoken;

	fflush(log_stream);
	spoken = log_size != 0 && strstr(log_text, "mlx4x: ") != NULL;
	rewind(log_stream);
	return spoken;
}

void
life_print_log(void)
{
	fflush(log_stream);
	printf("%s\n", log_text);
}

void
life_stop_listening(void)
{
	rte_openlog_stream(NULL);
	fclose(log_stream);
	free(log_text);
}

bool
life_is_present(void)
{
	return rte_eth_dev_count_avail() != 0;
}

int
life_plug(void)
{
	return life_is_present() ? 0 : rte_eal_hotplug_add("pci", DEVICE, "");
}

int
life_unplug(void)
{
	if (life_is_present())
		CHECK(rte_eal_hotplug_remove("pci", DEVICE) == 0);
	CHECK(!life_is_present());
	CHECK(card_census() == 0);
	CHECK(rte_mempool_in_use_count(pool) == 0);
	return 0;
}

struct rte_flow *
life_create_rule(const struct rte_ether_addr *dst, int queue)
{
	const struct rte_flow_attr attr = { .ingress = 1 };
	const struct rte_flow_item_eth spec = { .dst = *dst };
	const struct rte_flow_item_eth mask = { .dst.addr_bytes = "\xff\xff\xff\xff\xff\xff" };
	const struct rte_flow_item pattern[] = {
		{ .type = RTE_FLOW_ITEM_TYPE_ETH, .spec = &spec, .mask = &mask },
		{ .type = RTE_FLOW_ITEM_TYPE_END },
	};
	const struct rte_flow_action_queue to = { .index = queue };
	const struct rte_flow_action actions[] = {
		{ .type = queue < 0 ? RTE_FLOW_ACTION_TYPE_DROP : RTE_FLOW_ACTION_TYPE_QUEUE,
		  .conf = queue < 0 ? NULL : &to },
		{ .type = RTE_FLOW_ACTION_TYPE_END },
	};
	struct rte_flow_error error = { 0 };

	return rte_flow_create(PORT, &attr, pattern, actions, &error);
}

static unsigned int
nb_heap_blocks(void)
{
	struct rte_malloc_socket_stats stats;

	return rte_malloc_get_socket_stats(0, &stats) == 0 ? stats.alloc_count : 0;
}

static unsigned int
nb_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int nb = 0;

	while (dir != NULL && readdir(dir) != NULL)
		nb++;
	closedir(dir);
	return nb;
}

int
life_learn_usual(int (*live)(void))
{
	unsigned int i;

	for (i = 0; i < WARM_UP; i++)
		CHECK(live() == 0 && life_unplug() == 0);
	usual.heap_blocks = nb_heap_blocks();
	usual.descriptors = nb_descriptors();
	return 0;
}

int
life_check_usual(void)
{
	CHECK(nb_heap_blocks() == usual.heap_blocks);
	/* EAL's interrupt thread may be about to make its poll set anew. */
	CHECK_SOON(nb_descriptors() == usual.descriptors);
	return 0;
}
