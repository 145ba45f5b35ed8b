/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Stand-ins for what the kernel drivers of the seeds paid per packet before they recycled.
 * Real work, not a delay loop: a page from rte_malloc() (a locked heap; the order of the
 * kernel's page allocator, 237 cycles of seed 000) and an entry set and cleared in a
 * two-level table under a spinlock, which is what an IOMMU driver does to map a page, without
 * its flush of the IOTLB. What they cost here is measured and printed.
 */

#ifndef MLX4X_PERF_STANDIN_H
#define MLX4X_PERF_STANDIN_H

#include <stddef.h>
#include <stdint.h>

struct perf_work;

int perf_standin_begin(struct perf_work *work, char *reason, size_t size);
void perf_standin_end(struct perf_work *work);

#define PERF_PAGE_SIZE 4096u

/* Allocates and frees a page; maps and unmaps one; all four. */
void perf_standin_allocate(void);
void perf_standin_map(void);
void perf_standin_turn_over(void);

#endif /* MLX4X_PERF_STANDIN_H */
