/* SPDX-License-Identifier: BSD-3-Clause */

/* Looking for files; see near.h. */

#include "near.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *
perf_find_self(void)
{
	static char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (length < 0)
		return NULL;
	self[length] = '\0';
	return self;
}

/* The first place, relative to the folder of this program, that can be read. */
static int
find(const char *const *places, size_t nb, const char *name, char *found, size_t size)
{
	const char *self = perf_find_self();
	size_t i;

	for (i = 0; self != NULL && i < nb; i++) {
		int ret = snprintf(found, size, "%.*s/%s%s", (int)(strrchr(self, '/') - self), self,
			places[i], name);

		if (ret > 0 && (size_t)ret < size && access(found, R_OK) == 0)
			return 0;
	}
	return -ENOENT;
}

const char *
perf_find_ours(void)
{
	static const char *const places[] = {
		"../../drivers/net/mlx4x/",
		"../lib/x86_64-linux-gnu/mlx4x/",
		"../lib/mlx4x/",
	};
	static char found[PATH_MAX];

	return find(places, sizeof(places) / sizeof(places[0]), "librte_net_mlx4x.so", found,
		sizeof(found)) == 0 ? found : NULL;
}

const char *
perf_find_launcher(void)
{
	static const char *const places[] = { "../../vcx3/", "" };
	static char found[PATH_MAX];

	return find(places, sizeof(places) / sizeof(places[0]), "vcx3", found,
		sizeof(found)) == 0 ? found : NULL;
}

/* A program of xdp-tools, where its packages have them. */
static int
find_installed(const char *name, char *path, size_t size)
{
	static const char *const places[] = { "/usr/lib/x86_64-linux-gnu/bpf", "/usr/lib64/bpf",
		"/usr/lib/bpf" };
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(path, size, "%s/%s.o", places[i], name);
		if (access(path, R_OK) == 0)
			return 0;
	}
	return -ENOENT;
}

int
perf_find_program(const char *name, char *path, size_t size)
{
	static const char *const places[] = { "../../examples/progs/", "../share/mlx4x/progs/" };
	char file[NAME_MAX];

	snprintf(file, sizeof(file), "%s.bpf.o", name);
	if (find(places, sizeof(places) / sizeof(places[0]), file, path, size) == 0)
		return 0;
	return find_installed(name, path, size);
}
