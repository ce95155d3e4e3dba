# zone NAME DATABASE FILE: the time zone is NAME. FILE, if any, is one in which the distribution keeps the name, too.
zone() {
  if [ ! -f "$2/$1" ]; then
    echo "the system does not know the time zone" >&2
    return 1
  fi
  ln -sf "..$2/$1" /etc/localtime.slipway
  mv -f /etc/localtime.slipway /etc/localtime
  [ -z "$3" ] || [ ! -e "$3" ] || printf '%s\n' "$1" >"$3"
}
