# shellcheck shell=sh disable=SC2020
# openstack KEY: a value of the EC2 form of the metadata service, which needs no JSON parser.
openstack() {
  get "http://169.254.169.254/latest/meta-data/$1"
}
# The server's id stands only in the JSON document, as its first "uuid".
openstack_id() {
  v=$(get http://169.254.169.254/openstack/latest/meta_data.json) || return
  printf %s "$v" | tr '{,' '\n\n' | sed -n 's/^ *"uuid": *"\([0-9a-f-]*\)".*/\1/p' | head -n 1
}
openstack_provider_id() {
  i=$(openstack_id) || return
  echo "openstack:///$i"
}
