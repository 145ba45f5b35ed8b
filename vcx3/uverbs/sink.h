/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef VCX3_UVERBS_SINK_H
#define VCX3_UVERBS_SINK_H

#include "../core/sink.h"

/* Turns what the core tells into records on the program's event descriptors. */
extern const struct vcx3_sink uv_sink;

#endif /* VCX3_UVERBS_SINK_H */
