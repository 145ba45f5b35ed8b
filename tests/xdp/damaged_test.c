/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Damaged objects are refused with a sentence, or load and run without harm. First the smallest
 * object with one thing changed, and exactly what is said then; programs in it that neither the
 * prover nor the kernel takes; maps that are too large. Then real objects: cut off, each field of
 * their tables set to bad values, and bytes changed at random, the same ones in each run. What is
 * accepted runs between closed pages. A child does it, so that a crash is one failure.
 *
 * The kernel gets nothing that was damaged at random: it creates what maps it is asked for.
 *
 * usage: damaged_test [-r CHANGES] OBJECT...
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "damage_table.h"
#include "exercise.h"
#include "minimal.h"
#include "raw.h"

#define OBJECT_MAX (1u << 20)	/* bytes */
#define CUTS 150		/* of an object */

static unsigned int changes = 1000;	/* at random, of an object */

/* ---- One thing of the smallest object ------------------------------------------------------- */

static int
damaged_minimal(const struct damage *damage, enum xdpvm_verify verify, struct exercise *exercise)
{
	struct minimal minimal;

	minimal_make(&minimal);
	for (size_t i = 0; i < 2 && damage->edits[i].size != 0; i++)
		memcpy((uint8_t *)&minimal + damage->edits[i].offset, &damage->edits[i].value,
		       damage->edits[i].size);
	return exercise_object(&minimal, sizeof(minimal), verify, XDPVM_ENGINE_AUTO, exercise);
}

static void
check_sentence(const struct damage *damage, int ret, const struct exercise *exercise)
{
	CHECK(ret < 0 && strncmp(exercise->sentence, "damaged.o: ", 11) == 0 &&
	      strcmp(exercise->sentence + 11, damage->sentence) == 0,
	      "%d: \"%s\"\n  instead of \"%s\"", ret, exercise->sentence, damage->sentence);
}

static void
test_table(void)
{
	struct exercise exercise;
	struct minimal minimal;

	minimal_make(&minimal);
	CHECK(exercise_object(&minimal, sizeof(minimal), XDPVM_VERIFY_INTERNAL, XDPVM_ENGINE_AUTO,
			      &exercise) == 0 && exercise.runs.all > 0, "%s", exercise.sentence);
	for (const struct damage *damage = damages; damage->sentence != NULL; damage++)
		check_sentence(damage, damaged_minimal(damage, XDPVM_VERIFY_INTERNAL, &exercise),
			       &exercise);
}

/* Whole objects with programs that must not run. */
static void
test_programs(bool kernel)
{
	struct exercise exercise;
	int ret;

	for (const struct damage *program = bad_programs; program->sentence != NULL; program++) {
		ret = damaged_minimal(program, XDPVM_VERIFY_INTERNAL, &exercise);
		check_sentence(program, ret, &exercise);
		ret = kernel ? damaged_minimal(program, XDPVM_VERIFY_KERNEL, &exercise) : -1;
		CHECK(ret < 0 && (!kernel || strstr(exercise.sentence, "verifier refused") != NULL),
		      "%d, \"%s\"", ret, exercise.sentence);
	}
}

/* ---- Maps that are too large ---------------------------------------------------------------- */

