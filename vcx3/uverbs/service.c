/* SPDX-License-Identifier: BSD-3-Clause */

/* See service.h. */

#include "service.h"

#include <errno.h>
#include <net/if.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "../core/port.h"
#include "control.h"
#include "doorbell.h"
#include "ethtool.h"
#include "host.h"
#include "real.h"

#define TURN_MS 100
#define CLOCK_TURN_MS 1
#define SAVE_EVERY_MS 1000

static pthread_t thread;
static atomic_bool stops;
static bool runs;
static int listen_fd = -1;

/* What another process did to a netdev reaches the port here. */
static void
follow_netdevs(struct uv_card *card)
{
	struct vcx3_port_info info;
	unsigned int i;

	for (i = 0; i < card->options.ports; i++) {
		const struct vcx3_netdev *netdev = &card->shared->netdev[i];
		bool wanted = netdev->flags & IFF_UP && netdev->name[0] != '\0';

		if (vcx3_port_get(card->core, i + 1, &info) != VCX3_OK)
			continue;
		if (info.admin_up != wanted)
			vcx3_port_set_admin(card->core, i + 1, wanted);
		if (info.mtu != netdev->mtu)
			vcx3_port_set_mtu(card->core, i + 1, netdev->mtu);
	}
}

static uint64_t
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * UINT64_C(1000) + now.tv_nsec / 1000000;
}

/* What is done every TURN_MS, and of that every SAVE_EVERY_MS. */
static void
do_turn(struct uv_card *card, uint64_t *turn_ms, uint64_t *save_ms)
{
	uint64_t now = now_ms();
	unsigned int i;

	if (now < *turn_ms)
		return;
	*turn_ms = now + TURN_MS;
	uv_lock(card);
	follow_netdevs(card);
	for (i = 0; i < card->options.ports; i++)
		uv_ethtool_publish(card, &card->shared->netdev[i]);
	if (now >= *save_ms) {
		*save_ms = now + SAVE_EVERY_MS;
		uv_card_save_counters(card);
	}
	uv_unlock(card);
}

static void *
serve(void *argument)
{
	struct uv_card *card = argument;
	struct pollfd waited[2 + VCX3_MAX_PORTS] = {
		{.fd = listen_fd, .events = POLLIN},
		{.fd = card->doorbell_fd, .events = POLLIN},
	};
	uint64_t turn_ms = now_ms() + TURN_MS, save_ms = now_ms() + SAVE_EVERY_MS;
	unsigned int i;

	for (i = 0; i < VCX3_MAX_PORTS; i++)
		waited[2 + i] = (struct pollfd){.fd = card->host_fd[i], .events = POLLIN};
	while (!atomic_load(&stops)) {
		int wait_ms = card->clock_mapped ? CLOCK_TURN_MS : TURN_MS;

		if (poll(waited, 2 + VCX3_MAX_PORTS, wait_ms) > 0) {
			if (waited[0].revents != 0)
				uv_control_serve(card, listen_fd);
			if (waited[1].revents != 0) {
				uv_lock(card);
				uv_doorbell_serve(card);
				uv_unlock(card);
			}
			uv_host_send(card);
		}
		if (card->clock_mapped)
			uv_card_write_clock(card);
		do_turn(card, &turn_ms, &save_ms);
	}
	return NULL;
}

static void
stop_listening(struct uv_card *card)
{
	if (listen_fd >= 0) {
		uv_real()->close(listen_fd);
		unlink(card->options.control);
	}
	if (card->doorbell_fd >= 0)
		uv_real()->close(card->doorbell_fd);
	listen_fd = -1;
	card->doorbell_fd = -1;
}

static int
listen_to_others(struct uv_card *card)
{
	if (card->options.control != NULL)
		listen_fd = uv_control_listen(card->options.control);
	if (card->options.control != NULL && listen_fd < 0)
		return listen_fd;
	return card->options.strict ? uv_doorbell_listen(card) : 0;
}

int
uv_service_start(struct uv_card *card)
{
	sigset_t all, before;
	int ret = listen_to_others(card);

	if (ret < 0) {
		stop_listening(card);
		return ret;
	}
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = pthread_create(&thread, NULL, serve, card);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	runs = ret == 0;
	if (!runs)
		stop_listening(card);
	return -ret;
}

void
uv_service_stop(struct uv_card *card)
{
	if (!runs)
		return;
	atomic_store(&stops, true);
	pthread_join(thread, NULL);
	runs = false;
	stop_listening(card);
}
