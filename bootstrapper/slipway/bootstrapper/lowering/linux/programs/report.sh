# report WHEN URL [LOGS-URL]: has a service of its own send the events of this machine, and its log bundle: WHEN is
# failure, always or never. Addresses are in base64; no argument of a program shows one. The service runs this script
# again. Nothing that goes wrong here is a failure of the bootstrap: whoever calls it ignores its end.
report() {
  umask 077
  cd /var/lib/slipway || return 0
  if [ "${SLIPWAY_REPORT-}" = send ]; then
    mkdir -p report
    echo "$2" | base64 -d >report/url
    echo "${3-}" | base64 -d >report/logs-url
    if sound url && { [ ! -s report/logs-url ] || sound logs-url; }; then
      deliver "$1"
    else
      systemctl disable slipway-report
    fi
    return
  fi
  printf '%s\n' '[Service]' Environment=SLIPWAY_REPORT=send "ExecStart=/bin/sh $0" Nice=19 RuntimeMaxSec=7200 \
    '[Install]' WantedBy=multi-user.target >/etc/systemd/system/slipway-report.service
  chmod 644 /etc/systemd/system/slipway-report.service
  timeout 20 systemctl daemon-reload
  timeout 20 systemctl enable slipway-report
  timeout 20 systemctl start --no-block slipway-report
}
# sound NAME: the address of that name is one that curl and wget read as it stands; else the console says so. A quote, a
# backslash or a line break would end it for curl, and what is behind it would be an option.
sound() {
  case $(cat report/$1) in
    *[[:space:][:cntrl:]\"\\]*) ;;
    http://?* | https://?*) return 0 ;;
  esac
  echo "slipway-report: $1 is no address of http or https, or holds a blank, quote, backslash or control character:" \
    "nothing is sent" >>/dev/console || :
  return 1
}
# deliver WHEN: sends the events whenever there are more, for two hours (RuntimeMaxSec) and 300 requests at most, and ends
# once the last one is sent.
deliver() {
  s=0
  k=0
  p=2
  while [ $k -lt 300 ]; do
    z=0
    [ ! -f events.jsonl ] || z=$(wc -c <events.jsonl)
    if [ $z != $s ]; then
      k=$((k+1))
      tail -c 65536 events.jsonl >report/events
      if put report/url report/events; then
        s=$z
        p=2
      else
        p=$((p*2))
        [ $p -lt 60 ] || p=60
      fi
    elif [ $s != 0 ] && ended; then
      bundle "$1"
      [ $c = failure ] || systemctl disable slipway-report
      return 0
    fi
    sleep $p || return 0
  done
}
# ended: the bootstrap is over; c says how.
ended() {
  case $(tail -n 1 events.jsonl) in
    *STATE_STARTED* | *STATE_RETRYING* | *STATE_REBOOTING*) return 1 ;;
  esac
  case $(cat events.jsonl) in
    *STATE_FAILED*) c=failure ;;
    *STATE_COMPLETE*) c=success ;;
    *) return 1 ;;
  esac
}
# bundle WHEN: sends the log bundle, of five tries at most, where the machine has what makes one.
bundle() {
  [ -s report/logs-url ] || return 0
  case $1$c in
    alwayssuccess | alwaysfailure | failurefailure) ;;
    *) return 0 ;;
  esac
  for a in ./agent /usr/local/bin/machineadm /opt/bin/machineadm /usr/bin/machineadm; do
    if [ -x $a ]; then
      timeout 300 $a collect --output report/logs.tar.gz || return 0
      for x in 1 2 3 4 5; do
        put report/logs-url report/logs.tar.gz && break
        sleep 30 || return 0
      done
      rm -f report/logs.tar.gz
      return 0
    fi
  done
}
# put URL-FILE FILE: one try, with an address that is sound.
put() {
  u=$(cat $1)
  if command -v curl; then
    printf 'url = "%s"\n' "$u" | curl -fsSg -m 120 --proto =http,https -o /dev/null -T $2 -K -
  else
    printf '%s\n' "$u" | wget -q -T 60 -t 1 -O /dev/null --method=PUT --body-file=$2 -i -
  fi
}