static const struct {
	enum bpf_map_type type;
	uint32_t entries;		/* of 4 + 4 bytes */
	uint64_t memory;		/* bytes that maps may take */
	const char *sentence;		/* NULL: it is taken, and memory comes when it is used */
} large[] = {
	{ BPF_MAP_TYPE_ARRAY, 1u << 27, 2ull << 30, NULL },
	{ BPF_MAP_TYPE_ARRAY, 1u << 27, 1023ull << 20,
	  "map map: 134217728 entries of 4 + 4 bytes may take 1024 MiB; of 1023 MiB for all maps "
	  "1023 are left" },
	{ BPF_MAP_TYPE_HASH, 1u << 22, 1ull << 30, NULL },
	{ BPF_MAP_TYPE_HASH, 1u << 24, 512ull << 20,
	  "map map: 16777216 entries of 4 + 4 bytes may take 896 MiB; of 512 MiB for all maps "
	  "512 are left" },
	{ BPF_MAP_TYPE_ARRAY, UINT32_MAX, 4ull << 30,
	  "map map: 4294967295 entries of 4 + 4 bytes may take 32767 MiB; of 4096 MiB for all maps "
	  "4096 are left" },
	{ BPF_MAP_TYPE_HASH, UINT32_MAX, 4ull << 30,
	  "map map: 4294967295 entries of 4 + 4 bytes may take 229375 MiB; of 4096 MiB for all "
	  "maps 4096 are left" },
	{ BPF_MAP_TYPE_LRU_HASH, UINT32_MAX, 4ull << 30,
	  "map map: 4294967295 entries of 4 + 4 bytes may take 229375 MiB; of 4096 MiB for all "
	  "maps 4096 are left" },
	{ BPF_MAP_TYPE_PERCPU_ARRAY, UINT32_MAX, 4ull << 30,
	  "map map: 4294967295 per-CPU values of 4 bytes; each thread has 256 MiB for such values" },
	{ BPF_MAP_TYPE_PERCPU_HASH, 1u << 24, 512ull << 20,
	  "map map: 16777216 entries of 4 + 4 bytes may take 1024 MiB; of 512 MiB for all maps "
	  "512 are left" },
	{ BPF_MAP_TYPE_STACK_TRACE, UINT32_MAX, 4ull << 30,
	  "map map: 4294967295 entries of 4 + 4 bytes may take 229375 MiB; of 4096 MiB for all "
	  "maps 4096 are left" },
};

static void
keep(void *arg, enum xdpvm_log_level level, const char *message)
{
	snprintf(arg, sizeof(((struct exercise *)0)->sentence), "%s", message);
}

/* Loads the smallest object with another map, and uses the map's last key. */
static int
load_large(size_t i, char *sentence)
{
	struct xdpvm_options options = { .verify = XDPVM_VERIFY_INTERNAL, .log = keep,
					 .log_arg = sentence, .map_memory = large[i].memory };
	uint32_t key = large[i].entries - 1, value = 7;
	struct exercise_runs runs = { 0 };
	struct xdpvm_object *object;
	struct minimal minimal;
	int ret;

	minimal_make(&minimal);
	minimal.btf.map_type.array.nelems = large[i].type;
	minimal.btf.entries.array.nelems = large[i].entries;
	ret = xdpvm_object_open_memory(&minimal, sizeof(minimal), "large.o", &options, &object);
	if (ret != 0)
		return ret;
	ret = xdpvm_object_load(object);
	if (ret == 0) {
		ret = xdpvm_map_update(xdpvm_map_find(object, "map"), &key, &value, BPF_ANY);
		exercise_prog(xdpvm_prog_find(object, NULL), &runs);
		CHECK(runs.all > 0 && runs.aborts == 0);
	}
	xdpvm_object_close(object);
	return ret;
}

static void
test_large_maps(void)
{
	char sentence[sizeof(((struct exercise *)0)->sentence)];
	struct rusage usage;

	for (size_t i = 0; i < sizeof(large) / sizeof(large[0]); i++) {
		int ret;

		sentence[0] = '\0';
		ret = load_large(i, sentence);
		if (large[i].sentence == NULL)
			CHECK(ret == 0, "type %u, %u entries: %d, \"%s\"", large[i].type,
			      large[i].entries, ret, sentence);
		else
			CHECK((ret == -E2BIG || ret == -ENOMEM) &&
			      strncmp(sentence, "large.o: ", 9) == 0 &&
			      strcmp(sentence + 9, large[i].sentence) == 0, "%d, \"%s\"", ret, sentence);
	}
	/* The buckets of the hash are written at once, and its list of free elements: 48 MiB. */
	getrusage(RUSAGE_SELF, &usage);
	CHECK(usage.ru_maxrss < 128 << 10, "%ld KiB", usage.ru_maxrss);
}

