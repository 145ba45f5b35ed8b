/* SPDX-License-Identifier: BSD-3-Clause */

/* See card.h. */

#include "card.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../cmd/commands.h"
#include "../cmd/wires.h"
#include "../core/counters.h"
#include "../core/fault.h"
#include "../core/port.h"
#include "host.h"
#include "objects.h"
#include "real.h"
#include "service.h"
#include "sink.h"

#define MAX_ARGS 16384
#define MAX_WORDS 128

static struct uv_card *the_card;
static pthread_once_t loaded = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool forked;

void
uv_say(const char *format, ...)
{
	char text[1024];
	va_list args;
	int length;

	length = snprintf(text, sizeof(text), "vcx3: ");
	va_start(args, format);
	length += vsnprintf(text + length, sizeof(text) - length - 1, format, args);
	va_end(args);
	if (length > (int)sizeof(text) - 2)
		length = sizeof(text) - 2;
	text[length++] = '\n';
	if (uv_real()->write(STDERR_FILENO, text, length) < 0)
		return;
}

bool
uv_is_forked(void)
{
	return atomic_load_explicit(&forked, memory_order_relaxed);
}

void
uv_lock_front(struct uv_card *card)
{
	pthread_mutex_lock(&lock);
}

void
uv_unlock_front(struct uv_card *card)
{
	pthread_mutex_unlock(&lock);
}

void
uv_lock(struct uv_card *card)
{
	uv_lock_front(card);
	if (card->runner != NULL && !uv_is_forked())
		vcx3_runner_lock(card->runner);
}

void
uv_unlock(struct uv_card *card)
{
	if (card->runner != NULL && !uv_is_forked())
		vcx3_runner_unlock(card->runner);
	uv_unlock_front(card);
}

/* A fork while another thread is in here must not leave the child with a taken lock. */
static void
before_fork(void)
{
	pthread_mutex_lock(&lock);
}

static void
after_fork_parent(void)
{
	pthread_mutex_unlock(&lock);
}

static void
after_fork_child(void)
{
	atomic_store(&forked, the_card != NULL && the_card->core != NULL);
	pthread_mutex_unlock(&lock);
}

/* The launcher's options; the words stay in memory, because the options point into them. */
static int
load_options(struct uv_card *card, char *reason, size_t size)
{
	char path[512], *words[MAX_WORDS], *bytes = malloc(MAX_ARGS);
	ssize_t length, at;
	int nb = 0, fd;

	snprintf(path, sizeof(path), "%s/" VCX3_FILE_ARGS, card->dir);
	fd = bytes != NULL ? uv_real()->open(path, O_RDONLY | O_CLOEXEC) : -1;
	length = fd >= 0 ? uv_real()->read(fd, bytes, MAX_ARGS) : -1;
	if (fd >= 0)
		uv_real()->close(fd);
	if (length < 0) {
		snprintf(reason, size, "cannot read %s: %s", path, strerror(errno));
		free(bytes);
		return -ENOENT;
	}
	for (at = 0; at < length && nb < MAX_WORDS; at += strlen(bytes + at) + 1)
		words[nb++] = bytes + at;
	if (vcx3_options_parse(&card->options, nb, words, reason, size) < 0)
		return -EINVAL;
	return vcx3_options_wires(&card->options, &card->plan, reason, size);
}

static int
map_shared(struct uv_card *card, char *reason, size_t size)
{
	char path[512];
	void *at = MAP_FAILED;
	int fd;

	snprintf(path, sizeof(path), "%s/" VCX3_FILE_SHARED, card->dir);
	fd = uv_real()->open(path, O_RDWR | O_CLOEXEC);
	if (fd >= 0)
		at = uv_real()->mmap(NULL, sizeof(*card->shared), PROT_READ | PROT_WRITE, MAP_SHARED,
				     fd, 0);
	if (at == MAP_FAILED)
		snprintf(reason, size, "cannot map %s: %s", path, strerror(errno));
	if (fd >= 0)
		uv_real()->close(fd);
	card->shared = at;
	return at == MAP_FAILED ? -EIO : 0;
}

static void
load(void)
{
	const char *dir = getenv(VCX3_DIR_VARIABLE);
	struct uv_card *card;
	char reason[1024];
	unsigned int i;

	if (dir == NULL)
		return;
	card = calloc(1, sizeof(*card));
	if (card == NULL)
		return;
	snprintf(card->dir, sizeof(card->dir), "%s", dir);
	card->owner_fd = -1;
	card->doorbell_fd = -1;
	card->tell_fd = -1;
	card->scratch_fd = -1;
	for (i = 0; i < VCX3_MAX_PORTS; i++)
		card->host_fd[i] = -1;
	if (load_options(card, reason, sizeof(reason)) < 0 ||
	    map_shared(card, reason, sizeof(reason)) < 0) {
		uv_say("%s", reason);
		free(card);
		return;
	}
	pthread_atfork(before_fork, after_fork_parent, after_fork_child);
	the_card = card;
}

