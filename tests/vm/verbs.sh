#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# In the guest: a client of libibverbs that is no DPDK, through the kernel's mlx4_ib. The
# port gets back what it sends.
. /test/lib.sh

CLIENT=$BUILD/tests/vm/verbs_client
LOG=/tmp/client.log

ends_well()
{
	wait $client || return 1
	cat $LOG
}

check "mlx4_core, mlx4_en and mlx4_ib load" load
dev=$(netdev 1)
echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6
ip link set "$dev" up
check "the port is active" wait_for 20 sh -c "ibv_devinfo | grep -q PORT_ACTIVE"
check "ibv_devinfo: link layer, MTU, a ConnectX-3" sh -c \
	'ibv_devinfo -v > /tmp/devinfo && grep -q "link_layer:.*Ethernet" /tmp/devinfo &&
	grep -q "active_mtu:.*1024" /tmp/devinfo && grep -q "vendor_part_id:.*4099" /tmp/devinfo'
"$CLIENT" > $LOG 2>&1 &
client=$!
check "200 frames come back, with an event each" \
	wait_for 60 grep -q "200 frames, at least one event each: yes" $LOG
check "the client waits for events of the port" wait_for 10 grep -q ready $LOG
host link 1 down
check "asynchronous event: the port is down" wait_for 10 grep -q "port error of port 1" $LOG
host link 1 up
check "asynchronous event: it is up again" wait_for 10 grep -q "port active of port 1" $LOG
check "the client ends well" ends_well
check "rdma shows nothing left" sh -c '[ "$(rdma res show qp | grep -c verbs_client)" = 0 ]'
check "no complaint of the kernel" \
	sh -c "! dmesg | grep -E 'mlx4.*(fail|error|timed out)|WARNING|BUG|Call Trace'"
check "the driver unloads" unload
finish
