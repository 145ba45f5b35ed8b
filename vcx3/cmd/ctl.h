/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef VCX3_CMD_CTL_H
#define VCX3_CMD_CTL_H

#include <stdio.h>

/* `vcx3 ctl SOCKET VERB...`; words start at SOCKET. Returns the exit status. */
int vcx3_ctl(int nb, char **words);

/* The verbs, a line each. */
void vcx3_ctl_help(FILE *out);

#endif /* VCX3_CMD_CTL_H */
