/* SPDX-License-Identifier: BSD-3-Clause */
/* Chains of programs; see xdpvm_chain.h. */
#include <stdlib.h>

#include "program.h"
#include "xdpvm_chain.h"

struct chained {
	struct xdpvm_prog *prog;
	struct xdpvm_run_config config;
	unsigned int given;	/* place in what the caller gave */
};

struct xdpvm_chain {
	unsigned int n;
	struct chained progs[XDPVM_CHAIN_MAX];
};

/* libxdp's order of programs that are not loaded yet. */
static int
compare(const void *one, const void *other)
{
	const struct chained *a = one, *b = other;
	int order;

	if (a->config.priority != b->config.priority)
		return a->config.priority < b->config.priority ? -1 : 1;
	order = strcmp(a->prog->name, b->prog->name);
	if (order == 0 && a->prog->n_insns != b->prog->n_insns)
		order = a->prog->n_insns < b->prog->n_insns ? -1 : 1;
	if (order == 0)
		order = memcmp(a->prog->tag, b->prog->tag, sizeof(a->prog->tag));
	return order != 0 ? order : (int)a->given - (int)b->given;
}

int
xdpvm_chain_create(const struct xdpvm_chain_link *links, unsigned int n, struct xdpvm_chain **chain)
{
	struct xdpvm_chain *made;
	int ret = 0;

	if (n == 0)
		return -EINVAL;
	if (n > XDPVM_CHAIN_MAX)
		return xdpvm_fail(links[0].prog->object, -E2BIG,
				  "%u programs in a chain, more than %u", n, XDPVM_CHAIN_MAX);
	made = calloc(1, sizeof(*made));
	if (made == NULL)
		return -ENOMEM;
	made->n = n;
	for (unsigned int i = 0; i < n && ret == 0; i++) {
		made->progs[i] = (struct chained){ .prog = links[i].prog, .given = i };
		if (links[i].config != NULL)
			made->progs[i].config = *links[i].config;
		else
			ret = xdpvm_prog_run_config(links[i].prog, &made->progs[i].config);
	}
	if (ret != 0) {
		free(made);
		return ret;
	}
	qsort(made->progs, n, sizeof(made->progs[0]), compare);
	*chain = made;
	return 0;
}

void
xdpvm_chain_free(struct xdpvm_chain *chain)
{
	free(chain);
}

struct xdpvm_prog *
xdpvm_chain_prog(const struct xdpvm_chain *chain, unsigned int i)
{
	return i < chain->n ? chain->progs[i].prog : NULL;
}

uint32_t
xdpvm_chain_run(const struct xdpvm_chain *chain, struct xdpvm_buff *buff)
{
	uint32_t action;

	for (unsigned int i = 0; i < chain->n; i++) {
		action = xdpvm_run(chain->progs[i].prog, buff);
		if (!(chain->progs[i].config.chain_call_actions & 1u << action))
			return action;
	}
	return XDP_PASS;
}

void
xdpvm_chain_run_burst(const struct xdpvm_chain *chain, struct xdpvm_buff *buff,
		      struct xdpvm_packet *packets, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		xdpvm_packet_load(&packets[i], buff);
		packets[i].action = xdpvm_chain_run(chain, buff);
		xdpvm_packet_store(&packets[i], buff);
	}
}
