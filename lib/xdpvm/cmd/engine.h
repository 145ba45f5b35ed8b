/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One object in one engine: native code, interpreter, or the kernel itself by BPF_PROG_TEST_RUN.
 * Each engine has an object, and so maps, of its own; which of two sets of maps counts (the
 * library's or the kernel's) is hidden here.
 */
#ifndef XDPVM_CMD_ENGINE_H
#define XDPVM_CMD_ENGINE_H

#include "testrun.h"

enum engine_kind {
	ENGINE_JIT,
	ENGINE_INTERP,
	ENGINE_KERNEL,
	ENGINES,
};

extern const char *const engine_names[ENGINES];
extern const char *const engine_action_names[XDP_REDIRECT + 1];

struct engine {
	enum engine_kind kind;
	struct xdpvm_object *object;
	bool pinned;			/* maps are the pinned ones' likeness; see engine_load() */
	const char *wanted;		/* name of the program that was asked for, or NULL */
	struct xdpvm_prog *prog;	/* the one that runs: at first the one that was asked for */
	struct xdpvm_buff buff;
};

/*
 * Binds this thread to the CPU it runs on and registers it under that number, so that per-CPU maps
 * are filled at the same place by all engines. 0 or a negative errno.
 */
int engine_thread(void);

/* Opens the object; options->engine is overridden, ENGINE_KERNEL needs verify=kernel. */
int engine_open(struct engine *engine, enum engine_kind kind, const char *path,
		const struct xdpvm_options *options);
/* Loads it; it is to be closed whether or not that works. */
int engine_load(struct engine *engine);
void engine_close(struct engine *engine);

/* Runs one packet in place; false when the kernel does not run such programs by hand. */
bool engine_run(struct engine *engine, struct frame *frame);

/*
 * Nanoseconds of CPU time a packet of each engine: the mean over so many rounds. In a round every
 * engine, one after the other so that a change of clock hits all, runs one packet 100,000 times in
 * a row (the kernel: a million times); packets are taken evenly from the frames. Bytes that the
 * program wrote stay; ours put the packet's bounds back before each run, the kernel does not.
 * Native code is entered as a driver does, without xdpvm_run(). 0 or a negative errno.
 */
int engine_time(struct engine *engines, unsigned int n_engines, const struct frame *frames,
		size_t n, uint32_t rounds, double *ns);

/*
 * Maps. A value has engine_copies() copies, each engine_stride() bytes from the next. Results are
 * 0 or a negative errno.
 */
uint32_t engine_copies(const struct xdpvm_map *map);
uint32_t engine_stride(const struct xdpvm_map *map);
int engine_map_lookup(const struct engine *engine, struct xdpvm_map *map, const void *key,
		      void *value);
int engine_map_update(const struct engine *engine, struct xdpvm_map *map, const void *key,
		      const void *value);
int engine_map_next_key(const struct engine *engine, struct xdpvm_map *map, const void *key,
			void *next);
int engine_map_take(const struct engine *engine, struct xdpvm_map *map, void *value);

#endif /* XDPVM_CMD_ENGINE_H */
