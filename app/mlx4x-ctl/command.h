/* SPDX-License-Identifier: BSD-3-Clause */

/* What the commands share. Each returns an exit status. */

#ifndef MLX4X_CTL_COMMAND_H
#define MLX4X_CTL_COMMAND_H

#include <argp.h>
#include <stdbool.h>
#include <stdlib.h>

#include "client.h"
#include "report.h"

#define EXIT_USAGE 2

struct ctl {
	struct client client;
	bool json;
	bool pretty;
};

int command_load(struct ctl *ctl, int argc, char **argv);
int command_unload(struct ctl *ctl, int argc, char **argv);
int command_status(struct ctl *ctl, int argc, char **argv);
int command_features(struct ctl *ctl, int argc, char **argv);
int command_stats(struct ctl *ctl, int argc, char **argv);
int command_maps(struct ctl *ctl, int argc, char **argv);
int command_targets(struct ctl *ctl, int argc, char **argv);
int command_trace(struct ctl *ctl, int argc, char **argv);

/* Whether a port, or a target, goes by a word: its number or its name. */
bool port_is(const json_t *port, const char *word);

/*
 * Port number of a word: a number, or the name of an ethdev. -1 after a sentence when
 * the application has no such port of net_mlx4x.
 */
int find_port(struct ctl *ctl, const char *word);

/*
 * The ports of the application, or the one that word names: an array of what "status"
 * says of each without its programs. NULL after a sentence.
 */
json_t *ask_ports(struct ctl *ctl, const char *word);

/* Parses a number of an option's value; ends the program with EXIT_USAGE if it is none. */
unsigned long option_number(const struct argp_state *state, const char *name, const char *text,
	unsigned long max);

/* Members of an answer: "" or 0 when absent. */
const char *answer_text(const json_t *answer, const char *name);
long long answer_number(const json_t *answer, const char *name);

/* Prints the answer if JSON was asked for, and releases it. An exit status. */
int finish_answer(const struct ctl *ctl, json_t *answer);

#endif /* MLX4X_CTL_COMMAND_H */
