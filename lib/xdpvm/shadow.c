/* SPDX-License-Identifier: BSD-3-Clause */
/* A chained hash table whose entries have numbers, so that it can grow; see shadow.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shadow.h"

#define FIRST_CAPACITY 64u

void
xdpvm_shadow_init(struct xdpvm_shadow *shadow, uint32_t key_size, uint32_t values_size)
{
	*shadow = (struct xdpvm_shadow){
		.key_size = key_size,
		.values_size = values_size,
		.free = XDPVM_SHADOW_NONE,
	};
	shadow->entry_size = sizeof(struct xdpvm_shadow_entry) + ((key_size + 7) & ~7u) +
			     ((values_size + 7) & ~7u);
}

int
xdpvm_shadow_init_array(struct xdpvm_shadow *shadow, uint32_t n, uint32_t values_size)
{
	xdpvm_shadow_init(shadow, sizeof(uint32_t), values_size);
	shadow->array = true;
	shadow->entries = calloc(n, shadow->entry_size);
	shadow->n_entries = n;
	return shadow->entries != NULL ? 0 : -ENOMEM;
}

void
xdpvm_shadow_fini(struct xdpvm_shadow *shadow)
{
	free(shadow->entries);
	free(shadow->buckets);
	shadow->entries = NULL;
	shadow->buckets = NULL;
}

/* FNV-1a: keys come from the machine's administrator and from a map that bounds their number. */
static uint32_t *
bucket_of(const struct xdpvm_shadow *shadow, const uint8_t *key)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (uint32_t i = 0; i < shadow->key_size; i++)
		hash = (hash ^ key[i]) * 0x100000001b3;
	return &shadow->buckets[(hash >> 32) & (shadow->n_buckets - 1)];
}

static void
chain(struct xdpvm_shadow *shadow, uint32_t number)
{
	struct xdpvm_shadow_entry *entry = xdpvm_shadow_at(shadow, number);
	uint32_t *bucket = bucket_of(shadow, entry->key);

	entry->next = *bucket;
	*bucket = number;
}

/* Called with no free entry: all are in use. */
static bool
grow(struct xdpvm_shadow *shadow)
{
	uint32_t capacity = shadow->capacity != 0 ? shadow->capacity * 2 : FIRST_CAPACITY;
	uint32_t *buckets = malloc(capacity * sizeof(*buckets));
	uint8_t *entries = realloc(shadow->entries, capacity * shadow->entry_size);

	if (entries != NULL)
		shadow->entries = entries;
	if (buckets == NULL || entries == NULL) {
		free(buckets);
		return false;
	}
	memset(buckets, 0xff, capacity * sizeof(*buckets));
	free(shadow->buckets);
	shadow->buckets = buckets;
	shadow->n_buckets = capacity;
	shadow->capacity = capacity;
	for (uint32_t i = 0; i < shadow->n_entries; i++)
		chain(shadow, i);
	return true;
}

struct xdpvm_shadow_entry *
xdpvm_shadow_find(const struct xdpvm_shadow *shadow, const void *key)
{
	struct xdpvm_shadow_entry *entry;
	uint32_t number;

	if (shadow->array) {
		memcpy(&number, key, sizeof(number));
		entry = xdpvm_shadow_at(shadow, number);
		return entry->used ? entry : NULL;
	}
	if (shadow->n_buckets == 0)
		return NULL;
	for (number = *bucket_of(shadow, key); number != XDPVM_SHADOW_NONE; number = entry->next) {
		entry = xdpvm_shadow_at(shadow, number);
		if (memcmp(entry->key, key, shadow->key_size) == 0)
			return entry;
	}
	return NULL;
}

static bool
take_free(struct xdpvm_shadow *shadow, uint32_t *number)
{
	if (shadow->free != XDPVM_SHADOW_NONE) {
		*number = shadow->free;
		shadow->free = xdpvm_shadow_at(shadow, *number)->next;
		return true;
	}
	if (shadow->n_entries == shadow->capacity && !grow(shadow))
		return false;
	*number = shadow->n_entries++;
	return true;
}

struct xdpvm_shadow_entry *
xdpvm_shadow_add(struct xdpvm_shadow *shadow, const void *key, const void *values)
{
	struct xdpvm_shadow_entry *entry;
	uint32_t number;

	if (shadow->array)
		memcpy(&number, key, sizeof(number));
	else if (!take_free(shadow, &number))
		return NULL;
	entry = xdpvm_shadow_at(shadow, number);
	*entry = (struct xdpvm_shadow_entry){ .used = true };
	memcpy(entry->key, key, shadow->key_size);
	memcpy(xdpvm_shadow_values(shadow, entry), values, shadow->values_size);
	if (!shadow->array)
		chain(shadow, number);
	shadow->n_used++;
	return entry;
}

void
xdpvm_shadow_remove(struct xdpvm_shadow *shadow, struct xdpvm_shadow_entry *entry)
{
	uint32_t number = ((uint8_t *)entry - shadow->entries) / shadow->entry_size;
	uint32_t *link;

	entry->used = false;
	shadow->n_used--;
	if (shadow->array)
		return;
	link = bucket_of(shadow, entry->key);
	while (*link != number)
		link = &xdpvm_shadow_at(shadow, *link)->next;
	*link = entry->next;
	entry->next = shadow->free;
	shadow->free = number;
}
