# settle COMMAND...: run a command that starts units, for at most half a minute. A unit may be ordered behind the very service
# that this runs in; its job stays in the queue and goes on later. A unit that fails does not stop the machine.
settle() {
  timeout 30 "$@" || echo "not all units were started in time: $*" >&2
}
