/* SPDX-License-Identifier: BSD-3-Clause */

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hex.h"
#include "report.h"

#define BYTES_PER_LINE 16

int
hex_from_words(char **words, int nb_words, char *text, size_t size)
{
	int base = 0, i = 0;
	size_t used = 0;

	text[0] = '\0';
	if (nb_words > 0 && strcmp(words[0], "hex") == 0) {
		base = 16;
		i = 1;
	}
	for (; i < nb_words && isxdigit((unsigned char)words[i][0]); i++) {
		char *end;
		unsigned long byte = strtoul(words[i], &end, base);

		if (*end != '\0')
			break;
		if (byte > UINT8_MAX) {
			report("%s is not a byte: 0 to 255", words[i]);
			return -1;
		}
		if (used + 3 > size) {
			report("more than %zu bytes", (size - 1) / 2);
			return -1;
		}
		used += snprintf(text + used, size - used, "%02lx", byte);
	}
	return i;
}

void
hex_print(const char *text)
{
	size_t i, len = strlen(text) / 2;

	for (i = 0; i < len; i++) {
		if (i != 0)
			putchar(i % BYTES_PER_LINE == 0 ? '\n' : ' ');
		printf("%.2s", text + 2 * i);
	}
}
