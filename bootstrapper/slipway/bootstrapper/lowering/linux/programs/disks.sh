# awaited DEVICE: the device is there. It may be attached, or its partition found, a moment later.
awaited() {
  n=0
  while udevadm settle && [ ! -b "$1" ]; do
    n=$((n + 1))
    [ $n -lt 60 ] || { echo "a device is not there" >&2; return 1; }
    sleep 1
  done
}
# untouched DEVICE OVERWRITE: nothing may be written there. A device that cannot be read is an error.
untouched() {
  [ -z "$2" ] || return 1
  signatures=$(wipefs -n "$1") || exit 1
  [ -n "$signatures" ]
}
# table DISK OVERWRITE KIND PARTITION...: the disk has a table. A PARTITION is its size in MiB, a share of the disk such
# as 25%, or nothing for the rest; then what sfdisk is told of it besides.
table() {
  awaited "$1"
  disk=$(readlink -f "$1") overwrite=$2 kind=$3
  shift 3
  ! untouched "$disk" "$overwrite" || { echo "a disk that is in use is left alone" >&2; return 0; }
  mib=$(($(blockdev --getsize64 "$disk") / 1048576 - 2))
  {
    echo "label: $kind"
    for partition; do
      size=${partition%%,*}
      case $size in
      "") ;;
      *%) size="size=$((mib * ${size%?} / 100))MiB" ;;
      *) size="size=${size}MiB" ;;
      esac
      printf '%s,%s\n' "$size" "${partition#*,}" | sed 's/^,//'
    done
  } >/run/slipway-table
  sfdisk --quiet --wipe always --wipe-partitions never "$disk" </run/slipway-table
  rm -f /run/slipway-table
  udevadm settle
}
# filesystem DEVICE OVERWRITE KIND PROGRAM ARGUMENT...: the device has a filesystem, made by the program where none was, or
# one of that kind.
filesystem() {
  awaited "$1"
  device=$(readlink -f "$1") overwrite=$2
  [ -z "$3" ] || [ "$(blkid -p -o value -s TYPE "$device")" != "$3" ] || overwrite=x
  shift 3
  ! untouched "$device" "$overwrite" || { echo "a filesystem that is there is left alone" >&2; return 0; }
  [ -z "$overwrite" ] || wipefs -q -a "$device"
  "$@" "$device" >&2
  udevadm settle
}
