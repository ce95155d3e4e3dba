# The runner of systemd Linux. It is static: what it runs stands in the manifest "plan", never in its own text.
#
# plan    line 1: the bundle's id. Then one line a step, ID PHASE FLAGS RETRIES TIMEOUT, and a line "-" where the
#         success sentinel is due. Words are of [A-Za-z0-9._-] only; trailing ones may be missing. FLAGS: r reboot,
#         x keep no output, b try again on the next boot, c go on after a failure, s as c but without the sentinel.
# steps/  ID = the step's script.
# state/  by bundle: ID = done, ID.failed = failure record (a JSON line, then the tail of the output), ID.stop = the
#         failure is final.
# events.jsonl    one event a line, BootstrapEvent of the contract; each goes to the console, too, and the last one to
#                 /run/slipway/f.
#
# Lines that begin with "#agent " are sent only where a step may have named an agent to hand over to: it executes the same
# step data with the same state, and takes over the lock.
#
# Comments and indentation are stripped before it is sent. It runs in dash, bash and busybox.
# shellcheck disable=SC2018,SC2019,SC2046,SC2086,SC2010,SC2015,SC2162,SC2174
set -eu
cd /
PATH=$PATH:/usr/sbin:/sbin:/opt/bin
d=/var/lib/slipway
r=/run/slipway
mkdir -pm700 $r $d/state
exec 9>$r/lock
# A lock dies with its holder. Steps do not inherit it: a daemon that a step leaves behind cannot hold it.
if command -v flock >$r/f; then
  flock 9
else
  until ln -s $$ $r/pid; do
    kill -0 $(readlink $r/pid) || rm -f $r/pid
    sleep 1
  done 2>/dev/null
  trap 'rm $r/pid' EXIT
fi
# Between the order to reboot and the end of the system nothing more may start.
[ -e $r/reboot ] && exit 0
# Nor while somebody else has it go down; and what fails then had its services taken away: it runs again. By `set -e`
# this is the end, but not where a status is asked for.
up() {
  [ "$(systemctl is-system-running)" != stopping ]
}
# say STATE [MEMBERS]: an event that cannot be written changes nothing; a console that takes none within nine seconds
# gets no further one. The host name may hold anything, and JSON may not.
say() {
  umask 077
  printf '{"bundleId":"%s","sequence":%s,"time":"%s","hostname":"%s","executor":"EXECUTOR_SHELL",%s"state":"EVENT_STATE_%s"%s}\n' \
    $b $(($(wc -l <$j) + 1)) "$(date -u +%FT%TZ)" "$(uname -n | tr -cd A-Za-z0-9.-)" "$w" $1 "${2-}" \
    | timeout 9 tee -a $j $o >$r/f || [ $? != 124 ] || o=
} 2>/dev/null
# look: an event for the kubelet, by its healthz, and one for the container runtime, by what listens on its socket, where
# the machine has them; it takes two seconds at most. It is called with `|| :`.
look() {
  q=
  h=
  c=/var/lib/kubelet
  for a in 'curl -fs' 'wget -qO-'; do
    http_proxy='' timeout 2 $a 127.0.0.1:10248/healthz && h=Healthy && break
    [ $? != 127 ] || continue
    [ ! -e $c ] || h=NotHealthy
    break
  done
  [ ! $h ] || say OBSERVED ",\"reason\":\"Kubelet$h\""
  if grep -E '00010000 .*/(containerd|crio|cri-dockerd)\.sock$' /proc/net/unix; then
    h=Running
  else
    [ "$h" != Healthy ] && ls -d $c /run/containerd /run/crio | grep . || return 0
    h=NotRunning
  fi
  say OBSERVED ",\"reason\":\"ContainerRuntime$h\""
} >/dev/null 2>&1
j=$d/events.jsonl
o=/dev/console
[ -w $o ] || o=
#agent [ ! -x $d/agent ] || exec $d/agent run
e=0
k=1
q=
{
  read b
  mkdir -p $r/$b $d/state/$b
  while read i p f n t; do
    [ "$q" != bootstrap ] || [ "$p" = bootstrap ] || look || :
    umask 022
    w=
    if [ $i = - ]; then
      k=$e
      [ $e != 0 ] || {
        c=/run/cluster-api
        mkdir -p $c
        echo success >$c/bootstrap-success.complete
        say COMPLETE
      }
      continue
    fi
    s=$d/state/$b/$i
    [ -e $s ] && continue
    m=$s
    case $f in
      *b*) m=$r/$b/$i ;;
    esac
    if [ ! -e $m.stop ]; then
      l=$r/log
      case $f in
        *x*) l=/dev/null ;;
      esac
      rm -f $s.failed
      w='"phase":"PHASE_'$(echo $p | tr a-z A-Z)'","step":"'$i'",'
      up
      say STARTED
      while
        umask 022
        x=0
        ${t:+timeout -k 9 $t} sh $d/steps/$i >$l 2>&1 </dev/null 9>&- || x=$?
        [ $((x*n)) != 0 ]
      do
        n=$((n-1))
        sleep 10
        up
        say RETRYING ",\"exitCode\":$x"
      done
      # What the step wrote is on the disk before the mark that says so: a power cut in between takes the mark, too.
      # On a full disk no step is done; the line is sent all the same, since the record may not find room.
      sync
      y=CommandFailed
      case ${t:+$x} in 124 | 143) y=CommandTimedOut ;; esac
      [ $x != 0 ] || true >$s || {
        x=74
        y=StateNotWritten
      }
      sync
      up
      case $x$f in
        0*r*)
          say REBOOTING
          : >$r/reboot
          exec reboot
          ;;
        0*)
          say SUCCEEDED
          q=$p
          #agent [ ! -x $d/agent ] || exec $d/agent run
          continue
          ;;
        *c*) z=TOLERATED ;;
        *) z=FAILED ;;
      esac
      look || :
      say $z ",\"exitCode\":$x,\"reason\":\"$y\""
      tail -c4096 $l >>$r/f
      cp $r/f $s.failed || :
      true >$m.stop || :
    fi
    case $f in
      *c*) ;;
      *s*) e=1 ;;
      *) exit 1 ;;
    esac
  done
} <$d/plan
exit $k
