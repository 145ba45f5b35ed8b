#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# In the guest of tests/vm/launcher: one program on the card, whose ports are up as they are
# below the launcher. The kernel is silent, and nothing of its driver is left in the end.
. /test/lib.sh

# Both ports, as many as there are.
ports_up()
{
	for port in 1 2; do
		dev=$(netdev $port) || break
		ip link set "$dev" mtu "$MTU" up
		wait_for 20 link_is "$dev" up
	done
}

mkdir -p "$SHARED"
modprobe -a virtio_pci 9pnet_virtio 9p
mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144 share "$SHARED" || exit 1
export TMPDIR="$SHARED"
echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6
load && hugepages 400 && ports_up || exit 1
# shellcheck disable=SC2086
eval "$COMMAND" < /dev/ttyS1
status=$?
unload || exit 1
exit $status
