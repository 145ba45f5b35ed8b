#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# In the guest: the device tells of a fatal error, and the kernel's driver resets it and
# goes on.
. /test/lib.sh

# The driver's watcher looks at the error buffer every few seconds.
recovered()
{
	dmesg | grep -q "mlx4_restart_one was ended, ret=0" && netdev 1
}

up()
{
	dev=$(netdev 1) && ip link set "$dev" up && wait_for 20 link_is "$dev" up &&
		ip addr replace "$ADDRESS/24" dev "$dev"
}

check "mlx4_core, mlx4_en and mlx4_ib load" load
check "the netdev comes up" up
check "ping" ping_peer 56
check "a fatal error" host unplug
check "the driver resets the card" wait_for 30 recovered
check "the netdev comes up again" up
check "ping" ping_peer 56
check "the driver unloads" unload
finish
