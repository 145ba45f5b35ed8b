/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random programs in the interpreter, in native code and in the kernel: registers, stack and
 * verdict must be equal. A difference prints the seed; "-s SEED -n 1" runs that program again.
 *
 * usage: fuzz_test [-s SEED] [-n PROGRAMS] [-t SECONDS] [-b INSTRUCTIONS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "fuzz_gen.h"

static uint64_t compared_with_kernel;

static void
fill(uint8_t *packet, uint64_t seed)
{
	for (unsigned int i = 0; i < FUZZ_PACKET; i++) {
		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		packet[i] = seed >> 56;
	}
}

static void
tell(uint64_t seed, enum raw_engine engine, const uint8_t *expected, const uint8_t *got,
     uint32_t action)
{
	fprintf(stderr, "seed %llu: %s differs from the interpreter, action %u\n",
		(unsigned long long)seed, raw_engine_names[engine], action);
	for (unsigned int i = 0; i < FUZZ_PACKET; i += 8)
		if (memcmp(expected + i, got + i, 8) != 0)
			fprintf(stderr, "  word %u: 0x%016llx, interpreter 0x%016llx\n", i / 8,
				*(const unsigned long long *)(got + i),
				*(const unsigned long long *)(expected + i));
}

static int
try_seed(uint64_t seed, uint32_t body, bool kernel)
{
	static struct bpf_insn insns[FUZZ_INSNS_MAX];
	uint8_t results[RAW_ENGINES][FUZZ_PACKET] __attribute__((aligned(8)));
	uint32_t n = fuzz_generate(seed, body, insns);
	struct raw_prog raw;
	int failed = 0;

	if (raw_load(&raw, insns, n, false) != 0) {
		fprintf(stderr, "seed %llu: refused\n", (unsigned long long)seed);
		return 1;
	}
	for (enum raw_engine engine = RAW_INTERP; engine < RAW_ENGINES; engine++) {
		uint32_t action;

		if (engine == RAW_KERNEL && (!kernel || raw.fd < 0))
			continue;
		fill(results[engine], seed);
		action = raw_run(&raw, engine, results[engine], FUZZ_PACKET);
		if (action == XDP_TX &&
		    memcmp(results[engine], results[RAW_INTERP], FUZZ_PACKET) == 0)
			continue;
		tell(seed, engine, results[RAW_INTERP], results[engine], action);
		failed = 1;
	}
	compared_with_kernel += kernel && raw.fd >= 0;
	raw_free(&raw);
	return failed;
}

struct settings {
	uint64_t seed;
	uint64_t programs;
	time_t seconds;
	uint32_t body;
};

static int
parse(int argc, char **argv, struct settings *settings)
{
	int option;

	while ((option = getopt(argc, argv, "s:n:t:b:")) != -1) {
		if (option == 's')
			settings->seed = strtoull(optarg, NULL, 0);
		else if (option == 'n')
			settings->programs = strtoull(optarg, NULL, 0);
		else if (option == 't')
			settings->seconds = strtol(optarg, NULL, 0);
		else if (option == 'b')
			settings->body = strtoul(optarg, NULL, 0);
		else
			return -1;
	}
	return 0;
}

int
main(int argc, char **argv)
{
	struct settings settings = {
		.seed = time(NULL) * 1000ull, .programs = UINT64_MAX, .seconds = 10, .body = 60,
	};
	bool kernel = raw_kernel_available();
	time_t end;
	uint64_t n;
	int failed = 0;

	if (parse(argc, argv, &settings) != 0)
		return 2;
	end = time(NULL) + settings.seconds;
	xdpvm_thread_register(XDPVM_THREAD_ANY);
	for (n = 0; n < settings.programs && time(NULL) < end && failed < 5; n++)
		failed += try_seed(settings.seed + n, settings.body, kernel);
	printf("seeds %llu..%llu: %llu programs, %llu also in the kernel, %d differences\n",
	       (unsigned long long)settings.seed, (unsigned long long)(settings.seed + n - 1),
	       (unsigned long long)n, (unsigned long long)compared_with_kernel, failed);
	/* A verifier that refuses most of what is generated would make this test empty. */
	return failed != 0 || n == 0 || (kernel && compared_with_kernel * 2 < n);
}
