#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# In the guest: what an administrator can choose when mlx4_core is loaded: interrupts by line,
# completions and events of 32 bytes, flat (A0) steering.
. /test/lib.sh

# works OPTIONS...: loads the driver with them, and traffic passes.
works()
{
	dmesg -C
	modprobe mlx4_core debug_level=1 "$@" && load || return 1
	dev=$(netdev 1)
	ip addr add "$ADDRESS/24" dev "$dev"
	ip link set "$dev" up && wait_for 20 link_is "$dev" up || return 1
	ping_peer 56 20 && ping_peer 1472 && rings_of_other_sizes
}

# New queues of all kinds, and a port that restarts.
rings_of_other_sizes()
{
	ethtool -G "$dev" rx 256 tx 256 && ethtool -L "$dev" rx 1 tx 1 &&
		wait_for 20 link_is "$dev" up && ping_peer 56
}

# interrupts_are KIND: as /proc/interrupts has it
interrupts_are()
{
	grep mlx4 /proc/interrupts
	grep mlx4 /proc/interrupts | grep -q "$1" &&
		! grep mlx4 /proc/interrupts | grep -qv "$1"
}

# A group that somebody joined comes through, and promiscuous mode hears everything.
hears_groups()
{
	ip maddress add 01:00:5e:00:00:05 dev "$dev" && ip link set "$dev" promisc on &&
		ping_peer 56 && ip link set "$dev" promisc off && ping_peer 56
}

said()
{
	dmesg | grep -q "$1"
}

check "without options" works
check "interrupts by MSI-X" interrupts_are MSI
check "steering is managed by the device" said "Steering mode is: Device managed flow steering"
check "the driver unloads" unload
check "without MSI-X" works msi_x=0
check "interrupts by line" interrupts_are IO-APIC
check "the driver unloads" unload
check "without large completions" works enable_64b_cqe_eqe=0
check "completions and events have 32 bytes" said "64B EQEs/CQEs supported by the device but not enabled"
check "the driver unloads" unload
check "without device-managed steering" works log_num_mgm_entry_size=10
check "steering is flat" said "Steering mode is: A0 steering"
check "groups and promiscuous mode" hears_groups
check "the driver unloads" unload
finish
