#!/bin/sh
# What an initramfs does with Ignition before it gives the machine to its own root: all stages, then the presets.
state=/var/lib/engine
engine=/usr/lib/dracut/modules.d/30ignition/ignition
export IGNITION_CONFIG_FILE=$state/config.ign
mkdir -p /sysroot
mount --bind / /sysroot
mount --make-private /sysroot
for name in proc sys dev run; do mount --bind "/$name" "/sysroot/$name"; done
# Debian's build relabels at the end of the files stage and fails, all done, on a system without SELinux rules.
rules=/sysroot/etc/selinux/none/contexts/files
mkdir -p "$rules"
printf 'SELINUX=disabled\nSELINUXTYPE=none\n' >/sysroot/etc/selinux/config
printf '/.*\tsystem_u:object_r:unlabeled_t:s0\n' >"$rules/file_contexts"
for stage in fetch disks mount files umount; do
  "$engine" -platform=file -stage="$stage" -root=/sysroot -config-cache=/run/config -state-file=/run/state \
    -neednet=n -log-to-stdout >"$state/$stage.log" 2>&1
  status=$?
  echo "$stage $status" >>"$state/stages"
  [ "$status" = 0 ] || tail -n 5 "$state/$stage.log" >/dev/console
done
rm -rf /sysroot/etc/selinux
python3 "$state/guest/presets.py" | xargs -d '\n' --no-run-if-empty systemctl preset --
sync
systemctl --no-block reboot
