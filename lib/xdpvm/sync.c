/* SPDX-License-Identifier: BSD-3-Clause */
/* The thread that keeps an object's maps and the kernel's in step; see xdpvm_sync.h. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "object.h"
#include "sync_map.h"
#include "sync_refs.h"

#define NS_PER_MS 1000000ull
#define NS_PER_S 1000000000ull
#define PAUSE_FACTOR 4	/* a pause is at least so many rounds long: a fifth of a CPU at most */

struct xdpvm_sync {
	struct xdpvm_object *object;
	pthread_t thread;
	uint64_t period_ns;
	pthread_mutex_t round_lock;	/* whoever does a round, and what follows */
	struct xdpvm_sync_map *maps;
	uint32_t n_maps;
	struct xdpvm_sync_refs *refs;
	uint32_t n_refs;
	pthread_mutex_t lock;		/* what is below */
	pthread_cond_t wake;
	bool stop;
	struct xdpvm_sync_stats stats;
};

static uint64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

static int
do_round(struct xdpvm_sync *sync)
{
	uint64_t start = now_ns(), took;
	struct xdpvm_sync_stats stats;
	int ret, result = 0;

	pthread_mutex_lock(&sync->round_lock);
	stats = sync->stats;	/* only rounds change it */
	for (uint32_t i = 0; i < sync->n_maps; i++) {
		struct xdpvm_sync_map *map = &sync->maps[i];

		ret = xdpvm_sync_map_round(map, &stats);
		if (ret != 0 && ret != map->error)	/* said once, not in every round */
			xdpvm_log(sync->object, XDPVM_LOG_ERROR,
				  "map %s: the kernel's map cannot be read: %s", map->map->name,
				  strerror(-ret));
		map->error = ret;
		result = ret != 0 ? ret : result;
	}
	for (uint32_t i = 0; i < sync->n_refs; i++)
		xdpvm_sync_refs_round(&sync->refs[i], &stats);
	took = now_ns() - start;
	stats.rounds++;
	stats.last_ns = took;
	stats.max_ns = took > stats.max_ns ? took : stats.max_ns;
	pthread_mutex_lock(&sync->lock);
	sync->stats = stats;
	pthread_mutex_unlock(&sync->lock);
	pthread_mutex_unlock(&sync->round_lock);
	return result;
}

/* Until the next round is due; true: there is none, the thread shall end. */
static bool
pause_and_ask(struct xdpvm_sync *sync)
{
	struct timespec until;
	uint64_t pause, wake;
	bool stop;

	pthread_mutex_lock(&sync->lock);
	pause = PAUSE_FACTOR * sync->stats.last_ns;
	wake = now_ns() + (pause > sync->period_ns ? pause : sync->period_ns);
	until.tv_sec = wake / NS_PER_S;
	until.tv_nsec = wake % NS_PER_S;
	while (!sync->stop && pthread_cond_timedwait(&sync->wake, &sync->lock, &until) == 0)
		;
	stop = sync->stop;
	pthread_mutex_unlock(&sync->lock);
	return stop;
}

static void *
sync_main(void *arg)
{
	struct xdpvm_sync *sync = arg;

	while (!pause_and_ask(sync))
		do_round(sync);
	return NULL;
}

static int
maps_init(struct xdpvm_sync *sync)
{
	struct xdpvm_object *object = sync->object;
	struct xdpvm_map *map;
	int ret = 0;

	sync->maps = calloc(object->n_maps + 1, sizeof(*sync->maps));
	sync->refs = calloc(object->n_maps + 1, sizeof(*sync->refs));
	if (sync->maps == NULL || sync->refs == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < object->n_maps && ret == 0; i++) {
		map = &object->maps[i];
		if (xdpvm_sync_map_wanted(map))
			ret = xdpvm_sync_map_init(&sync->maps[sync->n_maps++], map);
		else if (xdpvm_sync_refs_wanted(map))
			ret = xdpvm_sync_refs_init(&sync->refs[sync->n_refs++], map);
	}
	sync->stats.maps = sync->n_maps + sync->n_refs;
	return ret;
}

