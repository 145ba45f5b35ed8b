/* SPDX-License-Identifier: BSD-3-Clause */

/* The control socket's end of a connection: one line of words comes, text goes. */

#ifndef VCX3_CMD_LINE_H
#define VCX3_CMD_LINE_H

#include <stdbool.h>
#include <stddef.h>

#define VCX3_LINE_WORDS 8

/* Reads up to the end of the line; false when none came in a second. */
bool vcx3_line_read(int fd, char *line, size_t size);

/* Cuts line into words, at most VCX3_LINE_WORDS; returns how many. */
unsigned int vcx3_line_split(char *line, char **words);

/* Reads a decimal number from min to max, and nothing behind it. */
bool vcx3_line_number(const char *word, unsigned long min, unsigned long max,
		      unsigned long *number);

/* Sends all of text, unless the client has gone. */
void vcx3_line_reply(int fd, const char *text);

#endif /* VCX3_CMD_LINE_H */
