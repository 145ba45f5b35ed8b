/* SPDX-License-Identifier: BSD-3-Clause */
/* Formatting with the rules of Linux's bpf_bprintf_prepare(); see format.h. */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "format.h"

#define MAX_TEXT 512	/* bytes of a %s; Linux: MAX_BPRINTF_BUF for all of them */
#define MAX_WIDTH 1024

struct formatter {
	const char *at;		/* in the format */
	char *out;
	size_t size;
	size_t used;		/* bytes that would have been written so far */
	const uint64_t *args;
	uint32_t n_args;
	enum xdpvm_format_pointers pointers;
};

static void
put_text(struct formatter *f, const char *text, size_t length)
{
	size_t room = f->used < f->size ? f->size - f->used : 0;

	if (room > 0)
		memcpy(f->out + f->used, text, length < room ? length : room);
	f->used += length;
}

/* Reads memory that may not be there; returns the bytes that are. */
static size_t
read_safely(void *to, uint64_t address, size_t size)
{
	struct iovec local = { .iov_base = to, .iov_len = size };
	struct iovec remote = { .iov_base = (void *)(uintptr_t)address, .iov_len = size };
	ssize_t n = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);

	return n > 0 ? (size_t)n : 0;
}

static void
put_hex(struct formatter *f, uint64_t value)
{
	char text[32];

	put_text(f, text, snprintf(text, sizeof(text), "%016llx", (unsigned long long)value));
}

/* A pointer that is not to be followed. */
static int
put_value(struct formatter *f, uint64_t address)
{
	if (f->pointers == XDPVM_FORMAT_REFUSE)
		return -EINVAL;
	put_hex(f, address);
	return 0;
}

static int
put_string(struct formatter *f, const char *spec, uint64_t address)
{
	char string[MAX_TEXT] = "", text[MAX_TEXT + MAX_WIDTH];
	size_t first = MAX_TEXT - address % MAX_TEXT;	/* does not cross into a second page */
	int n;

	if (f->pointers != XDPVM_FORMAT_FOLLOW)
		return put_value(f, address);
	if (read_safely(string, address, first) == first && memchr(string, 0, first) == NULL)
		read_safely(string + first, address + first, MAX_TEXT - first);
	string[MAX_TEXT - 1] = '\0';
	n = snprintf(text, sizeof(text), spec, string);
	put_text(f, text, n);
	return 0;
}

/* %pi4, %pI4, %pi6, %pI6. */
static int
put_address(struct formatter *f, uint64_t address)
{
	bool dotted = f->at[1] == 'I', six = f->at[2] == '6';
	uint8_t bytes[16] = { 0 };
	char text[INET6_ADDRSTRLEN];

	if (f->at[2] != '4' && !six)
		return -EINVAL;
	f->at += 2;
	if (f->pointers != XDPVM_FORMAT_FOLLOW)
		return put_value(f, address);
	read_safely(bytes, address, six ? 16 : 4);
	if (!six) {
		snprintf(text, sizeof(text), dotted ? "%u.%u.%u.%u" : "%03u.%03u.%03u.%03u",
			 bytes[0], bytes[1], bytes[2], bytes[3]);
		put_text(f, text, strlen(text));
		return 0;
	}
	for (int i = 0; i < 16; i += 2) {
		snprintf(text, sizeof(text), i > 0 && dotted ? ":%02x%02x" : "%02x%02x", bytes[i],
			 bytes[i + 1]);
		put_text(f, text, strlen(text));
	}
	return 0;
}

static int
put_pointer(struct formatter *f, uint64_t value)
{
	char next = f->at[1];

	if (next == 'i' || next == 'I')
		return put_address(f, value);
	if (strchr("KxsSB", next) != NULL && next != '\0')
		f->at++;
	else if (next != '\0' && !isspace((unsigned char)next) && !ispunct((unsigned char)next))
		return -EINVAL;
	put_hex(f, value);
	return 0;
}

/* d, i, u, x, X with up to two l before; spec has what stood before that. */
static int
put_integer(struct formatter *f, char *spec, size_t used, uint64_t value)
{
	char text[MAX_WIDTH + 64];
	int longs = 0;

	for (; *f->at == 'l' && longs < 2; f->at++)
		longs++;
	if (*f->at == '\0' || strchr("diuxX", *f->at) == NULL)
		return -EINVAL;
	if (longs == 0)
		value = strchr("di", *f->at) != NULL ? (uint64_t)(int32_t)value : (uint32_t)value;
	snprintf(spec + used, 4, "ll%c", *f->at);
	put_text(f, text, snprintf(text, sizeof(text), spec, (unsigned long long)value));
	return 0;
}

/* Copies flags and width to spec; returns the bytes in it, 0 when the width is too large. */
static size_t
parse_width(struct formatter *f, char *spec, size_t size)
{
	size_t used = 0;
	int width = 0;

	spec[used++] = '%';
	for (; *f->at != '\0' && strchr("0+- ", *f->at) != NULL; f->at++)
		if (memchr(spec, *f->at, used) == NULL)
			spec[used++] = *f->at;
	for (; isdigit((unsigned char)*f->at); f->at++) {
		width = width * 10 + (*f->at - '0');
		if (width > MAX_WIDTH)
			return 0;
	}
	if (width > 0)
		used += snprintf(spec + used, size - used, "%d", width);
	return used;
}

static int
put_conversion(struct formatter *f)
{
	char spec[24], character;
	size_t used;
	uint64_t value;

	if (f->n_args == 0)
		return -EINVAL;
	f->n_args--;
	value = *f->args++;
	f->at++;
	used = parse_width(f, spec, sizeof(spec));
	if (used == 0)
		return -EINVAL;
	switch (*f->at) {
	case 'p':
		return put_pointer(f, value);
	case 's':
		memcpy(spec + used, "s", 2);
		return put_string(f, spec, value);
	case 'c':
		character = value;
		put_text(f, &character, 1);
		return 0;
	default:
		return put_integer(f, spec, used, value);
	}
}

/* Control characters are refused; anything beyond ASCII is left alone, as in Linux 6.18. */
static bool
is_text(const char *format)
{
	for (; *format != '\0'; format++) {
		unsigned char c = *format;

		if (c < 128 && !isprint(c) && !isspace(c))
			return false;
	}
	return true;
}

int
xdpvm_format(char *out, size_t size, const char *format, uint32_t format_size,
	     const uint64_t *args, uint32_t n_args,
	     enum xdpvm_format_pointers pointers)
{
	struct formatter f = {
		.at = format, .out = out, .size = size, .args = args, .n_args = n_args,
		.pointers = pointers,
	};

	if (memchr(format, 0, format_size) == NULL || !is_text(format))
		return -EINVAL;
	for (; *f.at != '\0'; f.at++) {
		if (*f.at != '%') {
			put_text(&f, f.at, 1);
		} else if (f.at[1] == '%') {
			put_text(&f, f.at++, 1);
		} else if (put_conversion(&f) != 0) {
			return -EINVAL;
		}
	}
	if (size > 0)
		out[f.used < size ? f.used : size - 1] = '\0';
	return f.used;
}
