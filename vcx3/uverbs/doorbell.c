/* SPDX-License-Identifier: BSD-3-Clause */

/* See doorbell.h. */

#include "doorbell.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "../core/cq.h"
#include "../core/qp.h"
#include "real.h"

#define SQ_DOORBELL 0x14 /* connectx3-device.md C.2 */
#define CQ_DOORBELL 0x20 /* C.4 */

static uint32_t
be32(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3];
}

void
uv_doorbell_ring(struct uv_card *card, const struct uv_doorbell *doorbell)
{
	const uint8_t *bytes = doorbell->bytes;
	uint32_t high;

	if (doorbell->offset == SQ_DOORBELL && doorbell->size == 4) {
		vcx3_qp_kick(card->core, be32(bytes) >> 8);
	} else if (doorbell->offset == CQ_DOORBELL && doorbell->size == 8) {
		high = be32(bytes);
		vcx3_cq_arm(card->core, high & 0xffffff, high >> 24 & 3,
			    be32(bytes + 4) & 0xffffff, high >> 28 & 3);
	}
}

/* False when the state folder's name is too long for a socket. */
static bool
name_socket(const struct uv_card *card, struct sockaddr_un *address)
{
	size_t length = strlen(card->dir), room = sizeof(address->sun_path);

	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (length + sizeof("/" VCX3_FILE_DOORBELLS) > room)
		return false;
	memcpy(address->sun_path, card->dir, length);
	memcpy(address->sun_path + length, "/" VCX3_FILE_DOORBELLS, sizeof("/" VCX3_FILE_DOORBELLS));
	return true;
}

int
uv_doorbell_prepare(struct uv_card *card)
{
	if (card->tell_fd < 0)
		card->tell_fd = uv_real()->socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	return card->tell_fd < 0 ? -errno : 0;
}

/* Without an owner nobody hears it: the card is gone. */
void
uv_doorbell_send(const struct uv_card *card, const struct uv_doorbell *doorbell)
{
	struct sockaddr_un address;

	if (!name_socket(card, &address))
		return;
	while (sendto(card->tell_fd, doorbell, sizeof(*doorbell), MSG_NOSIGNAL,
		      (const struct sockaddr *)&address, sizeof(address)) < 0 && errno == EINTR)
		;
}

int
uv_doorbell_listen(struct uv_card *card)
{
	struct sockaddr_un address;
	int fd, error;

	if (!name_socket(card, &address)) {
		uv_say("--strict: the name of the folder %s is too long for a socket in it",
		       card->dir);
		return -ENAMETOOLONG;
	}
	fd = uv_real()->socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	unlink(address.sun_path); /* of an owner that has ended */
	if (fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0) {
		card->doorbell_fd = fd;
		return 0;
	}
	error = errno;
	uv_say("--strict: cannot listen at %s: %s", address.sun_path, strerror(error));
	if (fd >= 0)
		uv_real()->close(fd);
	return -error;
}

void
uv_doorbell_serve(struct uv_card *card)
{
	struct uv_doorbell doorbell;

	while (card->doorbell_fd >= 0 &&
	       recv(card->doorbell_fd, &doorbell, sizeof(doorbell), MSG_DONTWAIT) ==
		       sizeof(doorbell))
		uv_doorbell_ring(card, &doorbell);
}
