/* SPDX-License-Identifier: BSD-3-Clause */

/* Arithmetic of placement: how many objects share a block, how far apart, and where the first. */

#include <errno.h>

#include <rte_common.h>

#include "page_pool.h"

/* Places for an object that has a block for itself: an odd number, as far as it leaves room. */
static uint32_t
colours(uint32_t obj_size, uint32_t block_size)
{
	uint32_t spare = (block_size - obj_size) / RTE_CACHE_LINE_SIZE;
	uint32_t more = block_size / PAGE_POOL_PAGE_SIZE * PAGE_POOL_COLOURS_PER_PAGE;

	return RTE_MIN(spare, more) / 2 * 2 + 1;
}

int
page_pool_layout_compute(uint32_t obj_size, uint32_t block_size, struct page_pool_layout *layout)
{
	uint32_t nb_objs = 1;

	if (obj_size == 0 || obj_size > PAGE_POOL_BLOCK_SIZE_MAX)
		return -EINVAL;
	if (block_size == 0) {
		block_size = rte_align32pow2(RTE_MAX(obj_size, PAGE_POOL_PAGE_SIZE));
	} else if (!rte_is_power_of_2(block_size) || block_size < PAGE_POOL_PAGE_SIZE ||
		   block_size > PAGE_POOL_BLOCK_SIZE_MAX) {
		return -EINVAL;
	} else {
		obj_size = RTE_ALIGN_CEIL(obj_size, RTE_CACHE_LINE_SIZE);
		if (obj_size > block_size)
			return -EINVAL;
		nb_objs = block_size / obj_size;
	}
	layout->block_size = block_size;
	layout->objs_per_block = nb_objs;
	layout->stride = RTE_ALIGN_FLOOR(block_size / nb_objs, RTE_CACHE_LINE_SIZE);
	layout->nb_colours = nb_objs == 1 ? colours(obj_size, block_size) : 1;
	return 0;
}
