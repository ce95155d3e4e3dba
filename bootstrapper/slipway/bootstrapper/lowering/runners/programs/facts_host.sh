# The kernel's host name, once it has been set.
host() {
  v=$(uname -n)
  case $v in
    localhost | localhost.*) return 1 ;;
  esac
  echo "$v"
}
# address FAMILY DESTINATION: the address from which the default route sends.
address() {
  ip "-$1" route get "$2" | sed -n 's/.* src \([0-9a-f.:]*\).*/\1/p'
}
docker_provider_id() {
  v=$(host) || return
  echo "docker:////$v"
}
