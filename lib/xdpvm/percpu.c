/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Per-CPU memory: one address range for all threads, XDPVM_PERCPU_STRIDE apart, reserved when first
 * needed; physical pages come when touched. The offset of an allocation is the same for every
 * thread. First fit over a sorted list: allocations are maps, few and long-lived.
 *
 * A process that locks its memory, as testpmd does with mlockall(), gets all pages at once of what
 * it may touch then or later. So only what allocations have reached may be touched, and what is
 * reserved after such a call is taken out of it.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "map.h"

struct extent {
	struct extent *next;
	size_t start;
	size_t size;
};

static pthread_mutex_t percpu_lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t *percpu_area;
static struct extent *percpu_used;
static size_t percpu_open;	/* bytes of each thread's part that may be touched */

#define AREA_BYTES (XDPVM_MAX_THREADS * XDPVM_PERCPU_STRIDE)
#define PAGE 4096ul
#define MAX_VALUE 32768ul	/* Linux: PCPU_MIN_UNIT_SIZE */

static int
area_reserve(void)
{
	void *area;

	if (percpu_area != NULL)
		return 0;
	area = mmap(NULL, AREA_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
		    0);
	if (area == MAP_FAILED)
		return -ENOMEM;
	if (munlock(area, AREA_BYTES) != 0) {
		munmap(area, AREA_BYTES);
		return -ENOMEM;
	}
	madvise(area, AREA_BYTES, MADV_DONTDUMP);
	percpu_area = area;
	return 0;
}

/* Lets every thread's part be touched up to end. */
static int
area_open(size_t end)
{
	if (end <= percpu_open)
		return 0;
	for (uint32_t cpu = 0; cpu < XDPVM_MAX_THREADS; cpu++) {
		uint8_t *part = xdpvm_percpu_ptr(percpu_area, cpu);

		if (mprotect(part + percpu_open, end - percpu_open, PROT_READ | PROT_WRITE) != 0)
			return -ENOMEM;
	}
	percpu_open = end;
	return 0;
}

/* Returns where in the list size bytes fit, with the start of the gap; NULL when nowhere. */
static struct extent **
find_gap(size_t size, size_t *start)
{
	struct extent **at;

	*start = 0;
	for (at = &percpu_used; *at != NULL; at = &(*at)->next) {
		if ((*at)->start - *start >= size)
			return at;
		*start = (*at)->start + (*at)->size;
	}
	return XDPVM_PERCPU_STRIDE - *start >= size ? at : NULL;
}

static void *
take_gap(struct extent *extent, size_t size)
{
	struct extent **at = find_gap(size, &extent->start);

	if (at == NULL || area_open(extent->start + size) != 0)
		return NULL;
	extent->size = size;
	extent->next = *at;
	*at = extent;
	return percpu_area + extent->start;
}

void *
xdpvm_percpu_alloc(size_t size)
{
	struct extent *extent = malloc(sizeof(*extent));
	void *memory = NULL;

	/* Whole pages, so that freeing can give them back zeroed. */
	size = (size + PAGE - 1) & ~(PAGE - 1);
	pthread_mutex_lock(&percpu_lock);
	if (extent != NULL && area_reserve() == 0)
		memory = take_gap(extent, size);
	pthread_mutex_unlock(&percpu_lock);
	if (memory == NULL) {
		free(extent);
		errno = ENOMEM;
	}
	return memory;
}

void
xdpvm_percpu_free(void *memory)
{
	struct extent **at, *extent;
	size_t start;

	if (memory == NULL)
		return;
	pthread_mutex_lock(&percpu_lock);
	start = (uint8_t *)memory - percpu_area;
	for (at = &percpu_used; (*at)->start != start; at = &(*at)->next)
		;
	extent = *at;
	*at = extent->next;
	for (uint32_t cpu = 0; cpu < XDPVM_MAX_THREADS; cpu++)
		madvise(xdpvm_percpu_ptr(memory, cpu), extent->size, MADV_DONTNEED);
	pthread_mutex_unlock(&percpu_lock);
	free(extent);
}

static uint32_t percpu_limit;	/* one above the highest CPU number in use so far */

void
xdpvm_percpu_use(uint32_t cpu)
{
	uint32_t limit = __atomic_load_n(&percpu_limit, __ATOMIC_RELAXED);

	while (cpu >= limit &&
	       !__atomic_compare_exchange_n(&percpu_limit, &limit, cpu + 1, false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

uint32_t
xdpvm_percpu_limit(void)
{
	return __atomic_load_n(&percpu_limit, __ATOMIC_RELAXED);
}

static bool
is_zero(const uint8_t *value, uint32_t size)
{
	return size == 0 || (value[0] == 0 && memcmp(value, value + 1, size - 1) == 0);
}

void
xdpvm_percpu_store_all(void *memory, const void *values, uint32_t value_size)
{
	uint32_t step = (value_size + 7) & ~7u;

	for (uint32_t cpu = 0; cpu < XDPVM_MAX_THREADS; cpu++) {
		const uint8_t *value = (const uint8_t *)values + (size_t)cpu * step;

		if (cpu >= xdpvm_percpu_limit()) {
			if (is_zero(value, value_size))
				continue;
			xdpvm_percpu_use(cpu);
		}
		xdpvm_value_store(xdpvm_percpu_ptr(memory, cpu), value, value_size);
	}
}

void
xdpvm_percpu_load_all(void *values, const void *memory, uint32_t value_size)
{
	uint32_t step = (value_size + 7) & ~7u;
	uint32_t limit = xdpvm_percpu_limit();

	memset(values, 0, (size_t)step * XDPVM_MAX_THREADS);
	for (uint32_t cpu = 0; cpu < limit; cpu++)
		xdpvm_value_load((uint8_t *)values + (size_t)cpu * step,
				 xdpvm_percpu_ptr(memory, cpu), value_size);
}

void
xdpvm_percpu_store_first(void *memory, const void *value, uint32_t value_size, uint32_t cpu)
{
	uint32_t limit = xdpvm_percpu_limit();

	for (uint32_t other = 0; other < limit; other++)
		if (other != cpu)
			memset(xdpvm_percpu_ptr(memory, other), 0, value_size);
	xdpvm_value_store(xdpvm_percpu_ptr(memory, cpu), value, value_size);
}

int
xdpvm_percpu_check(const struct xdpvm_map *map)
{
	if (((map->value_size + 7ul) & ~7ul) <= MAX_VALUE)
		return 0;
	return xdpvm_fail(map->object, -E2BIG,
			  "map %s: values of %u bytes; a per-CPU value has at most %lu", map->name,
			  map->value_size, MAX_VALUE);
}