struct uv_card *
uv_card(void)
{
	pthread_once(&loaded, load);
	return the_card;
}

static int
make_core(struct uv_card *card)
{
	static const enum vcx3_device devices[] = {
		[VCX3_IDENTITY_CX3] = VCX3_CX3,
		[VCX3_IDENTITY_CX3PRO] = VCX3_CX3_PRO,
		[VCX3_IDENTITY_VF] = VCX3_VF,
	};
	const struct vcx3_options *options = &card->options;
	struct vcx3_core_config config = {
		.device = devices[options->identity],
		.ports = options->ports,
		.speed_mbps = options->speed_mbps,
		.mtu = options->mtu,
		.log_max_qp = UV_LOG_QP_TABLE,
		.strict = options->strict,
		.vlan_insert = options->vlan_insert,
		.cold_cqe = options->cold,
		.cold_data = options->cold_data,
		.sink = &uv_sink,
		.sink_ctx = card,
		.commands = vcx3_uverbs_commands,
	};

	return vcx3_core_create(&config, &card->core);
}

/* What the netdevs say is what the ports do. */
static void
set_ports(struct uv_card *card)
{
	unsigned int i;

	for (i = 0; i < card->options.ports; i++) {
		const struct vcx3_netdev *netdev = &card->shared->netdev[i];

		vcx3_port_set_mac(card->core, i + 1, netdev->mac);
		vcx3_port_set_mtu(card->core, i + 1, netdev->mtu);
		vcx3_port_set_admin(card->core, i + 1,
				    netdev->flags & IFF_UP && netdev->name[0] != '\0');
	}
}

static int
add_faults(struct uv_card *card)
{
	char reason[512];
	unsigned int i;
	int ret = 0;

	for (i = 0; ret == 0 && i < card->options.nb_faults; i++)
		ret = vcx3_fault_add(card->core, card->options.fault[i], reason, sizeof(reason));
	if (ret < 0)
		uv_say("%s", reason);
	return ret;
}

static int
make_numbers(struct uv_card *card)
{
	/* 0 and 1 of the keys are taken: key 0x100 means "stop here" in a receive WQE (E.7). */
	if (uv_numbers_init(&card->qpns, 0x200, 1 << UV_LOG_QP_TABLE) < 0 ||
	    uv_numbers_init(&card->cqns, 1, 1 << 16) < 0 ||
	    uv_numbers_init(&card->keys, 2, 1 << 19) < 0 ||
	    uv_numbers_init(&card->pdns, 1, 1 << 15) < 0)
		return -ENOMEM;
	card->cq_by_number = calloc(1 << 16, sizeof(*card->cq_by_number));
	card->scratch_fd = memfd_create("vcx3-scratch", MFD_CLOEXEC);
	return card->cq_by_number != NULL && card->scratch_fd >= 0 ? 0 : -ENOMEM;
}

int
uv_card_prepare(struct uv_card *card)
{
	int ret = 0;

	uv_lock(card);
	if (card->core == NULL) {
		ret = make_numbers(card);
		if (ret == 0)
			ret = make_core(card);
		if (ret == 0) {
			set_ports(card);
			ret = add_faults(card);
		}
		if (ret < 0)
			uv_say("cannot make the device: %s", strerror(-ret));
	}
	uv_unlock(card);
	return ret;
}

static int
take_ownership(struct uv_card *card)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/" VCX3_FILE_OWNER, card->dir);
	card->owner_fd = uv_real()->open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (card->owner_fd < 0)
		return -errno;
	if (flock(card->owner_fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	uv_real()->close(card->owner_fd);
	card->owner_fd = -1;
	uv_say("another process below this launcher has objects on the card already; it can "
	       "belong to one at a time");
	return -EBUSY;
}

static uint64_t
wire_now_ns(void *ctx)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * UINT64_C(1000000000) + now.tv_nsec;
}

static void
wire_log(void *ctx, const char *sentence)
{
	uv_say("%s", sentence);
}

static int
open_wires(struct uv_card *card)
{
	struct vcx3_wire_env env[VCX3_MAX_PORTS] = {0};
	char reason[VCX3_WIRE_REASON_SIZE];
	unsigned int i;
	int ret;

	for (i = 0; i < card->options.ports; i++) {
		env[i].now_ns = wire_now_ns;
		env[i].log = wire_log;
		memcpy(env[i].mac, card->shared->netdev[i].mac, sizeof(env[i].mac));
	}
	ret = vcx3_wire_plan_open(&card->plan, env, card->wire, reason, sizeof(reason));
	if (ret < 0) {
		uv_say("%s", reason);
		return ret;
	}
	for (i = 0; i < card->options.ports; i++)
		vcx3_port_attach_wire(card->core, i + 1, card->wire[i]);
	return 0;
}

static void
unplug_wires(struct uv_card *card)
{
	unsigned int i;

	for (i = 0; i < card->options.ports; i++) {
		vcx3_port_attach_wire(card->core, i + 1, NULL);
		vcx3_wire_close(card->wire[i]);
		card->wire[i] = NULL;
	}
}

