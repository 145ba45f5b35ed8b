# SPDX-License-Identifier: BSD-3-Clause
#
# For scripts that run in a guest: dpdk-testpmd with either driver, steered by a pipe.

TESTPMD_LOG=/tmp/testpmd.log
TESTPMD_PIPE=/tmp/testpmd.pipe

# testpmd_say COMMAND
testpmd_say()
{
	echo "$*" >&8
}

# testpmd_open net_mlx4|net_mlx4x [EAL devargs as -a,KEY=VALUE] OPTIONS...: it runs.
testpmd_open()
{
	plugin=
	[ "$1" = net_mlx4 ] || plugin="-d $BUILD/drivers/net/mlx4x/librte_net_mlx4x.so"
	shift
	device=$(card_address)
	case ${1:-} in
	-a,*)
		device="$device${1#-a}"
		shift
		;;
	esac
	rm -f $TESTPMD_PIPE
	mkfifo $TESTPMD_PIPE
	# Line by line, although this is no terminal: what stdbuf does.
	# shellcheck disable=SC2086
	LD_PRELOAD=/usr/libexec/coreutils/libstdbuf.so _STDBUF_O=L dpdk-testpmd $plugin -l 0,1 -m 128 --file-prefix guest -a "$device" -- -i \
		--total-num-mbufs=8192 --no-flush-rx "$@" < $TESTPMD_PIPE > $TESTPMD_LOG 2>&1 &
	testpmd_pid=$!
	exec 8> $TESTPMD_PIPE
}

# The same words; forwarding when it returns.
testpmd_start()
{
	testpmd_open "$@"
	testpmd_say start
	wait_for 90 grep -q "packet forwarding - ports" $TESTPMD_LOG || testpmd_failed
}

testpmd_failed()
{
	exec 8>&-
	wait $testpmd_pid
	cat $TESTPMD_LOG
	return 1
}

# A number of the last "show port stats": number PORT NAME
number()
{
	awk -v port="$1" -v name="$2:" '/NIC statistics for port/ { on = $6 == port }
		on { for (i = 1; i < NF; i++) if ($i == name) value = $(i + 1) }
		END { print value + 0 }' "$TESTPMD_LOG"
}

# Some frames more, as long as that takes.
testpmd_let_run()
{
	sleep 2
}

# Stops, prints the statistics, quits; true when testpmd ended well.
testpmd_end()
{
	testpmd_say stop
	testpmd_say show port stats all
	testpmd_say quit
	exec 8>&-
	wait $testpmd_pid && return 0
	tail -n 60 $TESTPMD_LOG
	return 1
}
