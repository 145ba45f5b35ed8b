/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Runs a libFuzzer target where libFuzzer is not: each file of the corpus
 * folders, then -runs=N spoiled copies of them. The same seed gives the same
 * run. Takes libFuzzer's arguments and passes over those that it does not know.
 */

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILES_MAX 256
#define INPUT_MAX 8192
#define SPOILS_MAX 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	size_t size;
	uint8_t bytes[INPUT_MAX];
};

static struct input corpus[FILES_MAX];
static unsigned int corpus_count;
static uint64_t random_state = 1;

/* George Marsaglia's xorshift64. */
static uint32_t
random_below(uint32_t limit)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 32) % limit;
}

static void
load_file(const char *path)
{
	struct input *input = &corpus[corpus_count];
	FILE *file = fopen(path, "rb");

	if (file == NULL || corpus_count == FILES_MAX)
		return;
	input->size = fread(input->bytes, 1, INPUT_MAX, file);
	corpus_count++;
	fclose(file);
}

static void
load_folder(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	char path[4096];

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		load_file(path);
	}
	if (dir != NULL)
		closedir(dir);
}

/* Changes one thing. */
static void
spoil(struct input *input)
{
	static const uint8_t edges[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
	uint32_t at;

	if (input->size == 0) {
		input->bytes[input->size++] = (uint8_t)random_below(256);
		return;
	}
	at = random_below((uint32_t)input->size);
	switch (random_below(5)) {
	case 0:
		input->bytes[at] ^= (uint8_t)(1u << random_below(8));
		break;
	case 1:
		input->bytes[at] = edges[random_below(sizeof(edges))];
		break;
	case 2:
		input->bytes[at] = (uint8_t)random_below(256);
		break;
	case 3:
		input->size = at;
		break;
	default:
		memmove(input->bytes + at, input->bytes + random_below((uint32_t)input->size),
			input->size - at > 16 ? 16 : 1);
	}
}

/* An exact copy on the heap, so that a sanitizer sees the first byte too far. */
static void
run_one(const struct input *input)
{
	uint8_t *copy = malloc(input->size + (input->size == 0));

	if (copy == NULL)
		return;
	memcpy(copy, input->bytes, input->size);
	LLVMFuzzerTestOneInput(copy, input->size);
	free(copy);
}

int
main(int argc, char **argv)
{
	unsigned long runs = 0;
	struct input input;

	for (int i = 1; i < argc; i++) {
		if (strncmp(argv[i], "-runs=", 6) == 0)
			runs = strtoul(argv[i] + 6, NULL, 10);
		else if (argv[i][0] != '-')
			load_folder(argv[i]);
	}
	for (unsigned int i = 0; i < corpus_count; i++)
		run_one(&corpus[i]);
	for (unsigned long run = 0; run < runs && corpus_count > 0; run++) {
		input = corpus[random_below(corpus_count)];
		for (uint32_t n = 1 + random_below(SPOILS_MAX); n > 0; n--)
			spoil(&input);
		run_one(&input);
	}
	printf("%u files, %lu spoiled copies\n", corpus_count, runs);
	return corpus_count == 0;
}
