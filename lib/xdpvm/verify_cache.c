/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * verify=cached: which programs of which objects a kernel accepted before. A folder holds an empty
 * file for each, named SHA-256 of the whole object, dot, program. Whoever may write there vouches
 * for programs, so the folder and the file belong to root or to this user, and nobody else may
 * write.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "object.h"
#include "sha256.h"

#define ENTRY_MAX 256	/* bytes of an entry's name */

static bool
is_trusted(const struct stat *st)
{
	return (st->st_uid == 0 || st->st_uid == geteuid()) &&
	       !(st->st_mode & (S_IWGRP | S_IWOTH));
}

/* The folder, or a negative errno; -EPERM: it is not trusted. */
static int
open_trusted(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && is_trusted(&st))
		return fd;
	close(fd);
	return -EPERM;
}

int
xdpvm_cache_dir_check(const char *path)
{
	int fd = open_trusted(path);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

/* The folder, or a negative errno after a sentence. */
static int
open_dir(const struct xdpvm_object *object)
{
	const char *path = object->options.cache_dir;
	int fd;

	if (path == NULL)
		return xdpvm_fail(object, -EINVAL, "verify=cached needs cache_dir, the folder of "
				  "what a kernel accepted");
	fd = open_trusted(path);
	if (fd >= 0)
		return fd;
	if (fd != -EPERM)
		return xdpvm_fail(object, fd, "cache folder %s cannot be opened: %s", path,
				  strerror(-fd));
	return xdpvm_fail(object, -EPERM, "cache folder %s is not trusted: it has to belong to root "
			  "or to this user, and nobody else may write to it", path);
}

static int
entry_name(const struct xdpvm_object *object, const struct xdpvm_prog *prog, char *name)
{
	uint8_t hash[XDPVM_SHA256_BYTES];

	if (strchr(prog->name, '/') != NULL || strlen(prog->name) > ENTRY_MAX - 2 * sizeof(hash) - 2)
		return xdpvm_fail(object, -EINVAL, "program %s: its name cannot be that of a file",
				  prog->name);
	xdpvm_sha256(object->image, object->image_size, hash);
	for (size_t i = 0; i < sizeof(hash); i++)
		sprintf(name + 2 * i, "%02x", hash[i]);
	sprintf(name + 2 * sizeof(hash), ".%s", prog->name);
	return 0;
}

static int
check_entry(int dir, const struct xdpvm_object *object, const struct xdpvm_prog *prog)
{
	char name[ENTRY_MAX];
	struct stat st;
	int ret = entry_name(object, prog, name);

	if (ret != 0)
		return ret;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
	    is_trusted(&st))
		return 0;
	return xdpvm_fail(object, -EACCES, "program %s: %s does not say that a kernel accepted this "
			  "object (no entry %.16s...)", prog->name, object->options.cache_dir, name);
}

int
xdpvm_cache_check(const struct xdpvm_object *object)
{
	int dir = open_dir(object), ret = 0;

	if (dir < 0)
		return dir;
	for (struct xdpvm_prog *prog = object->progs; prog != NULL && ret == 0; prog = prog->next)
		ret = check_entry(dir, object, prog);
	close(dir);
	return ret;
}

int
xdpvm_cache_store(const struct xdpvm_object *object)
{
	int dir = open_dir(object), ret = 0, fd;
	char name[ENTRY_MAX];

	if (dir < 0)
		return dir;
	for (struct xdpvm_prog *prog = object->progs; prog != NULL && ret == 0; prog = prog->next) {
		ret = entry_name(object, prog, name);
		if (ret != 0)
			break;
		fd = openat(dir, name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
		if (fd >= 0)
			close(fd);
		else
			ret = xdpvm_fail(object, -errno, "cache folder %s cannot be written: %s",
					 object->options.cache_dir, strerror(errno));
	}
	close(dir);
	return ret;
}
