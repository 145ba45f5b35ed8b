/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCX3_H
#define VCX3_H

/**
 * @file
 * For tests and benchmarks that run below the vcx3 launcher: move the virtual card, read its
 * counters and see what is posted to it, from inside the program.
 *
 * Nothing has to be linked: the functions are looked up in the running program, so the same
 * binary works on a real card, where vcx3_step() moves nothing and there are no counters.
 *
 * Thread safety: all functions may be called by any thread.
 */

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Whether the program runs below the vcx3 launcher. */
static inline bool
vcx3_present(void)
{
	return dlsym(RTLD_DEFAULT, "vcx3_api_step") != NULL;
}

/**
 * Runs turns of the engine in the calling thread, in step mode (vcx3 --step).
 *
 * A turn gives every queue and wire of the card its chance; the call ends early when nothing
 * moves any more.
 *
 * @param slices
 *   Turns at most.
 * @return
 *   Frames moved and events fired; 0 without step mode, without a card or before the first
 *   object exists on it.
 */
static inline uint64_t
vcx3_step(unsigned int slices)
{
	static uint64_t (*step)(unsigned int slices);

	if (step == NULL)
		*(void **)&step = dlsym(RTLD_DEFAULT, "vcx3_api_step");
	return step != NULL ? step(slices) : 0;
}

/**
 * All counters as one JSON object, as `vcx3 ctl SOCKET counters` prints them.
 *
 * @param[out] buffer
 *   Text with its final zero, cut when size is too small.
 * @return
 *   Length of the whole text; 0 when there is no virtual card.
 */
static inline size_t
vcx3_counters_text(char *buffer, size_t size)
{
	size_t (*counters)(char *buffer, size_t size);

	*(void **)&counters = dlsym(RTLD_DEFAULT, "vcx3_api_counters");
	return counters != NULL ? counters(buffer, size) : 0;
}

/**
 * The receive buffers that the program has posted and the card has not taken yet, segment by
 * segment, in the order of each ring.
 *
 * @param[out] addresses
 *   Those of the first max segments, as the program wrote them.
 * @return
 *   The number of segments, also when it exceeds max; 0 when there is no virtual card.
 */
static inline size_t
vcx3_posted(uint64_t *addresses, size_t max)
{
	size_t (*posted)(uint64_t *addresses, size_t max);

	*(void **)&posted = dlsym(RTLD_DEFAULT, "vcx3_api_posted");
	return posted != NULL ? posted(addresses, max) : 0;
}

#endif /* VCX3_H */
