/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The command line of the launcher as one table. Parsing, --help and the man page are
 * generated from it, and the preload library reads the same words back from the state folder,
 * so that launcher and library cannot disagree about an option.
 */

#ifndef VCX3_CMD_OPTIONS_H
#define VCX3_CMD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define VCX3_MAX_PORTS 2
/* The kernel's smallest for an Ethernet device; the largest is the card's (core/port.h). */
#define VCX3_NETDEV_MIN_MTU 68
#define VCX3_MAX_FAULTS 16

enum vcx3_identity {
	VCX3_IDENTITY_CX3,
	VCX3_IDENTITY_CX3PRO,
	VCX3_IDENTITY_VF,
};

enum vcx3_netdev_kind {
	VCX3_NETDEV_VIRTUAL,
	VCX3_NETDEV_TAP,
};

/* Values of the command line; strings point into the words that were parsed. */
struct vcx3_options {
	unsigned int ports;
	const char *wire[VCX3_MAX_PORTS]; /* NULL: peer with two ports, else sink */
	enum vcx3_identity identity;
	uint32_t speed_mbps;
	uint32_t mtu;
	unsigned int cqe_size;
	uint8_t mac[6]; /* of port 1; port 2 has the next one */
	unsigned int infiniband_port_mask; /* bit n: port n + 1 is in InfiniBand mode */
	bool step;
	bool strict;
	bool mount;
	bool vlan_insert;
	bool cold;
	bool cold_data;
	int engine_cpu; /* -1: any processor of the launcher's */
	enum vcx3_netdev_kind netdev;
	const char *control;
	const char *counters;
	const char *fault[VCX3_MAX_FAULTS];
	unsigned int nb_faults;
	bool help;
};

/*
 * Parses words[0..nb), which are options only (what stands before "--").
 * Returns the number of words taken: all of them, or those before "--" or before the first
 * word that is no option. A negative errno with a sentence in reason when a word is refused.
 */
int vcx3_options_parse(struct vcx3_options *options, int nb, char **words, char *reason,
		       size_t size);

/* Options, one paragraph each: as text for --help, as roff for the man page. */
void vcx3_options_help(FILE *out);
void vcx3_options_roff(FILE *out);

/* The faults of --fault, for --help and the man page. */
void vcx3_faults_help(FILE *out);

#endif /* VCX3_CMD_OPTIONS_H */
