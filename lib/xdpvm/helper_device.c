/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Helpers about devices: what only the embedder knows comes through struct xdpvm_services. A
 * redirect leaves its target in the buffer; the embedder delivers after the run.
 */
#include <linux/if_ether.h>

#include "helper.h"
#include "map.h"

/* Linux 6.18: BPF_FIB_LOOKUP_DIRECT, OUTPUT, SKIP_NEIGH, TBID, SRC, MARK. */
#define FIB_LOOKUP_FLAGS 0x3fu

XDPVM_HELPER(check_mtu)
{
	struct xdpvm_buff *xdp = xdpvm_arg_pointer(r1);
	uint32_t *length = xdpvm_arg_pointer(r3);
	int frame = xdp->data_end - xdp->data;
	int mtu;

	if (r5 != 0)
		return -EINVAL;
	mtu = xdp->services != NULL && xdp->services->mtu != NULL ?
	      xdp->services->mtu(xdp, (uint32_t)r2) : -ENODEV;
	if (mtu < 0)
		return mtu;
	/* A length that the program gives is one of layer 3, as a FIB lookup's. */
	if (*length != 0)
		frame = (int)(*length + ETH_HLEN);
	frame += (int32_t)r4;
	*length = mtu;
	return frame <= mtu + ETH_HLEN ? BPF_MTU_CHK_RET_SUCCESS : BPF_MTU_CHK_RET_FRAG_NEEDED;
}

XDPVM_HELPER(fib_lookup)
{
	struct xdpvm_buff *xdp = xdpvm_arg_pointer(r1);
	struct bpf_fib_lookup *params = xdpvm_arg_pointer(r2);

	if ((uint32_t)r3 < sizeof(*params) || ((uint32_t)r4 & ~FIB_LOOKUP_FLAGS))
		return -EINVAL;
	if (xdp->services == NULL || xdp->services->fib_lookup == NULL)
		return BPF_FIB_LKUP_RET_NOT_FWDED;
	return xdp->services->fib_lookup(xdp, params, (int)r3, (uint32_t)r4);
}

XDPVM_HELPER(redirect)
{
	if (r2 != 0)
		return XDP_ABORTED;
	buff->redirect = (struct xdpvm_redirect){
		.kind = XDPVM_REDIRECT_IFINDEX,
		.target = r1,
	};
	return XDP_REDIRECT;
}

XDPVM_HELPER(redirect_map)
{
	struct xdpvm_map *map = xdpvm_arg_pointer(r1);

	if (map->ops->redirect == NULL)
		return XDP_ABORTED;
	return map->ops->redirect(map, (uint32_t)r2, r3, buff);
}
