#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# In the guest: the same XDP objects in the kernel's driver on port 2 of the card and in
# net_mlx4x on port 1, which receive the same frames. What each sends is compared
# afterwards, byte by byte.
. /test/lib.sh
. /test/testpmd.sh

PROGS=$BUILD/examples/progs

# kernel_counter NAME
kernel_counter()
{
	ethtool -S "$dev" | awk -v name="$1:" '$1 == name { print $2 }'
}

our_counter()
{
	"$BUILD/app/mlx4x-ctl/mlx4x-ctl" -f guest -j stats 0 | jq ".[].$1"
}

# sent N: so many frames have left each port, and both drivers say so.
sent()
{
	[ "$(kernel_counter rx_xdp_tx)" = "$1" ] && [ "$(our_counter rx_xdp_tx)" = "$1" ]
}

both_sent()
{
	host go
	wait_for 60 sent "$FRAMES" && return 0
	echo "kernel $(kernel_counter rx_xdp_tx), driver $(our_counter rx_xdp_tx), of $FRAMES"
	return 1
}

attach_to_kernel()
{
	ip link set dev "$dev" xdp off
	ip link set dev "$dev" xdp obj "$1" sec xdp && wait_for 20 link_is "$dev" up
}

check "mlx4_core, mlx4_en and mlx4_ib load" load
check "hugepages" hugepages 384
dev=$(netdev 2)
echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6 # the stack shall send nothing of its own
ip link set "$(netdev 1)" up
ip link set "$dev" up promisc on
check "the kernel's driver takes a program" attach_to_kernel "$PROGS/swap_tx.bpf.o"
check "net_mlx4x takes it" testpmd_start net_mlx4x "-a,port=0,xdp_prog=$PROGS/swap_tx.bpf.o" \
	--forward-mode=rxonly --port-topology=loop
check "both send every frame back" both_sent
check "net_mlx4x replaces its program" \
	"$BUILD/app/mlx4x-ctl/mlx4x-ctl" -f guest load 0 "$PROGS/drop.bpf.o" --replace
check "the kernel's driver replaces its program" attach_to_kernel "$PROGS/drop.bpf.o"
check "net_mlx4x gives it back" "$BUILD/app/mlx4x-ctl/mlx4x-ctl" -f guest unload 0 --all
check "testpmd ends" testpmd_end
ip link set dev "$dev" xdp off
check "no complaint of the kernel" \
	sh -c "! dmesg | grep -E 'mlx4.*(fail|error|timed out)|WARNING|BUG|Call Trace'"
check "the driver unloads" unload
finish
