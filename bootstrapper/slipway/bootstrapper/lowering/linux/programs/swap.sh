# swap PATH MIB: the swap file exists. It is written in full, because a file with holes cannot be swapped to. What is there
# and has no swap area may be anybody's data, and stays as it is.
swap() {
  if [ -e "$1" ] || [ -L "$1" ]; then
    swaplabel "$1" >/dev/null 2>&1 || { echo "the swap file is another file, which is left alone" >&2; return 1; }
    return 0
  fi
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
