/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Maps kept in step with the kernel's. A model says what both sides must hold after a round, when
 * tool (bpf(2) on the kernel's map) and program (the library's map) both wrote at random; then the
 * thread, a program that counts while tools write, and maps that were there before.
 *
 * usage: sync_test OBJECT OBJECT_WITH_SLOTS
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "check.h"
#include "map.h"
#include "xdpvm_sync.h"

#define ROUNDS 60
#define KEYS 40
#define NEVER_MS 1000000u	/* rounds only when the test asks for one */
#define DEADLINE_S 20

struct value {		/* progs/sync.bpf.c */
	uint64_t hits;
	uint32_t setting;
	uint32_t pad;
};

struct prefix {
	uint32_t length;
	uint32_t address;
};

/* What a key should have: the copies of the kernel's CPUs. */
struct model {
	bool present[KEYS];
	struct value values[KEYS][XDPVM_MAX_THREADS];
};

struct subject {
	struct xdpvm_map *map;
	int fd;
	uint32_t cpus;
	bool fixed;	/* an array: keys are always there */
	struct model model;
	bool by_tool[KEYS];	/* written there in this round: wins */
};

static const char *path, *slots_path;
static char sentence[1024];	/* the last error */

static void
say(void *arg, enum xdpvm_log_level level, const char *message)
{
	if (level <= XDPVM_LOG_WARNING)
		fprintf(stderr, "%s\n", message);
	if (level == XDPVM_LOG_ERROR)
		snprintf(sentence, sizeof(sentence), "%s", message);
}

static struct xdpvm_object *
load_from(const char *file, const char *pin_dir)
{
	struct xdpvm_options options = { .verify = XDPVM_VERIFY_KERNEL, .pin_dir = pin_dir,
					 .log = say };
	struct xdpvm_object *object;

	if (xdpvm_object_open(file, &options, &object) != 0)
		return NULL;
	if (xdpvm_object_load(object) == 0)
		return object;
	xdpvm_object_close(object);
	return NULL;
}

static struct xdpvm_object *
load(const char *pin_dir)
{
	return load_from(path, pin_dir);
}

static void
subject_init(struct subject *subject, struct xdpvm_object *object, const char *name)
{
	struct xdpvm_map_info info;

	memset(subject, 0, sizeof(*subject));
	subject->map = xdpvm_map_find(object, name);
	xdpvm_map_info(subject->map, &info);
	subject->fd = info.fd;
	subject->cpus = xdpvm_map_is_percpu(info.type) ? libbpf_num_possible_cpus() : 1;
	subject->fixed = info.type == BPF_MAP_TYPE_ARRAY || info.type == BPF_MAP_TYPE_PERCPU_ARRAY;
	for (unsigned int i = 0; i < KEYS; i++)
		subject->model.present[i] = subject->fixed;
}

/* Key number i; no prefix lies inside another, so a lookup finds this one or none. */
static const void *
key_of(const struct subject *subject, uint32_t i)
{
	static struct prefix prefix;
	static uint32_t number;

	number = i;
	prefix.length = 8 + i % 25;
	memcpy(&prefix.address, (uint8_t[4]){ i }, 4);
	return subject->map->type == BPF_MAP_TYPE_LPM_TRIE ? (const void *)&prefix : &number;
}

static void
random_values(struct value *values, uint32_t cpus)
{
	memset(values, 0, sizeof(*values) * XDPVM_MAX_THREADS);
	for (uint32_t cpu = 0; cpu < cpus; cpu++) {
		values[cpu].hits = random();
		values[cpu].setting = random();
	}
}

/* Once a round at most: what a tool puts in and takes out between two rounds leaves no trace. */
static void
tool_writes(struct subject *subject, uint32_t i)
{
	struct value values[XDPVM_MAX_THREADS];
	bool delete = random() % 4 == 0 && !subject->fixed;
	int ret;

	if (subject->by_tool[i])
		return;
	random_values(values, subject->cpus);
	if (delete)
		ret = bpf_map_delete_elem(subject->fd, key_of(subject, i));
	else
		ret = bpf_map_update_elem(subject->fd, key_of(subject, i), values, BPF_ANY);
	if (ret == -ENOENT)
		return;		/* deleted what was not there: says nothing */
	CHECK(ret == 0);
	subject->by_tool[i] = true;
	subject->model.present[i] = !delete;
	memcpy(subject->model.values[i], values, sizeof(values));
}

