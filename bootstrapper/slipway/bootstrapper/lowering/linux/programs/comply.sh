# restrict MODE PATTERN...: takes permissions away from all files of the patterns. What is not there, and what a read-only
# file system has, stays as it is: the evidence shows it.
restrict() {
  m=$1
  shift
  for p in "$@"; do
    for f in $p; do
      [ ! -e "$f" ] || chmod "$m" "$f" || :
    done
  done
}
# belong USER:GROUP PATTERN...: gives all files of the patterns to an account, which is made where it is not there.
belong() {
  o=$1
  shift
  id -u "${o%:*}" >/dev/null 2>&1 || useradd -rMU -s /sbin/nologin "${o%:*}"
  for p in "$@"; do
    for f in $p; do
      [ ! -e "$f" ] || chown "$o" "$f" || :
    done
  done
}
