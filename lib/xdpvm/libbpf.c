/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libbpf talks to stderr through one process-wide callback. While the library is inside libbpf the
 * callback is ours and keeps what this thread is told; other threads' messages go where they went.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <bpf/libbpf.h>

#include "object.h"

static pthread_mutex_t capture_lock = PTHREAD_MUTEX_INITIALIZER;
static libbpf_print_fn_t previous_print;
static __thread struct xdpvm_capture *capturing;

#define LOG_BEGIN "-- BEGIN PROG LOAD LOG --\n"
#define LOG_END "-- END PROG LOAD LOG --"

static void
keep_verifier_log(struct xdpvm_capture *capture, char *message)
{
	char *start = strstr(message, LOG_BEGIN) + strlen(LOG_BEGIN);
	char *end = strstr(start, LOG_END);

	free(capture->verifier);
	capture->verifier = strndup(start, end != NULL ? (size_t)(end - start) : strlen(start));
}

static void
keep_reason(struct xdpvm_capture *capture, char *message)
{
	message[strcspn(message, "\n")] = '\0';
	/*
	 * The first warning names the cause; those after it say that so the whole failed. That a
	 * map is tried once more without BTF is no cause.
	 */
	if (capture->reason == NULL && message[0] != '\0' &&
	    strstr(message, "Retrying without BTF") == NULL)
		capture->reason = strdup(strncmp(message, "libbpf: ", 8) == 0 ? message + 8 :
										message);
}

static int
capture_print(enum libbpf_print_level level, const char *format, va_list args)
{
	char *message;
	int length;

	if (capturing == NULL)
		return previous_print != NULL ? previous_print(level, format, args) : 0;
	if (level != LIBBPF_WARN)
		return 0;
	length = vasprintf(&message, format, args);
	if (length < 0)
		return 0;
	if (strstr(message, LOG_BEGIN) != NULL)
		keep_verifier_log(capturing, message);
	else
		keep_reason(capturing, message);
	free(message);
	return length;
}

void
xdpvm_capture_begin(struct xdpvm_capture *capture)
{
	*capture = (struct xdpvm_capture){ 0 };
	pthread_mutex_lock(&capture_lock);
	capturing = capture;
	previous_print = libbpf_set_print(capture_print);
}

void
xdpvm_capture_end(void)
{
	libbpf_set_print(previous_print);
	capturing = NULL;
	pthread_mutex_unlock(&capture_lock);
}

void
xdpvm_capture_free(struct xdpvm_capture *capture)
{
	free(capture->reason);
	free(capture->verifier);
}

int
xdpvm_libbpf_error(int error)
{
	return error <= -__LIBBPF_ERRNO__START ? -EINVAL : error;
}
