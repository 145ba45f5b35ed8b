/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Objects as people have them: every XDP program of each object, with maps that hold what packets
 * will ask for, gives the same verdict, the same length, the same bytes and the same maps in native
 * code, in the interpreter and in the kernel, and where it can be loaded without the kernel
 * (verify=internal) also then; and tags equal the kernel's.
 *
 * usage: object_test [--packets N] [--report] OBJECT...
 *
 * With --report an object that does not load is a line on standard output instead of a failure; who
 * calls decides whether that was to be expected.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "check.h"
#include "mapview.h"
#include "packets.h"

#define PACKETS 3000
#define ENTRIES 64	/* of a map that are set */
#define VALUE_MAX 1024	/* bytes of the values that are set */

static struct {
	const char *name;	/* the object's file name */
	const char *prog;
	unsigned int packets;
	bool report;
	char sentence[1024];	/* why the last load failed */
} test = { .packets = PACKETS };

static void
say(void *arg, enum xdpvm_log_level level, const char *message)
{
	if (level == XDPVM_LOG_ERROR)
		snprintf(test.sentence, sizeof(test.sentence), "%s", message);
}

/* ---- The world: a network namespace with nothing in it but lo, which is down ---------------- */

static int
mtu(struct xdpvm_buff *buff, uint32_t ifindex)
{
	return ifindex <= 1 ? 65536 : -ENODEV;
}

static int
fib_lookup(struct xdpvm_buff *buff, struct bpf_fib_lookup *params, int size, uint32_t flags)
{
	return BPF_FIB_LKUP_RET_FWD_DISABLED;
}

static const struct xdpvm_services services = { .fib_lookup = fib_lookup, .mtu = mtu };

static bool
enter_empty_network(void)
{
	int fd;
	bool done;

	if (unshare(CLONE_NEWNET) != 0)
		return false;
	fd = open("/proc/sys/net/ipv4/conf/all/forwarding", O_WRONLY);
	done = fd >= 0 && write(fd, "0", 1) == 1;
	if (fd >= 0)
		close(fd);
	return done;
}

/* ---- Opening -------------------------------------------------------------------------------- */

/* Programs size such maps by the machine before they load: one entry a CPU. */
static void
size_maps(struct engine *engine)
{
	struct xdpvm_map *map = NULL;
	struct xdpvm_map_info info;

	while ((map = xdpvm_map_next(engine->object, map)) != NULL) {
		xdpvm_map_info(map, &info);
		if (info.max_entries == 0 && info.type != BPF_MAP_TYPE_PERF_EVENT_ARRAY)
			CHECK(xdpvm_map_set_max_entries(map, libbpf_num_possible_cpus()) == 0);
	}
}

/* The ways to run a program; the last one is the judge. */
static const struct way {
	const char *name;
	enum engine_kind kind;
	enum xdpvm_verify verify;
} ways[] = {
	{ "native code", ENGINE_JIT, XDPVM_VERIFY_KERNEL },
	{ "the interpreter", ENGINE_INTERP, XDPVM_VERIFY_KERNEL },
	{ "native code with verify=internal", ENGINE_JIT, XDPVM_VERIFY_INTERNAL },
	{ "the kernel", ENGINE_KERNEL, XDPVM_VERIFY_KERNEL },
};
#define WAYS (sizeof(ways) / sizeof(ways[0]))

/* One program in those of the ways that it goes, in their order. */
struct trial {
	unsigned int n;
	const struct way *ways[WAYS];
	struct engine engines[WAYS];
};

static int
open_engine(struct engine *engine, enum engine_kind kind, const char *path,
	    enum xdpvm_verify verify)
{
	struct xdpvm_options options = {
		.verify = verify, .program = test.prog, .log = say,
	};
	int ret = engine_open(engine, kind, path, &options);

	if (ret == 0) {
		size_maps(engine);
		ret = engine_load(engine);
	}
	if (ret == 0)
		engine->buff.services = &services;
	else
		engine_close(engine);
	return ret;
}

