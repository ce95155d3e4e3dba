e=0
# boot NAME LIMIT RETRIES QUIET: run a command; a failure does not keep the next one from running. LIMIT and QUIET may be
# empty.
boot() {
  t=$3
  until once "$@"; do
    if [ "$t" = 0 ]; then
      e=1
      return 0
    fi
    t=$((t - 1))
    sleep 10
  done
}
once() {
  if [ -n "$4" ]; then
    ${2:+timeout -k 9 "$2"} sh "/var/lib/slipway/boot/$1" >/dev/null 2>&1
  else
    ${2:+timeout -k 9 "$2"} sh "/var/lib/slipway/boot/$1"
  fi
}
# finish: the service fails where a command did.
finish() {
  exit $e
}
