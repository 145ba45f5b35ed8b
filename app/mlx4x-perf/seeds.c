/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What the kernel's driver gained by recycling pages, measured on ours. The numbers of the
 * rows are those of the list of designs that this project follows.
 *
 * The kernel's page allocator and its mapping by an IOMMU are not here; stand-ins take
 * their place (standin.h), and what they cost is printed: a ratio holds for that cost. All
 * probes are measured round by round, so that they share what the machine does meanwhile.
 */

#include "seeds.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "child.h"
#include "result.h"
#include "work.h"

#define MAX_ROUNDS 1001

enum place {
	PACKED,		/* 60 bytes, several buffers a block */
	PAGE,		/* 60 bytes, a page for each */
	COLD,		/* 60 bytes, packets out of the cache */
	SMALL_PAGES,	/* 60 bytes, memory in pages of 4 KiB */
	B90, B256, B900, B1024, B4000, B9000,	/* bytes of a frame, several buffers a block */
	NB_PLACES,
};

static const struct {
	uint32_t frame;
	enum perf_layout layout;
	bool cold_data;
	bool no_huge;
} places[NB_PLACES] = {
	[PACKED] = { 60, PERF_LAYOUT_PACKED, false, false },
	[PAGE] = { 60, PERF_LAYOUT_PAGE, false, false },
	[COLD] = { 60, PERF_LAYOUT_PACKED, true, false },
	[SMALL_PAGES] = { 60, PERF_LAYOUT_PACKED, false, true },
	[B90] = { 90, PERF_LAYOUT_PACKED, false, false },
	[B256] = { 256, PERF_LAYOUT_PACKED, false, false },
	[B900] = { 900, PERF_LAYOUT_PACKED, false, false },
	[B1024] = { 1024, PERF_LAYOUT_PACKED, false, false },
	[B4000] = { 4000, PERF_LAYOUT_PACKED, false, false },
	[B9000] = { 9000, PERF_LAYOUT_PACKED, false, false },
};

/* A scenario at a place; its result. */
struct probe {
	enum place place;
	const char *scenario;
	double median;
	double spread;
	double cycles[MAX_ROUNDS];
};

static struct probe probes[] = {
	{ .place = PACKED, .scenario = "rx-free" },
	{ .place = PACKED, .scenario = "naive" },
	{ .place = PACKED, .scenario = "naive-alloc" },
	{ .place = PACKED, .scenario = "naive-map" },
	{ .place = PACKED, .scenario = "rx-copy-free" },
	{ .place = PACKED, .scenario = "rx-ref-free" },
	{ .place = PACKED, .scenario = "hook-drop" },
	{ .place = PAGE, .scenario = "rx-free" },
	{ .place = PAGE, .scenario = "naive" },
	{ .place = PAGE, .scenario = "hook-drop" },
	{ .place = COLD, .scenario = "hook-drop" },
	{ .place = COLD, .scenario = "hook-touch-drop" },
	{ .place = COLD, .scenario = "hook-swap-drop" },
	{ .place = SMALL_PAGES, .scenario = "rx-free" },
	{ .place = B90, .scenario = "rx-free" },
	{ .place = B90, .scenario = "naive" },
	{ .place = B256, .scenario = "rx-free" },
	{ .place = B256, .scenario = "rx-copy-free" },
	{ .place = B900, .scenario = "rx-free" },
	{ .place = B900, .scenario = "naive" },
	{ .place = B1024, .scenario = "rx-free" },
	{ .place = B1024, .scenario = "rx-copy-free" },
	{ .place = B4000, .scenario = "rx-free" },
	{ .place = B4000, .scenario = "rx-copy-free" },
	{ .place = B4000, .scenario = "naive" },
	{ .place = B9000, .scenario = "rx-free" },
	{ .place = B9000, .scenario = "naive" },
};

static double tsc_hz;

static const struct probe *
probe_of(enum place place, const char *scenario)
{
	unsigned int i;

	for (i = 0; i < RTE_DIM(probes) - 1; i++) {
		if (probes[i].place == place && strcmp(probes[i].scenario, scenario) == 0)
			break;
	}
	return &probes[i];
}

static double
cycles(enum place place, const char *scenario)
{
	return probe_of(place, scenario)->median;
}

