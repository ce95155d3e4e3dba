# shellcheck shell=sh disable=SC2154
# fits VALUE: prints a value that has the expected form.
fits() {
  printf %s "$1" | tr '\n' ' ' | grep -Eqx -e "$g" && echo "$1"
}
# known NAMES [COMMAND...]: what the command prints; where there is none, or it prints nothing of the expected form, what
# cloud-init knows of its instance by the first of these names.
known() {
  n=$1
  shift
  [ $# -gt 0 ] && w=$("$@") && fits "$w" && return
  for i in $n; do
    w=$(cloud-init query "$i" 2>/dev/null) && fits "$w" && return
  done
  return 1
}
