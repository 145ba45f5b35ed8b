/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "report.h"

void
report(const char *format, ...)
{
	va_list args;

	fputs("mlx4x-ctl: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

void
report_answer(const json_t *answer)
{
	char *sentence = client_join(json_object_get(answer, "error"));

	report("%s", sentence != NULL ? sentence :
		strerror((int)json_integer_value(json_object_get(answer, "errno"))));
	free(sentence);
}

void
print_json(const json_t *json, bool pretty)
{
	json_dumpf(json, stdout, (pretty ? JSON_INDENT(4) : JSON_COMPACT) | JSON_ENCODE_ANY);
	putchar('\n');
}
