# adopt NEW FILE TABLE KEY: NEW takes the place of FILE, with the sandbox image that FILE pins as KEY of TABLE: the image of
# a machine has it in its store, and an air-gapped machine gets no other one. A second time there is no NEW any more; where
# the first one was cut short, FILE pins the same already.
adopt() {
  [ -e "$1" ] || return 0
  i=
  if [ -e "$2" ]; then
    # What the daemon makes of FILE and of what it imports; where it cannot be asked, the words of FILE.
    i=$({ timeout 20 containerd --config "$2" config dump || cat "$2"; } 2>/dev/null |
      sed -n "s/^[[:space:]]*sandbox\(_image\)\{0,1\}[[:space:]]*=[[:space:]]*[\"']\([^\"']*\)[\"'].*/\2/p" | head -n 1)
  fi
  cp -p "$1" "$2.new"
  case $i in
    "") ;;
    *[!A-Za-z0-9./:@_-]*) echo "containerd: the sandbox image of $2 is no name of an image, and not kept" >&2 ;;
    *) printf '\n[%s]\n%s = "%s"\n' "$3" "$4" "$i" >>"$2.new" ;;
  esac
  mv "$2.new" "$2"
  ! command -v restorecon >/dev/null || restorecon "$2"
  rm "$1"
}
