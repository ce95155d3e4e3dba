# entry FIELD VALUE LINE: /etc/fstab holds the line, and no other whose FIELD (1 device, 2 mount point) is VALUE.
entry() {
  t=/etc/fstab.slipway
  [ -e /etc/fstab ] || : >/etc/fstab
  key=$2 awk -v field="$1" '/^[ \t]*(#|$)/ || $field != ENVIRON["key"]' /etc/fstab >$t
  printf '%s\n' "$3" >>$t
  chmod 644 $t
  mv -f $t /etc/fstab
  ! command -v restorecon >/dev/null || restorecon /etc/fstab
}
# mounted PATH TYPE: systemd mounts it, as on every later boot: it waits for the device and makes the mount point.
mounted() {
  systemctl start "$(systemd-escape -p --suffix="$2" "$(readlink -m "$1")")"
}
# tried PATH TYPE: the same, but the machine goes on without it.
tried() {
  mounted "$@" || echo "$1 is not mounted" >&2
}
