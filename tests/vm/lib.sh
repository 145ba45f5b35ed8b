# SPDX-License-Identifier: BSD-3-Clause
#
# For scripts that run in a guest: one line for each thing that is shown, and the number
# of those that failed as the script's status.

failures=0

# check SENTENCE COMMAND...: the command must succeed.
check()
{
	sentence=$1
	shift
	if "$@" > /tmp/check.log 2>&1; then
		echo "ok: $sentence"
	else
		echo "FAILED ($?): $sentence: $*"
		tail -n 40 /tmp/check.log
		failures=$((failures + 1))
	fi
}

# Seconds since the guest booted.
uptime_s()
{
	cut -d. -f1 /proc/uptime
}

# wait_for SECONDS COMMAND...: the command must succeed within that time.
wait_for()
{
	end=$(($(uptime_s) + $1))
	shift
	until "$@" > /dev/null 2>&1; do
		if [ "$(uptime_s)" -ge $end ]; then
			echo "waited in vain for: $*"
			return 1
		fi
		sleep 0.1
	done
}

finish()
{
	[ "$failures" = 0 ] || dmesg | tail -n 60
	echo "$failures failed"
	exit "$failures"
}

# The netdev of port N (1 or 2) of the card.
netdev()
{
	for path in /sys/class/net/*; do
		[ -e "$path/device/driver" ] || continue
		[ "$(basename "$(readlink "$path/device/driver")")" = mlx4_core ] || continue
		[ "$(cat "$path/dev_port")" = $(($1 - 1)) ] && basename "$path" && return 0
	done
	return 1
}

load()
{
	modprobe -a mlx4_core mlx4_en mlx4_ib ib_uverbs && wait_for 5 netdev 1 > /dev/null
}

unload()
{
	modprobe -r mlx4_en && modprobe -r mlx4_ib && modprobe -r mlx4_core
}

# link_is DEV up|down: as the stack sees it, which drops frames for a moment after a change
# of the carrier.
link_is()
{
	[ "$(cat "/sys/class/net/$1/operstate")" = "$2" ]
}

# The PCI address of the card.
card_address()
{
	for path in /sys/bus/pci/devices/*; do
		[ "$(cat "$path/vendor")" = 0x15b3 ] && basename "$path" && return 0
	done
	return 1
}

# Memory for DPDK: megabytes in pages of 2 MB.
hugepages()
{
	echo $(($1 / 2)) > /proc/sys/vm/nr_hugepages
	[ "$(cat /proc/sys/vm/nr_hugepages)" = $(($1 / 2)) ]
}

# ping_peer SIZE [COUNT]: no packet may get lost.
ping_peer()
{
	ping -q -i 0.05 -c "${2:-10}" -W 2 -s "$1" "$PEER" | grep " 0% packet loss"
}
