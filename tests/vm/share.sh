#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# In the guest: kernel and net_mlx4x share a port. The driver takes one UDP port, all
# else reaches the kernel; afterwards the kernel has that too.
. /test/lib.sh
. /test/testpmd.sh

# A few datagrams from the peer to a port of ours.
udp_from_peer()
{
	timeout 20 iperf3 -u -c "$PEER" --cport 4789 -R -b 100K -t 1
}

received()
{
	awk '/RX-packets:/ { value = $2 } END { exit !(value > 0) }' "$TESTPMD_LOG"
}

check "mlx4_core, mlx4_en and mlx4_ib load" load
check "hugepages" hugepages 384
dev=$(netdev 1)
ip addr add "$ADDRESS/24" dev "$dev"
ip link set "$dev" up
check "it has carrier" wait_for 20 link_is "$dev" up
check "testpmd takes nothing of its own" \
	testpmd_start net_mlx4x --forward-mode=rxonly --flow-isolate-all
check "ping of the kernel beside testpmd" ping_peer 56
testpmd_say flow create 0 ingress pattern eth / ipv4 / udp dst is 4789 / end \
	actions queue index 0 / end
check "the rule is there" wait_for 30 grep -q "Flow rule #0 created" "$TESTPMD_LOG"
check "the kernel does not get what the rule takes" sh -c ". /test/lib.sh; ! timeout 10 \
	iperf3 -u -c $PEER --cport 4789 -R -b 100K -t 1"
check "ping of the kernel beside the rule" ping_peer 1472
check "testpmd ends" testpmd_end
check "testpmd got it" received
check "the kernel has it back" udp_from_peer
check "ping afterwards" ping_peer 56
check "no complaint of the kernel" \
	sh -c "! dmesg | grep -E 'mlx4.*(fail|error|timed out)|WARNING|BUG|Call Trace'"
check "the driver unloads" unload
finish
