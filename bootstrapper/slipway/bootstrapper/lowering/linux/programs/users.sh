# account NAME PRIMARY GROUPS HOME FLAGS OPTION...: the user exists and is as the options of useradd and usermod say.
# PRIMARY, GROUPS (with commas) and HOME may be empty. FLAGS is for useradd alone: m or M, and r.
account() {
  n=$1 p=$2 g=$3 d=$4 f=$5
  shift 5
  # The image's own groups may be known to NSS alone, where no member can be added (rpm-ostree).
  for i in $(echo "$g" | tr , ' '); do
    grep -q "^$i:" /etc/group || getent group "$i" >>/etc/group
  done
  [ -z "$d" ] || set -- -d "$d" "$@"
  if getent passwd "$n" >/dev/null; then
    [ -z "$p" ] || set -- -g "$p" "$@"
    [ -z "$g" ] || set -- -a -G "$g" "$@"
    [ $# = 0 ] || usermod "$@" "$n"
  else
    if [ -n "$p" ]; then
      set -- -g "$p" "$@"
    elif getent group "$n" >/dev/null; then
      set -- -g "$n" "$@"
    else
      set -- -U "$@"
    fi
    [ -z "$g" ] || set -- -G "$g" "$@"
    case $f$d in
      m*/*/*) mkdir -p "${d%/*}" ;;
    esac
    useradd "-$f" "$@" "$n"
  fi
}
home() {
  h=$(getent passwd "$n" | cut -d: -f6)
  o=$(id -u "$n"):$(id -g "$n")
}
# password NAME FILE: the hash of the password is what the file holds. It is never an argument of a program.
password() {
  h=$(cat "$2")
  case $h in
    '' | *:* | *[![:graph:]]*)
      echo "the password hash of $1 is malformed" >&2
      return 1
      ;;
  esac
  printf '%s:%s\n' "$1" "$h" | chpasswd -e
}
# keys NAME FILES KEY...: each of the files below ~/.ssh, which stand in one word, has all the keys.
keys() {
  n=$1 w=$2
  shift 2
  home
  mkdir -p "$h"
  [ -d "$h/.ssh" ] || mkdir -m 700 "$h/.ssh"
  for i in $w; do
    i=$h/.ssh/$i
    [ -d "${i%/*}" ] || mkdir -m 700 "${i%/*}"
    [ -z "$(tail -c 1 "$i" 2>/dev/null)" ] || echo >>"$i"
    for k; do
      grep -qxF -e "$k" "$i" 2>/dev/null || printf '%s\n' "$k" >>"$i"
    done
    chmod 600 "$i"
    chown "$o" "${i%/*}" "$i"
  done
  chown "$o" "$h/.ssh"
  ! command -v restorecon >/dev/null || restorecon -R "$h/.ssh"
}
# rules FILE: sudo accepts the file. A broken one would make all of sudo fail.
rules() {
  visudo -cf "$1" >/dev/null || {
    rm -f "$1"
    echo "sudo does not accept $1" >&2
    return 1
  }
}
