#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# In the guest, the shortest way through all of it: load, ping, net_mlx4x with an XDP object
# that keeps frames from the kernel, ping again, unload.
. /test/lib.sh
. /test/testpmd.sh

dropped()
{
	ping -q -c 3 -i 0.05 -W 1 "$PEER"
	[ "$("$BUILD/app/mlx4x-ctl/mlx4x-ctl" -f guest -j stats 0 | jq '.[].rx_xdp_drop')" -gt 0 ]
}

check "mlx4_core, mlx4_en and mlx4_ib load" load
check "hugepages" hugepages 384
dev=$(netdev 1)
ip addr add "$ADDRESS/24" dev "$dev"
ip link set "$dev" up
check "it has carrier" wait_for 20 link_is "$dev" up
check "ping" ping_peer 56
check "testpmd takes an XDP object" testpmd_start net_mlx4x \
	"-a,xdp_prog=$BUILD/examples/progs/drop.bpf.o" --forward-mode=rxonly
check "it drops what the peer sends" wait_for 30 dropped
check "the kernel gets nothing" sh -c "! ping -q -c 2 -i 0.05 -W 1 $PEER"
check "testpmd ends" testpmd_end
check "ping again" ping_peer 56
check "no complaint of the kernel" \
	sh -c "! dmesg | grep -E 'mlx4.*(fail|error|timed out)|WARNING|BUG|Call Trace'"
check "the driver unloads" unload
finish
