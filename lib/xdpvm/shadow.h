/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a map and the kernel's copy of it agreed on in the last round: keys with values, as the
 * kernel lays them out. One thread at a time.
 */
#ifndef XDPVM_SHADOW_H
#define XDPVM_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct xdpvm_shadow_entry {
	uint32_t next;		/* in its chain, or in the list of free ones */
	bool used;
	bool in_kernel;		/* seen on that side in this round */
	bool in_own;
	uint8_t key[] __attribute__((aligned(8)));	/* rounded up to 8, then the values */
};

struct xdpvm_shadow {
	uint32_t key_size;
	uint32_t values_size;	/* bytes of all copies */
	bool array;		/* keys are numbers, and entries have the same ones; no buckets */
	size_t entry_size;
	uint8_t *entries;
	uint32_t n_entries;	/* used and free ones */
	uint32_t n_used;
	uint32_t capacity;
	uint32_t free;		/* first free entry */
	uint32_t *buckets;
	uint32_t n_buckets;	/* power of two, at least capacity */
};

#define XDPVM_SHADOW_NONE UINT32_MAX

/* Room grows as keys come. */
void xdpvm_shadow_init(struct xdpvm_shadow *shadow, uint32_t key_size, uint32_t values_size);

/* For an array map of n elements: no hashing. 0 or -ENOMEM. */
int xdpvm_shadow_init_array(struct xdpvm_shadow *shadow, uint32_t n, uint32_t values_size);

void xdpvm_shadow_fini(struct xdpvm_shadow *shadow);

static inline struct xdpvm_shadow_entry *
xdpvm_shadow_at(const struct xdpvm_shadow *shadow, uint32_t i)
{
	return (struct xdpvm_shadow_entry *)(void *)(shadow->entries + i * shadow->entry_size);
}

static inline uint8_t *
xdpvm_shadow_values(const struct xdpvm_shadow *shadow, struct xdpvm_shadow_entry *entry)
{
	return entry->key + ((shadow->key_size + 7) & ~7u);
}

/* NULL when there is none. */
struct xdpvm_shadow_entry *xdpvm_shadow_find(const struct xdpvm_shadow *shadow, const void *key);

/* A new entry with this key, which has none yet; pointers to others are stale after it. NULL: no
 * memory. */
struct xdpvm_shadow_entry *xdpvm_shadow_add(struct xdpvm_shadow *shadow, const void *key,
					    const void *values);

void xdpvm_shadow_remove(struct xdpvm_shadow *shadow, struct xdpvm_shadow_entry *entry);

#endif /* XDPVM_SHADOW_H */
