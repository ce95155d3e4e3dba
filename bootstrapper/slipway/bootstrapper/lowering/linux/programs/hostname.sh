# named: the running system has the name that /etc/hostname holds.
named() {
  read -r n </etc/hostname
  hostnamectl set-hostname "$n" 2>/dev/null || hostname "$n"
}
