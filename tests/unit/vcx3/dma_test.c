/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory of a VM moves while its card works: one thread maps rings and data anew all
 * the time, as a VMM may, the engine's thread sends from them. What was mapped before is
 * gone at once, so that a translation that is kept too long ends the program.
 */
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "core/runner.h"
#include "frames.h"
#include "pci/dma.h"
#include "pci/icm.h"
#include "pci/pci.h"

#define REGION_SIZE (1u << 20)
#define IOVA(region) (0x100000ull + (uint64_t)(region) * REGION_SIZE)
#define LOG_RING 6
#define KEY 0x4200
#define QPN 0x100
#define FRAMES 5000
#define REMAPS 1000
#define PATIENCE_S 60

enum region { RINGS, DATA, REGIONS };

/* In RINGS: */
#define CQ_AT 0x0
#define QP_AT 0x10000
#define CQ_RECORD_AT 0x20000
#define QP_RECORD_AT 0x20008

static struct world {
	struct rig rig;
	struct vcx3_pci pci;
	struct vcx3_runner *runner;
	int memory; /* of the VM */
	uint8_t *guest[REGIONS]; /* as the guest sees it */
	unsigned int remaps;
	bool done;
} w;

/* Maps a region for the device, after what had its place before. */
static void
map_region(enum region region)
{
	struct vcx3_dma_region entry = { .iova = IOVA(region), .size = REGION_SIZE,
					 .read = true, .write = true };
	void *host = mmap(NULL, REGION_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, w.memory,
			  (off_t)region * REGION_SIZE);

	CHECK(host != MAP_FAILED);
	entry.host = host;
	vcx3_pci_dma_unmap(&w.pci, entry.iova, entry.size);
	CHECK_EQUAL(vcx3_pci_dma_map(&w.pci, &entry), 0);
}

static void
create_queues(void)
{
	struct vcx3_cq_attr cq = { .log_size = LOG_RING, .cqe_size = 64, .device_init = true,
				   .buffer = vcx3_dma_object(IOVA(RINGS) + CQ_AT),
				   .record = vcx3_dma_object(IOVA(RINGS) + CQ_RECORD_AT) };
	struct vcx3_qp_attr qp = { .pd = RIG_PD, .port = 1, .send_cqn = 1, .recv_cqn = 1,
				   .buffer = vcx3_dma_object(IOVA(RINGS) + QP_AT),
				   .record = vcx3_dma_object(IOVA(RINGS) + QP_RECORD_AT),
				   .sq = { true, LOG_RING, 6, 0 } };
	struct vcx3_mpt_attr mpt = { .pd = RIG_PD, .length = REGION_SIZE,
				     .object = vcx3_dma_object(IOVA(DATA)) };

	for (uint32_t i = 0; i < 1u << LOG_RING; i++)
		w.guest[RINGS][QP_AT + i * 64] = 0xff;
	CHECK_EQUAL(vcx3_cq_create(w.rig.core, 1, &cq), VCX3_OK);
	CHECK_EQUAL(vcx3_qp_init(w.rig.core, QPN, &qp), VCX3_OK);
	CHECK_EQUAL(vcx3_qp_modify(w.rig.core, QPN, VCX3_QP_RTR, 0), VCX3_OK);
	CHECK_EQUAL(vcx3_qp_modify(w.rig.core, QPN, VCX3_QP_RTS, 0), VCX3_OK);
	CHECK_EQUAL(vcx3_mpt_create(w.rig.core, KEY, &mpt), VCX3_OK);
}

static void
setup(void)
{
	const struct vcx3_pci_config pci = { .ports = 1, .cqe_64 = true };
	struct vcx3_core_config config = { .ports = 1, .strict = true,
					   .memory_ops = &vcx3_icm_memory_ops,
					   .memory_ctx = vcx3_pci_memory_ctx(&w.pci) };
	const struct vcx3_runner_config runner = { .thread = true, .cpu = -1,
						   .wake = VCX3_WAKE_YIELD };

	CHECK_EQUAL(vcx3_pci_init(&w.pci, &pci), 0);
	rig_create(&w.rig, &config);
	vcx3_pci_set_core(&w.pci, w.rig.core);
	w.memory = memfd_create("guest", MFD_CLOEXEC);
	CHECK(w.memory >= 0 && ftruncate(w.memory, REGIONS * REGION_SIZE) == 0);
	for (enum region region = 0; region < REGIONS; region++) {
		w.guest[region] = mmap(NULL, REGION_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
				       w.memory, (off_t)region * REGION_SIZE);
		CHECK(w.guest[region] != MAP_FAILED);
		map_region(region);
	}
	create_queues();
	CHECK_EQUAL(vcx3_runner_create(w.rig.core, &runner, &w.runner), 0);
}

