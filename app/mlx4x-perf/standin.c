/* SPDX-License-Identifier: BSD-3-Clause */

/* Stand-ins; see standin.h. */

#include "standin.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_malloc.h>
#include <rte_spinlock.h>

#define PAGE_SHIFT 12
#define LEAF_SHIFT 9
#define LEAF_ENTRIES (1u << LEAF_SHIFT)
#define ROOT_ENTRIES 512u
#define PRESENT 3u

/* The table of a domain: addresses that differ above 1 GiB share entries, which costs alike. */
static struct {
	rte_spinlock_t lock;
	uint64_t *root[ROOT_ENTRIES];
} domain = { RTE_SPINLOCK_INITIALIZER, { NULL } };

static uint64_t *
entry_of(const void *page)
{
	uintptr_t frame = (uintptr_t)page >> PAGE_SHIFT;

	return &domain.root[frame >> LEAF_SHIFT & (ROOT_ENTRIES - 1)][frame & (LEAF_ENTRIES - 1)];
}

int
perf_standin_begin(struct perf_work *work, char *reason, size_t size)
{
	unsigned int i;

	for (i = 0; i < ROOT_ENTRIES; i++) {
		domain.root[i] = calloc(LEAF_ENTRIES, sizeof(*domain.root[i]));
		if (domain.root[i] == NULL) {
			perf_standin_end(work);
			snprintf(reason, size, "no memory for the page table of the stand-in");
			return -ENOMEM;
		}
	}
	return 0;
}

void
perf_standin_end(struct perf_work *work)
{
	unsigned int i;

	for (i = 0; i < ROOT_ENTRIES; i++) {
		free(domain.root[i]);
		domain.root[i] = NULL;
	}
}

void *
perf_standin_alloc(void)
{
	return rte_malloc(NULL, 1u << PAGE_SHIFT, 1u << PAGE_SHIFT);
}

void
perf_standin_free(void *page)
{
	rte_free(page);
}

void
perf_standin_map(const void *page)
{
	rte_spinlock_lock(&domain.lock);
	__atomic_store_n(entry_of(page), (uintptr_t)page | PRESENT, __ATOMIC_RELEASE);
	rte_spinlock_unlock(&domain.lock);
}

void
perf_standin_unmap(const void *page)
{
	rte_spinlock_lock(&domain.lock);
	__atomic_store_n(entry_of(page), 0, __ATOMIC_RELEASE);
	rte_spinlock_unlock(&domain.lock);
}

void
perf_standin_turn_over(void)
{
	void *page = perf_standin_alloc();

	if (page == NULL)
		return;
	perf_standin_map(page);
	perf_standin_unmap(page);
	perf_standin_free(page);
}