static void
close_trial(struct trial *trial)
{
	while (trial->n > 0)
		engine_close(&trial->engines[--trial->n]);
}

/* All ways but verify=internal are musts. */
static bool
open_trial(struct trial *trial, const char *path)
{
	trial->n = 0;
	for (unsigned int w = 0; w < WAYS; w++) {
		bool must = ways[w].verify == XDPVM_VERIFY_KERNEL;

		if (open_engine(&trial->engines[trial->n], ways[w].kind, path, ways[w].verify) == 0) {
			trial->ways[trial->n++] = &ways[w];
			continue;
		}
		CHECK(!must || test.report, "%s, %s does not load: %s", test.name, test.prog,
		      test.sentence);
		printf("%s %s %s: %s\n", must ? "refused" : "not internally:", test.name, test.prog,
		       test.sentence);
		if (!must)
			continue;
		close_trial(trial);
		return false;
	}
	return true;
}

/* ---- Maps ----------------------------------------------------------------------------------- */

static void
random_value(uint8_t *value, uint32_t size)
{
	uint32_t small = packets_random() % 4;
	bool whole = packets_random() % 2 == 0;

	memset(value, 0, size);
	for (uint32_t i = 0; i < size && whole; i++)
		value[i] = packets_random();
	if (!whole && size >= sizeof(small))
		memcpy(value, &small, sizeof(small));
	else if (!whole)
		value[0] = small;
}

/* Makes up an entry. Targets of redirects are lo and the CPUs of this machine. */
static bool
make_entry(const struct xdpvm_map_info *info, uint8_t *key, uint8_t *value)
{
	uint32_t target = info->type == BPF_MAP_TYPE_CPUMAP ? 192 : 1;
	bool prefix = info->type == BPF_MAP_TYPE_LPM_TRIE;

	uint32_t limit = info->max_entries;

	if (info->type == BPF_MAP_TYPE_CPUMAP)
		limit = libbpf_num_possible_cpus();
	memset(value, 0, info->value_size);
	do
		packets_key(key, info->key_size, prefix, limit);
	while (info->type == BPF_MAP_TYPE_CPUMAP && key[0] >= limit);
	switch (info->type) {
	case BPF_MAP_TYPE_DEVMAP:
	case BPF_MAP_TYPE_DEVMAP_HASH:
	case BPF_MAP_TYPE_CPUMAP:
		memcpy(value, &target, sizeof(target));
		return true;
	case BPF_MAP_TYPE_ARRAY:
	case BPF_MAP_TYPE_PERCPU_ARRAY:
	case BPF_MAP_TYPE_HASH:
	case BPF_MAP_TYPE_PERCPU_HASH:
	case BPF_MAP_TYPE_LRU_HASH:
	case BPF_MAP_TYPE_LRU_PERCPU_HASH:
	case BPF_MAP_TYPE_LPM_TRIE:
	case BPF_MAP_TYPE_QUEUE:
	case BPF_MAP_TYPE_STACK:
		random_value(value, info->value_size);
		return true;
	default:
		return false;	/* references and records cannot be made up */
	}
}

static void
set_entry(struct trial *trial, struct xdpvm_map **maps, const uint8_t *key, const uint8_t *value,
	  const struct xdpvm_map_info *info)
{
	uint32_t copies = engine_copies(maps[0]), stride = engine_stride(maps[0]);
	uint32_t cpus = libbpf_num_possible_cpus();
	uint8_t *all = calloc(copies, stride);
	int results[WAYS], judge;

	for (uint32_t i = 0; i < copies && i < cpus; i++)
		memcpy(all + (size_t)i * stride, value, info->value_size);
	for (unsigned int e = 0; e < trial->n; e++)
		results[e] = engine_map_update(&trial->engines[e], maps[e],
					       info->key_size > 0 ? key : NULL, all);
	free(all);
	judge = results[trial->n - 1];
	for (unsigned int e = 0; e < trial->n; e++)
		CHECK(results[e] == judge, "%s, map %s: an update gives %d in %s, %d in the kernel",
		      test.name, info->name, results[e], trial->ways[e]->name, judge);
}