static void
sync_free(struct xdpvm_sync *sync)
{
	for (uint32_t i = 0; i < sync->n_maps; i++)
		xdpvm_sync_map_fini(&sync->maps[i]);
	for (uint32_t i = 0; i < sync->n_refs; i++)
		xdpvm_sync_refs_fini(&sync->refs[i]);
	free(sync->maps);
	free(sync->refs);
	pthread_cond_destroy(&sync->wake);
	pthread_mutex_destroy(&sync->lock);
	pthread_mutex_destroy(&sync->round_lock);
	free(sync);
}

static struct xdpvm_sync *
sync_new(struct xdpvm_object *object, unsigned int period_ms)
{
	struct xdpvm_sync *sync = calloc(1, sizeof(*sync));
	pthread_condattr_t attr;

	if (sync == NULL)
		return NULL;
	sync->object = object;
	sync->period_ns = (period_ms != 0 ? period_ms : XDPVM_SYNC_PERIOD_MS) * NS_PER_MS;
	pthread_mutex_init(&sync->round_lock, NULL);
	pthread_mutex_init(&sync->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&sync->wake, &attr);
	pthread_condattr_destroy(&attr);
	return sync;
}

/*
 * Signals are the embedder's: the thread takes none. The caller may be pinned to a CPU on which it
 * polls; the scheduler knows a better one.
 */
static int
thread_start(struct xdpvm_sync *sync)
{
	sigset_t all, before;
	cpu_set_t anywhere;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = pthread_create(&sync->thread, NULL, sync_main, sync);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (ret != 0)
		return -ret;
	memset(&anywhere, 0xff, sizeof(anywhere));
	pthread_setaffinity_np(sync->thread, sizeof(anywhere), &anywhere);
	pthread_setname_np(sync->thread, "xdpvm-sync");
	return 0;
}

int
xdpvm_sync_start(struct xdpvm_object *object, unsigned int period_ms)
{
	struct xdpvm_sync *sync;
	int ret;

	if (object->sync != NULL)
		return xdpvm_fail(object, -EALREADY, "its maps are being kept in step already");
	if (!object->loaded || object->verify != XDPVM_VERIFY_KERNEL)
		return xdpvm_fail(object, -ENOTSUP, "has no kernel maps to keep in step: "
				  "it is not loaded with verify=kernel");
	sync = sync_new(object, period_ms);
	if (sync == NULL)
		return xdpvm_fail(object, -ENOMEM, "no memory to keep maps in step");
	ret = maps_init(sync);
	if (ret != 0)
		xdpvm_fail(object, ret, "no memory to keep maps in step");
	if (ret == 0)
		ret = do_round(sync);
	if (ret == 0)
		ret = thread_start(sync);
	if (ret == 0)
		object->sync = sync;
	else
		sync_free(sync);
	return ret;
}

void
xdpvm_sync_stop(struct xdpvm_object *object)
{
	struct xdpvm_sync *sync = object->sync;

	if (sync == NULL)
		return;
	pthread_mutex_lock(&sync->lock);
	sync->stop = true;
	pthread_cond_signal(&sync->wake);
	pthread_mutex_unlock(&sync->lock);
	pthread_join(sync->thread, NULL);
	do_round(sync);
	object->sync = NULL;
	sync_free(sync);
}

int
xdpvm_sync_now(struct xdpvm_object *object)
{
	return object->sync != NULL ? do_round(object->sync) : -EINVAL;
}

int
xdpvm_sync_stats(struct xdpvm_object *object, struct xdpvm_sync_stats *stats)
{
	struct xdpvm_sync *sync = object->sync;

	if (sync == NULL)
		return -EINVAL;
	pthread_mutex_lock(&sync->lock);
	*stats = sync->stats;
	pthread_mutex_unlock(&sync->lock);
	return 0;
}