int
uv_card_power_on(struct uv_card *card)
{
	struct vcx3_runner_config config = {
		.thread = !card->options.step,
		.cpu = card->options.engine_cpu,
		.wake = VCX3_WAKE_YIELD,
	};
	int ret;

	if (card->runner != NULL)
		return 0;
	ret = take_ownership(card);
	if (ret < 0)
		return ret;
	ret = uv_host_open(card);
	if (ret < 0)
		goto give_up_ownership;
	ret = open_wires(card);
	if (ret < 0)
		goto close_host;
	ret = vcx3_runner_create(card->core, &config, &card->runner);
	if (ret < 0)
		goto close_wires;
	ret = uv_service_start(card);
	if (ret < 0)
		goto destroy_runner;
	/* The caller unlocks what it locked, which now includes the runner. */
	vcx3_runner_lock(card->runner);
	return 0;

destroy_runner:
	vcx3_runner_destroy(card->runner);
	card->runner = NULL;
close_wires:
	unplug_wires(card);
close_host:
	uv_host_close(card);
give_up_ownership:
	uv_real()->close(card->owner_fd);
	card->owner_fd = -1;
	return ret;
}

void
uv_card_write_clock(struct uv_card *card)
{
	struct uv_context *context;
	uint64_t clock_be;

	uv_lock_front(card);
	clock_be = htobe64(vcx3_core_clock(card->core));
	for (context = card->contexts; context != NULL; context = context->next)
		*(volatile uint64_t *)(context->pages + UV_PAGE_CLOCK * UV_PAGE) = clock_be;
	uv_unlock_front(card);
}

void
uv_card_unplug(struct uv_card *card)
{
	card->shared->removed = 1;
	vcx3_core_die(card->core, "unplugged by the control socket");
}

/* Contexts of the old card stay dead; what they hold is gone with it. */
int
uv_card_replug(struct uv_card *card)
{
	struct uv_context *context;

	if (!card->shared->removed)
		return -EEXIST;
	for (context = card->contexts; context != NULL; context = context->next)
		context->dead = true;
	card->epoch++;
	vcx3_core_reset(card->core);
	set_ports(card);
	card->shared->removed = 0;
	return 0;
}

char *
uv_card_census(struct uv_card *card)
{
	static const char *const names[UV_TYPES] = {
#define TYPE_NAME(upper, lower) #lower,
		UV_OBJECT_TYPES(TYPE_NAME)
#undef TYPE_NAME
	};
	struct uv_context *context;
	unsigned int nb = 0, type;
	char *text = malloc(512);
	size_t used;

	if (text == NULL)
		return NULL;
	for (context = card->contexts; context != NULL; context = context->next)
		nb++;
	used = snprintf(text, 512, "{\"context\": %u", nb);
	for (type = 0; type < UV_TYPES; type++)
		used += snprintf(text + used, 512 - used, ", \"%s\": %u", names[type],
				 uv_objects_count(card, type));
	snprintf(text + used, 512 - used, "}");
	return text;
}

/* The core's object with the port whose LED blinks and the census as members more. */
char *
uv_card_counters(struct uv_card *card)
{
	size_t length = vcx3_counters_json(card->core, NULL, 0);
	char *census = uv_card_census(card);
	char *text = malloc(length + 600);

	if (text != NULL && census != NULL) {
		vcx3_counters_json(card->core, text, length + 1);
		/* Over the closing brace. */
		length = strrchr(text, '}') - text;
		snprintf(text + length, 600, ", \"identifies\": %u, \"census\": %s}",
			 card->shared->identifies, census);
	}
	free(census);
	return text;
}

void
uv_card_save_counters(struct uv_card *card)
{
	char path[512], hidden[512], *text;
	int fd;

	if (card->options.counters == NULL || card->runner == NULL || uv_is_forked())
		return;
	text = uv_card_counters(card);
	snprintf(path, sizeof(path), "%s/" VCX3_FILE_COUNTERS, card->dir);
	snprintf(hidden, sizeof(hidden), "%s/.counters", card->dir);
	fd = text != NULL ? uv_real()->open(hidden, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644) : -1;
	if (fd >= 0) {
		size_t length = strlen(text);

		if (uv_real()->write(fd, text, length) != (ssize_t)length ||
		    rename(hidden, path) != 0)
			uv_say("cannot write %s: %s", path, strerror(errno));
		uv_real()->close(fd);
	}
	free(text);
}

/* Leaves the card as a program that just ends does: the engine stops, the wires are closed. */
__attribute__((destructor)) static void
power_off(void)
{
	struct uv_card *card = the_card;

	if (card == NULL || card->runner == NULL || uv_is_forked())
		return;
	uv_service_stop(card);
	uv_lock(card);
	uv_card_save_counters(card);
	uv_unlock(card);
	vcx3_runner_destroy(card->runner);
	card->runner = NULL;
	unplug_wires(card);
	uv_host_close(card);
}
