/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The functions of the C library that this library covers (connectx3-device.md A.1, V.1), under
 * every name that a program may be bound to. Each asks quickly whether the call is about the
 * card and else passes it on.
 */

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "command.h"
#include "fds.h"
#include "netdev.h"
#include "real.h"
#include "trap.h"

#define EXPORT __attribute__((visibility("default")))
#define DEVICE_PATH "/dev/infiniband/" VCX3_UVERBS

/* Older programs are bound to these names; the headers no longer declare them. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __xstat(int version, const char *path, struct stat *status);
int __xstat64(int version, const char *path, struct stat64 *status);
int __fxstat(int version, int fd, struct stat *status);
int __fxstat64(int version, int fd, struct stat64 *status);
ssize_t __read_chk(int fd, void *buffer, size_t count, size_t size);

_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "one layout for both names");

static int
set_errno(int result)
{
	if (result >= 0)
		return result;
	errno = -result;
	return -1;
}

static bool
is_device(const char *path)
{
	return path != NULL && path[0] == '/' && strcmp(path, DEVICE_PATH) == 0 && uv_card() != NULL;
}

static int
open_device(int flags)
{
	struct uv_card *card = uv_card();
	int ret;

	if (card->shared->removed)
		return set_errno(-ENODEV);
	ret = uv_card_prepare(card);
	return set_errno(ret < 0 ? ret : uv_fd_open_context(card, flags));
}

static mode_t
mode_of(int flags, va_list args)
{
	return flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
}

EXPORT int
open(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = mode_of(flags, args);
	va_end(args);
	return is_device(path) ? open_device(flags) : uv_real()->open(path, flags, mode);
}

EXPORT int
open64(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = mode_of(flags, args);
	va_end(args);
	return is_device(path) ? open_device(flags) :
				 uv_real()->open(path, flags | O_LARGEFILE, mode);
}

EXPORT int
openat(int dir, const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = mode_of(flags, args);
	va_end(args);
	return is_device(path) ? open_device(flags) : uv_real()->openat(dir, path, flags, mode);
}

EXPORT int
openat64(int dir, const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = mode_of(flags, args);
	va_end(args);
	return is_device(path) ? open_device(flags) :
				 uv_real()->openat(dir, path, flags | O_LARGEFILE, mode);
}

EXPORT int
__open_2(const char *path, int flags)
{
	return open(path, flags);
}

EXPORT int
__open64_2(const char *path, int flags)
{
	return open64(path, flags);
}

/* A character device with the numbers that sysfs shows (A.2). */
static int
describe(struct stat *status)
{
	memset(status, 0, sizeof(*status));
	status->st_mode = S_IFCHR | 0666;
	status->st_rdev = makedev(VCX3_UVERBS_MAJOR, VCX3_UVERBS_MINOR);
	status->st_nlink = 1;
	status->st_blksize = UV_PAGE;
	return 0;
}

static bool
is_command_fd(int fd)
{
	const struct uv_fd *entry = uv_fd_get(fd);

	return entry != NULL && entry->kind == UV_FD_COMMAND;
}

EXPORT int
stat(const char *path, struct stat *status)
{
	return is_device(path) ? describe(status) : uv_real()->stat(path, status);
}

EXPORT int
stat64(const char *path, struct stat64 *status)
{
	return stat(path, (struct stat *)status);
}

EXPORT int
fstat(int fd, struct stat *status)
{
	return is_command_fd(fd) ? describe(status) : uv_real()->fstat(fd, status);
}

EXPORT int
fstat64(int fd, struct stat64 *status)
{
	return fstat(fd, (struct stat *)status);
}

EXPORT int
__xstat(int version, const char *path, struct stat *status)
{
	return stat(path, status);
}

EXPORT int
__xstat64(int version, const char *path, struct stat64 *status)
{
	return stat(path, (struct stat *)status);
}

EXPORT int
__fxstat(int version, int fd, struct stat *status)
{
	return fstat(fd, status);
}

EXPORT int
__fxstat64(int version, int fd, struct stat64 *status)
{
	return fstat(fd, (struct stat *)status);
}

EXPORT ssize_t
read(int fd, void *buffer, size_t count)
{
	struct uv_events *events = uv_fd_events(fd);

	return events != NULL ? uv_events_read(uv_card(), events, fd, buffer, count) :
				uv_real()->read(fd, buffer, count);
}

EXPORT ssize_t
__read_chk(int fd, void *buffer, size_t count, size_t size)
{
	return read(fd, buffer, count);
}

EXPORT ssize_t
write(int fd, const void *buffer, size_t count)
{
	struct uv_fd *entry = uv_fd_get(fd);

	if (entry == NULL || entry->kind != UV_FD_COMMAND)
		return uv_real()->write(fd, buffer, count);
	return uv_dispatch(uv_card(), entry->context, buffer, count);
}

EXPORT int
close(int fd)
{
	return uv_fd_get(fd) != NULL ? uv_fd_close(uv_card(), fd) : uv_real()->close(fd);
}

EXPORT int
dup(int fd)
{
	int copy = uv_real()->dup(fd);

	uv_fd_copied(fd, copy);
	return copy;
}

EXPORT int
dup2(int from, int to)
{
	if (from != to && uv_fd_get(to) != NULL)
		uv_fd_forget(uv_card(), to);
	to = uv_real()->dup2(from, to);
	if (from != to)
		uv_fd_copied(from, to);
	return to;
}

