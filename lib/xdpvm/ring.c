/* SPDX-License-Identifier: BSD-3-Clause */
/* The ring of records; see ring.h. */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ring.h"
#include "spin.h"

#define MAX_RECORD (UINT32_MAX / 4)	/* bytes; Linux: RINGBUF_MAX_RECORD_SZ */

/* In front of each record: its length and BPF_RINGBUF_BUSY_BIT, BPF_RINGBUF_DISCARD_BIT. */
struct header {
	uint32_t length;
	uint32_t unused;
};

static uint64_t
record_bytes(uint64_t length)
{
	return (length + sizeof(struct header) + 7) & ~7ull;
}

static struct header *
header_at(const struct xdpvm_ring *ring, uint64_t position)
{
	return (struct header *)(void *)(ring->data + (position & (ring->size - 1)));
}

/* The same memory at area and behind it. */
static bool
map_twice(uint8_t *area, uint64_t size)
{
	int fd = memfd_create("xdpvm-ring", MFD_CLOEXEC);
	const int flags = MAP_SHARED | MAP_FIXED;
	bool done;

	if (fd < 0)
		return false;
	done = ftruncate(fd, (off_t)size) == 0 &&
	       mmap(area, size, PROT_READ | PROT_WRITE, flags, fd, 0) == area &&
	       mmap(area + size, size, PROT_READ | PROT_WRITE, flags, fd, 0) == area + size;
	close(fd);
	return done;
}

int
xdpvm_ring_init(struct xdpvm_ring *ring, uint64_t size)
{
	*ring = (struct xdpvm_ring){ .size = size };
	ring->data = mmap(NULL, 2 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			  -1, 0);
	if (ring->data == MAP_FAILED) {
		ring->data = NULL;
		return -ENOMEM;
	}
	if (map_twice(ring->data, size))
		return 0;
	xdpvm_ring_fini(ring);
	return -ENOMEM;
}

void
xdpvm_ring_fini(struct xdpvm_ring *ring)
{
	if (ring->data != NULL)
		munmap(ring->data, 2 * ring->size);
	ring->data = NULL;
}

/* Under the lock: moves over records that are committed. */
static void
advance_pending(struct xdpvm_ring *ring)
{
	uint32_t length;

	while (ring->pending < ring->producer) {
		length = __atomic_load_n(&header_at(ring, ring->pending)->length, __ATOMIC_ACQUIRE);
		if (length & BPF_RINGBUF_BUSY_BIT)
			break;
		ring->pending += record_bytes(length & ~BPF_RINGBUF_DISCARD_BIT);
	}
}

void *
xdpvm_ring_reserve(struct xdpvm_ring *ring, uint64_t size)
{
	uint64_t bytes = record_bytes(size), consumer, end;
	struct header *header = NULL;

	if (size > MAX_RECORD || bytes > ring->size)
		return NULL;
	consumer = __atomic_load_n(&ring->consumer, __ATOMIC_ACQUIRE);
	xdpvm_spin_lock(&ring->lock);
	advance_pending(ring);
	end = ring->producer + bytes;
	if (end - consumer < ring->size && end - ring->pending < ring->size) {
		header = header_at(ring, ring->producer);
		__atomic_store_n(&header->length, (uint32_t)size | BPF_RINGBUF_BUSY_BIT,
				 __ATOMIC_RELAXED);
		__atomic_store_n(&ring->producer, end, __ATOMIC_RELEASE);
	}
	xdpvm_spin_unlock(&ring->lock);
	return header != NULL ? header + 1 : NULL;
}

void
xdpvm_ring_commit(void *record, bool discard)
{
	struct header *header = (struct header *)record - 1;
	uint32_t length = __atomic_load_n(&header->length, __ATOMIC_RELAXED);

	length &= ~BPF_RINGBUF_BUSY_BIT;
	if (discard)
		length |= BPF_RINGBUF_DISCARD_BIT;
	__atomic_store_n(&header->length, length, __ATOMIC_RELEASE);
}

static int
read_locked(struct xdpvm_ring *ring, xdpvm_record_fn record, void *arg, unsigned int limit)
{
	uint64_t position = ring->consumer;
	unsigned int n = 0;
	uint32_t length;
	int ret = 0;

	while (n < limit && ret >= 0 &&
	       position < __atomic_load_n(&ring->producer, __ATOMIC_ACQUIRE)) {
		struct header *header = header_at(ring, position);

		length = __atomic_load_n(&header->length, __ATOMIC_ACQUIRE);
		if (length & BPF_RINGBUF_BUSY_BIT)
			break;
		position += record_bytes(length & ~BPF_RINGBUF_DISCARD_BIT);
		if (!(length & BPF_RINGBUF_DISCARD_BIT)) {
			ret = record(arg, header + 1, length);
			n++;
		}
		__atomic_store_n(&ring->consumer, position, __ATOMIC_RELEASE);
	}
	return ret < 0 ? ret : (int)n;
}

int
xdpvm_ring_read(struct xdpvm_ring *ring, xdpvm_record_fn record, void *arg, unsigned int limit)
{
	int ret;

	if (__atomic_exchange_n(&ring->reading, 1, __ATOMIC_ACQUIRE) != 0)
		return -EBUSY;
	ret = read_locked(ring, record, arg, limit);
	__atomic_store_n(&ring->reading, 0, __ATOMIC_RELEASE);
	return ret;
}