static void
teardown(void)
{
	vcx3_runner_destroy(w.runner);
	vcx3_pci_dma_unmap_all(&w.pci);
	vcx3_pci_fini(&w.pci);
	rig_destroy(&w.rig);
	for (enum region region = 0; region < REGIONS; region++)
		munmap(w.guest[region], REGION_SIZE);
	close(w.memory);
}

/* Puts a frame somewhere into the data and a descriptor for it into the ring. */
static void
send(uint32_t index, const struct frame *frame, uint32_t at)
{
	uint8_t *wqe = w.guest[RINGS] + QP_AT + (index & ((1 << LOG_RING) - 1)) * 64;
	uint32_t owner = (index >> LOG_RING & 1) << 31;

	memcpy(w.guest[DATA] + at, frame->bytes, frame->len);
	memset(wqe + 4, 0, 28);
	wqe[7] = 2; /* units of 16 bytes */
	wqe[11] = 0x0c; /* with a completion */
	rig_be32(wqe + 16, frame->len);
	rig_be32(wqe + 20, KEY);
	rig_be64(wqe + 24, at);
	__atomic_store_n((uint32_t *)wqe, __builtin_bswap32(owner | 0x0a), __ATOMIC_RELEASE);
	vcx3_runner_kick(w.runner);
}

/* The opcode of the next completion. */
static uint8_t
complete(uint32_t index)
{
	uint8_t *cqe = w.guest[RINGS] + CQ_AT + (index & ((1 << LOG_RING) - 1)) * 64 + 32;
	time_t limit = time(NULL) + PATIENCE_S;

	while (__atomic_load_n(&cqe[31], __ATOMIC_ACQUIRE) >> 7 != (index >> LOG_RING & 1)) {
		CHECK(time(NULL) < limit);
		sched_yield();
	}
	rig_be32(w.guest[RINGS] + CQ_RECORD_AT, (index + 1) & 0xffffff);
	return cqe[31] & 0x1f;
}

static void
check_sent(const struct frame *frame)
{
	uint8_t *sent;
	uint32_t len;

	vcx3_runner_lock(w.runner);
	sent = rig_pop(&w.rig, 1, &len);
	vcx3_runner_unlock(w.runner);
	CHECK(sent != NULL && len == frame->len);
	CHECK(memcmp(sent, frame->bytes, len) == 0);
	free(sent);
}

static void *
move_memory(void *argument)
{
	while (!__atomic_load_n(&w.done, __ATOMIC_RELAXED) || w.remaps < REMAPS) {
		vcx3_runner_lock(w.runner);
		map_region(w.remaps++ % REGIONS);
		vcx3_runner_unlock(w.runner);
		sched_yield();
	}
	return NULL;
}

static void
test_moving(void)
{
	uint64_t seed = 1;
	pthread_t mover;

	setup();
	CHECK_EQUAL(pthread_create(&mover, NULL, move_memory, NULL), 0);
	for (uint32_t i = 0; i < FRAMES; i++) {
		struct frame frame;

		frame_make(&frame, &(struct frame_spec){ 4, 17, 60 + rig_random(&seed) % 1400,
							 .salt = i });
		send(i, &frame, rig_random(&seed) % (REGION_SIZE - 4096));
		CHECK_EQUAL(complete(i), 0x0a);
		check_sent(&frame);
	}
	__atomic_store_n(&w.done, true, __ATOMIC_RELAXED);
	pthread_join(mover, NULL);
	CHECK_EQUAL(vcx3_strict_total(w.rig.core), 0);
}

/* The data go while a frame of them is to be sent, then the rings. */
static void
test_vanishing(void)
{
	time_t limit = time(NULL) + PATIENCE_S;
	enum vcx3_qp_state state;
	struct frame frame;

	frame_make(&frame, &(struct frame_spec){ 4, 17, 600 });
	vcx3_runner_lock(w.runner);
	CHECK_EQUAL(vcx3_pci_dma_unmap(&w.pci, IOVA(DATA), REGION_SIZE), 0);
	vcx3_runner_unlock(w.runner);
	send(FRAMES, &frame, 0);
	do {
		CHECK(time(NULL) < limit);
		vcx3_runner_lock(w.runner);
		state = vcx3_qp_state(w.rig.core, QPN);
		vcx3_runner_unlock(w.runner);
	} while (state != VCX3_QP_ERROR);
	vcx3_runner_lock(w.runner);
	CHECK_EQUAL(vcx3_pci_dma_unmap(&w.pci, IOVA(RINGS), REGION_SIZE), 0);
	vcx3_runner_unlock(w.runner);
	for (uint32_t i = 1; i < 10; i++)
		send(FRAMES + i, &frame, 0);
	teardown();
}

int
main(void)
{
	test_moving();
	test_vanishing();
	return 0;
}