/* Does not touch the model where the tool wins; in shared memory the last one does. */
static void
program_writes(struct subject *subject, uint32_t i)
{
	struct value values[XDPVM_MAX_THREADS];
	bool delete = random() % 4 == 0 && !subject->fixed;
	int ret;

	random_values(values, subject->cpus);
	if (delete)
		ret = xdpvm_map_delete(subject->map, key_of(subject, i));
	else
		ret = xdpvm_map_update(subject->map, key_of(subject, i), values, BPF_ANY);
	CHECK(ret == 0 || (delete && ret == -ENOENT));
	if ((subject->by_tool[i] && !subject->map->shared_memory) || ret != 0)
		return;
	subject->model.present[i] = !delete;
	memcpy(subject->model.values[i], values, sizeof(values));
}

static bool
same(const struct subject *subject, const struct value *a, const struct value *b)
{
	for (uint32_t cpu = 0; cpu < subject->cpus; cpu++)
		if (a[cpu].hits != b[cpu].hits || a[cpu].setting != b[cpu].setting)
			return false;
	return true;
}

static void
check_key(struct subject *subject, uint32_t i)
{
	struct value own[XDPVM_MAX_THREADS], kernel[XDPVM_MAX_THREADS];
	const struct value *model = subject->model.values[i];
	const char *name = subject->map->name;
	int ret = xdpvm_map_lookup(subject->map, key_of(subject, i), own);

	CHECK((ret == 0) == subject->model.present[i], "%s, key %u: own %d, model %d", name, i, ret,
	      subject->model.present[i]);
	CHECK(ret != 0 || same(subject, own, model), "%s, key %u: own value", name, i);
	ret = bpf_map_lookup_elem(subject->fd, key_of(subject, i), kernel);
	CHECK((ret == 0) == subject->model.present[i], "%s, key %u: kernel %d, model %d", name, i,
	      ret, subject->model.present[i]);
	CHECK(ret != 0 || same(subject, kernel, model), "%s, key %u: kernel's value", name, i);
}

static uint32_t
count_keys(struct xdpvm_map *map)
{
	uint8_t key[8], next[8];
	uint32_t n = 0;

	for (void *at = NULL; xdpvm_map_next_key(map, at, next) == 0; n++) {
		memcpy(key, next, sizeof(key));
		at = key;
	}
	return n;
}

static void
test_model(struct xdpvm_object *object, const char *name)
{
	static struct subject subject;
	uint32_t present;

	subject_init(&subject, object, name);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		memset(subject.by_tool, 0, sizeof(subject.by_tool));
		for (unsigned int i = 0; i < 12; i++)
			tool_writes(&subject, random() % KEYS);
		for (unsigned int i = 0; i < 12; i++)
			program_writes(&subject, random() % KEYS);
		CHECK(xdpvm_sync_now(object) == 0);
		present = 0;
		for (uint32_t i = 0; i < KEYS; i++) {
			check_key(&subject, i);
			present += subject.model.present[i];
		}
		CHECK(subject.fixed || count_keys(subject.map) == present);
	}
}

static void
test_models(void)
{
	static const char *const names[] = { "hash", "percpu_hash", "lru_hash", "lru_percpu_hash",
					     "array", "percpu_array", "lpm" };
	struct xdpvm_object *object = load(NULL);
	struct xdpvm_sync_stats stats;

	CHECK(object != NULL);
	CHECK(xdpvm_sync_now(object) == -EINVAL && xdpvm_sync_stats(object, &stats) == -EINVAL);
	CHECK(xdpvm_sync_start(object, NEVER_MS) == 0);
	CHECK(xdpvm_sync_start(object, NEVER_MS) == -EALREADY);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		test_model(object, names[i]);
	CHECK(xdpvm_sync_stats(object, &stats) == 0);
	/* The array is the kernel's memory and needs no rounds. */
	CHECK(stats.maps == 9, "%u maps", stats.maps);
	CHECK(stats.rounds == 1 + 7 * ROUNDS && stats.refused == 0);
	CHECK(stats.taken > 1000 && stats.given > 1000 && stats.max_ns >= stats.last_ns);
	xdpvm_object_close(object);
}

