/* SPDX-License-Identifier: BSD-3-Clause */
/* The formats of bpf_trace_printk(), bpf_trace_vprintk() and bpf_snprintf(). */
#ifndef XDPVM_FORMAT_H
#define XDPVM_FORMAT_H

#include <stddef.h>
#include <stdint.h>

/* Most arguments of a format; Linux: MAX_BPRINTF_VARARGS. */
#define XDPVM_FORMAT_ARGS 12

/* What becomes of the pointers behind %s, %pI4 and the like. */
enum xdpvm_format_pointers {
	XDPVM_FORMAT_REFUSE,	/* the format is refused */
	XDPVM_FORMAT_FOLLOW,	/* wherever they point to; a bad address reads as nothing */
	XDPVM_FORMAT_SHOW,	/* their value is shown, as behind %p */
};

/*
 * Formats into out, cut to size bytes with the NUL (size 0: nothing is written).
 *
 * format_size: bytes that may be looked at; the format must end before.
 * Returns the length that the whole text has, or -EINVAL for what Linux does not accept either.
 */
int xdpvm_format(char *out, size_t size, const char *format, uint32_t format_size,
		 const uint64_t *args, uint32_t n_args,
		 enum xdpvm_format_pointers pointers);

#endif /* XDPVM_FORMAT_H */