static void
fill_map(struct trial *trial, struct xdpvm_map **maps)
{
	uint8_t key[VALUE_MAX], value[VALUE_MAX];
	struct xdpvm_map_info info;

	xdpvm_map_info(maps[0], &info);
	/* Globals are the program's own. */
	if (strchr(info.name, '.') != NULL || info.key_size > sizeof(key) ||
	    info.value_size > sizeof(value))
		return;
	for (unsigned int i = 0; i < ENTRIES && i < info.max_entries; i++) {
		if (!make_entry(&info, key, value))
			return;
		set_entry(trial, maps, key, value, &info);
	}
}

static void
fill_maps(struct trial *trial)
{
	struct xdpvm_map *maps[WAYS] = { NULL };

	for (;;) {
		for (unsigned int e = 0; e < trial->n; e++)
			maps[e] = xdpvm_map_next(trial->engines[e].object, maps[e]);
		if (maps[0] == NULL)
			return;
		fill_map(trial, maps);
	}
}

/* ---- Comparing ------------------------------------------------------------------------------ */

/* The helper by which runs of a program differ in nature: its answer is time or chance. */
static const char *
chance(const struct xdpvm_prog *prog)
{
	uint32_t n;
	const struct bpf_insn *insns = xdpvm_prog_insns(prog, XDPVM_FORM_LINKED, &n);

	for (uint32_t i = 0; i < n; i++) {
		if (insns[i].code != (BPF_JMP | BPF_CALL) || insns[i].src_reg != 0)
			continue;
		switch (insns[i].imm) {
		case BPF_FUNC_ktime_get_ns:
		case BPF_FUNC_ktime_get_boot_ns:
		case BPF_FUNC_ktime_get_coarse_ns:
		case BPF_FUNC_jiffies64:
			return "time";
		case BPF_FUNC_get_prandom_u32:
			return "chance";
		case BPF_FUNC_tcp_raw_gen_syncookie_ipv4:
		case BPF_FUNC_tcp_raw_gen_syncookie_ipv6:
			return "a secret of the kernel";
		}
	}
	return NULL;
}

/* One packet everywhere: all do what the last one does. */
static void
compare_packet(struct trial *trial, unsigned int number)
{
	static struct frame frames[WAYS];
	unsigned int judge = trial->n - 1;
	char text[512];

	packets_next(&frames[0]);
	for (unsigned int e = 1; e < trial->n; e++)
		frames[e] = frames[0];
	for (unsigned int e = 0; e < trial->n; e++)
		CHECK(engine_run(&trial->engines[e], &frames[e]), "%s, %s, packet %u: %s does not "
		      "run it", test.name, test.prog, number, trial->ways[e]->name);
	for (unsigned int e = 0; e < judge; e++) {
		bool equal = frame_equal(&frames[e], &frames[judge]);

		if (!equal)
			frame_difference(&frames[e], &frames[judge], text, sizeof(text));
		CHECK(equal, "%s, %s, packet %u, %s against %s: %s", test.name, test.prog, number,
		      trial->ways[e]->name, trial->ways[judge]->name, text);
	}
}

/*
 * The kernel runs programs for entries of device and CPU maps on no packet of ours: then the one
 * before it is the judge. The trial leaves the same traces in the maps of all.
 */
static void
try_packet(struct trial *trial)
{
	static struct frame frame;

	for (unsigned int e = 0; e < trial->n; e++) {
		memset(&frame, 0, sizeof(frame));
		frame.size = 64;
		if (engine_run(&trial->engines[e], &frame))
			continue;
		CHECK(trial->ways[e]->kind == ENGINE_KERNEL, "%s, %s does not run", test.name,
		      test.prog);
		engine_close(&trial->engines[--trial->n]);
	}
}

