# The host name in lower case, as the kubelet writes it.
function host {
  return [System.Net.Dns]::GetHostName().ToLowerInvariant()
}
