# Trust and time.
function Add-Authority {
  param([string]$Data)
  $bytes = [System.Convert]::FromBase64String($Data)
  $certificate = New-Object System.Security.Cryptography.X509Certificates.X509Certificate2 -ArgumentList (, $bytes)
  $store = New-Object System.Security.Cryptography.X509Certificates.X509Store -ArgumentList 'Root', 'LocalMachine'
  $store.Open('ReadWrite')
  $store.Add($certificate)
  $store.Close()
}
function Enable-TimeSync {
  param([string]$Peers)
  Set-Service -Name 'w32time' -StartupType Automatic
  Start-Service -Name 'w32time'
  if ($Peers) {
    Invoke-Checked 'w32tm.exe' @('/config', "/manualpeerlist:$Peers", '/syncfromflags:manual', '/update')
  }
}
function Disable-TimeSync {
  Stop-Service -Name 'w32time' -Force
  Set-Service -Name 'w32time' -StartupType Disabled
}
