/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * bpf_fib_lookup(): the driver knows no routes, the application may. Its function is one
 * for all ports, and is replaced like a program: by a pointer, and after every burst that
 * could hold the old one.
 */

#include <errno.h>
#include <stdlib.h>

#include "xdp.h"

struct fib {
	rte_pmd_mlx4x_xdp_fib_fn lookup;
	void *arg;
};

static struct fib *current;

int
mlx4x_xdp_fib_lookup(struct xdpvm_buff *buff, struct bpf_fib_lookup *params, int size,
	uint32_t flags)
{
	const struct fib *fib = mlx4x_load_acquire(&current);

	return fib != NULL ? fib->lookup(fib->arg, buff->ingress_ifindex, params, flags) :
		BPF_FIB_LKUP_RET_NOT_FWDED;
}

int
rte_pmd_mlx4x_xdp_fib_set(rte_pmd_mlx4x_xdp_fib_fn lookup, void *arg)
{
	struct fib *fib = NULL, *old;

	if (lookup != NULL) {
		fib = malloc(sizeof(*fib));
		if (fib == NULL)
			return mlx4x_xdp_refuse(NULL, ENOMEM, "no memory for a function that looks up "
				"routes");
		*fib = (struct fib){ lookup, arg };
	}
	mlx4x_xdp_lock();
	old = current;
	mlx4x_store_release(&current, fib);
	xdpvm_synchronize();
	mlx4x_xdp_unlock();
	free(old);
	return 0;
}