static uint64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* What does not fit is counted; the rest arrives. */
static void
test_refused(void)
{
	struct xdpvm_object *object = load(NULL);
	struct xdpvm_map *devices = xdpvm_map_find(object, "devices");
	struct xdpvm_map *hash = xdpvm_map_find(object, "hash");
	struct xdpvm_sync_stats before, stats;
	struct xdpvm_map_info info;
	struct value value = { 0 };
	uint32_t key = 3, loopback = 1, seen;

	CHECK(xdpvm_sync_start(object, NEVER_MS) == 0 && xdpvm_sync_stats(object, &before) == 0);
	xdpvm_map_info(devices, &info);
	CHECK(bpf_map_update_elem(info.fd, &key, &loopback, BPF_ANY) == 0);
	CHECK(xdpvm_sync_now(object) == 0);
	CHECK(xdpvm_map_lookup(devices, &key, &seen) == 0 && seen == 1);
	CHECK(xdpvm_sync_stats(object, &stats) == 0 && stats.taken == before.taken + 1 &&
	      stats.refused == 0);

	/* Half of the keys from each side, together too many for either. */
	xdpvm_map_info(hash, &info);
	for (key = 0; key < 150; key++) {
		CHECK(bpf_map_update_elem(info.fd, &(uint32_t){ 1000 + key }, &value, 0) == 0);
		CHECK(xdpvm_map_update(hash, &key, &value, BPF_ANY) == 0);
	}
	CHECK(xdpvm_sync_now(object) == 0);
	CHECK(xdpvm_sync_stats(object, &stats) == 0 && stats.refused == 200, "%llu refused",
	      (unsigned long long)stats.refused);
	xdpvm_object_close(object);
}

/* ---- A running program ---------------------------------------------------------------------- */

struct runner {
	struct xdpvm_prog *prog;
	int number;	/* of the thread, or what refused it one */
	bool stop;
};

static void *
run(void *arg)
{
	static uint8_t frame[4096] __attribute__((aligned(64)));
	struct runner *runner = arg;
	struct xdpvm_buff buff;

	runner->number = xdpvm_thread_register(0);
	xdpvm_buff_init(&buff, 1, 0);
	xdpvm_buff_bind(&buff);
	while (!__atomic_load_n(&runner->stop, __ATOMIC_RELAXED)) {
		buff.hard_start = frame;
		buff.data = buff.data_meta = frame + XDP_PACKET_HEADROOM;
		buff.data_end = buff.data + 64;
		buff.frame_end = frame + sizeof(frame);
		xdpvm_run(runner->prog, &buff);
		xdpvm_thread_quiescent();
	}
	xdpvm_thread_unregister();
	return NULL;
}

/* What the kernel's map says for key 7, copy 0. */
static struct value
kernel_value(struct xdpvm_object *object, const char *name)
{
	struct value values[XDPVM_MAX_THREADS] = { 0 };
	struct prefix prefix = { .length = 32, .address = 7 };
	struct xdpvm_map_info info;
	uint32_t key = 7;

	xdpvm_map_info(xdpvm_map_find(object, name), &info);
	bpf_map_lookup_elem(info.fd, info.key_size == 8 ? (void *)&prefix : &key, values);
	return values[0];
}

static struct value
own_value(struct xdpvm_object *object, const char *name)
{
	struct value values[XDPVM_MAX_THREADS] = { 0 };
	struct prefix prefix = { .length = 32, .address = 7 };
	struct xdpvm_map *map = xdpvm_map_find(object, name);

	CHECK(xdpvm_map_lookup(map, map->key_size == 8 ? (void *)&prefix : &prefix.address,
			       values) == 0);
	return values[0];
}

