/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The state folder: the sysfs trees in which rdma-core and DPDK find the card, the options for
 * the preload library, and the shared state of the netdevs.
 */

#ifndef VCX3_CMD_TREE_H
#define VCX3_CMD_TREE_H

#include <stddef.h>

#include "../uverbs/state.h"
#include "options.h"

struct vcx3_tree {
	char dir[256]; /* "" before it exists */
	struct vcx3_shared *shared;
};

/*
 * Makes the folder and everything in it. words are the launcher's options.
 * On failure a negative errno and a sentence; vcx3_tree_remove() still has to be called.
 */
int vcx3_tree_create(struct vcx3_tree *tree, const struct vcx3_options *options, int nb,
		     char **words, char *reason, size_t size);

/* Removes the folder; harmless when there is none. */
void vcx3_tree_remove(const char *dir);

#endif /* VCX3_CMD_TREE_H */
