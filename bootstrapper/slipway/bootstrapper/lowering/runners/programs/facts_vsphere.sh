# shellcheck shell=sh disable=SC2020
# vsphere KEY: a top-level value of the metadata document (YAML or JSON) in the VM's guest information.
vsphere_info() {
  t=$(command -v vmtoolsd) || t=/usr/share/oem/bin/vmtoolsd
  "$t" --cmd "info-get guestinfo.$1"
}
vsphere() {
  c=$(vsphere_info metadata.encoding 2>/dev/null) || c=
  m=$(vsphere_info metadata) || return
  case $c in
    gz*) printf %s "$m" | base64 -d | gzip -d ;;
    b*) printf %s "$m" | base64 -d ;;
    *) printf '%s\n' "$m" ;;
  esac | tr '{,}' '\n\n\n' | sed -n "s/^[\" ]*$1[\"]* *: *[\"']*\([A-Za-z0-9._-]*\)[\"']* *\$/\1/p" | head -n 1
}
# The BIOS UUID from the serial number, which has the same byte order in every hardware version.
vsphere_uuid() {
  sed 's/^VMware-//;s/[ -]//g;s/\(.\{8\}\)\(.\{4\}\)\(.\{4\}\)\(.\{4\}\)/\1-\2-\3-\4-/' /sys/class/dmi/id/product_serial | tr A-F a-f
}
vsphere_provider_id() {
  i=$(vsphere_uuid) || return
  echo "vsphere://$i"
}
