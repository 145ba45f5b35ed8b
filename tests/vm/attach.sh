#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# In the guest: XDP objects come, are replaced and go in net_mlx4x on both ports while frames
# arrive; each frame is then in exactly one counter.
. /test/lib.sh
. /test/testpmd.sh

PROGS=$BUILD/examples/progs
CTL="$BUILD/app/mlx4x-ctl/mlx4x-ctl -f guest"

# counter PORT NAME of the programs
counter()
{
	$CTL -j stats "$1" | jq ".[].$2"
}

# counts NAME: both ports count more and more of this.
counts()
{
	[ "$(counter 0 "$1")" -gt 100 ] && [ "$(counter 1 "$1")" -gt 100 ]
}

# load OBJECT [--replace]: on both ports
load_object()
{
	object=$PROGS/$1.bpf.o
	shift
	$CTL load 0 "$object" "$@" && $CTL load 1 "$object" "$@"
}

# card PORT NAME: what the card counts
card()
{
	host counters | jq ".ports[$1].$2"
}

all_have_come()
{
	[ "$(card 0 rx_frames)" = "$FRAMES_SENT" ] && [ "$(card 1 rx_frames)" = "$FRAMES_SENT" ]
}

# adds_up PORT: no frame is lost, and none is counted twice.
adds_up()
{
	sent=$(card "$1" tx_frames)
	[ "$(counter "$1" rx_xdp_tx)" = "$sent" ] || return 1
	[ "$(counter "$1" rx_xdp_aborted)$(counter "$1" rx_xdp_tx_full)" = 00 ] || return 1
	[ $(($(number "$1" RX-packets) + $(counter "$1" rx_xdp_drop) + sent)) = "$FRAMES_SENT" ]
}

both_add_up()
{
	testpmd_say show port stats all
	adds_up 0 && adds_up 1 && return 0
	for port in 0 1; do
		echo "port $port: $(number $port RX-packets) packets, $(card $port tx_frames) sent"
		$CTL stats $port
	done
	return 1
}

check "mlx4_core, mlx4_en and mlx4_ib load" load
check "hugepages" hugepages 384
echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6 # the stack shall send nothing of its own
for port in 1 2; do
	ip link set "$(netdev $port)" up
done
check "testpmd receives on both ports" testpmd_start net_mlx4x --forward-mode=rxonly --txd=1024
host go
check "an object comes" load_object pass
check "it lets frames pass" wait_for 30 counts rx_xdp_pass
check "it is replaced by one that drops" load_object drop --replace
check "that drops" wait_for 30 counts rx_xdp_drop
check "it is replaced by one that sends back" load_object swap_tx --replace
check "that sends back" wait_for 30 counts rx_xdp_tx
check "both go" sh -c "$CTL unload 0 --all && $CTL unload 1 --all"
check "frames still came when they went" sh -c "! host counters | jq -e '.ports[0].rx_frames == $FRAMES_SENT'"
check "every frame has come" wait_for 60 all_have_come
check "each is in one counter" wait_for 10 both_add_up
check "testpmd ends" testpmd_end
check "no complaint of the kernel" \
	sh -c "! dmesg | grep -E 'mlx4.*(fail|error|timed out)|WARNING|BUG|Call Trace'"
check "the driver unloads" unload
finish
