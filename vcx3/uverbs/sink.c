/* SPDX-License-Identifier: BSD-3-Clause */

/* See sink.h. Runs under the runner's lock, in the engine's thread or in a command. */

#include "sink.h"

#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host.h"
#include "objects.h"
#include "real.h"

/* Violations that are printed in full; the rest is counted. */
#define MAX_PRINTED 20

static void
completion(void *ctx, uint32_t cqn, uint32_t event_queue)
{
	struct uv_card *card = ctx;
	struct uv_object *cq = cqn < 1u << 16 ? card->cq_by_number[cqn] : NULL;

	if (cq != NULL && cq->cq.channel != NULL)
		uv_events_completion(cq->cq.channel, cq->user_handle);
}

static const struct uv_object *
find_queue(const struct uv_card *card, uint32_t qpn)
{
	uint32_t i;

	for (i = 0; i < card->nb_objects; i++) {
		const struct uv_object *object = card->objects[i];

		if (object == NULL)
			continue;
		if ((object->type == UV_QP && object->qp.number == qpn) ||
		    (object->type == UV_WQ && object->wq.number == qpn))
			return object;
	}
	return NULL;
}

static uint32_t
queue_event(const struct uv_object *object, enum vcx3_event event)
{
	if (object->type == UV_WQ)
		return IBV_EVENT_WQ_FATAL;
	switch (event) {
	case VCX3_EVENT_SQ_DRAINED:
		return IBV_EVENT_SQ_DRAINED;
	case VCX3_EVENT_INVALID_REQUEST:
		return IBV_EVENT_QP_REQ_ERR;
	case VCX3_EVENT_ACCESS_ERROR:
		return IBV_EVENT_QP_ACCESS_ERR;
	default:
		return IBV_EVENT_QP_FATAL;
	}
}

static void
async(void *ctx, enum vcx3_event event, uint32_t number, uint8_t syndrome)
{
	struct uv_card *card = ctx;
	const struct uv_object *object;

	if (event == VCX3_EVENT_CQ_ERROR)
		object = number < 1u << 16 ? card->cq_by_number[number] : NULL;
	else
		object = find_queue(card, number);
	if (object == NULL || object->context->async == NULL)
		return;
	uv_events_async(object->context->async, object->user_handle,
			object->type == UV_CQ ? IBV_EVENT_CQ_ERR : queue_event(object, event));
}

/* Every context hears of every port (V.2-4). */
static void
tell_contexts(struct uv_card *card, uint64_t element, uint32_t type)
{
	struct uv_context *context;

	for (context = card->contexts; context != NULL; context = context->next)
		if (context->async != NULL && !context->dead)
			uv_events_async(context->async, element, type);
}

static void
port_change(void *ctx, unsigned int port, bool up)
{
	struct uv_card *card = ctx;

	card->shared->netdev[port - 1].running = up;
	tell_contexts(card, port, up ? IBV_EVENT_PORT_ACTIVE : IBV_EVENT_PORT_ERR);
}

static void
fatal(void *ctx, const char *reason)
{
	struct uv_card *card = ctx;
	struct uv_context *context;

	uv_say("the card is gone: %s", reason);
	tell_contexts(card, 0, IBV_EVENT_DEVICE_FATAL);
	for (context = card->contexts; context != NULL; context = context->next)
		context->dead = true;
}

/* The launcher prints how many there were and ends with its own status. */
static void
violation(void *ctx, const struct vcx3_violation *found)
{
	struct uv_card *card = ctx;
	char words[128] = "", path[512], line[1024];
	size_t used = 0;
	uint32_t i;
	int fd;

	if (card->shared->violations++ >= MAX_PRINTED)
		return;
	for (i = 0; i < found->nb_words; i++)
		used += snprintf(words + used, sizeof(words) - used, " %08x", found->words[i]);
	snprintf(line, sizeof(line), "rule %s broken by %s 0x%x: %s; words:%s", found->rule,
		 found->object, found->number, found->sentence, words[0] != '\0' ? words : " none");
	uv_say("%s", line);
	snprintf(path, sizeof(path), "%s/" VCX3_FILE_VIOLATIONS, card->dir);
	fd = uv_real()->open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	strcat(line, "\n");
	if (uv_real()->write(fd, line, strlen(line)) < 0)
		uv_say("cannot write %s", path);
	uv_real()->close(fd);
}

static bool
unclaimed(void *ctx, unsigned int port, const uint8_t *data, uint32_t len)
{
	return uv_host_receive(ctx, port, data, len);
}

const struct vcx3_sink uv_sink = {
	.completion = completion,
	.async = async,
	.port_change = port_change,
	.fatal = fatal,
	.violation = violation,
	.unclaimed = unclaimed,
};
