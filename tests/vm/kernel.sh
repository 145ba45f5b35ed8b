#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# In the guest: the kernel's own mlx4 driver on the device, as an administrator uses it.
. /test/lib.sh

check "mlx4_core, mlx4_en and mlx4_ib load" load
dev=$(netdev 1)
ip addr add "$ADDRESS/24" dev "$dev"
check "the netdev comes up" ip link set "$dev" up
check "it has carrier" wait_for 5 link_is "$dev" up
check "ping, 56 bytes" ping_peer 56 20
check "ping, 1472 bytes" ping_peer 1472
check "ethtool -i names driver and firmware" \
	sh -c "ethtool -i $dev | grep -q 'driver: mlx4_en' && ethtool -i $dev | grep -q 2.42.5000"
check "ethtool -k has checksums and TSO" \
	sh -c "ethtool -k $dev | grep -q 'tcp-segmentation-offload: on'"
check "ethtool shows 40 Gb/s" sh -c "ethtool $dev | grep -q 40000Mb/s"
check "ethtool -m reads the module" sh -c "ethtool -m $dev | grep -q 'Vendor name.*: vcx3'"
check "MTU 9000" ip link set "$dev" mtu 9000
check "ping, 8900 bytes" ping_peer 8900
check "MTU 1500 again" ip link set "$dev" mtu 1500
check "ring sizes of 256" ethtool -G "$dev" rx 256 tx 256
check "ping after it" ping_peer 56
check "one channel" ethtool -L "$dev" rx 1 tx 1
check "ping after it" ping_peer 56
check "two channels" ethtool -L "$dev" rx 2 tx 2
check "promiscuous mode on and off" \
	sh -c "ip link set $dev promisc on && ip link set $dev promisc off"
check "all multicast on and off" \
	sh -c "ip link set $dev allmulticast on && ip link set $dev allmulticast off"
check "another MAC address" ip link set "$dev" address 02:00:00:00:00:77
check "ping with it" ping_peer 56
check "the link goes down with the cable" \
	sh -c ". /test/lib.sh; host link 1 down && wait_for 5 link_is $dev down"
check "and up again" sh -c ". /test/lib.sh; host link 1 up && wait_for 5 link_is $dev up"
check "ping after it" ping_peer 56
check "TCP to the peer" timeout 15 iperf3 -c "$PEER" -t "$SECONDS_OF_TCP"
check "TCP from the peer" timeout 15 iperf3 -c "$PEER" -t "$SECONDS_OF_TCP" -R
ethtool -S "$dev" | grep -v ': 0$'
check "the driver unloads" unload
check "and loads again" load
dev=$(netdev 1)
ip addr add "$ADDRESS/24" dev "$dev"
ip link set "$dev" up
check "it has carrier" wait_for 5 link_is "$dev" up
check "ping after the reload" ping_peer 56
check "no complaint of the kernel" \
	sh -c "! dmesg | grep -E 'mlx4.*(fail|error|timed out)|WARNING|BUG|Call Trace'"
check "the driver unloads" unload
finish
