# Finds machine facts and keeps them in /var/lib/slipway/facts, one file each, without a final newline.
#
# want NAME ATTEMPTS PAUSE GRAMMAR COMMAND...: the command prints the value. A value that does not match the grammar
# counts as missing; when all attempts are used up the step fails, and with it the phase.
set -eu
umask 077
LC_ALL=C
d=/var/lib/slipway/facts
mkdir -p $d
want() {
  f=$d/$1
  n=$2
  s=$3
  g=$4
  shift 4
  while :; do
    v=$("$@") || v=
    if printf %s "$v" | tr '\n' ' ' | grep -Eqx -e "$g"; then
      printf %s "$v" >"$f.new"
      mv "$f.new" "$f"
      return
    fi
    n=$((n - 1))
    if [ $n -le 0 ]; then
      echo "machine fact ${f##*/}: no value, or not of the expected form" >&2
      exit 1
    fi
    sleep "$s"
  done
}
# short COMMAND...: what the command prints, up to the first dot.
short() {
  w=$("$@") || return
  echo "${w%%.*}"
}
