# gcp KEY: a value below "computeMetadata/v1"; the address needs no name service.
gcp() {
  get "http://169.254.169.254/computeMetadata/v1/$1" 'Metadata-Flavor: Google'
}
# gcp_last KEY: the last part of a resource path.
gcp_last() {
  v=$(gcp "$1") || return
  echo "${v##*/}"
}
gcp_region() {
  v=$(gcp_last instance/zone) || return
  echo "${v%-*}"
}
gcp_provider_id() {
  j=$(gcp project/project-id) || return
  z=$(gcp_last instance/zone) || return
  i=$(gcp instance/name) || return
  echo "gce://$j/$z/$i"
}