/* Waits until the kernel's counter has passed a value; ns that it took, or UINT64_MAX. */
static uint64_t
wait_hits(struct xdpvm_object *object, const char *name, uint64_t more_than)
{
	uint64_t start = now_ns();

	while (now_ns() - start < DEADLINE_S * 1000000000ull) {
		if (kernel_value(object, name).hits > more_than)
			return now_ns() - start;
		usleep(200);
	}
	return UINT64_MAX;
}

static void
check_running(struct xdpvm_object *object, const char *name)
{
	struct value values[XDPVM_MAX_THREADS] = { 0 };
	struct prefix prefix = { .length = 32, .address = 7 };
	struct xdpvm_map_info info;
	uint32_t key = 7;
	uint64_t took, before;

	xdpvm_map_info(xdpvm_map_find(object, name), &info);
	/* Entered in the kernel, counted here, read in the kernel. */
	for (uint32_t cpu = 0; cpu < XDPVM_MAX_THREADS; cpu++)
		values[cpu].setting = 5;
	CHECK(bpf_map_update_elem(info.fd, info.key_size == 8 ? (void *)&prefix : &key, values,
				  BPF_ANY) == 0);
	took = wait_hits(object, name, 0);
	CHECK(took != UINT64_MAX, "%s: nothing arrives", name);
	took = wait_hits(object, name, kernel_value(object, name).hits);
	CHECK(took != UINT64_MAX);
	CHECK(kernel_value(object, name).setting == 5);
	printf("%s: a count shows after %.1f ms\n", name, took / 1e6);

	/* After a round on request everything that was counted before is there. */
	before = own_value(object, name).hits;
	CHECK(before > 0 && xdpvm_sync_now(object) == 0);
	CHECK(kernel_value(object, name).hits >= before);
}

