/* SPDX-License-Identifier: BSD-3-Clause */
/* Sentences to the user: formatted here, delivered to the callback of the object's options. */
#include <stdarg.h>
#include <stdio.h>

#include "object.h"

#define MESSAGE_MAX 1024	/* bytes; a longer sentence is cut */

static void
deliver(const struct xdpvm_object *object, enum xdpvm_log_level level, const char *format,
	va_list args)
{
	char message[MESSAGE_MAX];
	int used = 0;

	if (object == NULL || object->options.log == NULL)
		return;
	if (object->name != NULL)
		used = snprintf(message, sizeof(message), "%.255s: ", object->name);
	vsnprintf(message + used, sizeof(message) - used, format, args);
	object->options.log(object->options.log_arg, level, message);
}

void
xdpvm_log(const struct xdpvm_object *object, enum xdpvm_log_level level, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	deliver(object, level, format, args);
	va_end(args);
}

void
xdpvm_object_set_log(struct xdpvm_object *object, xdpvm_log_fn log, void *log_arg)
{
	object->options.log = log;
	object->options.log_arg = log_arg;
}

int
xdpvm_fail(const struct xdpvm_object *object, int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	deliver(object, XDPVM_LOG_ERROR, format, args);
	va_end(args);
	return error;
}
