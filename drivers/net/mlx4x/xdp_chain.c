/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Several objects on one hook, as libxdp's dispatcher runs them. A chain is a program like
 * any other; to add an object or take one out is to attach another chain, of which the
 * objects that stay are a part too.
 */

#include <errno.h>
#include <string.h>

#include "xdp.h"

int
mlx4x_xdp_chain_add(const struct mlx4x_port *port, const struct mlx4x_xdp_prog *old,
	const struct mlx4x_xdp_prog *more, struct mlx4x_xdp_prog **joined)
{
	struct mlx4x_xdp_link *links[XDPVM_CHAIN_MAX];

	if (old->nb_links == 0)
		return mlx4x_xdp_refuse(port, ENOTSUP, "program %s (%u) is the application's own: "
			"only programs that the driver loaded are put in a chain", old->name,
			old->id);
	if (old->nb_links + more->nb_links > XDPVM_CHAIN_MAX)
		return mlx4x_xdp_refuse(port, E2BIG, "%u programs are in the chain, and more than %u "
			"are not possible", old->nb_links, XDPVM_CHAIN_MAX);
	memcpy(links, old->links, old->nb_links * sizeof(links[0]));
	memcpy(links + old->nb_links, more->links, more->nb_links * sizeof(links[0]));
	return mlx4x_xdp_prog_of_links(port, links, old->nb_links + more->nb_links, joined);
}

/* The chain without program id; *rest stays as it is when the chain does not hold it. */
int
mlx4x_xdp_chain_remove(const struct mlx4x_port *port, const struct mlx4x_xdp_prog *old, uint32_t id,
	struct mlx4x_xdp_prog **rest)
{
	struct mlx4x_xdp_link *links[XDPVM_CHAIN_MAX];
	unsigned int nb = 0, i;

	for (i = 0; i < old->nb_links; i++) {
		if (old->links[i]->id != id)
			links[nb++] = old->links[i];
	}
	if (nb == 0 || nb == old->nb_links)
		return 0;
	return mlx4x_xdp_prog_of_links(port, links, nb, rest);
}