/* The point of a place, and the options that are its own. */
static void
go_to(enum place place, const struct perf_options *options, struct perf_options *here,
	struct perf_point *point)
{
	perf_options_point(options, 0, point);
	point->at[PERF_FRAME] = places[place].frame;
	point->at[PERF_LAYOUT] = places[place].layout;
	*here = *options;
	here->cold_data = places[place].cold_data;
	here->no_huge |= places[place].no_huge;
}

static int
start_workers(struct perf_child *children, const struct perf_options *options, char *reason,
	size_t size)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; ret == 0 && i < NB_PLACES; i++) {
		struct perf_options here;
		struct perf_point point;

		go_to(i, options, &here, &point);
		ret = perf_child_start(&children[i], &here, perf_ours(options), &point, reason,
			size);
	}
	return ret;
}

static int
run_rounds(struct perf_child *children, const struct perf_options *options, char *reason,
	size_t size)
{
	uint32_t burst = options->axis[PERF_BURST].value[0];
	unsigned int i, n;
	int ret = 0;

	for (i = 0; ret == 0 && i < options->rounds; i++) {
		for (n = 0; ret == 0 && n < RTE_DIM(probes); n++) {
			struct perf_round round;

			ret = perf_child_round(&children[probes[n].place], probes[n].scenario,
				burst, options->packets, &round, reason, size);
			probes[n].cycles[i] = round.cycles;
		}
	}
	for (n = 0; ret == 0 && n < RTE_DIM(probes); n++) {
		probes[n].median = perf_median(probes[n].cycles, options->rounds);
		probes[n].spread = perf_spread(probes[n].cycles, options->rounds);
	}
	return ret;
}

static void
print_standin(void)
{
	double base = cycles(PACKED, "rx-free");

	printf("stand-in model: allocate and free a page %.0f cycles, map and unmap it %.0f, all "
		"four %.0f; cycles of a time stamp counter of %.2f GHz\n",
		cycles(PACKED, "naive-alloc") - base, cycles(PACKED, "naive-map") - base,
		cycles(PACKED, "naive") - base, tsc_hz / 1e9);
}

static void
print_recycling(void)
{
	double packed = cycles(PACKED, "rx-free"), naive = cycles(PACKED, "naive");
	double page = cycles(PAGE, "rx-free"), page_naive = cycles(PAGE, "naive");
	const double busy = 96.8;	/* per cent, the seed's naive driver */

	printf(" 4  idle at the load that keeps naive %.1f %% busy: %.1f %% -> %.1f %% (from the "
		"cycles of row 27)  seed: 3.2 %% -> 31.7 %%\n", busy, 100 - busy,
		100 - busy * packed / naive);
	printf(" 5  receive function, cycles/packet: naive %.1f, recycling %.1f, %.2f times  seed: "
		"3 times\n", naive, packed, naive / packed);
	printf("10  page naive %.1f, packed %.1f: naive is %.1f %% slower  seed: 25.98 %%\n",
		page_naive, packed, 100 * (1 - packed / page_naive));
	printf("24  page recycled %.1f, packed %.1f: %+.1f %%; with the model's page cost on both "
		"sides %+.1f %%  seed: about 1 %%\n", page, packed, 100 * (page / packed - 1),
		100 * (page_naive / naive - 1));
	printf("27  recycling against allocate-map-unmap-free, one page a packet: %.3f times, "
		"%.0f -> %.0f kpps  seed: 1.917 times\n", naive / packed,
		tsc_hz / naive / 1e3, tsc_hz / packed / 1e3);
	printf("28  share of naive that is allocation %.1f %%, mapping %.1f %%; of recycling 0  "
		"seed: 45.67 %% removed\n",
		100 * (cycles(PACKED, "naive-alloc") - packed) / naive,
		100 * (cycles(PACKED, "naive-map") - packed) / naive);
}

static void
print_touching(void)
{
	double to_ns = 1e9 / tsc_hz, drop = cycles(COLD, "hook-drop");

	printf("13  packets not in the cache, drop %.1f ns; reading the EtherType %+.1f ns, swapping "
		"addresses %+.1f ns  seed: 8.2 ns\n", to_ns * drop,
		to_ns * (cycles(COLD, "hook-touch-drop") - drop),
		to_ns * (cycles(COLD, "hook-swap-drop") - drop));
	printf("14  drop, driver only: packed %.1f, page %.1f cycles/packet; pages allocated 0  seed: "
		"page 246 of a budget of 201\n", cycles(PACKED, "hook-drop"),
		cycles(PAGE, "hook-drop"));
}

