# shellcheck shell=sh disable=SC2154
# fits VALUE: prints a value that has the expected form.
fits() {
  printf %s "$1" | tr '\n' ' ' | grep -Eqx -e "$g" && echo "$1"
}
# query NAMES: prints what cloud-init knows of its instance by the first of these names that has a value of the form.
query() {
  for i in $1; do
    w=$(cloud-init query "$i" 2>/dev/null) && fits "$w" && return
  done
  return 1
}
# known NAMES [COMMAND...]: prints what the command prints; where there is none, or it prints nothing of the expected
# form, what cloud-init knows.
known() {
  n=$1
  shift
  [ $# -gt 0 ] && w=$("$@") && fits "$w" && return
  query "$n"
}
# as_template NAMES [COMMAND...]: the other way round: prints what a template of cloud-init would have in its place.
as_template() {
  query "$1" && return
  shift
  [ $# -gt 0 ] && "$@"
}