EXPORT int
dup3(int from, int to, int flags)
{
	if (from != to && uv_fd_get(to) != NULL)
		uv_fd_forget(uv_card(), to);
	to = uv_real()->dup3(from, to, flags);
	uv_fd_copied(from, to);
	return to;
}

/* A command descriptor has no ioctl (B.1): rdma-core then uses write. */
EXPORT int
ioctl(int fd, unsigned long request, ...)
{
	void *argument;
	va_list args;
	int result;

	va_start(args, request);
	argument = va_arg(args, void *);
	va_end(args);
	if (is_command_fd(fd))
		return set_errno(-ENOTTY);
	if (request >= 0x8900 && request <= 0x89ff && uv_netdev_ioctl(request, argument, &result))
		return set_errno(result);
	return uv_real()->ioctl(fd, request, argument);
}

/* Pages of a command descriptor (C.1); the file behind does the rest. */
static void *
map_page(struct uv_context *context, void *at, size_t length, int prot, int flags, int fd,
	 off_t offset)
{
	struct uv_card *card = uv_card();
	off_t page = offset / UV_PAGE;
	bool trapped = page == UV_PAGE_UAR && card->options.strict;
	void *mapped;
	int ret;

	if (length != UV_PAGE || offset % UV_PAGE != 0 || page > UV_PAGE_CLOCK ||
	    page == UV_PAGE_BLUEFLAME + 1 || (page == UV_PAGE_CLOCK && prot & PROT_WRITE)) {
		errno = EINVAL;
		return MAP_FAILED;
	}
	mapped = uv_real()->mmap(at, length, trapped ? PROT_NONE : prot, flags, fd, offset);
	if (mapped == MAP_FAILED)
		return mapped;
	if (page == UV_PAGE_CLOCK)
		uv_card_write_clock(card);
	uv_lock(card);
	if (page == UV_PAGE_CLOCK)
		card->clock_mapped = true;
	ret = trapped ? uv_trap_add(card, context, mapped, context->pages) : 0;
	uv_unlock(card);
	if (ret == 0)
		return mapped;
	uv_real()->munmap(mapped, length);
	errno = -ret;
	return MAP_FAILED;
}

/* Another process's doorbell page: what is stored there is seen, as in map_page(). */
static void *
map_page_of_other(void *at, int flags, int fd)
{
	void *device = uv_real()->mmap(NULL, UV_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	void *mapped = MAP_FAILED;
	int ret;

	if (device == MAP_FAILED)
		return MAP_FAILED;
	mapped = uv_real()->mmap(at, UV_PAGE, PROT_NONE, flags, fd, 0);
	ret = mapped == MAP_FAILED ? -errno : uv_trap_add_other(uv_card(), mapped, device);
	if (ret == 0)
		return mapped;
	if (mapped != MAP_FAILED)
		uv_real()->munmap(mapped, UV_PAGE);
	uv_real()->munmap(device, UV_PAGE);
	errno = -ret;
	return MAP_FAILED;
}

static bool
is_page_of_other(size_t length, int flags, int fd, off_t offset)
{
	return length == UV_PAGE && offset == UV_PAGE_UAR * UV_PAGE && flags & MAP_SHARED &&
	       fd >= 0 && uv_card() != NULL && uv_card()->options.strict && uv_fd_is_of_other(fd);
}

EXPORT void *
mmap(void *at, size_t length, int prot, int flags, int fd, off_t offset)
{
	struct uv_fd *entry = fd >= 0 ? uv_fd_get(fd) : NULL;

	if (is_page_of_other(length, flags, fd, offset))
		return map_page_of_other(at, flags, fd);
	if (entry == NULL || entry->kind != UV_FD_COMMAND)
		return uv_real()->mmap(at, length, prot, flags, fd, offset);
	return map_page(entry->context, at, length, prot, flags, fd, offset);
}

EXPORT void *
mmap64(void *at, size_t length, int prot, int flags, int fd, off64_t offset)
{
	return mmap(at, length, prot, flags, fd, offset);
}

EXPORT int
munmap(void *at, size_t length)
{
	if (length == UV_PAGE)
		uv_trap_remove(at);
	return uv_real()->munmap(at, length);
}

/* Without RDMA netlink, rdma-core looks into sysfs (A.2). */
EXPORT int
socket(int domain, int type, int protocol)
{
	if (domain == AF_NETLINK && protocol == NETLINK_RDMA && uv_card() != NULL)
		return set_errno(-EPROTONOSUPPORT);
	return uv_real()->socket(domain, type, protocol);
}

EXPORT unsigned int
if_nametoindex(const char *name)
{
	const struct vcx3_netdev *netdev = uv_netdev_by_name(name);

	return netdev != NULL ? netdev->index : uv_real()->if_nametoindex(name);
}

EXPORT char *
if_indextoname(unsigned int index, char name[IF_NAMESIZE])
{
	const struct vcx3_netdev *netdev = uv_netdev_by_index(index);

	return netdev != NULL ? strcpy(name, netdev->name) :
				uv_real()->if_indextoname(index, name);
}

EXPORT int
sigaction(int number, const struct sigaction *to, struct sigaction *from)
{
	return uv_trap_sigaction(number, to, from) ? 0 : uv_real()->sigaction(number, to, from);
}