/* ---- Real objects --------------------------------------------------------------------------- */

/* Shared with the child. */
static struct progress {
	char what[128];		/* was done to the object */
	char broken[1200];	/* the first thing that did not hold */
	unsigned int accepted, refused, runs;
} *progress;

struct object {
	const char *name;
	const uint8_t *image;
	uint8_t *copy;
	size_t size;
};

static void
try_copy(const struct object *object, size_t size)
{
	static unsigned int turn;
	enum xdpvm_engine engine = turn++ % 4 == 0 ? XDPVM_ENGINE_INTERP : XDPVM_ENGINE_AUTO;
	struct exercise exercise;
	int ret = exercise_object(object->copy, size, XDPVM_VERIFY_INTERNAL, engine, &exercise);

	progress->accepted += ret == 0;
	progress->refused += ret != 0;
	progress->runs += exercise.runs.all;
	if (progress->broken[0] == '\0' && ret != 0 &&
	    (ret > 0 || strncmp(exercise.sentence, "damaged.o: ", 11) != 0 ||
	     exercise.sentence[11] == '\0'))
		snprintf(progress->broken, sizeof(progress->broken), "%s: %d, \"%s\"",
			 progress->what, ret, exercise.sentence);
}

static void
cut(const struct object *object)
{
	for (unsigned int i = 0; i < CUTS; i++) {
		size_t size = object->size * i / CUTS;

		snprintf(progress->what, sizeof(progress->what), "cut off at %zu", size);
		memcpy(object->copy, object->image, size);
		try_copy(object, size);
	}
}

/* A field of a table: zero, one, all ones, one more, one less. */
static void
set_field(const struct object *object, size_t offset, size_t size, const char *table)
{
	uint64_t value = 0, values[5];

	memcpy(&value, object->image + offset, size);
	values[0] = 0;
	values[1] = 1;
	values[2] = UINT64_MAX;
	values[3] = value + 1;
	values[4] = value - 1;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		snprintf(progress->what, sizeof(progress->what), "%s: %zu bytes at %zu to %llx", table,
			 size, offset, (unsigned long long)values[i]);
		memcpy(object->copy, object->image, object->size);
		memcpy(object->copy + offset, &values[i], size);
		try_copy(object, object->size);
	}
}

static void
set_fields(const struct object *object, size_t offset, size_t n, const uint8_t *widths,
	   const char *table)
{
	for (size_t i = 0; i < n; i++)
		for (const uint8_t *width = widths; *width != 0; width++) {
			set_field(object, offset, *width, table);
			offset += *width;
		}
}

/* Every field that some reader follows: Elf64_Ehdr, Elf64_Shdr, Elf64_Sym, Elf64_Rel, and BTF. */
static void
set_tables(const struct object *object)
{
	static const uint8_t header_widths[] = { 4, 1, 1, 1, 1, 8, 2, 2, 4, 8, 8, 8, 4, 2, 2, 2, 2, 2,
						 2, 0 };
	static const uint8_t section_widths[] = { 4, 4, 8, 8, 8, 8, 4, 4, 8, 8, 0 };
	static const uint8_t symbol_widths[] = { 4, 1, 1, 2, 8, 8, 0 };
	static const uint8_t relocation_widths[] = { 8, 4, 4, 0 };
	static const uint8_t word[] = { 4, 0 };
	const Elf64_Ehdr *header = (const void *)object->image;
	const Elf64_Shdr *sections = (const void *)(object->image + header->e_shoff);
	const char *names = (const char *)object->image + sections[header->e_shstrndx].sh_offset;

	set_fields(object, 0, 1, header_widths, "header");
	set_fields(object, header->e_shoff, header->e_shnum, section_widths, "sections");
	for (uint32_t i = 1; i < header->e_shnum; i++) {
		const Elf64_Shdr *section = &sections[i];
		const char *name = names + section->sh_name;

		if (section->sh_type == SHT_SYMTAB)
			set_fields(object, section->sh_offset, section->sh_size / sizeof(Elf64_Sym),
				   symbol_widths, name);
		if (section->sh_type == SHT_REL)
			set_fields(object, section->sh_offset, section->sh_size / sizeof(Elf64_Rel),
				   relocation_widths, name);
		if (strcmp(name, ".BTF") == 0) {
			const struct btf_header *btf = (const void *)(object->image +
								      section->sh_offset);

			set_fields(object, section->sh_offset, (btf->hdr_len + btf->type_len) / 4,
				   word, name);
		}
		if (strcmp(name, ".BTF.ext") == 0)
			set_fields(object, section->sh_offset, section->sh_size / 4, word, name);
	}
}

