/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The functions of the C library that interpose.c covers. Everything else in this folder calls
 * them through here, so that the library never runs into its own cover.
 */

#ifndef VCX3_UVERBS_REAL_H
#define VCX3_UVERBS_REAL_H

#include <signal.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

#define UV_REAL_FUNCTIONS(X) \
	X(int, open, (const char *path, int flags, ...)) \
	X(int, openat, (int dir, const char *path, int flags, ...)) \
	X(int, close, (int fd)) \
	X(ssize_t, read, (int fd, void *buffer, size_t count)) \
	X(ssize_t, write, (int fd, const void *buffer, size_t count)) \
	X(int, ioctl, (int fd, unsigned long request, ...)) \
	X(void *, mmap, (void *at, size_t length, int prot, int flags, int fd, off_t offset)) \
	X(int, munmap, (void *at, size_t length)) \
	X(int, socket, (int domain, int type, int protocol)) \
	X(int, stat, (const char *path, struct stat *status)) \
	X(int, fstat, (int fd, struct stat *status)) \
	X(int, dup, (int fd)) \
	X(int, dup2, (int from, int to)) \
	X(int, dup3, (int from, int to, int flags)) \
	X(unsigned int, if_nametoindex, (const char *name)) \
	X(char *, if_indextoname, (unsigned int index, char *name)) \
	X(int, sigaction, (int number, const struct sigaction *to, struct sigaction *from))

struct uv_real {
#define UV_REAL_FIELD(type, name, args) type(*name) args;
	UV_REAL_FUNCTIONS(UV_REAL_FIELD)
#undef UV_REAL_FIELD
};

/* Resolved at the first call, which may come before this library's constructor. */
const struct uv_real *uv_real(void);

#endif /* VCX3_UVERBS_REAL_H */
