/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The trace log: a bounded ring of lines for the whole process, as Linux has one for the whole
 * system. New lines push out old ones.
 */
#include <time.h>

#include "format.h"
#include "helper.h"
#include "spin.h"
#include "xdpvm_events.h"

#define TRACE_LINES 256u	/* power of two */
#define NS_PER_SECOND 1000000000ull

static struct xdpvm_trace_line lines[TRACE_LINES];
static uint32_t trace_lock;
static uint64_t written, taken;	/* lines since the start; taken <= written */
static uint64_t lost;		/* lines pushed out since the last one was read */

static void
trace_write(const char *text, int length, uint32_t cpu)
{
	struct xdpvm_trace_line *line;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (length >= XDPVM_TRACE_TEXT)
		length = XDPVM_TRACE_TEXT - 1;
	if (length > 0 && text[length - 1] == '\n')
		length--;
	xdpvm_spin_lock(&trace_lock);
	if (written - taken == TRACE_LINES) {
		taken++;
		lost++;
	}
	line = &lines[written++ % TRACE_LINES];
	line->time_ns = now.tv_sec * NS_PER_SECOND + now.tv_nsec;
	line->cpu = cpu;
	memcpy(line->text, text, length);
	line->text[length] = '\0';
	xdpvm_spin_unlock(&trace_lock);
}

int
xdpvm_trace_read(struct xdpvm_trace_line *line)
{
	int n = 0;

	xdpvm_spin_lock(&trace_lock);
	if (taken < written) {
		*line = lines[taken++ % TRACE_LINES];
		line->lost = lost;
		lost = 0;
		n = 1;
	}
	xdpvm_spin_unlock(&trace_lock);
	return n;
}

/*
 * The format may lie in a map value that others write to meanwhile: what is read twice is a copy.
 * One that is as long as a line is refused.
 */
static uint64_t
print(const char *format, uint32_t format_size, const uint64_t *args, uint32_t n_args,
      enum xdpvm_format_pointers pointers, struct xdpvm_buff *buff)
{
	char text[XDPVM_TRACE_TEXT], copy[XDPVM_TRACE_TEXT];
	uint32_t size = format_size < sizeof(copy) ? format_size : sizeof(copy);
	int length;

	memcpy(copy, format, size);
	length = xdpvm_format(text, sizeof(text), copy, size, args, n_args, pointers);
	if (length >= 0)
		trace_write(text, length, buff->thread->cpu);
	return length;
}

XDPVM_HELPER(trace_printk)
{
	uint64_t args[] = { r3, r4, r5 };

	return print(xdpvm_arg_pointer(r1), r2, args, 3, XDPVM_FORMAT_FOLLOW, buff);
}

/* The prover does not look at formats: whatever address a program names stays unread. */
XDPVM_HELPER(trace_printk_proven)
{
	uint64_t args[] = { r3, r4, r5 };

	return print(xdpvm_arg_pointer(r1), r2, args, 3, XDPVM_FORMAT_SHOW, buff);
}

/* Arguments as an array of 64-bit words: false when they are not that. */
static bool
args_copy(uint64_t *args, uint64_t from, uint32_t bytes)
{
	if (bytes % sizeof(*args) != 0 || bytes > XDPVM_FORMAT_ARGS * sizeof(*args))
		return false;
	if (bytes == 0)
		return true;
	if (from == 0)
		return false;
	memcpy(args, xdpvm_arg_pointer(from), bytes);
	return true;
}

XDPVM_HELPER(trace_vprintk)
{
	uint64_t args[XDPVM_FORMAT_ARGS];

	if (!args_copy(args, r3, r4))
		return -EINVAL;
	return print(xdpvm_arg_pointer(r1), r2, args, (uint32_t)r4 / 8, XDPVM_FORMAT_FOLLOW, buff);
}

XDPVM_HELPER(trace_vprintk_proven)
{
	uint64_t args[XDPVM_FORMAT_ARGS];

	if (!args_copy(args, r3, r4))
		return -EINVAL;
	return print(xdpvm_arg_pointer(r1), r2, args, (uint32_t)r4 / 8, XDPVM_FORMAT_SHOW, buff);
}

/* Pointers are not followed here: the text goes back to the program. */
XDPVM_HELPER(snprintf)
{
	uint64_t args[XDPVM_FORMAT_ARGS];
	const char *format = xdpvm_arg_pointer(r3);
	int length;

	if (!args_copy(args, r4, r5))
		return -EINVAL;
	length = xdpvm_format(xdpvm_arg_pointer(r1), (uint32_t)r2, format, strlen(format) + 1, args,
			      (uint32_t)r5 / 8, XDPVM_FORMAT_REFUSE);
	return length < 0 ? length : length + 1;
}