static uint64_t
random_number(void)
{
	static uint64_t state = 88172645463325252u;	/* Marsaglia's xorshift64 */

	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

static void
change_bytes(const struct object *object)
{
	for (unsigned int i = 0; i < changes; i++) {
		memcpy(object->copy, object->image, object->size);
		snprintf(progress->what, sizeof(progress->what), "random change %u", i);
		for (uint64_t n = 1 + random_number() % 4; n > 0; n--)
			object->copy[random_number() % object->size] = random_number();
		try_copy(object, object->size);
	}
}

/* ---- A child for each object and kind of damage --------------------------------------------- */

static void
run_child(const struct object *object, void (*damage)(const struct object *))
{
	*progress = (struct progress){ 0 };
	if (xdpvm_thread_register(XDPVM_THREAD_ANY) < 0)
		_exit(1);
	damage(object);
	_exit(0);
}

static void
try_object(const struct object *object, void (*damage)(const struct object *), bool all_refused,
	   struct progress *sum)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0)
		run_child(object, damage);
	CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0,
	      "%s, %s: status %x", object->name, progress->what, status);
	CHECK(progress->broken[0] == '\0', "%s, %s", object->name, progress->broken);
	CHECK(progress->refused > 0 && (all_refused || progress->accepted > 0),
	      "%s: %u accepted, %u refused", object->name, progress->accepted, progress->refused);
	sum->accepted += progress->accepted;
	sum->refused += progress->refused;
	sum->runs += progress->runs;
}

static void
test_object(const char *path)
{
	static uint64_t image[OBJECT_MAX / sizeof(uint64_t)], copy[OBJECT_MAX / sizeof(uint64_t)];
	struct object object = { .name = path, .image = (uint8_t *)image, .copy = (uint8_t *)copy };
	struct progress sum = { 0 };
	FILE *file = fopen(path, "rb");

	CHECK(file != NULL, "%s", path);
	if (file == NULL)
		return;
	object.size = fread(image, 1, sizeof(image), file);
	fclose(file);
	try_object(&object, cut, true, &sum);
	try_object(&object, set_tables, false, &sum);
	try_object(&object, change_bytes, false, &sum);
	/* LEAD: no damaged object may reach the kernel's map_create: on 2026-12-01 a per-CPU array of
	 * 0x90000100 entries hit a bug of Linux (int overflow in bpf_array_free_percpu), oopsed and
	 * leaked 19 GB of this machine until reboot. Remove the kernel part of this test; and refuse
	 * such sizes in map_memory.c for every verify mode before libbpf creates maps. */
	printf("%s: %u accepted, %u refused, %u runs\n", path, sum.accepted, sum.refused, sum.runs);
}

int
main(int argc, char **argv)
{
	int first = 1;

	if (argc > 2 && strcmp(argv[1], "-r") == 0) {
		changes = atoi(argv[2]);
		first = 3;
	}
	progress = mmap(NULL, sizeof(*progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	if (progress == MAP_FAILED)
		return 1;
	for (int i = first; i < argc; i++)
		test_object(argv[i]);
	if (xdpvm_thread_register(XDPVM_THREAD_ANY) < 0)
		return 1;
	test_table();
	test_programs(raw_kernel_available());
	test_large_maps();
	return check_status();
}