/* How the engines were found to agree. */
static const char *
agreement(const struct trial *trial)
{
	static char text[64];
	const char *by = chance(trial->engines[0].prog);

	if (by != NULL) {
		snprintf(text, sizeof(text), "same but for maps, which hold %s", by);
		return text;
	}
	return trial->ways[trial->n - 1]->kind == ENGINE_KERNEL ? "same" :
	       "same without the kernel, which runs it on no packet";
}

static void
compare_program(struct trial *trial)
{
	unsigned int failures = check_failures;
	char text[640];
	bool equal;

	try_packet(trial);
	fill_maps(trial);
	for (unsigned int i = 0; i < test.packets && check_failures == failures; i++)
		compare_packet(trial, i);
	if (chance(trial->engines[0].prog) == NULL) {
		equal = mapview_equal(trial->engines, trial->n, text, sizeof(text));
		CHECK(equal, "%s, %s: %s", test.name, test.prog, text);
	}
	if (check_failures == failures)
		printf("%s: %s %s\n", agreement(trial), test.name, test.prog);
}

static bool
kernel_has_sha256(void)
{
	unsigned int major = 0, minor = 0;
	struct utsname name;

	uname(&name);
	return sscanf(name.release, "%u.%u", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 18));
}

/* The tag of a program that the kernel never saw is of our own making, with Linux 6.18's hash. */
static void
check_tag(const struct xdpvm_prog *prog, const char *path)
{
	uint8_t tag[XDPVM_TAG_SIZE], linked_tag[XDPVM_TAG_SIZE];
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);
	struct engine linked;
	int ret;

	CHECK(bpf_obj_get_info_by_fd(xdpvm_prog_fd(prog), &info, &size) == 0);
	xdpvm_prog_tag(prog, tag);
	CHECK(memcmp(tag, info.tag, sizeof(tag)) == 0, "%s, %s: not the kernel's tag", test.name,
	      test.prog);
	ret = open_engine(&linked, ENGINE_INTERP, path, XDPVM_VERIFY_NONE);
	/* Without the kernel, CO-RE is one thing that the linker cannot do. */
	CHECK(ret == 0 || (ret == -ENOTSUP && test.report), "%s, %s is not linked: %s", test.name,
	      test.prog, test.sentence);
	if (ret == 0 && kernel_has_sha256()) {
		xdpvm_prog_tag(linked.prog, linked_tag);
		CHECK(memcmp(linked_tag, info.tag, sizeof(tag)) == 0,
		      "%s, %s: linked alone, not the kernel's tag", test.name, test.prog);
	}
	if (ret == 0)
		engine_close(&linked);
}

static void
check_program(const char *path)
{
	struct trial trial;

	if (!open_trial(&trial, path))
		return;
	check_tag(trial.engines[0].prog, path);
	compare_program(&trial);
	close_trial(&trial);
}

static void
check_object(const char *path)
{
	struct bpf_object *object = bpf_object__open_file(path, NULL);
	struct bpf_program *prog;

	test.name = strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path;
	CHECK(object != NULL, "%s cannot be opened", path);
	if (object == NULL)
		return;
	bpf_object__for_each_program(prog, object) {
		/* Sections of old objects do not say what they hold. */
		if (bpf_program__type(prog) != BPF_PROG_TYPE_XDP &&
		    bpf_program__type(prog) != BPF_PROG_TYPE_UNSPEC)
			continue;
		test.prog = bpf_program__name(prog);
		check_program(path);
		fflush(stdout);
	}
	bpf_object__close(object);
}

static int
no_print(enum libbpf_print_level level, const char *format, va_list args)
{
	return 0;
}

int
main(int argc, char **argv)
{
	if (libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_XDP, NULL) <= 0)
		SKIP("this process may not load XDP programs into the kernel");
	if (!enter_empty_network())
		SKIP("this process may not have a network namespace of its own");
	libbpf_set_print(no_print);
	CHECK(engine_thread() == 0);
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--report") == 0)
			test.report = true;
		else if (strcmp(argv[i], "--packets") == 0 && i + 1 < argc)
			test.packets = strtoul(argv[++i], NULL, 10);
		else
			check_object(argv[i]);
	}
	return check_status();
}
