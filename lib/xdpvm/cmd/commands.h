/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands, one file each; each returns an exit status. */
#ifndef XDPVM_CMD_COMMANDS_H
#define XDPVM_CMD_COMMANDS_H

#include "options.h"

int command_run(const struct options *options);
int command_compare(const struct options *options);
int command_check(const struct options *options);
int command_dump(const struct options *options);

/* Says "xdpvm: sentence" on standard error and returns STATUS_FAILED. */
int failed(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Log function for struct xdpvm_options; arg is struct options. */
void log_stderr(void *arg, enum xdpvm_log_level level, const char *message);

/* Program and how it is run, as JSON members or as a line of text. */
void print_engine(const struct engine *engine, const struct options *options);

#endif /* XDPVM_CMD_COMMANDS_H */
