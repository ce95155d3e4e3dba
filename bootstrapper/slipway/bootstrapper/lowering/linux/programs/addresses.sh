# addresses FILE...: beside each drop-in with a NO_PROXY there is one that goes on with the addresses of the machine. The
# kubelet of a control plane calls its own API server by one of them. A machine without the program ip goes on without.
addresses() {
  if found=$(ip -o addr show scope global); then
    own=$(echo "$found" | while read -r _ _ _ address _; do printf %s "${address:+,${address%%/*}}"; done)
  else
    own=
    echo "the machine's own addresses are not found, and not in NO_PROXY" >&2
  fi
  for file; do
    {
      echo "[Service]"
      sed -n "s/^\(Environment=\"NO_PROXY=.*\)\"\$/\1$own\"/p" "$file"
    } >"${file%.conf}.own.conf"
  done
}
