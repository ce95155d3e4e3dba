# event STEP [done | stopped]: the events of the one script that literal commands are, before it, behind its success (done)
# and behind the end of its unit (stopped). What writes them are functions of run.sh, which stand before this text with the
# bundle's id, b.
# shellcheck shell=sh disable=SC2034,SC2154,SC2174
w='"phase":"PHASE_BOOTSTRAP","step":"'$1'",'
y=CommandFailed
n=
k=
case ${2-} in
  '')
    say STARTED
    exit
    ;;
  done) ;;
  *)
    # systemd says how the unit ended. Only a failure is news, unless all ends because the system goes down.
    [ "$SERVICE_RESULT" != success ] && [ "$(systemctl is-system-running)" != stopping ] || exit 0
    k=1
    [ "$SERVICE_RESULT" != timeout ] || y=CommandTimedOut
    case $EXIT_STATUS in
      KILL) n=137 ;;
      TERM) n=143 ;;
      *[!0-9]*) ;;
      *) n=$EXIT_STATUS ;;
    esac
    ;;
esac
# A script may end, and well, before the bootstrap does; and it may fail behind it.
z=TOLERATED
[ -e /run/cluster-api/bootstrap-success.complete ] || z=FAILED
if [ $z$k = TOLERATED ]; then
  say SUCCEEDED
  look
else
  look
  say $z "${n:+,\"exitCode\":$n},\"reason\":\"$y\""
fi
[ $z != FAILED ] || exit
w=
say COMPLETE
