/* SPDX-License-Identifier: BSD-3-Clause */
/* See json.h. */
#include <inttypes.h>
#include <stdio.h>

#include "json.h"

static bool comma;	/* something stands before in this object or array */

static void
put_text(const char *text)
{
	putchar('"');
	for (; *text != '\0'; text++) {
		if (*text == '"' || *text == '\\')
			printf("\\%c", *text);
		else if ((unsigned char)*text < ' ')
			printf("\\u%04x", *text);
		else
			putchar(*text);
	}
	putchar('"');
}

static void
put_name(const char *name)
{
	if (comma)
		putchar(',');
	comma = true;
	if (name == NULL)
		return;
	put_text(name);
	putchar(':');
}

void
json_open(const char *name, char bracket)
{
	put_name(name);
	putchar(bracket);
	comma = false;
}

void
json_close(char bracket)
{
	putchar(bracket);
	comma = true;
}

void
json_string(const char *name, const char *value)
{
	put_name(name);
	put_text(value);
}

void
json_number(const char *name, uint64_t value)
{
	put_name(name);
	printf("%" PRIu64, value);
}

void
json_real(const char *name, double value)
{
	put_name(name);
	printf("%.2f", value);
}

void
json_bool(const char *name, bool value)
{
	put_name(name);
	printf("%s", value ? "true" : "false");
}

void
json_hex(const char *name, const void *bytes, uint32_t size)
{
	put_name(name);
	putchar('"');
	for (uint32_t i = 0; i < size; i++)
		printf("%02x", ((const uint8_t *)bytes)[i]);
	putchar('"');
}
