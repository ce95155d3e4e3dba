#!/bin/busybox sh
# All of an initramfs that a machine in qemu needs: a driver for its disk, and the disk. The distribution's own takes a
# minute of an emulated processor.
box=/bin/busybox
$box mkdir -p /dev /root
$box mount -t devtmpfs devtmpfs /dev
for module in /modules/*; do $box insmod "$module"; done
while [ ! -b /dev/vda ]; do $box usleep 20000; done
$box mount -t ext4 /dev/vda /root
$box mount -o move /dev /root/dev
exec $box switch_root /root /usr/sbin/engine-init
