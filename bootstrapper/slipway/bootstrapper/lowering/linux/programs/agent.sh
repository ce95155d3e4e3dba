# agent STEP-DATA required|optional PATH...: names the first machineadm that executes this step data, or a newer one, as
# the one to hand over to.
agent() {
  n=$1
  r=$2
  shift 2
  w=missing
  rm -f /var/lib/slipway/agent
  for p; do
    [ -x "$p" ] || continue
    w="too old, or not for this machine"
    v=$("$p" version) || continue
    v=${v#*step data }
    [ "${v%%,*}" -ge "$n" ] || continue
    ln -s "$p" /var/lib/slipway/agent
    return 0
  done
  echo "machineadm is $w" >&2
  [ "$r" = optional ]
}