static void
test_running(void)
{
	static const char *const names[] = { "array", "hash", "percpu_hash", "lru_hash",
					     "lru_percpu_hash", "percpu_array", "lpm" };
	struct xdpvm_object *object = load(NULL);
	struct runner runner = { .prog = xdpvm_prog_find(object, "counter") };
	struct xdpvm_sync_stats stats;
	pthread_t thread;

	CHECK(xdpvm_sync_start(object, 10) == 0);
	CHECK(pthread_create(&thread, NULL, run, &runner) == 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		check_running(object, names[i]);
	__atomic_store_n(&runner.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	CHECK(runner.number == 0);
	CHECK(xdpvm_sync_stats(object, &stats) == 0 && stats.refused == 0);
	printf("%llu rounds, the longest %.1f ms\n", (unsigned long long)stats.rounds,
	       stats.max_ns / 1e6);

	/* The last round leaves the kernel's maps with the final counts. */
	xdpvm_sync_stop(object);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		CHECK(kernel_value(object, names[i]).hits == own_value(object, names[i]).hits,
		      "%s", names[i]);
	xdpvm_object_close(object);
}

/* ---- Programs and maps in slots ------------------------------------------------------------- */

static uint32_t
run_once(struct xdpvm_object *object, const char *program)
{
	static uint8_t frame[4096] __attribute__((aligned(64)));
	struct xdpvm_buff buff;

	xdpvm_buff_init(&buff, 1, 0);
	CHECK(xdpvm_buff_bind(&buff) == 0);
	buff.hard_start = frame;
	buff.data = buff.data_meta = frame + XDP_PACKET_HEADROOM;
	buff.data_end = buff.data + 64;
	buff.frame_end = frame + sizeof(frame);
	return xdpvm_run(xdpvm_prog_find(object, program), &buff);
}

static void
test_prog_slots(struct xdpvm_object *object, struct xdpvm_object *other)
{
	struct xdpvm_map *tails = xdpvm_map_find(object, "tails");
	int tx = xdpvm_prog_fd(xdpvm_prog_find(object, "tail_tx"));
	int foreign = xdpvm_prog_fd(xdpvm_prog_find(other, "tail_drop"));
	struct xdpvm_sync_stats before, after;
	uint32_t slot = 1, id, first = 2;

	CHECK(run_once(object, "steered") == XDP_PASS);
	CHECK(bpf_map_update_elem(tails->fd, &slot, &tx, BPF_ANY) == 0);
	CHECK(xdpvm_sync_now(object) == 0 && run_once(object, "steered") == XDP_TX);
	CHECK(bpf_map_delete_elem(tails->fd, &slot) == 0);
	CHECK(xdpvm_sync_now(object) == 0 && run_once(object, "steered") == XDP_PASS);

	/* Set here, seen there: the same program that the object put into slot 2. */
	CHECK(xdpvm_map_update_prog(tails, slot, xdpvm_prog_find(object, "tail_drop")) == 0);
	CHECK(xdpvm_sync_now(object) == 0 && run_once(object, "steered") == XDP_DROP);
	CHECK(bpf_map_lookup_elem(tails->fd, &slot, &id) == 0);
	CHECK(bpf_map_lookup_elem(tails->fd, &first, &first) == 0 && first == id);

	/* Another object's program runs in the kernel only. */
	CHECK(xdpvm_sync_stats(object, &before) == 0);
	CHECK(bpf_map_update_elem(tails->fd, &slot, &foreign, BPF_ANY) == 0);
	CHECK(xdpvm_sync_now(object) == 0 && xdpvm_sync_now(object) == 0);
	CHECK(xdpvm_sync_stats(object, &after) == 0 && after.refused == before.refused + 1);
	CHECK(run_once(object, "steered") == XDP_DROP);
	CHECK(xdpvm_map_update_prog(tails, slot, NULL) == 0 && xdpvm_sync_now(object) == 0);
	CHECK(bpf_map_lookup_elem(tails->fd, &slot, &id) == -ENOENT);
}

static void
test_map_slots(struct xdpvm_object *object)
{
	struct xdpvm_map *outer = xdpvm_map_find(object, "outer");
	struct xdpvm_map *one = xdpvm_map_find(object, "one");
	struct xdpvm_map *two = xdpvm_map_find(object, "two");
	uint32_t slot = 1, zero = 0, id;
	uint64_t number = 1;

	CHECK(xdpvm_map_update(two, &zero, &number, BPF_ANY) == 0);
	CHECK(run_once(object, "steered") == XDP_PASS);
	CHECK(bpf_map_update_elem(outer->fd, &slot, &two->fd, BPF_ANY) == 0);
	CHECK(xdpvm_sync_now(object) == 0 && run_once(object, "steered") == XDP_ABORTED);
	CHECK(xdpvm_map_update_map(outer, &slot, one, BPF_ANY) == 0);
	CHECK(xdpvm_sync_now(object) == 0 && run_once(object, "steered") == XDP_PASS);
	CHECK(bpf_map_lookup_elem(outer->fd, &slot, &id) == 0);
	CHECK(bpf_map_lookup_elem(outer->fd, &zero, &zero) == 0 && zero == id);
}

/* The second program of an entry: the kernel reads ids, we read places in the object. */
static void
test_entry_progs(struct xdpvm_object *object)
{
	struct xdpvm_map *exits = xdpvm_map_find(object, "exits");
	struct xdpvm_prog *at_exit = xdpvm_prog_find(object, "at_exit");
	struct bpf_devmap_val value = { .ifindex = 1, .bpf_prog.fd = xdpvm_prog_fd(at_exit) };
	struct bpf_devmap_val kernel, own;
	struct xdpvm_sync_stats before, after;
	uint32_t key = 1, other = 2;

	CHECK(bpf_map_update_elem(exits->fd, &key, &value, BPF_ANY) == 0);
	CHECK(xdpvm_sync_now(object) == 0);
	CHECK(xdpvm_map_lookup(exits, &key, &own) == 0 && own.ifindex == 1);
	CHECK(xdpvm_map_entry_prog(exits, own.bpf_prog.id) == at_exit);
	CHECK(run_once(object, "leaves") == XDP_REDIRECT);

	/* From here to there, and without a program. */
	value.bpf_prog.fd = xdpvm_prog_ref(at_exit);
	CHECK(xdpvm_map_update(exits, &other, &value, BPF_ANY) == 0);
	value.bpf_prog.fd = 0;
	CHECK(xdpvm_map_update(exits, &key, &value, BPF_ANY) == 0);
	CHECK(xdpvm_sync_now(object) == 0);
	CHECK(bpf_map_lookup_elem(exits->fd, &key, &kernel) == 0 && kernel.bpf_prog.id == 0);
	CHECK(bpf_map_lookup_elem(exits->fd, &other, &kernel) == 0 && kernel.bpf_prog.id != 0);

	/* Nothing more to do. */
	CHECK(xdpvm_sync_stats(object, &before) == 0 && xdpvm_sync_now(object) == 0);
	CHECK(xdpvm_sync_stats(object, &after) == 0 && after.taken == before.taken &&
	      after.given == before.given && after.refused == before.refused);
}

static void
test_slots(void)
{
	struct xdpvm_object *object = load_from(slots_path, NULL);
	struct xdpvm_object *other = load_from(slots_path, NULL);

	CHECK(xdpvm_thread_register(0) == 0);
	CHECK(xdpvm_sync_start(object, NEVER_MS) == 0);
	test_prog_slots(object, other);
	test_map_slots(object);
	test_entry_progs(object);
	xdpvm_thread_unregister();
	xdpvm_object_close(object);
	xdpvm_object_close(other);
}

/* ---- Pins ----------------------------------------------------------------------------------- */

static void
remove_pins(const char *dir)
{
	static const char *const names[] = { "hash", "percpu_hash", "lru_hash", "lru_percpu_hash",
		"array", "percpu_array", "lpm", "small_lru", "locked", "devices" };
	char pin[128];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(pin, sizeof(pin), "%s/%s", dir, names[i]);
		CHECK(unlink(pin) == 0, "%s", pin);
	}
	CHECK(rmdir(dir) == 0);
}

static void
test_pins(void)
{
	char dir[64];
	struct xdpvm_object *object;
	struct value values[XDPVM_MAX_THREADS] = { 0 }, own[XDPVM_MAX_THREADS];
	char pin[128];
	uint32_t key = 9;
	int fd;

	snprintf(dir, sizeof(dir), "/sys/fs/bpf/xdpvm-sync-test-%d", getpid());
	object = load(dir);
	if (object == NULL) {
		printf("no pins: is a bpffs mounted at /sys/fs/bpf?\n");
		return;
	}
	snprintf(pin, sizeof(pin), "%s/percpu_hash", dir);
	fd = bpf_obj_get(pin);
	CHECK(fd >= 0);
	CHECK(xdpvm_sync_start(object, NEVER_MS) == 0);
	xdpvm_object_close(object);

	/* Between two lives of the program; the second one starts with it. */
	values[0].setting = 77;
	CHECK(bpf_map_update_elem(fd, &key, values, BPF_ANY) == 0);
	object = load(dir);
	CHECK(object != NULL && xdpvm_sync_start(object, NEVER_MS) == 0);
	CHECK(xdpvm_map_lookup(xdpvm_map_find(object, "percpu_hash"), &key, own) == 0 &&
	      own[0].setting == 77);
	xdpvm_object_close(object);
	close(fd);
	remove_pins(dir);
}

/* ---- Maps that need care -------------------------------------------------------------------- */

/* The kernel evicts by its own view of what was used; that takes nothing away from programs. */
static void
test_full_lru(void)
{
	struct xdpvm_object *object = load(NULL);
	struct xdpvm_map *map = xdpvm_map_find(object, "small_lru");
	struct value value = { 0 };
	struct xdpvm_map_info info;
	uint32_t key;

	xdpvm_map_info(map, &info);
	CHECK(xdpvm_sync_start(object, NEVER_MS) == 0);
	for (key = 0; key < 2 * info.max_entries; key++) {
		CHECK(xdpvm_map_update(map, &key, &value, BPF_ANY) == 0);
		if (key % 50 == 0)
			CHECK(xdpvm_sync_now(object) == 0);
	}
	for (unsigned int round = 0; round < 5; round++) {
		CHECK(xdpvm_sync_now(object) == 0);
		CHECK(count_keys(map) == info.max_entries, "%u", count_keys(map));
	}
	/* With room again a tool's deletion counts. */
	for (key = 0; key < 2 * info.max_entries; key++)
		xdpvm_map_delete(map, &key);
	for (key = 0; key < 10; key++)
		CHECK(xdpvm_map_update(map, &key, &value, BPF_ANY) == 0);
	CHECK(xdpvm_sync_now(object) == 0 && xdpvm_sync_now(object) == 0);
	key = 4;
	CHECK(bpf_map_delete_elem(info.fd, &key) == 0 && xdpvm_sync_now(object) == 0);
	CHECK(count_keys(map) == 9 && xdpvm_map_lookup(map, &key, &value) == -ENOENT);
	xdpvm_object_close(object);
}

static void *
be_thread(void *arg)
{
	int *number = arg;

	*number = xdpvm_thread_register(*number);
	xdpvm_thread_unregister();
	return NULL;
}

/* Registers a thread with this number once, so that there are copies for it. */
static void
have_thread(int number)
{
	pthread_t thread;
	int got = number;

	CHECK(pthread_create(&thread, NULL, be_thread, &got) == 0);
	pthread_join(thread, NULL);
	CHECK(got == number);
}

/* The copies of all threads, those beyond the kernel's CPUs included, have what a tool wrote. */
static void
check_copies(struct xdpvm_map *map, uint32_t key, uint32_t threads, const struct value *written)
{
	struct value own[XDPVM_MAX_THREADS];
	uint32_t cpus = libbpf_num_possible_cpus();

	CHECK(xdpvm_map_lookup(map, &key, own) == 0);
	for (uint32_t i = 0; i < threads; i++)
		CHECK(own[i].setting == written[i % cpus].setting, "%s, key %u, thread %u: %u",
		      map->name, key, i, own[i].setting);
}

static void
test_more_threads(void)
{
	static const char *const names[] = { "percpu_array", "percpu_hash" };
	const uint32_t cpus = libbpf_num_possible_cpus();
	struct value values[XDPVM_MAX_THREADS] = { 0 };
	struct xdpvm_object *object = load(NULL);
	struct xdpvm_map *map;
	uint32_t key = 3;

	CHECK(xdpvm_sync_start(object, NEVER_MS) == 0);
	if (cpus + 6 >= XDPVM_MAX_THREADS) {
		xdpvm_object_close(object);
		return;		/* no thread number is beyond this machine's CPUs */
	}
	have_thread(cpus + 2);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		map = xdpvm_map_find(object, names[i]);
		for (uint32_t cpu = 0; cpu < cpus; cpu++)
			values[cpu].setting = 10 + cpu;
		CHECK(bpf_map_update_elem(map->fd, &key, values, BPF_ANY) == 0);
		CHECK(xdpvm_sync_now(object) == 0);
		check_copies(map, key, cpus + 3, values);
		values[cpus - 1].setting = 50;
		CHECK(bpf_map_update_elem(map->fd, &key, values, BPF_ANY) == 0);
		CHECK(xdpvm_sync_now(object) == 0);
		check_copies(map, key, cpus + 3, values);
	}
	/* One that comes later gets it in the next round. */
	have_thread(cpus + 5);
	CHECK(xdpvm_sync_now(object) == 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		check_copies(xdpvm_map_find(object, names[i]), key, cpus + 6, values);
	xdpvm_object_close(object);
}

/* An array that cannot be shared, for the lock in its values, and what happens to the lock. */
static void
test_locked(void)
{
	struct xdpvm_object *object = load(NULL);
	struct xdpvm_map *map = xdpvm_map_find(object, "locked");
	uint32_t value[2] = { UINT32_MAX, 5 }, key = 1, seen[2];
	struct xdpvm_map_info info;

	xdpvm_map_info(map, &info);
	CHECK(xdpvm_sync_start(object, NEVER_MS) == 0);
	CHECK(bpf_map_update_elem(info.fd, &key, value, BPF_ANY) == 0);
	CHECK(xdpvm_sync_now(object) == 0);
	CHECK(xdpvm_map_lookup(map, &key, seen) == 0 && seen[0] == 0 && seen[1] == 5);
	value[1] = 6;
	CHECK(xdpvm_map_update(map, &key, value, BPF_F_LOCK) == 0);
	CHECK(xdpvm_sync_now(object) == 0);
	CHECK(bpf_map_lookup_elem(info.fd, &key, seen) == 0 && seen[0] == 0 && seen[1] == 6);
	xdpvm_object_close(object);
}

/* A pin that somebody else made, of an array that cannot be mapped. */
static void
test_foreign_pin(void)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "array", 4, sizeof(struct value), 50, NULL);
	struct value value = { 3, 4, 0 };
	struct xdpvm_object *object;
	struct xdpvm_map *map;
	char dir[64], pin[128];
	uint32_t key = 2;

	snprintf(dir, sizeof(dir), "/sys/fs/bpf/xdpvm-sync-test-%d", getpid());
	snprintf(pin, sizeof(pin), "%s/array", dir);
	CHECK(fd >= 0 && mkdir(dir, 0700) == 0 && bpf_obj_pin(fd, pin) == 0);
	object = load(dir);
	CHECK(object != NULL && xdpvm_sync_start(object, NEVER_MS) == 0);
	map = xdpvm_map_find(object, "array");
	CHECK(!map->shared_memory);
	CHECK(bpf_map_update_elem(fd, &key, &value, BPF_ANY) == 0);
	CHECK(xdpvm_sync_now(object) == 0);
	memset(&value, 0, sizeof(value));
	CHECK(xdpvm_map_lookup(map, &key, &value) == 0 && value.setting == 4);
	xdpvm_object_close(object);
	close(fd);
	remove_pins(dir);
}

