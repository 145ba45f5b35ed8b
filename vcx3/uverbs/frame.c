/* SPDX-License-Identifier: BSD-3-Clause */

/* See frame.h. */

#include "frame.h"

#include <errno.h>
#include <rdma/ib_user_verbs.h>
#include <string.h>

#define FLAGS (IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_CMD_COMMAND_MASK)

int
uv_frame_number(const uint8_t *bytes, size_t length, uint32_t *number, bool *extended)
{
	struct ib_uverbs_cmd_hdr header;

	if (length < sizeof(header))
		return -EINVAL;
	memcpy(&header, bytes, sizeof(header));
	if (header.command & ~(uint32_t)FLAGS)
		return -EINVAL;
	*number = header.command & IB_USER_VERBS_CMD_COMMAND_MASK;
	*extended = header.command & IB_USER_VERBS_CMD_FLAG_EXTENDED;
	return 0;
}

/* Header counts words of 4 bytes, itself included; the response pointer comes first in core. */
static int
parse_legacy(const uint8_t *bytes, size_t length, const struct ib_uverbs_cmd_hdr *header,
	     const struct uv_shape *shape, struct uv_frame *frame)
{
	size_t room = header->out_words * 4u;

	if (header->in_words * 4u != length)
		return -EINVAL;
	if (length < sizeof(*header) + shape->core_in + shape->provider_in)
		return -ENOSPC;
	if (shape->core_out != 0 && room < (size_t)shape->core_out + shape->provider_out)
		return -ENOSPC;
	frame->core = bytes + sizeof(*header);
	frame->core_size = shape->core_in;
	frame->provider = frame->core + shape->core_in;
	frame->provider_size = length - sizeof(*header) - shape->core_in;
	if (shape->core_out != 0)
		memcpy(&frame->response, frame->core, sizeof(frame->response));
	frame->core_room = shape->core_out;
	frame->provider_room = shape->core_out != 0 ? room - shape->core_out : 0;
	return 0;
}

/* A second header; words of 8 bytes, which cover core and provider parts separately. */
static int
parse_extended(const uint8_t *bytes, size_t length, const struct ib_uverbs_cmd_hdr *header,
	       const struct uv_shape *shape, struct uv_frame *frame)
{
	const size_t head = sizeof(*header) + sizeof(struct ib_uverbs_ex_cmd_hdr);
	struct ib_uverbs_ex_cmd_hdr more;

	if (length < head)
		return -EINVAL;
	memcpy(&more, bytes + sizeof(*header), sizeof(more));
	if ((header->in_words + more.provider_in_words) * 8u != length - head)
		return -EINVAL;
	if (header->in_words * 8u < shape->core_in)
		return -ENOSPC;
	if (more.cmd_hdr_reserved != 0)
		return -EINVAL;
	if ((more.response == 0) != (header->out_words + more.provider_out_words == 0))
		return -EINVAL;
	if (header->out_words * 8u < shape->core_out)
		return -ENOSPC;
	frame->core = bytes + head;
	frame->core_size = header->in_words * 8u;
	frame->provider = frame->core + frame->core_size;
	frame->provider_size = more.provider_in_words * 8u;
	frame->response = more.response;
	frame->core_room = header->out_words * 8u;
	frame->provider_room = more.provider_out_words * 8u;
	return frame->provider_size < shape->provider_in ? -EINVAL : 0;
}

int
uv_frame_parse(const uint8_t *bytes, size_t length, const struct uv_shape *shape,
	       struct uv_frame *frame)
{
	struct ib_uverbs_cmd_hdr header;
	int ret;

	memset(frame, 0, sizeof(*frame));
	ret = uv_frame_number(bytes, length, &frame->number, &frame->extended);
	if (ret < 0)
		return ret;
	memcpy(&header, bytes, sizeof(header));
	if (frame->extended)
		return parse_extended(bytes, length, &header, shape, frame);
	return parse_legacy(bytes, length, &header, shape, frame);
}
