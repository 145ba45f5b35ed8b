/* SPDX-License-Identifier: BSD-3-Clause */

/* See player.h. */

#include "player.h"

#include <string.h>

uint32_t
vcx3_player_peek(const struct vcx3_player *player, struct vcx3_frame *frames, uint32_t n)
{
	uint32_t next = player->next;
	uint32_t count = 0;

	if (player->held || player->length == 0)
		return 0;
	if (n > player->left)
		n = (uint32_t)player->left;
	while (count < n) {
		uint32_t piece = player->length - next;

		if (piece > n - count)
			piece = n - count;
		memcpy(&frames[count], &player->frames[next], piece * sizeof(*frames));
		count += piece;
		next = 0;
	}
	return count;
}

uint64_t
vcx3_player_consume(struct vcx3_player *player, uint32_t n)
{
	uint64_t bytes = 0;

	if (player->left != UINT64_MAX)
		player->left -= n;
	while (n-- > 0) {
		bytes += player->frames[player->next].len;
		if (++player->next == player->length)
			player->next = 0;
	}
	return bytes;
}
