function Start-Ntp {
  param([string]$Service, [string]$Peers)
  Set-Service -Name $Service -StartupType Automatic
  Start-Service -Name $Service
  if ($Peers) {
    & w32tm.exe /config "/manualpeerlist:$Peers" /syncfromflags:manual /update
    if ($LASTEXITCODE -ne 0) {
      throw 'the time servers could not be set'
    }
  }
  Restart-Service -Name $Service
}
function Stop-Ntp {
  param([string]$Service)
  Stop-Service -Name $Service -Force
  Set-Service -Name $Service -StartupType Disabled
}