static void
test_no_kernel_maps(void)
{
	struct xdpvm_options options = { .verify = XDPVM_VERIFY_NONE };
	struct xdpvm_object *object;

	CHECK(xdpvm_object_open(path, &options, &object) == 0);
	CHECK(xdpvm_sync_start(object, 0) == -ENOTSUP);
	CHECK(xdpvm_object_load(object) == 0);
	CHECK(xdpvm_sync_start(object, 0) == -ENOTSUP);
	xdpvm_object_close(object);

	/* libbpf's linker does not do this; the sentence says so. */
	options.log = say;
	CHECK(xdpvm_object_open(slots_path, &options, &object) == 0);
	CHECK(xdpvm_object_load(object) == -ENOTSUP && strstr(sentence, "tails") != NULL);
	xdpvm_object_close(object);

	/* Pins that cannot be are no silent loss. */
	options.pin_dir = "/sys/fs/bpf/xdpvm-sync-test";
	CHECK(xdpvm_object_open(path, &options, &object) == 0);
	CHECK(xdpvm_object_load(object) == -ENOTSUP);
	xdpvm_object_close(object);
}

int
main(int argc, char **argv)
{
	if (libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_XDP, NULL) <= 0)
		SKIP("this process may not load XDP programs into the kernel");
	if (libbpf_num_possible_cpus() > XDPVM_MAX_THREADS)
		SKIP("this test has room for the values of %u CPUs", XDPVM_MAX_THREADS);
	if (argc != 3)
		return 2;
	path = argv[1];
	slots_path = argv[2];
	srandom(3);
	test_models();
	test_refused();
	test_running();
	test_slots();
	test_pins();
	test_full_lru();
	test_more_threads();
	test_locked();
	test_foreign_pin();
	test_no_kernel_maps();
	return check_status();
}
