/* SPDX-License-Identifier: BSD-3-Clause */

/* Capture files: whatever is taken lies inside the file. */

#include <stdlib.h>
#include <string.h>

#include "capture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vcx3_capture capture = {.bytes = malloc(size + 1), .size = size};
	char reason[VCX3_WIRE_REASON_SIZE];

	if (capture.bytes == NULL)
		return 0;
	memcpy(capture.bytes, data, size);
	if (vcx3_capture_parse(&capture, "fuzz", reason, sizeof(reason)) == 0) {
		for (uint32_t i = 0; i < capture.count; i++) {
			const struct vcx3_frame *frame = &capture.frames[i];

			if (frame->data < capture.bytes || frame->len > VCX3_WIRE_FRAME_MAX ||
			    frame->data + frame->len > capture.bytes + size)
				__builtin_trap();
		}
	}
	vcx3_capture_free(&capture);
	return 0;
}
