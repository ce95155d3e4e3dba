# group NAME GID FLAG: the group exists, with this number. GID and FLAG may be empty; FLAG is -r for a system group.
group() {
  if getent group "$1" >/dev/null; then
    [ -z "$2" ] || groupmod -g "$2" "$1"
  else
    groupadd ${2:+-g "$2"} ${3:+"$3"} "$1"
  fi
}
