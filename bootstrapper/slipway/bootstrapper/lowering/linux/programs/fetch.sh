# fetch SHA256 AUTHORITIES ENDING LINES: downloads the payload of this machine unless it is there, and hands it to
# cloud-init, whose first modules wait for this script. The lines configure curl, so that no argument shows the address or
# the ticket. The ending goes to the console when it gives up, with the time in place of its %s. The script runs on every
# boot, since cloud-init reads the user data anew on each; after the first one it needs no network.
#
# The payload takes the place of the configuration that cloud-init has put together, which every later stage reads. What
# this stage still does it would do by the old one: so its modules are called here, in its own order, by their own names.
# cloud-init notes that they have run, and does not run them once more.
fetch() {
  mkdir -p /etc/slipway
  # The script ends where a command fails.
  # shellcheck disable=SC2164
  cd /etc/slipway
  : >>payload
  chmod 600 payload
  echo "$2" >ca
  n=0
  until echo "$1  payload" | sha256sum -c; do
    # After an hour.
    # shellcheck disable=SC2059
    [ $n != 85 ] || { printf "$3\n" $(date -u +%FT%TZ) >/dev/console; exit 1; }
    sleep $n
    n=$((n+1))
    echo "$4" | curl -gfsS -m 60 --max-filesize 4194304 -o payload -K - || :
  done
  sync
  # What follows has to find the working folder and the umask that every stage has.
  cp payload /var/lib/cloud/instance/cloud-config.txt
  cd /
  for m in bootcmd write_files disk_setup mounts set_hostname update_hostname users_groups ssh; do
    cloud-init single --name $m || :
  done
}
