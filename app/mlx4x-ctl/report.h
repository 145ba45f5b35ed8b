/* SPDX-License-Identifier: BSD-3-Clause */

/* What the tool says: sentences on stderr, JSON on stdout. */

#ifndef MLX4X_CTL_REPORT_H
#define MLX4X_CTL_REPORT_H

#include <stdbool.h>

#include <jansson.h>

/* "mlx4x-ctl: SENTENCE" */
void report(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The sentence of an answer that says that its request failed. */
void report_answer(const json_t *answer);

/* Prints JSON on one line, or over several ones. */
void print_json(const json_t *json, bool pretty);

#endif /* MLX4X_CTL_REPORT_H */
