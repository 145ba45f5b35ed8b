/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs an XDP program on one packet again and again, its maps kept in step with the pinned ones in
 * PIN_DIR, and prints the verdict whenever it changes. What comes on standard input:
 *   packet HEX	this packet from now on
 *   now	a round of the maps; prints "synced"
 *   stats	prints "rounds N max_us N"
 * The end of standard input ends it.
 *
 * usage: sync_run OBJECT PIN_DIR PERIOD_MS
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "xdpvm_sync.h"

#define PACKET_MAX 1500		/* bytes */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t packet[PACKET_MAX];	/* under the lock, with the next two */
static size_t packet_size;
static bool stop;

static void
say(void *arg, enum xdpvm_log_level level, const char *message)
{
	fprintf(stderr, "%s\n", message);
}

static size_t
take_packet(uint8_t *to, bool *end)
{
	size_t size;

	pthread_mutex_lock(&lock);
	memcpy(to, packet, packet_size);
	size = packet_size;
	*end = stop;
	pthread_mutex_unlock(&lock);
	return size;
}

static void *
run(void *prog)
{
	static const char *const names[] = { "ABORTED", "DROP", "PASS", "TX", "REDIRECT" };
	static uint8_t frame[4096] __attribute__((aligned(64)));
	uint32_t verdict, last = UINT32_MAX;
	struct xdpvm_buff buff;
	bool end = false;
	size_t size;

	if (xdpvm_thread_register(0) != 0)
		return NULL;
	xdpvm_buff_init(&buff, 1, 0);
	xdpvm_buff_bind(&buff);
	while (!end) {
		buff.hard_start = frame;
		buff.data = buff.data_meta = frame + XDP_PACKET_HEADROOM;
		buff.frame_end = frame + sizeof(frame);
		size = take_packet(buff.data, &end);
		buff.data_end = buff.data + size;
		verdict = size != 0 ? xdpvm_run(prog, &buff) : last;
		xdpvm_thread_quiescent();
		if (verdict != last) {
			printf("verdict %s\n", names[verdict]);
			fflush(stdout);
		}
		last = verdict;
	}
	xdpvm_thread_unregister();
	return NULL;
}

static void
set_packet(const char *hex)
{
	unsigned int byte;

	pthread_mutex_lock(&lock);
	packet_size = 0;
	while (packet_size < PACKET_MAX && sscanf(hex + 2 * packet_size, "%2x", &byte) == 1)
		packet[packet_size++] = byte;
	pthread_mutex_unlock(&lock);
}

static void
obey(struct xdpvm_object *object)
{
	char line[2 * PACKET_MAX + 16];
	struct xdpvm_sync_stats stats;

	while (fgets(line, sizeof(line), stdin) != NULL) {
		if (strncmp(line, "packet ", 7) == 0)
			set_packet(line + 7);
		else if (strcmp(line, "now\n") == 0 && xdpvm_sync_now(object) == 0)
			printf("synced\n");
		else if (strcmp(line, "stats\n") == 0 && xdpvm_sync_stats(object, &stats) == 0)
			printf("rounds %llu max_us %llu\n", (unsigned long long)stats.rounds,
			       (unsigned long long)stats.max_ns / 1000);
		fflush(stdout);
	}
}

int
main(int argc, char **argv)
{
	struct xdpvm_options options = { .verify = XDPVM_VERIFY_KERNEL, .log = say };
	struct xdpvm_object *object;
	pthread_t thread;

	if (argc != 4)
		return 2;
	options.pin_dir = argv[2];
	if (xdpvm_object_open(argv[1], &options, &object) != 0)
		return 1;
	if (xdpvm_object_load(object) != 0 || xdpvm_sync_start(object, atoi(argv[3])) != 0 ||
	    pthread_create(&thread, NULL, run, xdpvm_prog_find(object, NULL)) != 0) {
		xdpvm_object_close(object);
		return 1;
	}
	obey(object);
	pthread_mutex_lock(&lock);
	stop = true;
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
	xdpvm_object_close(object);
	return 0;
}
