# get URL [HEADER]: the body of a metadata service's answer, never through a proxy.
get() {
  if command -v curl >/dev/null; then
    curl -fsS --noproxy '*' -m 5 ${2:+-H "$2"} "$1"
  else
    wget -q --no-proxy -T 5 -O - ${2:+--header "$2"} "$1"
  fi
}
