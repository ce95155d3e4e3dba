#!/bin/sh
# First program of a machine in qemu: unpacks what the harness gave it on its first boot, then becomes systemd.
PATH=/usr/sbin:/usr/bin
state=/var/lib/engine
mount -t proc proc /proc
mount -t sysfs sysfs /sys
if [ ! -e "$state" ]; then
  # Settings without a policy, by which mkswap and others fail.
  rm -rf /etc/selinux
  for device in /sys/block/vd*; do
    [ "$(cat "$device/serial")" != engine-seed ] || tar -xf "/dev/${device##*/}" -C /
  done
fi
if [ -e "$state/config.ign" ] && [ ! -e "$state/stages" ]; then
  exec /sbin/init --unit=engine-ignition.service
fi
exec /sbin/init
