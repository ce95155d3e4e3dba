# Installs one wave of staged items: sh install WAVE. It is static: what it installs stands in the wave's list.
#
# stage/WAVE/list holds one order a line, a letter, a space and the rest of the line as it is:
#   p N       append part N of the wave to the content that is being put together
#   r|j|b F   append machine fact F: raw, as a JSON string, in base64 (no fact holds a quote, a backslash or a space)
#   c -      what has been put together are certificate authorities of the servers that the next URLs name
#   g ALG HASH URL    unless an earlier URL served: download the content and verify it; "-" is no hash
#   o OWNER:GROUP     owner of the next item; root:root without it
#   t TARGET          target of the next link
#   f|a MODE PATH     put the content there as a file, or behind what the file holds
#   d MODE PATH       directory      s|h - PATH   symbolic or hard link
#
# It may be stopped at any point and started again: what an append finds is saved before it is changed.
# Lines that begin with "#trust " are sent only where something has certificate authorities of its own. Other comments, and
# indentation, are stripped before it is sent. It runs in dash, bash and busybox.
# shellcheck disable=SC2015
set -euf
umask 077
d=/var/lib/slipway
read -r b <$d/plan
e=$d/state/$b/$1.installed
w=$d/stage/$1
if [ -e "$e" ]; then
  rm -rf "$w"
  exit 0
fi
mkdir -p "${e%/*}"
cd "$w"
label() {
  ! command -v restorecon >/dev/null || restorecon "$@"
}
parents() {
  q=$p
  top=
  while q=${q%/*} && [ -n "$q" ] && [ ! -d "$q" ]; do top=$q; done
  [ -z "$top" ] || {
    (umask 022 && mkdir -p "${p%/*}")
    label -R "$top"
  }
}
own() {
  chown "$o" "$1"
  chmod "$m" "$1"
}
# The rename shows readers the old file or the new one. It fails on a bind mount, which can only be written in place.
place() {
  if [ -d "$p" ] && [ ! -L "$p" ]; then
    echo "a directory is in the way of a file" >&2
    exit 1
  fi
  parents
  u=${p%/*}/.slipway-new
  rm -f "$u"
  cat new >"$u"
  own "$u"
  [ ! -L "$p" ] || rm -f "$p"
  mv -f "$u" "$p" 2>/dev/null || {
    own "$p"
    cat new >"$p"
    rm -f "$u"
  }
}
behind() {
  if [ ! -e "$i.old" ] && [ ! -e "$i.none" ]; then
    if [ -e "$p" ]; then
      cat "$p" >old
      mv old "$i.old"
    else
      : >"$i.none"
    fi
  fi
  if [ -e "$i.none" ]; then
    place
  else
    cat "$i.old" new >"$p"
  fi
}
# get URL HASH: what begins with HTTPS stays HTTPS wherever a redirect leads to; wget can only take none. Without a hash it
# has to begin so, since the transport alone vouches for the content. To curl brackets and braces are patterns unless it is
# told otherwise. A server that sends nothing for half a minute is given up. $k is no word or two: the authorities' option.
# shellcheck disable=SC2086
get() {
  if command -v curl >/dev/null; then
    x=
    case $2$1 in
      -* | *[0-9a-f]https:*) ;;
      *) x=http, ;;
    esac
    curl -gfsSL $k --proto "=${x}https" --retry 5 --retry-delay 2 --connect-timeout 10 -y 30 -Y 1 -o got.new "$1"
  else
    x=--max-redirect=0
    case $2$1 in
      -* | *[0-9a-f]https:*) ;;
      *) x=-q ;;
    esac
    wget -q $k "$x" -T 30 -O got.new "$1"
  fi
}
download() {
  a=${1%% *}sum
  u=${1#* }
  h=${u%% *}
  u=${u#* }
  if get "$u" "$h" && { [ "$h" = - ] || [ "$("$a" <got.new)" = "$h  -" ]; }; then
    cat got.new >>new
    : >got
  else
    u=${u#*//}
    u=${u%%[/?]*}
    echo "${u##*@}: no answer, or another content" >&2
  fi
}
begin() {
  rm -f got need
  : >new
  k=
  o=root:root
  t=
  i=$((i + 1))
}
i=0
begin
while IFS= read -r line; do
  v=${line#* }
  m=${v%% *}
  p=${v#* }
  case $line in
    p*) cat "$v" >>new ;;
    [rjb]*)
      x=$(cat "$d/facts/$v")
      case $line in
        r*) printf %s "$x" ;;
        j*) printf '"%s"' "$x" ;;
        *) printf %s "$x" | base64 | tr -d '\n' ;;
      esac >>new
      ;;
    # What the system trusts counts as well, which an option of its own would put out of force. The paths are those of
    # Debian, Fedora, openSUSE and Alpine: crypto/x509/root_linux.go of Go.
    #trust c*)
    #trust cat /etc/ssl/certs/ca-certificates.crt /etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem \
    #trust /etc/ssl/ca-bundle.pem /etc/ssl/cert.pem new >ca 2>/dev/null || :
    #trust : >new
    #trust k="--cacert ca"
    #trust command -v curl >/dev/null || k=--ca-certificate=ca
    #trust ;;
    g*)
      : >need
      [ -e got ] || download "$v"
      ;;
    o*) o=$v ;;
    t*) t=$v ;;
    *)
      if [ -e need ] && [ ! -e got ]; then
        echo "$p: no URL gave the content with the right hash" >&2
        exit 1
      fi
      case $line in
        f*) place ;;
        a*) behind ;;
        d*)
          parents
          [ -d "$p" ] || mkdir "$p"
          own "$p"
          ;;
        *)
          if [ -d "$p" ] && [ ! -L "$p" ]; then
            echo "a directory is in the way of a link" >&2
            exit 1
          fi
          parents
          rm -f "$p"
          case $line in
            s*)
              ln -s -- "$t" "$p"
              chown -h "$o" "$p"
              ;;
            h*) ln -- "$t" "$p" ;;
            *) exit 1 ;;
          esac
          ;;
      esac
      label "$p"
      begin
      ;;
  esac
done <list
# All is on the disk before the mark that says so.
sync
: >"$e"
cd /
rm -rf "$w"
