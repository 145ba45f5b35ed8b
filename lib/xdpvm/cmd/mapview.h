/* SPDX-License-Identifier: BSD-3-Clause */
/* The contents of an engine's maps: shown, compared, set from words of the command line. */
#ifndef XDPVM_CMD_MAPVIEW_H
#define XDPVM_CMD_MAPVIEW_H

#include "engine.h"

/* Prints every map that has something in it: all entries, of arrays those that are not zero. */
void mapview_print(const struct engine *engine, bool json);

#define MAPVIEW_ENGINES_MAX 4

/*
 * Whether n engines, with one program of the same object each, hold the same. The first difference
 * goes to reason as a sentence. Queues and stacks are emptied by it.
 */
bool mapview_equal(const struct engine *engines, unsigned int n, char *reason, size_t size);

/* Sets an entry from MAP:KEY=VALUE, both in hex; 0 or a negative errno with a sentence. */
int mapview_set(const struct engine *engine, const char *text, char *reason, size_t size);

#endif /* XDPVM_CMD_MAPVIEW_H */
