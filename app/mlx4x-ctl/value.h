/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What "maps update" writes: bytes, or in words what the entries of maps of devices, CPUs,
 * programs and maps hold.
 */

#ifndef MLX4X_CTL_VALUE_H
#define MLX4X_CTL_VALUE_H

#include "command.h"

#define MAX_HEX 1024

struct value {
	char hex[MAX_HEX];	/* "" when it is to come from dev or is a name */
	const char *name;	/* of a program or a map */
	const char *dev;	/* a port */
	const char *prog;	/* the second program of an entry */
};

/* Takes the words behind "value". How many, or -1 after a sentence. */
int value_from_words(struct value *value, char **words, int nb_words);

bool value_is_given(const struct value *value);

/* Looks a device up, as programs of the port call it. 0, or -1 after a sentence. */
int value_find_dev(struct ctl *ctl, int port, struct value *value);

#endif /* MLX4X_CTL_VALUE_H */
