#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# In the guest: dpdk-devbind.py takes the card from the kernel's driver and gives it back;
# meanwhile net_mlx4x says what is missing.
. /test/lib.sh
. /test/testpmd.sh

card=$(card_address)

# under DRIVER: that is what dpdk-devbind.py says of the card.
under()
{
	dpdk-devbind.py --status > /tmp/status
	grep "^$card" /tmp/status
	grep -q "^$card .*$1" /tmp/status
}

bind()
{
	dpdk-devbind.py --bind="$1" "$card"
}

# refuses WHY: testpmd has no port, and the driver's sentence says why.
refuses()
{
	testpmd_open net_mlx4x --forward-mode=rxonly
	wait_for 60 grep "mlx4x.*$1" $TESTPMD_LOG
	said=$?
	testpmd_end && grep -q "No probed ethernet devices" $TESTPMD_LOG && return $said
}

receives()
{
	testpmd_start net_mlx4x --forward-mode=rxonly || return 1
	wait_for 30 some_packets
	received=$?
	testpmd_end && return $received
}

some_packets()
{
	testpmd_say show port stats 0
	[ "$(number 0 RX-packets)" -gt 50 ]
}

up()
{
	dev=$(netdev 1) && ip link set "$dev" up && wait_for 20 link_is "$dev" up
}

echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6
check "mlx4_core, mlx4_en and mlx4_ib load" load
check "hugepages" hugepages 384
check "dpdk-devbind.py: the card is the kernel's" under drv=mlx4_core
check "the port comes up" up
check "net_mlx4x receives" receives
modprobe vfio-pci
ip link set "$dev" down
check "bound to vfio-pci" bind vfio-pci
check "dpdk-devbind.py: it is vfio-pci's" under drv=vfio-pci
check "net_mlx4x says what it needs" refuses "bind it back"
check "bound to mlx4_core" bind mlx4_core
check "dpdk-devbind.py: it is the kernel's again" under drv=mlx4_core
check "the port comes up" up
check "net_mlx4x receives again" receives
check "no complaint of the kernel" \
	sh -c "! dmesg | grep -E 'mlx4.*(fail|error|timed out)|WARNING|BUG|Call Trace'"
check "the driver unloads" unload
finish
