# swap PATH MIB: the swap file exists. It is written in full, because a file with holes cannot be swapped to.
swap() {
  [ ! -e "$1" ] || return 0
  mkdir -p "${1%/*}"
  rm -f "$1.new"
  (
    umask 077
    : >"$1.new"
    chattr +C "$1.new" 2>/dev/null || :
    dd if=/dev/zero of="$1.new" bs=1M count="$2" 2>/dev/null
  )
  mkswap "$1.new" >/dev/null
  mv "$1.new" "$1"
}
