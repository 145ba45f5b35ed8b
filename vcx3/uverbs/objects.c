/* SPDX-License-Identifier: BSD-3-Clause */

/* See objects.h. */

#include "objects.h"

#include <errno.h>
#include <stdlib.h>

struct uv_object *
uv_object_new(struct uv_card *card, struct uv_context *context, enum uv_type type)
{
	struct uv_object *object = calloc(1, sizeof(*object));
	uint32_t handle;

	if (object == NULL)
		return NULL;
	for (handle = 0; handle < card->nb_objects && card->objects[handle] != NULL; handle++)
		;
	if (handle == card->nb_objects) {
		uint32_t size = card->nb_objects != 0 ? 2 * card->nb_objects : 64;
		struct uv_object **more = realloc(card->objects, size * sizeof(*more));

		if (more == NULL) {
			free(object);
			return NULL;
		}
		for (card->objects = more; card->nb_objects < size; card->nb_objects++)
			more[card->nb_objects] = NULL;
	}
	object->type = type;
	object->handle = handle;
	object->context = context;
	object->epoch = card->epoch;
	card->objects[handle] = object;
	return object;
}

void
uv_object_forget(struct uv_card *card, struct uv_object *object)
{
	if (object == NULL)
		return;
	card->objects[object->handle] = NULL;
	free(object);
}

struct uv_object *
uv_object_get(struct uv_card *card, struct uv_context *context, enum uv_type type,
	      uint32_t handle)
{
	struct uv_object *object = handle < card->nb_objects ? card->objects[handle] : NULL;

	if (object == NULL || object->type != type || object->context != context)
		return NULL;
	return object;
}

bool
uv_object_is_current(const struct uv_card *card, const struct uv_object *object)
{
	return object->epoch == card->epoch;
}

static void
release(struct uv_object *used)
{
	if (used != NULL)
		used->users--;
}

static void
destroy_pd(struct uv_card *card, struct uv_object *object)
{
	uv_numbers_give(&card->pdns, object->pd.number, 1);
}

static void
destroy_mr(struct uv_card *card, struct uv_object *object)
{
	if (uv_object_is_current(card, object))
		vcx3_mpt_destroy(card->core, object->mr.key);
	uv_numbers_give(&card->keys, vcx3_mpt_index(object->mr.key), 1);
	release(object->mr.pd);
}

static void
destroy_cq(struct uv_card *card, struct uv_object *object)
{
	if (uv_object_is_current(card, object))
		vcx3_cq_destroy(card->core, object->cq.number);
	card->cq_by_number[object->cq.number] = NULL;
	uv_numbers_give(&card->cqns, object->cq.number, 1);
	if (object->cq.channel != NULL) {
		uv_events_drain(object->cq.channel, object->user_handle);
		uv_events_unref(object->cq.channel);
	}
}

/* The table's WQs lose a user, but stay up: their indices survive (B.5). */
static void
leave_table(struct uv_object *object)
{
	struct uv_object *table = object->qp.table;
	uint32_t i;

	if (object->qp.state == VCX3_QP_RESET)
		return;
	for (i = 0; i < 1u << table->table.log_size; i++)
		table->table.wqs[i]->wq.live_users--;
}

static void
destroy_qp(struct uv_card *card, struct uv_object *object)
{
	if (uv_object_is_current(card, object) && object->qp.state != VCX3_QP_RESET)
		vcx3_qp_modify(card->core, object->qp.number, VCX3_QP_RESET, 0);
	if (object->qp.table != NULL)
		leave_table(object);
	uv_numbers_give(&card->qpns, object->qp.number, 1);
	release(object->qp.pd);
	release(object->qp.send_cq);
	release(object->qp.recv_cq);
	release(object->qp.table);
}

/* A number inside an open range is not used again; the range goes back when it is empty. */
static void
give_wq_number(struct uv_card *card, struct uv_object *object)
{
	uv_numbers_give(&card->qpns, object->wq.number, 1);
	if (object->wq.in_range && object->context->range_size != 0)
		object->context->range_dirty = true;
}

static void
destroy_wq(struct uv_card *card, struct uv_object *object)
{
	if (uv_object_is_current(card, object) &&
	    vcx3_qp_state(card->core, object->wq.number) != VCX3_QP_RESET)
		vcx3_qp_modify(card->core, object->wq.number, VCX3_QP_RESET, 0);
	give_wq_number(card, object);
	release(object->wq.pd);
	release(object->wq.cq);
}

static void
destroy_table(struct uv_card *card, struct uv_object *object)
{
	uint32_t i;

	for (i = 0; i < 1u << object->table.log_size; i++)
		release(object->table.wqs[i]);
	free(object->table.wqs);
}

static void
destroy_flow(struct uv_card *card, struct uv_object *object)
{
	uint32_t i;

	for (i = 0; i < object->flow.nb_rules && uv_object_is_current(card, object); i++)
		vcx3_rule_detach(card->core, object->flow.rule[i]);
	release(object->flow.qp);
}

int
uv_object_destroy(struct uv_card *card, struct uv_object *object)
{
	static void (*const destroy[UV_TYPES])(struct uv_card *, struct uv_object *) = {
#define DESTROY_ROW(upper, lower) [UV_##upper] = destroy_##lower,
		UV_OBJECT_TYPES(DESTROY_ROW)
#undef DESTROY_ROW
	};

	if (object->users != 0)
		return -EBUSY;
	destroy[object->type](card, object);
	if (object->context->async != NULL)
		uv_events_drain(object->context->async, object->user_handle);
	uv_object_forget(card, object);
	return 0;
}

void
uv_objects_destroy_all(struct uv_card *card, struct uv_context *context)
{
	/* Users before what they use. */
	static const enum uv_type order[] = {UV_FLOW, UV_QP, UV_TABLE, UV_WQ, UV_CQ, UV_MR, UV_PD};
	uint32_t step, i;

	for (step = 0; step < sizeof(order) / sizeof(order[0]); step++)
		for (i = 0; i < card->nb_objects; i++) {
			struct uv_object *object = card->objects[i];

			if (object != NULL && object->context == context &&
			    object->type == order[step])
				uv_object_destroy(card, object);
		}
}

uint32_t
uv_objects_count(const struct uv_card *card, enum uv_type type)
{
	uint32_t i, nb = 0;

	for (i = 0; i < card->nb_objects; i++)
		nb += card->objects[i] != NULL && card->objects[i]->type == type;
	return nb;
}
