/* SPDX-License-Identifier: BSD-3-Clause */
/* JSON to standard output, as it comes. A NULL name is an element of an array. */
#ifndef XDPVM_CMD_JSON_H
#define XDPVM_CMD_JSON_H

#include <stdbool.h>
#include <stdint.h>

void json_open(const char *name, char bracket);	/* '{' or '[' */
void json_close(char bracket);			/* '}' or ']' */
void json_string(const char *name, const char *value);
void json_number(const char *name, uint64_t value);
void json_real(const char *name, double value);
void json_bool(const char *name, bool value);
void json_hex(const char *name, const void *bytes, uint32_t size);

#endif /* XDPVM_CMD_JSON_H */
