/* SPDX-License-Identifier: BSD-3-Clause */

/* See value.h. */

#include "value.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "hex.h"

/* A 32-bit number as a program reads it. */
static void
put_number(struct value *value, uint32_t number)
{
	const uint8_t *bytes = (const uint8_t *)&number;

	snprintf(value->hex, sizeof(value->hex), "%02x%02x%02x%02x", bytes[0], bytes[1], bytes[2],
		bytes[3]);
}

static int
put_queue_size(struct value *value, const char *word)
{
	unsigned long number;
	char *end;

	errno = 0;
	number = strtoul(word, &end, 0);
	if (!isdigit((unsigned char)word[0]) || *end != '\0' || errno != 0 || number > UINT32_MAX) {
		report("qsize %s: not a number of packets", word);
		return -1;
	}
	put_number(value, (uint32_t)number);
	return 2;
}

/* One that takes a word of its own: how many words, 0 when it is none of these. */
static int
take_pair(struct value *value, char **words, int nb_words)
{
	bool is_known = strcmp(words[0], "name") == 0 || strcmp(words[0], "dev") == 0 ||
		strcmp(words[0], "qsize") == 0;

	if (!is_known)
		return 0;
	if (nb_words < 2) {
		report("a word is missing behind \"%s\"", words[0]);
		return -1;
	}
	if (words[0][0] == 'n')
		value->name = words[1];
	else if (words[0][0] == 'd')
		value->dev = words[1];
	else
		return put_queue_size(value, words[1]);
	return 2;
}

int
value_from_words(struct value *value, char **words, int nb_words)
{
	int used = nb_words > 0 ? take_pair(value, words, nb_words) : 0;

	return used != 0 ? used : hex_from_words(words, nb_words, value->hex, sizeof(value->hex));
}

bool
value_is_given(const struct value *value)
{
	return value->hex[0] != '\0' || value->name != NULL || value->dev != NULL;
}

int
value_find_dev(struct ctl *ctl, int port, struct value *value)
{
	json_t *answer, *target;
	bool found = false;
	const char *name;

	if (value->dev == NULL)
		return 0;
	answer = client_ask(&ctl->client, "/mlx4x/xdp/targets/list,port=%d", port);
	if (answer == NULL)
		return -1;
	json_object_foreach(answer, name, target) {
		if (!json_is_object(target) || !port_is(target, value->dev))
			continue;
		put_number(value, (uint32_t)answer_number(target, "ifindex"));
		found = true;
	}
	json_decref(answer);
	if (!found)
		report("port %s is none that programs can redirect to: see targets", value->dev);
	return found ? 0 : -1;
}
