/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef VCX3_CMD_CTL_H
#define VCX3_CMD_CTL_H

/* `vcx3 ctl SOCKET VERB...`; words start at SOCKET. Returns the exit status. */
int vcx3_ctl(int nb, char **words);

#endif /* VCX3_CMD_CTL_H */
