# shellcheck shell=sh disable=SC2154
# known NAMES [COMMAND...]: what cloud-init knows of its instance by the first of these names that gives a value of
# the expected form, as its templates have it; else what the command prints.
known() {
  for i in $1; do
    w=$(cloud-init query "$i" 2>/dev/null) || continue
    if printf %s "$w" | tr '\n' ' ' | grep -Eqx -e "$g"; then
      echo "$w"
      return
    fi
  done
  shift
  [ $# -gt 0 ] && "$@"
}
