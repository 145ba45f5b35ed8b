/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line as one table: parsing, --help and the man page are made from it. */
#ifndef XDPVM_CMD_OPTIONS_H
#define XDPVM_CMD_OPTIONS_H

#include <stddef.h>
#include <stdio.h>

#include "engine.h"

#define OPTIONS_MAX_SETS 64

enum command {
	COMMAND_RUN,
	COMMAND_COMPARE,
	COMMAND_CHECK,
	COMMAND_DUMP,
	COMMANDS,
};

/* Exit statuses. */
enum status {
	STATUS_OK,
	STATUS_NO,	/* compare: a difference; check: it would not load */
	STATUS_USAGE,	/* the command line was refused */
	STATUS_FAILED,	/* object or capture cannot be used; the reason is on standard error */
};

/* Values of the command line; strings point into the words. */
struct options {
	enum command command;
	const char *object;
	struct xdpvm_options load;	/* verify, program, section, pin_dir, cache_dir */
	enum engine_kind engine;
	const char *pcap;
	const char *out;
	const char *code;
	const char *sets[OPTIONS_MAX_SETS];
	unsigned int n_sets;
	uint32_t repeat;
	bool json;
	bool packets;
	bool maps;
	bool verbose;
	bool help;
};

/* 0, or -EINVAL with a sentence in reason. */
int options_parse(struct options *options, int nb, char **words, char *reason, size_t size);

void options_help(FILE *out);
void options_roff(FILE *out);

#endif /* XDPVM_CMD_OPTIONS_H */
