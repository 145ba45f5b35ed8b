/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The card as one process sees it: the core, its wires and its runner, the numbers, the open
 * contexts. It plays the part of the kernel's mlx4_core and mlx4_ib.
 *
 * A core exists from the first context on. The power comes on (wires, engine thread, control
 * socket) with the first object, in one process below the launcher at a time: the one that locks
 * the owner file. So a secondary DPDK process opens contexts without moving a frame.
 *
 * Locks: uv_lock() takes the front end's mutex and the runner's lock; it protects all that is
 * declared here. Callbacks of the core run under the runner's lock only and may read.
 */

#ifndef VCX3_UVERBS_CARD_H
#define VCX3_UVERBS_CARD_H

#include <stdbool.h>
#include <stdint.h>

#include "../cmd/options.h"
#include "../core/core.h"
#include "../core/runner.h"
#include "../wire/wire.h"
#include "events.h"
#include "numbers.h"
#include "state.h"

/* Limits that QUERY_DEVICE reports (connectx3-device.md B.3, B.4). */
#define UV_LOG_QP_TABLE 19
#define UV_MAX_QP 393144
#define UV_MAX_QP_WR 16351
#define UV_MAX_SGE 32
#define UV_MAX_CQ 65408
#define UV_MAX_CQE 4194303
#define UV_MAX_MR 524032
#define UV_MAX_PD 32764
#define UV_MAX_TABLE_SIZE 128
#define UV_MAX_TSO 131072
#define UV_COMP_VECTORS 8
#define UV_BF_REG_SIZE 512
#define UV_BF_REGS_PER_PAGE 8
#define UV_PAGE 4096
/* Pages of the command descriptor: UAR, BlueFlame, none, clock (C.1). */
#define UV_PAGES 4
#define UV_PAGE_UAR 0
#define UV_PAGE_BLUEFLAME 1
#define UV_PAGE_CLOCK 3

/* An open of /dev/infiniband/uverbs0. */
struct uv_context {
	struct uv_context *next;
	struct uv_events *async; /* NULL before GET_CONTEXT */
	uint8_t *pages; /* UV_PAGES of the memfd */
	bool dead; /* the card it was opened on has been removed */
	/* Range of consecutive numbers for WQs that is being filled (B.5). */
	uint32_t range_first;
	uint32_t range_size; /* 0 = none is open */
	uint32_t range_used;
	uint32_t range_live;
	bool range_dirty;
};

struct uv_card {
	struct vcx3_options options;
	struct vcx3_wire_plan plan;
	struct vcx3_shared *shared;
	char dir[256];
	struct vcx3_core *core;
	struct vcx3_runner *runner; /* NULL while the power is off */
	struct vcx3_wire *wire[VCX3_MAX_PORTS];
	int host_fd[VCX3_MAX_PORTS]; /* TAPs of the netdevs, -1 = none; with the power on */
	int owner_fd;
	int doorbell_fd; /* where the owner hears of doorbells of others, -1 = nowhere */
	int tell_fd; /* where another process tells of them, -1 = it has told none */
	uint32_t epoch; /* counts replugs */
	struct uv_context *contexts;
	struct uv_object **objects; /* by handle */
	uint32_t nb_objects;
	struct uv_numbers qpns;
	struct uv_numbers cqns;
	struct uv_numbers keys; /* table indices */
	struct uv_numbers pdns;
	struct uv_object **cq_by_number;
	bool clock_mapped; /* somebody reads the clock page */
	int scratch_fd; /* memory that copies from and to the program go through */
};

/* The card of this process, NULL when it does not run below the launcher. */
struct uv_card *uv_card(void);

/* Makes the core if there is none yet. A negative errno with a sentence on stderr. */
int uv_card_prepare(struct uv_card *card);

/* Opens the wires and starts the engine; -EBUSY while another process owns the card. */
int uv_card_power_on(struct uv_card *card);

void uv_lock(struct uv_card *card);
void uv_unlock(struct uv_card *card);

/* The front end's half of the lock: enough to look at contexts without stopping the engine. */
void uv_lock_front(struct uv_card *card);
void uv_unlock_front(struct uv_card *card);

/* True in a child of the process that made the card: it has descriptors but no engine. */
bool uv_is_forked(void);

/*
 * Brings the clock pages of all contexts up to date: two big-endian words, high first (C.1). The
 * page is memory, so between two calls the clock stands still; nothing of the engine stops.
 */
void uv_card_write_clock(struct uv_card *card);

/* Removes the card under everybody's feet; puts a new one in. */
void uv_card_unplug(struct uv_card *card);
int uv_card_replug(struct uv_card *card);

/* Writes counters and census as JSON into the state folder, for the launcher to publish. */
void uv_card_save_counters(struct uv_card *card);

/* Counters and census as JSON; the text is the caller's to free, NULL = no memory. */
char *uv_card_counters(struct uv_card *card);
char *uv_card_census(struct uv_card *card);

/* One line to stderr, begun with the program's name. */
void uv_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif /* VCX3_UVERBS_CARD_H */
