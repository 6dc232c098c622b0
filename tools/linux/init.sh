#!/bin/busybox sh
# shellcheck shell=dash
# SPDX-License-Identifier: MIT
#
# The first process of the machine that tools/linux/run.py boots. Runs /steps, a command a line
# after its name, and switches the machine off. What a step prints stands between two lines of its
# own.
busybox=/bin/busybox
export PATH=/bin HOME=/tmp TERM=dumb
for folder in /proc /sys /tmp; do
	$busybox mkdir -p $folder
done
$busybox mount -t proc proc /proc
$busybox mount -t sysfs sysfs /sys
$busybox mount -t devtmpfs devtmpfs /dev
$busybox mount -t tmpfs tmpfs /tmp
$busybox --install -s /bin
ulimit -c 0
# Samples take long here: the kernel would lower their rate, and then leave most of them out.
echo 0 > /proc/sys/kernel/perf_cpu_time_max_percent
while read -r name command; do
	echo "== begin $name"
	status=0
	eval "$command" 2>&1 < /dev/null || status=$?
	read -r now _ < /proc/uptime
	echo "== end $name status $status at $now"
done < /steps
# Without a file system to keep.
poweroff -f
