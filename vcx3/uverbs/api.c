/* SPDX-License-Identifier: BSD-3-Clause */

/* What vcx3.h finds with dlsym: stepping, counters and posted buffers from inside the program. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "card.h"

#define EXPORT __attribute__((visibility("default")))

uint64_t vcx3_api_step(unsigned int slices);
size_t vcx3_api_counters(char *buffer, size_t size);
size_t vcx3_api_posted(uint64_t *addresses, size_t max);

EXPORT uint64_t
vcx3_api_step(unsigned int slices)
{
	struct uv_card *card = uv_card();

	if (card == NULL || card->runner == NULL || !card->options.step)
		return 0;
	return vcx3_runner_step(card->runner, slices);
}

EXPORT size_t
vcx3_api_counters(char *buffer, size_t size)
{
	struct uv_card *card = uv_card();
	size_t length = 0;
	char *text;

	if (card == NULL || card->core == NULL)
		return 0;
	uv_lock(card);
	text = uv_card_counters(card);
	uv_unlock(card);
	if (text != NULL) {
		length = strlen(text);
		if (size > 0) {
			strncpy(buffer, text, size - 1);
			buffer[size - 1] = '\0';
		}
	}
	free(text);
	return length;
}

EXPORT size_t
vcx3_api_posted(uint64_t *addresses, size_t max)
{
	struct uv_card *card = uv_card();
	size_t nb;

	if (card == NULL || card->core == NULL)
		return 0;
	uv_lock(card);
	nb = vcx3_core_posted(card->core, addresses, max);
	uv_unlock(card);
	return nb;
}
