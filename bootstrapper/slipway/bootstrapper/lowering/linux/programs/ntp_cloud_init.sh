# shellcheck shell=sh disable=SC2154
# To be sent behind ntp.sh, whose variable f is set where a client is there.
# own TEXT: without a client, cloud-init, if it booted this machine, does what TEXT means to it: it installs one.
own() {
  [ -z "$f" ] || return 0
  if [ -e /run/cloud-init/instance-data.json ] && command -v cloud-init >/dev/null; then
    c=/run/slipway-ntp.yaml
    printf %s "$1" >"$c"
    # Older versions have the option in front of the command; an option that is not known ends with 2.
    cloud-init single --file "$c" --name ntp --frequency always ||
      { [ $? = 2 ] && cloud-init --file "$c" single --name ntp --frequency always; }
    return
  fi
  echo "no program for time synchronisation is installed" >&2
  return 1
}
