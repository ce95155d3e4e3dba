# lacking PROGRAMS CALL ...: the call, unless each of the programs is there.
lacking() {
  for p in $1; do
    command -v "$p" >/dev/null || {
      shift
      "$@"
      return
    }
  done
}
# programs PROGRAM...: each of them is there.
programs() {
  for p in "$@"; do
    command -v "$p" >/dev/null || {
      echo "directory: $p: not found" >&2
      return 1
    }
  done
}
# again TIMES CALL ...: a call is tried so often, 10 seconds apart.
again() {
  n=$1
  shift
  until "$@"; do
    n=$((n - 1))
    [ "$n" -gt 0 ] || return 1
    sleep 10
  done
}
# reachable DOMAIN: DNS knows a domain controller of it, which answers, and both clocks agree.
reachable() {
  i=$(LC_ALL=C adcli info "$1" 2>&1) || {
    case $i in
    *"t discover domain"*) i="DNS knows no domain controller of $1" ;;
    esac
    echo "directory: $i" >&2
    return 1
  }
  c=$(echo "$i" | sed -n 's/^domain-controller = //p')
  t=$(LDAPTLS_REQCERT=allow ldapsearch -LLL -x -o nettimeout=10 -H "ldap://$c" -s base -b '' currentTime | sed -n 's/^currentTime: \(....\)\(..\)\(..\)\(..\)\(..\)\(..\).*/\1-\2-\3 \4:\5:\6/p')
  [ -n "$t" ] || {
    echo "directory: domain controller ${c:-of $1} unreachable" >&2
    return 1
  }
  d=$(($(date -u +%s) - $(date -u -d "$t" +%s)))
  [ "${d#-}" -lt 240 ] || {
    echo "directory: Clock skew too great: this machine's differs by $d s from that of $c" >&2
    return 1
  }
}
# member DOMAIN KEYTAB: the machine is a member already.
member() {
  [ -s "$2" ] && adcli testjoin --domain="$1" --host-keytab="$2" >/dev/null 2>&1
}
# join DOMAIN COMPUTER FQDN KEYTAB PASSWORD: the machine joins by the password in a file, which is gone afterwards. A
# password that is refused is not tried again.
join() {
  member "$1" "$4" || {
    o=$(LC_ALL=C adcli join --domain="$1" --computer-name="$2" --host-fqdn="$3" --host-keytab="$4" --login-type=computer --stdin-password <"$5" 2>&1) || refused
  } && rm -f "$5"
}
# refused: the output of a failed call is printed; the script ends where another try could only lock the account.
refused() {
  echo "directory: $o" >&2
  case $o in
  *reauthentication* | *"not found in Kerberos"* | *revoked*) exit 1 ;;
  esac
  return 1
}
# joined DOMAIN KEYTAB: the keys are those of the account.
joined() {
  o=$(LC_ALL=C adcli testjoin --domain="$1" --host-keytab="$2" 2>&1) || refused
}
# offline BLOB CONFIGURATION: Samba takes the blob over, which is gone afterwards. It names the domain's short name, which the
# blob alone has, where the configuration has another. Keys come later: they need the domain.
offline() {
  [ -e "$1" ] || return 0
  w=$(LC_ALL=C requested "$1" 2>&1 | sed -n "s/.*\"workgroup\" set to '[^']*', should be '\([A-Za-z0-9._-]*\)'.*/\1/p")
  [ -z "$w" ] || sed -i "s/^workgroup = .*/workgroup = $w/" "$2"
  o=$(LC_ALL=C requested "$1" 2>&1) || refused
  rm -f "$1"
}
# requested BLOB: it is taken over.
requested() {
  net offlinejoin requestodj loadfile="$1" --option='kerberos method=secrets only'
}
# rules FILE: sudo can read the rules.
rules() {
  ! command -v visudo >/dev/null || visudo -cf "$1" >/dev/null
}
# login FILE PLACE RESTART: with this configuration of sssd, users of the domain are known after every boot, and, with
# RESTART, from now on.
login() {
  install -D -m 600 "$1" "$2"
  ! command -v restorecon >/dev/null || restorecon "$2"
  # Where a distribution starts the parts of sssd by sockets, those fail whose part the configuration names.
  for p in nss pam pam-priv pac; do
    systemctl disable --now "sssd-$p.socket" 2>/dev/null || :
  done
  systemctl enable sssd.service
  [ -z "$3" ] || systemctl restart sssd.service || {
    echo "directory: sssd does not start" >&2
    return 1
  }
}
