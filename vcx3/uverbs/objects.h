/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Objects that verbs know and hardware does not, or knows by other names: what a handle of a
 * uverbs command means. Handles are per context; one table serves all contexts of a process.
 */

#ifndef VCX3_UVERBS_OBJECTS_H
#define VCX3_UVERBS_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "../core/cq.h"
#include "../core/mpt.h"
#include "../core/qp.h"
#include "../core/steer.h"
#include "card.h"
#include "events.h"

#define UV_OBJECT_TYPES(X) \
	X(PD, pd) \
	X(MR, mr) \
	X(CQ, cq) \
	X(QP, qp) \
	X(WQ, wq) \
	X(TABLE, table) \
	X(FLOW, flow)

enum uv_type {
#define UV_TYPE_ENUM(upper, lower) UV_##upper,
	UV_OBJECT_TYPES(UV_TYPE_ENUM)
#undef UV_TYPE_ENUM
	UV_TYPES
};

struct uv_object {
	enum uv_type type;
	uint32_t handle;
	uint32_t users; /* objects that need this one */
	uint32_t epoch; /* of the card it was made on */
	struct uv_context *context;
	uint64_t user_handle;
	uint32_t async_reported;
	union {
		struct {
			uint32_t number;
		} pd;
		struct {
			struct uv_object *pd;
			uint32_t key;
		} mr;
		struct {
			uint32_t number;
			struct uv_events *channel; /* NULL = none */
			uint32_t reported;
			uint32_t entries;
		} cq;
		struct {
			struct uv_object *pd;
			struct uv_object *send_cq; /* NULL in an RSS QP */
			struct uv_object *recv_cq;
			struct uv_object *table; /* NULL unless an RSS QP */
			uint32_t number;
			struct vcx3_qp_attr attr;
			enum vcx3_qp_state state;
			uint32_t max_send_wr;
			uint32_t max_recv_wr;
			uint32_t max_send_sge;
			uint32_t max_recv_sge;
			uint32_t max_inline_data;
			uint8_t sig_all;
		} qp;
		struct {
			struct uv_object *pd;
			struct uv_object *cq;
			uint32_t number;
			struct vcx3_qp_attr attr;
			uint32_t state; /* IBV_WQS_* */
			uint32_t live_users; /* RSS QPs out of reset */
			bool in_range;
		} wq;
		struct {
			uint8_t log_size;
			struct uv_object **wqs;
		} table;
		struct {
			struct uv_object *qp;
			uint64_t rule[2];
			uint32_t nb_rules;
			uint8_t mac[6]; /* of ATTACH_MCAST, by which DETACH_MCAST finds it */
		} flow;
	};
};

/* A zeroed object with a handle that no live object has; NULL = no memory. */
struct uv_object *uv_object_new(struct uv_card *card, struct uv_context *context,
				enum uv_type type);

/* The live object of this handle, type and context, or NULL. */
struct uv_object *uv_object_get(struct uv_card *card, struct uv_context *context,
				enum uv_type type, uint32_t handle);

/* Undoes uv_object_new() for an object that came to nothing; harmless on NULL. */
void uv_object_forget(struct uv_card *card, struct uv_object *object);

/*
 * Takes the object out of the device, drops its references to others, gives its numbers back
 * and frees it. -EBUSY while others need it.
 */
int uv_object_destroy(struct uv_card *card, struct uv_object *object);

/* Destroys all objects of a context, users before what they use. */
void uv_objects_destroy_all(struct uv_card *card, struct uv_context *context);

/* Number of live objects of a type. */
uint32_t uv_objects_count(const struct uv_card *card, enum uv_type type);

/* Whether the hardware still has what this object stands for. */
bool uv_object_is_current(const struct uv_card *card, const struct uv_object *object);

#endif /* VCX3_UVERBS_OBJECTS_H */
