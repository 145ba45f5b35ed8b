/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A client of libibverbs on a port that gets back what it sends: verbs_client
 *
 * Frames of a raw packet QP go out and come back, and the program sleeps for their completions
 * on a completion channel. Then it says "ready" and prints what asynchronous events tell, until
 * the port was down and is up again.
 */

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"

#define FRAMES 200
#define PAYLOAD 500
#define RING 16
#define ROUND_WORK 2 /* a frame sent and received */
#define PATIENCE_MS 30000

static void
need(bool holds, const char *what)
{
	if (holds)
		return;
	printf("failed: %s\n", what);
	exit(1);
}

static void
wait_readable(int fd, const char *what)
{
	struct pollfd wanted = {.fd = fd, .events = POLLIN};

	need(poll(&wanted, 1, PATIENCE_MS) == 1, what);
}

/* Sleeps for one event of the CQ and takes what is there then. */
static int
sleep_and_poll(struct ibv_cq *cq, struct ibv_wc *wcs)
{
	struct ibv_cq *told;
	void *context;

	wait_readable(cq->channel->fd, "an event of the completion channel");
	need(ibv_get_cq_event(cq->channel, &told, &context) == 0 && told == cq, "the CQ's event");
	ibv_ack_cq_events(cq, 1);
	need(ibv_req_notify_cq(cq, 0) == 0, "ibv_req_notify_cq");
	return ibv_poll_cq(cq, RING, wcs);
}

/* One frame out of slot 0 and back into slot 1; the number of events that it took. */
static unsigned int
echo(struct rig *rig, struct rig_qp *qp, uint16_t number)
{
	struct rig_frame frame = {.src_ip = 1, .dst_ip = 2, .src_port = number, .dst_port = 53,
				  .payload = PAYLOAD};
	struct ibv_wc wcs[RING];
	unsigned int events = 0;
	int done = 0, nb, i;
	uint32_t length;

	memcpy(frame.dst, rig_mac, sizeof(frame.dst));
	length = rig_frame_make(&frame, rig_slot(rig, 0));
	memset(rig_slot(rig, 1), 0, length);
	need(rig_receive(rig, qp, 1) == 0 && rig_send(rig, qp, 0, length, 0) == 0, "post");
	for (; done < ROUND_WORK; done += nb, events++) {
		nb = sleep_and_poll(qp->cq, wcs);
		need(nb >= 0, "ibv_poll_cq");
		for (i = 0; i < nb; i++)
			need(wcs[i].status == IBV_WC_SUCCESS, ibv_wc_status_str(wcs[i].status));
	}
	need(memcmp(rig_slot(rig, 0), rig_slot(rig, 1), length) == 0, "the frame as it was sent");
	return events;
}

static void
exchange(struct rig *rig)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(rig->context);
	unsigned int events = 0;
	struct ibv_flow *flow;
	struct rig_qp qp;
	uint16_t number;

	need(channel != NULL, "ibv_create_comp_channel");
	rig_qp_open(rig, &qp, RING, RING, channel);
	flow = rig_flow_mac(qp.qp, rig_mac, 0, 0);
	need(flow != NULL, "ibv_create_flow");
	need(ibv_req_notify_cq(qp.cq, 0) == 0, "ibv_req_notify_cq");
	for (number = 0; number < FRAMES; number++)
		events += echo(rig, &qp, number);
	need(ibv_destroy_flow(flow) == 0, "ibv_destroy_flow");
	rig_qp_close(&qp);
	need(ibv_destroy_comp_channel(channel) == 0, "ibv_destroy_comp_channel");
	printf("%u frames, at least one event each: %s\n", FRAMES, events >= FRAMES ? "yes" : "no");
}

static void
watch(struct ibv_context *context)
{
	struct ibv_async_event event = {.event_type = IBV_EVENT_PORT_ERR};

	printf("ready\n");
	fflush(stdout);
	do {
		wait_readable(context->async_fd, "an asynchronous event");
		need(ibv_get_async_event(context, &event) == 0, "ibv_get_async_event");
		printf("%s of port %d\n", ibv_event_type_str(event.event_type),
		       event.element.port_num);
		fflush(stdout);
		ibv_ack_async_event(&event);
	} while (event.event_type != IBV_EVENT_PORT_ACTIVE);
}

int
main(void)
{
	struct rig rig;

	rig_open(&rig, 2);
	exchange(&rig);
	watch(rig.context);
	rig_close(&rig);
	return 0;
}
