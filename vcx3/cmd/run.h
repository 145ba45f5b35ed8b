/* SPDX-License-Identifier: BSD-3-Clause */

/* The program below the launcher, and what must not be left behind when either of them ends. */

#ifndef VCX3_CMD_RUN_H
#define VCX3_CMD_RUN_H

struct vcx3_wire_plan;

/* What is removed at the end; empty strings and NULL are skipped. */
struct vcx3_leftovers {
	const char *dir;
	const char *control;
	const struct vcx3_wire_plan *wires; /* a killed program leaves its UNIX sockets */
};

/*
 * Starts a process that removes the leftovers should the launcher die without doing so (kill -9
 * cannot be handled). Returns a descriptor that the launcher keeps open, or a negative errno.
 */
int vcx3_janitor_start(const struct vcx3_leftovers *leftovers);

void vcx3_leftovers_remove(const struct vcx3_leftovers *leftovers);

/*
 * Runs words with SYSFS_PATH, SYSFS_PCI_DEVICES, VCX3_DIR and LD_PRELOAD set, until it and all
 * of its descendants have ended. Returns its exit status, 128 + signal when it was killed, or
 * 127 with a sentence on stderr when it could not be started.
 */
int vcx3_run(const char *dir, const char *preload, char **words);

#endif /* VCX3_CMD_RUN_H */
