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

static void *
allocate(void)
{
	return rte_malloc(NULL, PERF_PAGE_SIZE, PERF_PAGE_SIZE);
}

static void
set_entry(const void *page, uint64_t entry)
{
	rte_spinlock_lock(&domain.lock);
	__atomic_store_n(entry_of(page), entry, __ATOMIC_RELEASE);
	rte_spinlock_unlock(&domain.lock);
}

void
perf_standin_allocate(void)
{
	rte_free(allocate());
}

void
perf_standin_map(void)
{
	set_entry(&domain, (uintptr_t)&domain | PRESENT);
	set_entry(&domain, 0);
}

void
perf_standin_turn_over(void)
{
	void *page = allocate();

	if (page == NULL)
		return;
	set_entry(page, (uintptr_t)page | PRESENT);
	set_entry(page, 0);
	rte_free(page);
}
