# event STEP [EXIT-CODE]: the events of a step that literal commands run, before it and, with its exit code, behind it. What
# writes them are functions of run.sh, which stand before this text with the bundle's id, b. It ends with the exit code that
# it is given, so that a line behind it finds that in `$?`.
# shellcheck shell=sh disable=SC2034,SC2154,SC2174
w='"phase":"PHASE_BOOTSTRAP","step":"'$1'",'
case ${2-} in
  '') say STARTED ;;
  0)
    say SUCCEEDED
    look
    w=
    say COMPLETE
    ;;
  *)
    look
    say FAILED ",\"exitCode\":$2,\"reason\":\"CommandFailed\""
    ;;
esac
exit "${2-0}"
