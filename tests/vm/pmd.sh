#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# In the guest: DPDK's own mlx4 driver and net_mlx4x in testpmd, through the kernel's
# real ib_uverbs. A generator feeds port 1 of the card, port 2 leads nowhere.
. /test/lib.sh
. /test/testpmd.sh

# Frames that left port 2 of the card, as the device counted them.
sent_by_card()
{
	host counters | jq '.ports[1].tx_frames'
}

# io and csum forwarding, RSS on four queues, a rule that drops: in one run of testpmd.
forwards_all()
{
	before=$(sent_by_card)
	testpmd_start "$1" --rxq=4 --txq=4 --enable-rx-cksum || return 1
	testpmd_let_run
	testpmd_say stop
	testpmd_say set fwd csum
	testpmd_say start
	testpmd_let_run
	testpmd_end || return 1
	after=$(sent_by_card)
	echo "received $(number 0 RX-packets), sent $(number 1 TX-packets), card $((after - before))"
	[ "$(number 1 TX-packets)" -gt 100 ] && [ "$(number 1 TX-packets)" = $((after - before)) ]
}

# In the same run: every queue of four saw some of the flows.
spread()
{
	[ "$(grep -c 'RX Port= 0/Queue= [0-3]' $TESTPMD_LOG)" -ge 4 ]
}

receives_none_of_a_dropped_flow()
{
	testpmd_start "$1" --forward-mode=rxonly || return 1
	testpmd_say flow create 0 ingress pattern eth dst is "$(cat "/sys/class/net/$(netdev 1)/address")" \
		/ ipv4 / udp / end actions drop / end
	testpmd_let_run # what came before the rule
	testpmd_say clear port stats all
	testpmd_let_run
	testpmd_end || return 1
	grep -q "Flow rule #0 created" $TESTPMD_LOG && [ "$(number 0 RX-packets)" = 0 ]
}

scatters()
{
	testpmd_start "$1" --forward-mode=io --max-pkt-len=4000 --mbuf-size=1024 \
		--enable-scatter || return 1
	testpmd_let_run
	testpmd_end || return 1
	[ "$(number 0 RX-packets)" -gt 100 ] && [ "$(number 0 RX-errors)" = 0 ]
}

# An extended statistic of port 0 of the last testpmd: xstat NAME
xstat()
{
	awk -v name="$1:" '$1 == name { value = $2 } END { print value + 0 }' "$TESTPMD_LOG"
}

# The port saw what the application got, and no less; the kernel asks its firmware 4 times a second.
counts_of_the_port()
{
	testpmd_start "$1" --forward-mode=rxonly || return 1
	testpmd_let_run
	testpmd_say stop
	testpmd_let_run
	testpmd_say show port xstats 0
	testpmd_end || return 1
	echo "received $(xstat rx_good_packets), port $(xstat rx_phy_packets)," \
		"bytes $(xstat rx_phy_bytes), without a tag $(xstat rx_phy_novlan_packets)"
	[ "$(xstat rx_good_packets)" -gt 100 ] &&
		[ "$(xstat rx_phy_packets)" -ge "$(xstat rx_good_packets)" ] &&
		[ "$(xstat rx_phy_bytes)" = $((60 * $(xstat rx_phy_packets))) ] &&
		[ "$(xstat rx_phy_novlan_packets)" = "$(xstat rx_phy_packets)" ]
}

check "mlx4_core, mlx4_en and mlx4_ib load" load
check "hugepages" hugepages 384
echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6 # the stack shall send nothing of its own
ip link set "$(netdev 1)" up
ip link set "$(netdev 2)" up
check "ibv_devinfo: firmware and two active ports" sh -c \
	'ibv_devinfo | tee /tmp/devinfo | grep -q "fw_ver:.*2.42.5000" &&
	[ "$(grep -c PORT_ACTIVE /tmp/devinfo)" = 2 ]'

for driver in net_mlx4 net_mlx4x; do
	check "$driver: io and csum forwarding" forwards_all $driver
	check "$driver: RSS on four queues" spread
	check "$driver: a flow rule that drops" receives_none_of_a_dropped_flow $driver
	check "$driver: scattered receive" scatters $driver
done
check "net_mlx4x: counters of the port" counts_of_the_port net_mlx4x
check "the kernel has its port back" sh -c "ip link set $(netdev 1) down && \
	ip link set $(netdev 1) up"
check "no complaint of the kernel" \
	sh -c "! dmesg | grep -E 'mlx4.*(fail|error|timed out)|WARNING|BUG|Call Trace'"
check "the driver unloads" unload
finish