static void
print_copying(void)
{
	static const enum place at[] = { PACKED, B256, B1024, B4000 };
	double reference = cycles(PACKED, "rx-ref-free") - cycles(PACKED, "rx-free");
	double page = cycles(PACKED, "naive") - cycles(PACKED, "rx-free");
	unsigned int i;

	printf("15  cycles of a copy:");
	for (i = 0; i < RTE_DIM(at); i++)
		printf(" %u bytes %.1f,", places[at[i]].frame,
			cycles(at[i], "rx-copy-free") - cycles(at[i], "rx-free"));
	printf(" of an atomic reference %.1f  seed: 256 bytes\n", reference);
	printf("16  against a page turned over at %.0f cycles every size above pays; against a "
		"recycled page (0) none does  seed: about 1 KB\n", page);
}

static void
print_sizes(void)
{
	static const enum place at[] = { PACKED, B90, B900, B4000, B9000 };
	double gbit = 9000 * 8 / 1e9, recycled = cycles(B9000, "rx-free");
	double naive = cycles(B9000, "naive");
	unsigned int i;

	printf("25  rx-free in 2 MiB pages %.1f, in 4 KiB pages %.1f cycles/packet  seed: no "
		"difference\n", cycles(PACKED, "rx-free"), cycles(SMALL_PAGES, "rx-free"));
	printf("30  quartiles of the rounds of rx-free: %.2f %%  seed: 0.2 %% over 6 s\n",
		100 * probe_of(PACKED, "rx-free")->spread);
	printf("32  9000 bytes, pages mapped once against at each use: %.2f times  seed: 3.06 "
		"times\n", naive / recycled);
	printf("38  by bytes of a frame:");
	for (i = 0; i < RTE_DIM(at); i++)
		printf(" %u %.2f", places[at[i]].frame,
			cycles(at[i], "naive") / cycles(at[i], "rx-free"));
	printf(" times  seed: 90 1.25, 900 1.43, 4000 1.84, 9000 2.34\n");
	printf("39  service demand at 60 bytes: recycling %.1f, naive %.1f million cycles/Gbit  "
		"seed: none given\n", cycles(PACKED, "rx-free") / (60 * 8 / 1e9) / 1e6,
		cycles(PACKED, "naive") / (60 * 8 / 1e9) / 1e6);
	printf("57  at 9000 bytes: %.1f -> %.1f million cycles/Gbit, %.2f times  seed: 5.4 times the "
		"rate\n", naive / gbit / 1e6, recycled / gbit / 1e6, naive / recycled);
}

/* All that the rows are computed from. */
static int
write_probes(const struct perf_options *options)
{
	struct perf_results results = { 0 };
	unsigned int n;
	int ret = 0;

	for (n = 0; ret == 0 && n < RTE_DIM(probes); n++) {
		struct perf_options here;
		struct perf_result result;
		struct perf_point point;

		go_to(probes[n].place, options, &here, &point);
		result = perf_result_at(&here, perf_scenario_find(probes[n].scenario), &point);
		result.ours_cycles = probes[n].median;
		result.spread = probes[n].spread;
		ret = perf_results_add(&results, &result);
	}
	if (ret == 0)
		ret = perf_results_write(&results, options->json);
	perf_results_free(&results);
	return ret;
}

int
perf_seeds_main(const struct perf_options *options)
{
	struct perf_child children[NB_PLACES] = { 0 };
	char reason[1024] = "";
	unsigned int i;
	int ret;

	if (!perf_child_possible(options))
		return EXIT_FAILURE;
	signal(SIGPIPE, SIG_IGN);
	ret = start_workers(children, options, reason, sizeof(reason));
	tsc_hz = children[0].tsc_hz;
	if (ret == 0)
		ret = run_rounds(children, options, reason, sizeof(reason));
	for (i = 0; i < NB_PLACES; i++)
		perf_child_stop(&children[i]);
	if (ret != 0) {
		fprintf(stderr, "mlx4x-perf: %s\n", reason);
		return EXIT_FAILURE;
	}
	print_standin();
	print_recycling();
	print_touching();
	print_copying();
	print_sizes();
	return options->json == NULL || write_probes(options) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
